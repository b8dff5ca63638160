"""Rows of the panes of loaded, deferred and evicted tools."""

from dataclasses import replace

from textual.content import Content

from inspector.app.draw.identity_cache import IdentityCache
from inspector.app.draw.style import MUTED
from inspector.core.moment import shown_moment
from inspector.core.number import tokens
from inspector.core.session import Binding, SessionState, ToolState
from widgets import Column, Record

ICONS = {
    Binding.PINNED: ("⌂", "$text-primary"),
    Binding.LOADED: ("●", "$text-success"),
    Binding.DEFERRED: ("○", MUTED),
    Binding.EVICTED: ("✕", "$text-error"),
    Binding.HELD: ("‖", "$text-warning"),
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
_ROWS_KEPT = 50_000


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


# A session's state keeps the tools that an event did not change.
_kept_row = IdentityCache(_row, most=_ROWS_KEPT)


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
