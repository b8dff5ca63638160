"""One search for the whole request beside one per step: ranks, and what only one side finds."""

from collections.abc import Iterator

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.pages.find.pane import stands_for
from inspector.core.ranking import Answer
from inspector.search.answer_text import confidence_beside
from inspector.search.explanation.standing import Steps, StepSearch
from widgets import Column, Record, middle, plain

ONLY_STEPS = "\0steps"
ONLY_WHOLE = "\0whole"
_TEXT = 40


def columns(steps: int) -> tuple[Column, ...]:
    return (
        Column("tool", "tool", shorten="name", min_width=14, weight=9),
        Column("whole", "whole", align="right", width=5, weight=8),
        *(Column(f"step{n}", f"step {n}", align="right", width=6, weight=7) for n in range(1, steps + 1)),
        Column("found", "found by", min_width=8, weight=1),
    )


def rows(found: Steps) -> tuple[Record, ...]:
    """Return the tools that the whole request finds, by rank, then those that only the steps find."""
    lost = found.only_whole
    return (
        *(
            _row(found, tool_id, *(("▼ whole", "warning") if tool_id in lost else ("both",)))
            for tool_id in found.whole.tool_ids
        ),
        *(_row(found, tool_id, "▲ steps", "success") for tool_id in found.only_steps),
    )


def _row(found: Steps, tool_id: str, by: str, tone: str = "") -> Record:
    style = {"success": "$text-success", "warning": "$text-warning"}.get(tone, MUTED)
    cells = (_rank(search, tool_id) for search in (found.whole, *found.steps))
    return Record(tool_id, (tool_id, *cells, Content.styled(by, style)), copy=tool_id)


def _rank(search: StepSearch, tool_id: str) -> Content:
    if tool_id not in search.tool_ids:
        return Content.styled("–", MUTED)
    rank = search.tool_ids.index(tool_id) + 1
    return Content.styled(str(rank), "bold" if rank == 1 else "")


def waiting(text: str) -> Content:
    """Return the text shown until the answer arrives."""
    return Content.assemble(plain(f"“{middle(text, _TEXT)}”"), "\n", ("searching …", "$text-warning"))


def searches(found: Steps, ranker: str, limit: int, threshold: float) -> Content:
    """Return the searches with their texts, and what splitting into steps changes."""
    lines = [
        _search("whole", found.whole, threshold),
        *(_search(f"step {n}", step, threshold) for n, step in enumerate(found.steps, start=1)),
        Content.assemble(_summary(found), (f"   {stands_for(ranker)}, limit {limit}", MUTED)),
    ]
    return Content("\n").join(lines)


def _search(name: str, search: StepSearch, threshold: float) -> Content:
    return Content.assemble(
        (f"{name:<7}", "bold"),
        plain(middle(search.text, _TEXT)),
        *_fate(search, threshold),
    )


def _fate(search: StepSearch, threshold: float) -> Iterator[Content]:
    if search.probability is None:
        return
    said = f"{search.answer}   {confidence_beside(search.probability, threshold)}"
    if search.answer is Answer.FOUND:
        yield Content.styled(f"   {said}", MUTED)
    else:
        yield Content.styled(f"   ⚠ {said}", "$text-warning")


def _summary(found: Steps) -> Content:
    if len(found.steps) < 2:
        return Content.styled("Only one step, so nothing to split.", MUTED)
    gained, lost = len(found.only_steps), len(found.only_whole)
    return Content.assemble(
        (f"▲ {gained} found only by steps", "$text-success" if gained else MUTED),
        "   ",
        (f"▼ {lost} found only by the whole query", "$text-warning" if lost else MUTED),
    )
