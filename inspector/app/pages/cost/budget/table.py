"""The table of tool tokens: servers and their tools, the most expensive first."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import ICONS
from inspector.core.budget import ToolCost
from inspector.core.number import count, percent, signed_percent, tokens
from inspector.core.session import Binding, SessionState, ToolState
from widgets import Column, Record

_WIDE = 112
_WIDER = 150
COLUMNS = (
    Column("icon", width=1),
    Column("name", "server and tool", weight=4, shorten="name", min_width=16),
    Column("tokens", "tokens", align="right", weight=9),
    Column("share", "share", align="right", weight=5),
    Column("state", "state", width=11, hide_below=60),
    Column("bar", "of all", width=10, hide_below=72),
    Column("name_tokens", "name", align="right", hide_below=_WIDE),
    Column("description", "descr.", align="right", hide_below=_WIDE),
    Column("schema", "schema", align="right", hide_below=_WIDE),
    Column("framing", "framing", align="right", hide_below=_WIDER),
    Column("estimate", "chars/4", align="right", hide_below=_WIDE),
    Column("error", "error", align="right", hide_below=_WIDE),
)
_BAR = 10
_SERVER = "server "


@dataclass(frozen=True, slots=True)
class Shown:
    """What the table shows besides the session: expanded servers, costs by part, and the what-if.

    `then` maps each tool id to its binding after the change (None if hidden); it is None without a change.
    """

    opened: frozenset[str] = frozenset()
    costs: Mapping[str, ToolCost] = field(default_factory=dict)
    then: Mapping[str, Binding | None] | None = None


def budget_rows(session: SessionState, shown: Shown) -> tuple[Record, ...]:
    """Return servers by cost, each expanded one followed by its tools by cost."""
    total = sum(tool.tokens for tool in session.tools.values())
    rows: list[Record] = []
    for server, tools in _by_server(session):
        rows.append(_server_row(server, tools, total, shown))
        if server in shown.opened:
            ordered = sorted(tools, key=lambda tool: -tool.tokens)
            rows += [_tool_row(tool, total, shown) for tool in ordered]
    return tuple(rows)


def opened_at_first(session: SessionState, rows: int) -> frozenset[str]:
    """Return as many of the most expensive servers as fit expanded into that many rows."""
    opened: set[str] = set()
    by_server = _by_server(session)
    room = rows - len(by_server)
    for server, tools in by_server:
        room -= len(tools)
        if room < 0:
            break
        opened.add(server)
    return frozenset(opened)


def _by_server(session: SessionState) -> list[tuple[str, list[ToolState]]]:
    """Return the tools of each server, the most expensive server first."""
    by_server: dict[str, list[ToolState]] = {}
    for tool in session.tools.values():
        by_server.setdefault(tool.server, []).append(tool)
    return sorted(by_server.items(), key=lambda pair: -sum(tool.tokens for tool in pair[1]))


def servers_of(tools: Collection[ToolState]) -> frozenset[str]:
    """Return the servers of these tools."""
    return frozenset(tool.server for tool in tools)


def is_server(key: str) -> bool:
    """Whether a row's key is that of a server; a tool's key has no space before its colon."""
    return key.startswith(_SERVER)


def server_of(key: str) -> str:
    """Return the server of a row, be it the server's own or one of its tools'."""
    return key.removeprefix(_SERVER) if is_server(key) else key.partition(":")[0]


def server_key(name: str) -> str:
    """Return the key of a server's row."""
    return f"{_SERVER}{name}"


def _server_row(server: str, tools: Sequence[ToolState], total: int, shown: Shown) -> Record:
    cost = sum(tool.tokens for tool in tools)
    name = f"{server} ({count(len(tools), 'tool')})"
    cells = (
        "▾" if server in shown.opened else "▸",
        name,
        tokens(cost),
        _share(cost, total),
        _server_state(tools, shown),
        Content.styled(_bar(cost, total), "$primary"),
        *_parts(tools, shown),
    )
    return Record(server_key(server), cells, "accent", copy=server)


def _tool_row(tool: ToolState, total: int, shown: Shown) -> Record:
    icon, color = ICONS[tool.binding]
    cells = (
        Content.styled(icon, color),
        f"  {tool.id}",
        tokens(tool.tokens),
        _share(tool.tokens, total),
        _state(tool, shown),
        Content.styled(_bar(tool.tokens, total), MUTED),
        *_parts([tool], shown),
    )
    return Record(tool.id, cells, copy=tool.id)


def _server_state(tools: Sequence[ToolState], shown: Shown) -> Content | str:
    now = _together([_start(tool.binding) for tool in tools])
    if shown.then is None:
        return now
    then = _together([shown.then.get(tool.id) for tool in tools])
    return now if then == now else _arrow(then)


def _state(tool: ToolState, shown: Shown) -> Content | str:
    now = tool.binding.value
    if shown.then is None:
        return now
    then = shown.then.get(tool.id)
    if then is _start(tool.binding):
        return now
    return _arrow("hidden" if then is None else then.value)


def _start(binding: Binding) -> Binding:
    """Return how a tool started out, before searches and guards changed its binding."""
    return Binding.PINNED if binding is Binding.PINNED else Binding.DEFERRED


def _together(bindings: Sequence[Binding | None]) -> str:
    kinds = set(bindings)
    if kinds == {None}:
        return "hidden"
    if kinds == {Binding.PINNED}:
        return "bound"
    if kinds == {Binding.DEFERRED}:
        return "deferred"
    return f"{sum(binding is Binding.PINNED for binding in bindings)} pinned"


def _arrow(text: str) -> Content:
    return Content.styled(f"→ {text}", "bold $text-accent")


def _parts(tools: Sequence[ToolState], shown: Shown) -> tuple[str, ...]:
    """Return tokens by part and the error of four characters per token, once all are counted.

    A tool that is not connected now, as in a replay, has no definition to count.
    """
    costs = [shown.costs[tool.id] for tool in tools if tool.id in shown.costs]
    if len(costs) < len(tools):
        return ("–" if shown.costs else "…",) * 6
    counted = sum(cost.tokens for cost in costs)
    estimate = sum(cost.estimate for cost in costs)
    return (
        tokens(sum(cost.name for cost in costs)),
        tokens(sum(cost.description for cost in costs)),
        tokens(sum(cost.schema for cost in costs)),
        tokens(sum(cost.framing for cost in costs)),
        tokens(estimate),
        signed_percent(estimate / counted - 1) if counted else "",
    )


def _share(cost: int, total: int) -> str:
    return percent(cost / total) if total else ""


def _bar(cost: int, total: int) -> str:
    return "━" * max(round(_BAR * cost / total), bool(cost)) if total else ""
