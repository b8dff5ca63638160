"""The rows of servers and their tools, made again only where something changed."""

from collections.abc import Collection, Mapping
from itertools import chain

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.draw.table import ICONS
from inspector.core.number import tokens
from inspector.core.server import ServerPhase
from inspector.core.session import Binding as Bound, ServerState, SessionState, ToolState
from inspector.core.text import first_sentence
from inspector.core.tool import Catalog, Tool
from inspector.features.tools.panel import shown_state
from inspector.search.index.vocabulary import Tags
from widgets import Column, Record, Tone, plain

COLUMNS = (
    Column("name", "server, tool", weight=5, shorten="name", min_width=14),
    Column("tools", "tools", align="right", weight=3, yields=True),
    Column("state", "state", min_width=10, weight=4),
    Column("tokens", "tokens", align="right", weight=9),
    Column("about", "about", weight=4, min_width=12, hide_below=72),
)
_SERVER = "server\0"
_SENTENCE = 300


def server_key(name: str) -> str:
    """The key of a server's row; that of a tool is its id."""
    return f"{_SERVER}{name}"


def server_of(key: str) -> str:
    """The server that a row stands for; "" for the row of a tool."""
    return key.removeprefix(_SERVER) if key.startswith(_SERVER) else ""


class CatalogRows:
    """The rows of a session: `update` takes its state, `shown` folds and unfolds."""

    def __init__(self) -> None:
        self._seen: tuple[object, ...] = ()
        self._tags = Tags()
        self._made: dict[str, tuple[ToolState, Tool | None, Record]] = {}
        self._groups: dict[str, list[Record]] = {}
        self._servers: Mapping[str, ServerState] = {}
        self._server_rows: dict[str, tuple[ServerState, int, bool, Record]] = {}
        self.keys: Collection[str] = frozenset()
        """The keys of all rows, shown or folded."""

    def update(self, session: SessionState, catalog: Catalog, tags: Tags | None = None) -> bool:
        """Make the rows that changed; return False if nothing did."""
        tags = tags or Tags()
        seen = (session.servers, session.tools, session.held, catalog)
        if tags != self._tags:
            self._made = {}
        elif len(self._seen) == len(seen) and all(map(lambda old, new: old is new, self._seen, seen)):
            return False
        self._seen, self._servers, self._tags = seen, session.servers, tags
        self._groups = {name: [] for name in session.servers}
        made: dict[str, tuple[ToolState, Tool | None, Record]] = {}
        for state in chain(session.tools.values(), session.held.values()):
            tool = catalog.get(state.id) or session.recorded(state.id)
            known = self._made.get(state.id)
            if known is None or known[0] is not state or known[1] is not tool:
                known = (state, tool, _tool_row(state, tool, tags))
            made[state.id] = known
            self._groups.setdefault(state.server, []).append(known[2])
        self._made = made
        rows = (row.key for group in self._groups.values() for row in group)
        self.keys = {*rows, *map(server_key, self._groups)}
        return True

    def shown(self, folded: Collection[str] = ()) -> tuple[Record, ...]:
        """The rows in order, without the tools of the folded servers."""
        shown: list[Record] = []
        for name, rows in self._groups.items():
            is_folded = name in folded
            shown.append(self._server_row(name, len(rows), is_folded=is_folded))
            shown += () if is_folded else rows
        return tuple(shown)

    def _server_row(self, name: str, listed: int, *, is_folded: bool) -> Record:
        known, server = self._server_rows.get(name), self._servers.get(name) or ServerState(name)
        if known is None or known[:3] != (server, listed, is_folded):
            row = _server_row(server, listed, is_folded=is_folded)
            known = self._server_rows[name] = (server, listed, is_folded, row)
        return known[3]


def _server_row(server: ServerState, listed: int, *, is_folded: bool) -> Record:
    word, color, tone = shown_state(server)
    ready = server.phase is ServerPhase.READY
    shown = server.tools if ready or server.phase is ServerPhase.CONNECTING else 0
    fold = "▸" if is_folded else "▾"
    cells = (
        Content.assemble(f"{fold} " if listed else "  ", plain(server.name, newlines=False)).stylize("bold"),
        f"{shown or listed}" if ready or shown or listed else "",
        Content.styled(word, color),
        tokens(server.tokens) if ready else "",
        server.reason if server.phase is ServerPhase.FAILED else _about(server),
    )
    return Record(server_key(server.name), cells, tone, search=server.name, copy=server.name, is_heading=True)


def _about(server: ServerState) -> Content:
    """What a server says of itself, after what is not as a person approved it."""
    news = [file.brief for file in server.changed]
    news += [f"version {server.info.version}"] if server.approved_version else []
    warned = f"⚠ {', '.join(news)}  " if news else ""
    told = plain(server.info.summary, newlines=False, limit=_SENTENCE)
    return plain(warned, newlines=False).stylize("$text-warning") + told


def _tool_row(state: ToolState, tool: Tool | None, tags: Tags) -> Record:
    icon, color = ICONS[state.binding]
    name = tool.name if tool is not None else state.id.partition(":")[2]
    description = tool.description if tool is not None else ""
    cells = (
        f"  {name}",
        "",
        Content.styled(f"{icon} {state.binding.value}", color),
        tokens(state.tokens),
        Content.styled(first_sentence(description)[:_SENTENCE], MUTED),
    )
    tagged = " ".join(f"#{tag}" for tag in tags.of(tool)) if tool is not None else ""
    tone: Tone = "muted" if state.binding is Bound.HELD else ""
    return Record(state.id, cells, tone, search=f"{state.id} {tagged} {description}", copy=state.id)
