"""Where the tool tokens are: servers and their tools, the dearest first."""

from textual.content import Content

from inspector.app.presenters.tools import ICONS
from inspector.domain.number import percent, tokens
from inspector.domain.session import SessionState, ToolState
from widgets import Column, Record

COLUMNS = (
    Column("icon", width=1),
    Column("name", "server and tool", weight=4, shorten="middle", min_width=16),
    Column("tokens", "tokens", align="right", weight=9),
    Column("share", "share", align="right", weight=5),
    Column("state", "state", width=8, hide_below=60),
    Column("bar", "of all tool tokens", width=24, hide_below=90),
)
_BAR = 24
_SERVER = "server "


def budget_rows(session: SessionState) -> tuple[Record, ...]:
    """Servers by cost, each followed by its tools by cost."""
    total = sum(tool.tokens for tool in session.tools.values())
    by_server: dict[str, list[ToolState]] = {}
    for tool in session.tools.values():
        by_server.setdefault(tool.server, []).append(tool)
    ordered = sorted(by_server.items(), key=lambda pair: -sum(tool.tokens for tool in pair[1]))
    rows: list[Record] = []
    for server, tools in ordered:
        rows.append(_server_row(server, tools, total))
        rows += [_tool_row(tool, total) for tool in sorted(tools, key=lambda tool: -tool.tokens)]
    return tuple(rows)


def _server_row(server: str, tools: list[ToolState], total: int) -> Record:
    cost = sum(tool.tokens for tool in tools)
    name = f"{server} ({len(tools)} tool{'s' * (len(tools) != 1)})"
    cells = ("▾", name, tokens(cost), _share(cost, total), "", _bar(cost, total))
    return Record(f"{_SERVER}{server}", cells, "accent", copy=server)


def is_server(key: str) -> bool:
    """Whether a row's key is a server's; the ids of tools have no space."""
    return key.startswith(_SERVER)


def _tool_row(tool: ToolState, total: int) -> Record:
    icon, color = ICONS[tool.binding]
    cells = (
        Content.styled(icon, color),
        f"  {tool.id}",
        tokens(tool.tokens),
        _share(tool.tokens, total),
        tool.binding.value,
        _bar(tool.tokens, total),
    )
    return Record(tool.id, cells, copy=tool.id)


def _share(cost: int, total: int) -> str:
    return percent(cost / total) if total else ""


def _bar(cost: int, total: int) -> str:
    return "━" * round(_BAR * cost / total) if total else ""
