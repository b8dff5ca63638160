"""The texts of the bench page: rankers with their results, and the state of a run."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content

from inspector.access.reach import EvalSet
from inspector.app.draw.line import MUTED
from inspector.core.number import bar, count, duration, percent, plural
from inspector.core.ranking import Answer
from inspector.measure.bootstrap import Estimate
from inspector.measure.ranker_bench import NOTHING, Measured, Row, csv_text, json_text, markdown
from inspector.measure.run import KINDS, Kind, Share, Summary
from inspector.measure.standing import standings
from inspector.search.ranker_list import INFO, RANKERS
from widgets import Column, Record, visible

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
_LINE = "━"


@dataclass(frozen=True, slots=True)
class Running:
    """The progress of a run: ranker `number` of `of`, `done` of `total` requests; None is no estimate yet."""

    ranker: str
    number: int
    of: int
    done: int
    total: int
    seconds_left: float | None = None

    @property
    def share(self) -> float:
        steps = self.of * self.total
        return ((self.number - 1) * self.total + self.done) / steps if steps else 0.0


@dataclass(frozen=True, slots=True)
class State:
    """What the status line shows. `is_stale`: the results are of other tools or thresholds."""

    chosen: int
    measured: Sequence[Measured] = ()
    is_running: bool = False
    running: Running | None = None
    is_stopping: bool = False
    is_stale: bool = False


def facts(evalset: EvalSet, *, is_semantic: bool) -> Content:
    """Return the requests to measure with, in two lines."""
    kinds = Counter(case.kind for case in evalset.cases)
    names = {kind: visible(kind, newlines=False, limit=30) or "unclassified" for kind in kinds}
    counts = ", ".join(f"{count} {names[kind]}" for kind, count in kinds.items())
    first = Content.assemble(
        (f"{len(evalset.cases):,} {evalset.name} {plural(len(evalset.cases), 'request')}", "bold"),
        f" over {count(len(evalset.tools), 'tool')}   ",
        _warning(evalset, is_semantic),
    )
    return Content("\n").join([first, Content.styled(counts, MUTED)])


def _warning(evalset: EvalSet, is_semantic: bool) -> Content:
    if not evalset.tools:
        return Content.styled("⚠ no tools to search: connect a server (see Tools)", "$text-warning")
    if not is_semantic:
        return Content.styled("⚠ no embeddings yet, words only", "$text-warning")
    generated = evalset.name == "generated"
    return Content.styled("easier than real requests" if generated else "labelled by hand", MUTED)


def running(names: Sequence[str], what: str, done: int, total: int, seconds: float) -> Running:
    """Return the progress of a run of `names` after `seconds`; `what` ends with the ranker's name."""
    ranker = what.rpartition(" ")[2]
    position = names.index(ranker)
    steps, all_steps = position * total + done, len(names) * total
    left = seconds / steps * (all_steps - steps) if steps else None
    return Running(ranker, position + 1, len(names), done, total, left)


def status(state: State, width: int) -> Content:
    """Return the progress, or what to do next, in one line."""
    if state.is_running:
        return _progress(state, width)
    stopped = [one for one in state.measured if not one.run.is_complete]
    if state.is_stale:
        return Content.styled(
            "⚠ Tools or thresholds have changed. Press r to measure again.", "$text-warning"
        )
    if stopped:
        return Content.styled("Stopped; the results so far are kept.  r runs again.", "$text-warning")
    if not state.chosen:
        return Content.styled(
            "No ranker is chosen. Press space to choose the one under the cursor.", "$text-warning"
        )
    if state.measured:
        return Content.assemble(
            ("✓ ", "$text-success"),
            f"{len(state.measured)} rankers measured.",
            ("  enter lists requests.", MUTED),
            ("  v finds the threshold.", MUTED),
        )
    return Content.assemble(("r", "bold $text-accent"), f" measures the {state.chosen} chosen rankers.")


