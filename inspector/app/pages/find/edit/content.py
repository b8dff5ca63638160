"""The effect of an edit of a tool: the numbers, its neighbors, the requests that moved."""

import json
from dataclasses import dataclass

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.core.number import count
from inspector.core.tool import Tool, definition
from inspector.search.explanation.standing import Standing
from inspector.search.explanation.tool_edit import CaseChange, CaseEffect, Neighbor, QueryEffect
from widgets import Column, Record, Tone, middle, plain, visible

AROUND_COLUMNS = (
    Column("rank", "#", align="right", width=4, weight=6),
    Column("move", "moved", width=5, weight=5),
    Column("tool", "tool", shorten="name", min_width=12, weight=9),
    Column("score", "score", align="right", width=6, weight=4),
    Column("change", "change", align="right", width=7, weight=2, hide_below=46),
)
CHANGE_COLUMNS = (
    Column("move", "", width=1, weight=4),
    Column("before", "was", align="right", width=4, weight=4),
    Column("after", "now", align="right", width=4, weight=4),
    Column("query", "request", shorten="end", min_width=12, weight=5),
)
NO_RANK = "–"
# What nDCG@10 and hit@1 say of the labelled requests; the help has both terms.
TOP_TEN, FIRST_RIGHT = "top ten", "1st right"
COMPUTING = "computing …"
_CLAIM, _SHORT_CLAIM = "draft only; the server is unchanged", "draft only"
_WIDE = 90
_CELL = 37
_Both = tuple[float | None, float | None]
_UNKNOWN: _Both = (None, None)


@dataclass(frozen=True, slots=True)
class Reading:
    """The effect of an edit so far: None is not computed yet, `problem` is why it cannot be.

    `done` of `total` labelled requests are measured; `requests` names their evaluation set.
    """

    tokens_before: int | None = None
    tokens_after: int | None = None
    effect: QueryEffect | None = None
    cases: CaseEffect | None = None
    problem: str = ""
    done: int = 0
    total: int = 0
    requests: str = ""


def mark(reading: Reading) -> str:
    """Return the progress of the measurement."""
    if reading.problem:
        return "not measured"
    if reading.cases is not None:
        return "✓ ranks are current"
    return f"{reading.done:,} of {reading.total:,} …" if reading.done else COMPUTING


def title(tool_id: str, width: int) -> Content:
    """Return the tool, and that nothing is sent."""
    claim = _CLAIM if width >= _WIDE else _SHORT_CLAIM
    room = max(width - len(claim) - 2, 12)
    name = plain(middle(visible(tool_id, newlines=False), room)).stylize("bold")
    return Content.assemble(name, (f"  {claim}", MUTED))


def editor_title(edited: bool, aside: bool) -> str:
    """Return whose text the editor shows."""
    own = "The server's text"
    return "Your draft" if edited else f"{own} (ctrl+r for your draft)" if aside else own


def definition_json(tool: Tool) -> str:
    """Return the definition as JSON to paste: equal to the tool's, without hidden characters."""
    text = json.dumps(definition(tool), ensure_ascii=False, indent=2, default=str)
    if visible(text, limit=len(text)) == text:
        return text
    return json.dumps(definition(tool), indent=2, default=str)


def numbers(reading: Reading, width: int) -> Content:
    """Return every number before and after, in two columns if the width allows."""
    if reading.problem:
        return Content.assemble(("✕ ", "$text-error"), plain(reading.problem).stylize("$text-error"))
    cells = _cells(reading)
    if width < 2 * _CELL + 2:
        return Content("\n").join(cells)
    half = len(cells) // 2
    pairs = zip(cells[:half], cells[half:], strict=True)
    return Content("\n").join(Content.assemble(left, "   ", right) for left, right in pairs)


def _cells(reading: Reading) -> list[Content]:
    effect, cases = reading.effect, reading.cases
    before, after = (effect.before, effect.after) if effect else (None, None)
    values = (before.value, after.value) if before and after else _UNKNOWN
    alike = (effect.collisions_before, effect.collisions_after) if effect else _UNKNOWN
    return [
        _rank_line(before, after),
        _line("score", values, 3, more_is_better=True),
        _line("tokens", (reading.tokens_before, reading.tokens_after), 0, more_is_better=False),
        _line("too alike", alike, 0, more_is_better=False),
        _line(TOP_TEN, (cases.ndcg_before, cases.ndcg_after) if cases else _UNKNOWN, 3, more_is_better=True),
        _line(
            FIRST_RIGHT, (cases.hit_before, cases.hit_after) if cases else _UNKNOWN, 3, more_is_better=True
        ),
    ]


