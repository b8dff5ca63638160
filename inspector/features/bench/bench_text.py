"""The texts of the bench page: rankers with their results, a run, the requests behind a number."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from textual.content import Content

from inspector.access.reach import GENERATED, EvalCase, EvalSet
from inspector.app.draw.line import MUTED
from inspector.core.number import bar, count, plural
from inspector.core.ranking import Answer
from inspector.core.report import NOTHING
from inspector.features.bench.ranker_bench import Measured, Weak, difference, standings, weakest
from inspector.features.bench.run import KINDS, CaseRun, Summary
from inspector.features.bench.sweep import share_text
from inspector.search.answer.answer_text import confidence_beside
from inspector.search.answer.metric import Estimate
from inspector.search.ranker.ranker_list import INFO, RANKERS
from widgets import Column, Record, middle, plain, visible

DEFAULT_RANKERS = frozenset({"hybrid", "bm25", "dense", "rrf", "fuzzy", "prd-bm25"})
BAR_WIDTH = 8
COLUMNS = (
    Column("chosen", width=1, weight=9),
    Column("ranker", "ranker", min_width=17, shorten="middle", weight=8),
    Column("bar", "", width=BAR_WIDTH, weight=5),
    Column("ndcg", "nDCG@10", align="right", weight=9),
    Column("interval", "95 % CI", align="right", weight=4),
    Column("hit", "hit@1", align="right", weight=8),
    Column("delivered", "delivered", align="right", weight=8),
    Column("mrr", "MRR", align="right", weight=2),
    Column("yes", "false yes", align="right", weight=7),
    Column("no", "false no", align="right", weight=7),
    Column("p50", "p50 ms", align="right", weight=1),
    Column("p95", "p95 ms", align="right", weight=6),
)


def facts(evalset: EvalSet, note: str) -> Content:
    """Return the requests to measure with, in two lines; `note` says what rankers have to do without."""
    kinds = Counter(case.kind for case in evalset.cases)
    names = {kind: visible(kind, newlines=False, limit=30) or "unclassified" for kind in kinds}
    counts = ", ".join(f"{count} {names[kind]}" for kind, count in kinds.items())
    first = Content.assemble(
        (f"{len(evalset.cases):,} {evalset.name} {plural(len(evalset.cases), 'request')}", "bold"),
        f" over {count(len(evalset.tools), 'tool')}   ",
        _warning(evalset, note),
    )
    return Content("\n").join([first, Content.styled(counts, MUTED)])


def _warning(evalset: EvalSet, note: str) -> Content:
    if not evalset.tools:
        return Content.styled("⚠ no tools to search: connect a server (see Tools)", "$text-warning")
    if note:
        return plain(f"⚠ {note}", newlines=False, limit=300).stylize("$text-warning")
    generated = evalset.name == GENERATED
    return Content.styled("easier than real requests" if generated else "labelled by hand", MUTED)


STALE = Content.styled("⚠ Tools or thresholds have changed. Press r to measure again.", "$text-warning")


def status(chosen: int, measured: Sequence[Measured]) -> Content:
    """Return what to do next, in one line."""
    if any(not one.run.is_complete for one in measured):
        return Content.styled("Stopped; the results so far are kept.  r runs again.", "$text-warning")
    if not chosen:
        told = "No ranker is chosen. Press space to choose the one under the cursor."
        return Content.styled(told, "$text-warning")
    if measured:
        more = ("  enter lists requests.  v plays recorded runs.", MUTED)
        return Content.assemble(("✓ ", "$text-success"), f"{len(measured)} rankers measured.", more)
    return Content.assemble(("r", "bold $text-accent"), f" measures the {chosen} chosen rankers.")


def progress(now: str, *, is_stopping: bool) -> Content:
    """Return which ranker is measured, in one line."""
    if is_stopping:
        return Content.styled("Stopping after this request …", "$text-warning")
    return Content.assemble(now or "Starting …", ("   esc stops", MUTED))


def rows(
    chosen: Collection[str], measured: Mapping[str, Measured], waiting: Sequence[str] = ()
) -> tuple[Record, ...]:
    """Return one row per ranker; the first of the waiting ones is being measured."""
    # That with the highest nDCG@10, and those that a paired test cannot distinguish from it.
    best = {name for one in standings(tuple(measured.values())) for name in (one.best, *one.tied)}
    return tuple(
        _row(name, name in chosen, measured.get(name), waiting, is_best=name in best) for name in RANKERS
    )


def _row(
    name: str, is_chosen: bool, measured: Measured | None, waiting: Sequence[str], *, is_best: bool
) -> Record:
    mark = Content.styled("✓", "$text-success") if is_chosen else Content("")
    if name in waiting or measured is None:
        state = ("running" if name == waiting[0] else "waiting") if name in waiting else ""
        nothing = ("",) * (len(COLUMNS) - 3)
        cells: tuple[Content | str, ...] = (mark, name, Content.styled(state, "$text-accent"), *nothing)
        return Record(name, cells, tone="" if is_chosen else "muted", copy=name)
    row, run = measured.row, measured.run
    shown = row.ranker if run.is_complete else f"{row.ranker} (first {len(run.cases)})"
    return Record(
        name,
        (mark, shown, *_numbers(row.summary, is_best=is_best)),
        copy=f"{name}  nDCG@10 {_mean(row.summary.ndcg_10)}",
    )


def _numbers(summary: Summary, *, is_best: bool) -> tuple[Content | str, ...]:
    ndcg = summary.ndcg_10
    value = _mean(ndcg)
    return (
        Content.styled(bar(ndcg.mean if ndcg else 0.0, BAR_WIDTH), "$primary"),
        Content.styled(value, "bold $text-success") if is_best else value,
        NOTHING if ndcg is None else f"{ndcg.low:.3f}-{ndcg.high:.3f}",
        _mean(summary.hit_1),
        _mean(summary.delivered),
        _mean(summary.mrr),
        share_text(summary.share("impossible", Answer.FOUND)),
        share_text(summary.share("possible", Answer.NOTHING)),
        _ms(summary.p50_ms),
        _ms(summary.p95_ms),
    )


def detail(name: str, measured: Measured | None) -> Content:
    """Return a ranker in words, and all of its results."""
    about = INFO[name].about if name in INFO else ""
    title = Content.assemble((name, "bold"), (f"   {about}", MUTED))
    if measured is None:
        return Content("\n").join([title, Content.styled("Not measured. space chooses it, r runs.", MUTED)])
    summary = measured.row.summary
    means = [
        f"{label} {NOTHING if value is None else f'{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]'}"
        for label, value in (
            ("nDCG@10", summary.ndcg_10),
            ("hit@1", summary.hit_1),
            ("recall@5", summary.recall_5),
            ("delivered", summary.delivered),
        )
    ]
    lines = ["   ".join(means[:2]), "   ".join(means[2:])]
    for kind, answers in ((kind, summary.answers[kind]) for kind in KINDS if kind in summary.answers):
        each = ", ".join(f"{answer} {share.text}" for answer, share in answers.items())
        lines.append(f"{answers[Answer.FOUND].total} {kind}: {each}")
    return Content("\n").join([title, *map(Content, lines)])


def _mean(value: Estimate | None) -> str:
    return NOTHING if value is None else f"{value.mean:.3f}"


def _ms(value: float | None) -> str:
    """Format milliseconds; fast rankers take hundredths of one."""
    return NOTHING if value is None else f"{value:.{1 if value >= 1 else 2}f}"


WORST_COLUMNS = (
    Column("value", "nDCG@10", align="right", weight=8),
    Column("outcome", "outcome", min_width=14, weight=4),
    Column("query", "request", min_width=24, weight=9),
    Column("kind", "kind", width=10, weight=2, hide_below=90),
)
_SHOWN = 5
_NAME = 40


class Page(Struct, frozen=True):
    """What a ranker's page shows: a headline, rows, and the runs to look a request up in."""

    title: Content
    rows: tuple[Record, ...]
    cases: dict[str, EvalCase]
    runs: dict[str, dict[str, CaseRun]]

    def detail(self, case_id: str) -> Content:
        """Return a request, the tools it needs, and the first results of each ranker."""
        case = self.cases.get(case_id)
        if case is None:
            return Content.styled("Choose a request to see its results.", MUTED)
        lines = [_wanted(case)]
        for ranker, outcomes in self.runs.items():
            if case.id in outcomes:
                lines.append(_found(ranker, case, outcomes[case.id]))
        return Content("\n").join([plain(case.query, limit=300, newlines=False).stylize("bold"), *lines])