def _progress(state: State, width: int) -> Content:
    if state.is_stopping:
        return Content.styled("Stopping after this request …", "$text-warning")
    now = state.running
    if now is None:
        return Content.styled("Starting …", MUTED)
    left = f"   about {duration(now.seconds_left)} left" if now.seconds_left is not None else ""
    room = max(min(24, width - 66), 6)
    full = round(now.share * room)
    return Content.assemble(
        (_LINE * full, "$primary"),
        (_LINE * (room - full), "$border"),
        (f" {now.ranker}", "bold"),
        f" {now.number}/{now.of}   {now.done} of {count(now.total, 'request')}{left}",
        ("   esc stops", MUTED),
    )


def rows(
    chosen: Collection[str], measured: Mapping[str, Measured], waiting: Sequence[str] = ()
) -> tuple[Record, ...]:
    """Return one row per ranker; the first of the waiting ones is being measured."""
    best = best_rankers(tuple(measured.values()))
    return tuple(
        _row(name, name in chosen, measured.get(name), waiting, is_best=name in best) for name in RANKERS
    )


def best_rankers(measured: Sequence[Measured]) -> frozenset[str]:
    """Return the ranker with the highest nDCG@10, and those that a paired test cannot distinguish from it."""
    found = standings(measured)
    return frozenset(name for one in found for name in (one.best, *one.tied))


def _row(
    name: str, is_chosen: bool, measured: Measured | None, waiting: Sequence[str], *, is_best: bool
) -> Record:
    mark = Content.styled("✓", "$text-success") if is_chosen else Content("")
    if name in waiting or measured is None:
        state = ("running" if name == waiting[0] else "waiting") if name in waiting else ""
        nothing = ("",) * (len(COLUMNS) - 3)
        cells: tuple[Content | str, ...] = (mark, name, Content.styled(state, "$text-accent"), *nothing)
        return Record(name, cells, tone="" if is_chosen else "muted", copy=name)
    summary = measured.row.summary
    return Record(
        name, (mark, _name(measured), *_numbers(summary, is_best=is_best)), copy=markdown([measured.row])
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
        _share(summary.share("impossible", Answer.FOUND)),
        _share(summary.share("possible", Answer.NOTHING)),
        _ms(summary.p50_ms),
        _ms(summary.p95_ms),
    )


def _name(measured: Measured) -> str:
    if measured.run.is_complete:
        return measured.row.ranker
    return f"{measured.row.ranker} (first {len(measured.run.cases)})"


def detail(name: str, measured: Measured | None) -> Content:
    """Return a ranker in words, and all of its results."""
    about = INFO[name].about if name in INFO else ""
    title = Content.assemble((name, "bold"), (f"   {about}", MUTED))
    if measured is None:
        return Content("\n").join([title, Content.styled("Not measured. space chooses it, r runs.", MUTED)])
    summary = measured.row.summary
    means = [
        f"{label} {_interval(value)}"
        for label, value in (
            ("nDCG@10", summary.ndcg_10),
            ("hit@1", summary.hit_1),
            ("recall@5", summary.recall_5),
            ("delivered", summary.delivered),
        )
    ]
    lines = [
        "   ".join(means[:2]),
        "   ".join(means[2:]),
        *(_answers(summary, kind) for kind in KINDS if kind in summary.answers),
    ]
    return Content("\n").join([title, *map(Content, lines)])


def export_text(rows: Sequence[Row], path: Path) -> str:
    """Return the table in the format of the file's extension: .json, .csv, or else Markdown."""
    forms: Mapping[str, Callable[[Sequence[Row]], str]] = {".json": json_text, ".csv": csv_text}
    return forms.get(path.suffix.lower(), markdown)(rows)


def _mean(value: Estimate | None) -> str:
    return NOTHING if value is None else f"{value.mean:.3f}"


def _interval(value: Estimate | None) -> str:
    return NOTHING if value is None else f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _share(value: Share | None) -> str:
    return NOTHING if value is None else percent(value.value)


def _answers(summary: Summary, kind: Kind) -> str:
    """The share of each answer that the requests of this kind get."""
    answers = summary.answers[kind]
    each = ", ".join(f"{answer} {share.text}" for answer, share in answers.items())
    return f"{answers[Answer.FOUND].total} {kind}: {each}"


def _ms(value: float | None) -> str:
    """Format milliseconds; fast rankers take hundredths of one."""
    return NOTHING if value is None else f"{value:.{1 if value >= 1 else 2}f}"
