"""Facts, tables and rows of tools as lines of a given width.

Numbers are never cut. Headers and text cells wrap between words.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace
from textual.content import Content

from inspector.app.draw.columns import TableLayout, cells
from inspector.app.draw.line import MUTED
from inspector.core.number import shown_moment, tokens
from inspector.core.report import Block, Fact, Table
from inspector.core.session import Binding, SessionState, ToolState
from widgets import Column, Record, plain, visible

_LEAST = 12
# Cells between two columns, and where those do not fit.
_GAPS = (2, 1)


def fact(label: str | Content, value: Content, labels: int, width: int) -> Content:
    """Return a label of `labels` cells, and the value in lines of what is left of `width`.

    Where too little is left, the value is left to wrap as it comes.
    """
    shown = label if isinstance(label, Content) else Content.styled(label, MUTED)
    head = shown.pad_right(max(labels - shown.cell_length, 1))
    room = width - labels
    rows = value.wrap(room) if room >= _LEAST else [value]
    return Content.assemble(head, Content(f"\n{' ' * labels}").join(rows or [Content("")]))


_LONGEST = 2_000


def fact_lines(facts: Iterable[Fact], labels: int, width: int) -> Content:
    """Return facts whose labels take `labels` cells, without those that have no text; ⚠ marks a warning."""
    shown = (
        (Content.styled(f"⚠ {one.label}", "$text-warning") if one.warns else one.label, one)
        for one in facts
        if one.text
    )
    lines = (
        fact(label, plain(one.text, limit=_LONGEST, newlines=not one.warns), labels, width)
        for label, one in shown
    )
    return Content("\n").join(lines)


def report_lines(report: Iterable[Block], width: int) -> Iterator[Content]:
    """Return lines, facts and tables in lines of at most `width` cells."""
    for part in report:
        if isinstance(part, str):
            yield Content(visible(part))
            continue
        if part.title:
            yield Content.styled(visible(part.title), "bold")
        if isinstance(part, Table):
            yield from table_lines(part, width)
            for note in part.notes:
                yield from Content.styled(visible(note), MUTED).wrap(max(width, 1))
        else:
            labels = max((cells(one.label) for one in part.facts), default=0) + _GAPS[0]
            for one in part.facts:
                text = Content(visible(one.text))
                yield fact(one.label, text.stylize("$text-warning") if one.warns else text, labels, width)


def table_lines(table: Table, width: int) -> Iterator[Content]:
    """Return the table in lines of at most `width` cells, unless `width` is tiny."""
    headers, *rows = (tuple(map(_line, row)) for row in (table.headers, *table.rows))
    shown = replace(table, headers=headers, rows=tuple(rows))
    layouts = (TableLayout(shown, gap) for gap in _GAPS)
    layout = next((one for one in layouts if one.least_width <= width), None)
    if layout is None:
        yield from _blocks(headers, rows)
        return
    styles = ([MUTED] * len(headers), *(list(map(_style, row)) for row in rows))
    for row, of_row in zip(layout.rows(width), styles, strict=True):
        for parts in row:
            yield Content(" " * layout.gap).join(map(Content.styled, parts, of_row)).rstrip()


def _line(text: str) -> str:
    return visible(text, newlines=False)


def _style(cell: str) -> str:
    if cell.startswith(("✓", "✕")):
        return "bold $text-success" if cell.startswith("✓") else "bold $text-error"
    return ""


def _blocks(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[Content]:
    """Return each row under its first cell, as `header value` pairs."""
    for row in rows:
        pairs = [
            Content.assemble((f"{header} ", MUTED), cell)
            for header, cell in zip(headers[1:], row[1:], strict=True)
        ]
        yield Content.styled(row[0] if row else "", "bold")
        yield Content("  ") + Content("   ").join(pairs)


ICONS = {
    Binding.PINNED: (Binding.PINNED.sign, "$text-primary"),
    Binding.LOADED: (Binding.LOADED.sign, "$text-success"),
    Binding.DEFERRED: (Binding.DEFERRED.sign, MUTED),
    Binding.EVICTED: (Binding.EVICTED.sign, "$text-error"),
    Binding.HELD: (Binding.HELD.sign, "$text-warning"),
}
COLUMNS = (
    Column("icon", width=1),
    Column("tool", "tool", weight=4, shorten="name", min_width=12),
    Column("tokens", "tok", align="right"),
    Column("uses", "used", align="right", hide_below=34),
    Column("found", "found", width=5, hide_below=44),
    Column("last", "last", width=5, hide_below=44),
    Column("note", "", weight=2, min_width=6, hide_below=44),
)
_ROWS: dict[str, tuple[ToolState, Record]] = {}


def loaded_rows(session: SessionState, ttl: float = 0.0) -> tuple[Record, ...]:
    """Return the pinned tools, then the loaded ones in load order, then those held as one or the other.

    `ttl` is how many seconds a loaded tool stays after its last use, 0 for as long as there is room.
    """
    bound = [session.tools[tool_id] for tool_id in session.bound_ids if tool_id in session.tools]
    held = (*session.held_as(Binding.PINNED), *session.held_as(Binding.LOADED))
    return (*(_staying(tool, ttl) for tool in bound), *map(_kept_row, held))


def deferred_rows(session: SessionState) -> tuple[Record, ...]:
    """Return the tools that wait for a search, then those that will once their server is back."""
    waiting = (*session.with_binding(Binding.DEFERRED), *session.held_as(Binding.DEFERRED))
    return tuple(map(_kept_row, waiting))


def evicted_rows(session: SessionState) -> tuple[Record, ...]:
    """Return the evicted tools, then those whose server went away after they were evicted."""
    return tuple(map(_kept_row, (*session.with_binding(Binding.EVICTED), *session.held_as(Binding.EVICTED))))


def _row(tool: ToolState) -> Record:
    icon, color = ICONS[tool.binding]
    uses = f"{tool.uses}x" if tool.uses else ""
    found = "pinned" if tool.binding is Binding.PINNED else _time(tool.discovered_at)
    last = _time(tool.last_used_at) if tool.uses else ""
    return Record(
        key=tool.id,
        cells=(Content.styled(icon, color), tool.id, tokens(tool.tokens), uses, found, last, _note(tool)),
        search=f"{tool.id} {tool.reason}",
        copy=tool.id,
    )


def _kept_row(tool: ToolState) -> Record:
    """A tool's row, made again only where an event changed the tool: a session's state keeps the others."""
    kept = _ROWS.get(tool.id)
    if kept is None or kept[0] is not tool:
        kept = _ROWS[tool.id] = (tool, _row(tool))
    return kept[1]


def _staying(tool: ToolState, ttl: float) -> Record:
    """Return a bound tool's row; a tool that expires shows when, if nothing else is noted of it."""
    row, seen = _kept_row(tool), tool.last_used_at or tool.discovered_at
    if ttl <= 0 or seen is None or tool.binding is Binding.PINNED or row.cells[-1]:
        return row
    return replace(row, cells=(*row.cells[:-1], f"until {_time(seen + ttl)}"))


def _time(seconds: float | None) -> str:
    return "" if seconds is None else shown_moment(seconds, "%H:%M")


def _note(tool: ToolState) -> str:
    if tool.binding is Binding.HELD:
        return "held: server away"
    if tool.binding is Binding.EVICTED:
        return tool.reason
    if tool.is_ahead:
        return "bound ahead"
    if tool.changed_call is not None and tool.changed_call >= (tool.last_call or 0):
        return f"changed in call {tool.changed_call}"
    return ""


def usage(session: SessionState) -> str:
    """Return discovery accuracy in words: how many of the found tools were called."""
    if not session.discovered:
        return ""
    used = len(session.discovered & session.used)
    return f"{used} of {len(session.discovered)} found tools used"
