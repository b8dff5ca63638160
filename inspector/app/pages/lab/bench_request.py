"""The requests behind a ranker's numbers: its worst ones, or those where it differs from another ranker."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual.content import Content

from inspector.access.reach import EvalCase
from inspector.app.draw.line import MUTED
from inspector.core.number import count, percent
from inspector.core.ranking import Answer
from inspector.measure.ranker_bench import Measured
from inspector.measure.run import CaseRun, Run
from inspector.measure.standing import Weak, difference, weakest
from widgets import Column, Record, middle, plain, visible

WORST_COLUMNS = (
    Column("value", "nDCG@10", align="right", weight=8),
    Column("outcome", "outcome", min_width=14, weight=4),
    Column("query", "request", min_width=24, weight=9),
    Column("kind", "kind", width=10, weight=2, hide_below=90),
)
CHANGE_COLUMNS = (
    Column("change", "change", align="right", weight=9),
    Column("before", "before", align="right", weight=6),
    Column("after", "after", align="right", weight=6),
    Column("query", "request", min_width=24, weight=8),
    Column("kind", "kind", width=10, weight=2, hide_below=90),
)
_SHOWN = 5
_NAME = 40


@dataclass(frozen=True, slots=True)
class Page:
    """What a ranker's page shows: a headline, rows, and the runs to look a request up in."""

    title: Content
    columns: Sequence[Column]
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
            lines.append(_found(ranker, case, outcomes[case.id]))
        return Content("\n").join([plain(case.query, limit=300, newlines=False).stylize("bold"), *lines])


def page(measured: Measured, first: Measured | None) -> Page:
    """Return the worst requests of a ranker, or its differences from `first`."""
    cases = {case.id: case for case in measured.evalset.cases}
    if first is None:
        weak = weakest(measured.run, measured.evalset)
        rows = tuple(_weak_row(request) for request in weak)
        return Page(_worst_title(measured, weak), WORST_COLUMNS, rows, cases, _runs(measured))
    count = min(len(first.run.cases), len(measured.run.cases))
    title, rows = _changes(measured, first, count, cases)
    return Page(title, CHANGE_COLUMNS, rows, cases, {**_runs(first), **_runs(measured)})


def _runs(measured: Measured) -> dict[str, dict[str, CaseRun]]:
    return {measured.run.ranker: {done.id: done for done in measured.run.cases}}


def _worst_title(measured: Measured, weak: Sequence[Weak]) -> Content:
    total = len(measured.run.cases)
    return Content.assemble(
        (measured.run.ranker, "bold"),
        f"   {len(weak)} of {count(total, 'request')} with room for improvement, worst first",
    )


def _weak_row(weak: Weak) -> Record:
    value = "" if weak.ndcg_10 is None else f"{weak.ndcg_10:.3f}"
    return _record(weak.case, (value, _outcome(weak), _query(weak.case), weak.case.kind))


def _outcome(weak: Weak) -> Content:
    if weak.ndcg_10 is None:
        return Content.styled("✕ false yes", "$text-warning")
    if weak.is_refused:
        return Content.styled("✕ false no", "$text-warning")
    rank = _first_right(weak.case, weak.done)
    return Content(f"right at rank {rank}" if rank else "not in top 10")


def _first_right(case: EvalCase, done: CaseRun) -> int:
    """Return the rank of the first relevant tool, 0 if there is none."""
    wanted = frozenset[str]().union(*case.relevant)
    return next((rank for rank, tool_id in enumerate(done.ranked, 1) if tool_id in wanted), 0)


def _changes(
    measured: Measured, first: Measured, count: int, cases: dict[str, EvalCase]
) -> tuple[Content, tuple[Record, ...]]:
    found = difference(_cut(first, count), _cut(measured, count), measured.evalset)
    names = Content.assemble((measured.run.ranker, "bold"), " compared with ", (first.run.ranker, "bold"))
    if found is None:
        return Content.assemble(names, "   none of the possible requests was measured with both rankers"), ()
    mean = found.mean
    sure = "unlikely to be chance" if found.is_significant else "may be chance"
    title = Content.assemble(
        names,
        f"   {mean.mean:+.3f} nDCG@10 [{mean.low:+.3f}, {mean.high:+.3f}]",
        (f"   {sure}, paired test p {found.p_value:.3f}", MUTED),
    )
    return title, tuple(
        _record(
            cases[change.id],
            (
                Content.styled(
                    f"{change.value:+.3f}", "$text-success" if change.value > 0 else "$text-error"
                ),
                f"{change.before:.3f}",
                f"{change.after:.3f}",
                _query(cases[change.id]),
                cases[change.id].kind,
            ),
        )
        for change in found.changes
        if change.value
    )


def _cut(measured: Measured, count: int) -> Run:
    return replace(measured.run, cases=measured.run.cases[:count])


def _record(case: EvalCase, cells: tuple[Content | str, ...]) -> Record:
    return Record(case.id, cells, search=f"{case.query} {case.kind}", copy=case.query)


def _query(case: EvalCase) -> str:
    return visible(" ".join(case.query[:600].split()), limit=200, newlines=False)


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
    sure = "" if done.probability is None else f"   confidence {percent(done.probability)}"
    returned = f"   {len(done.returned)} returned" if done.returned else ""
    return Content.assemble(
        (f"{ranker}   ", MUTED), (f"{done.answer}   ", tone), listed, (f"{returned}{sure}", MUTED)
    )