def page(measured: Measured, first: Measured | None) -> Page:
    """Return the worst requests of a ranker, and how it compares with `first`."""
    weak = weakest(measured.run, measured.evalset)
    told = f"{len(weak)} of {count(len(measured.run.cases), 'request')} with room for improvement"
    lines = [Content.assemble((measured.run.ranker, "bold"), f"   {told}, worst first")]
    if first is not None:
        lines.append(_compared(measured, first))
    rows = tuple(
        Record(
            one.case.id,
            (
                "" if one.ndcg_10 is None else f"{one.ndcg_10:.3f}",
                _outcome(one),
                visible(" ".join(one.case.query[:600].split()), limit=200, newlines=False),
                one.case.kind,
            ),
            search=f"{one.case.query} {one.case.kind}",
            copy=one.case.query,
        )
        for one in weak
    )
    cases = {case.id: case for case in measured.evalset.cases}
    runs = {**(_runs(first) if first is not None else {}), **_runs(measured)}
    return Page(Content("\n").join(lines), rows, cases, runs)


def _compared(measured: Measured, first: Measured) -> Content:
    number = min(len(first.run.cases), len(measured.run.cases))
    before, after = (replace(one.run, cases=one.run.cases[:number]) for one in (first, measured))
    found = difference(before, after, measured.evalset)
    if found is None:
        return Content.styled("No possible request was measured with both rankers.", MUTED)
    mean = found.mean
    sure = "unlikely to be chance" if found.is_significant else "may be chance"
    return Content.assemble(
        f"compared with {first.run.ranker}   {mean.mean:+.3f} nDCG@10 [{mean.low:+.3f}, {mean.high:+.3f}]",
        (f"   {sure}, paired test p {found.p_value:.3f}", MUTED),
    )