def _rank_line(before: Standing | None, after: Standing | None) -> Content:
    old, new = rank(before), rank(after)
    if before is None or after is None:
        return _row("rank", old, new, "", "")
    sign, style = moved(before, after)
    return _row("rank", old, new, sign, style)


def _line(label: str, both: _Both, digits: int, *, more_is_better: bool) -> Content:
    before, after = both
    if before is None or after is None:
        return _row(label, "…" if before is None else _number(before, digits), "…", "", "")
    change = round(after, digits) - round(before, digits)
    style = "" if not change else "$text-success" if (change > 0) is more_is_better else "$text-warning"
    signed = _number(change, digits, "+") if change else "="
    return _row(label, _number(before, digits), _number(after, digits), signed, style or MUTED)


def _number(value: float, digits: int, sign: str = "") -> str:
    return f"{value:{sign},.{digits}f}"


def _row(label: str, before: str, after: str, change: str, style: str) -> Content:
    numbers = f"{before:>8} → {after:>7}"
    return Content.assemble((f"{label:<10}", MUTED), numbers, (f"{change:>8}", style or MUTED))


def rank(standing: Standing | None) -> str:
    """Return a rank, or – if the ranker does not return the tool."""
    return "…" if standing is None else str(standing.rank) if standing.kept else NO_RANK


def moved(before: Standing, after: Standing) -> tuple[str, str]:
    """Return by how many ranks a tool moved, and a style."""
    if before.kept is not after.kept:
        return ("▲ new", "$text-success") if after.kept else ("▼ out", "$text-warning")
    rise = before.rank - after.rank if after.kept else 0
    if not rise:
        return "=", MUTED
    return (f"▲ {rise}", "$text-success") if rise > 0 else (f"▼ {-rise}", "$text-warning")


def around_rows(effect: QueryEffect, description: str = "") -> tuple[Record, ...]:
    """Return the edited tool, marked, among its neighbors; copying its row copies the `description`."""
    return tuple(_around_row(neighbor, effect, description) for neighbor in effect.around)


def _around_row(neighbor: Neighbor, effect: QueryEffect, description: str) -> Record:
    own = neighbor.tool_id == effect.edited_id
    before, after = neighbor.before, neighbor.after
    sign, style = moved(before, after)
    change = round(after.value, 3) - round(before.value, 3)
    cells = (
        rank(after),
        Content.styled(sign, style if own or sign == "=" else ""),
        f"{'▸ ' if own else ''}{neighbor.tool_id}",
        _number(after.value, 3),
        _number(change, 3, "+") if change else "",
    )
    tone: Tone = "accent" if own else "" if after.kept else "muted"
    copied = description if own and description else neighbor.tool_id
    return Record(neighbor.tool_id, cells, tone, copy=copied)


def around_title(effect: QueryEffect | None, tools: int) -> str:
    """Return the title of the list of tools."""
    return "For this query" if effect is None else f"For this query, among {count(tools, 'tool')}"


def change_rows(cases: CaseEffect) -> tuple[Record, ...]:
    """Return the requests that got worse, then those that got better."""
    worse = tuple(_change_row(change, "▼", "$text-warning") for change in cases.worse)
    return (*worse, *(_change_row(change, "▲", "$text-success") for change in cases.better))


def _change_row(change: CaseChange, sign: str, style: str) -> Record:
    before, after = (NO_RANK if r is None else str(r) for r in (change.before, change.after))
    cells = (Content.styled(sign, style), before, after, change.query)
    return Record(f"{sign}{change.id}", cells, copy=change.query)


def change_title(reading: Reading) -> str:
    """Return the title of the list of requests: their set, and how many got better or worse."""
    cases = reading.cases
    if cases is None:
        return "Requests"
    return f"{cases.measured:,} {reading.requests} requests ▲ {len(cases.better):,} ▼ {len(cases.worse):,}"


def why_no_rows(reading: Reading) -> str:
    """Return the text of an empty list."""
    if reading.problem:
        return "Nothing to compare."
    if reading.cases is None:
        return "Computing …"
    if not reading.cases.measured:
        return "No labelled requests to measure with."
    return "No request got better or worse."