def _runs(measured: Measured) -> dict[str, dict[str, CaseRun]]:
    return {measured.run.ranker: {done.id: done for done in measured.run.cases}}


def _outcome(weak: Weak) -> Content:
    if weak.ndcg_10 is None:
        return Content.styled("✕ false yes", "$text-warning")
    if weak.is_refused:
        return Content.styled("✕ false no", "$text-warning")
    # The rank of the first relevant tool, if there is one.
    wanted = frozenset[str]().union(*weak.case.relevant)
    rank = next((rank for rank, tool_id in enumerate(weak.done.ranked, 1) if tool_id in wanted), 0)
    return Content(f"right at rank {rank}" if rank else "not in top 10")


def _wanted(case: EvalCase) -> Content:
    groups = [" or ".join(middle(tool_id, _NAME) for tool_id in sorted(group)) for group in case.relevant]
    if not groups:
        return Content.assemble(("needs   ", MUTED), "no tool fits this request")
    return Content.assemble(("needs   ", MUTED), "  and  ".join(groups))


def _found(ranker: str, case: EvalCase, done: CaseRun) -> Content:
    wanted = frozenset[str]().union(*case.relevant)
    pieces = [
        Content.styled(f"✓ {middle(tool_id, _NAME)}", "$text-success")
        if tool_id in wanted
        else Content(middle(tool_id, _NAME))
        for tool_id in done.ranked[:_SHOWN]
    ]
    listed = Content(", ").join(pieces) if pieces else Content("no tool")
    tone = MUTED if done.answer is Answer.FOUND else "$text-warning"
    sure = confidence_beside(done.probability, 0.0)
    returned = f"   {len(done.returned)} returned" if done.returned else ""
    return Content.assemble(
        (f"{ranker}   ", MUTED), (f"{done.answer}   ", tone), listed, (f"{returned}   {sure}".rstrip(), MUTED)
    )
