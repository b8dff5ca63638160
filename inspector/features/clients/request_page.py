"""The manifest page: exactly the text and the `tools` array that the model is sent."""

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import ToolKeys
from inspector.app.draw.line import MUTED
from inspector.app.list_page import ListPage
from inspector.app.stream import View
from inspector.core.budget import Tokenizer
from inspector.core.message import ModelRequest, NoteMessage
from inspector.core.number import count
from inspector.core.session import SessionState
from widgets import Column, Record, RecordList, TextView, Tone, ViewStrip

COLUMNS = (
    Column("what", "part of the request", weight=4, shorten="middle", min_width=16),
    Column("tokens", "tokens", align="right", weight=9),
)


def why_empty(session: SessionState) -> str:
    """Return why there is no manifest, and what to do."""
    if not session.ready_servers:
        return "No server is ready yet (see Tools)."
    if session.advisory:
        return "Every tool is bound, so there is no manifest: search_tools only helps the model choose one."
    return (
        "No tool is deferred, so the model gets every tool and no manifest.\n"
        "`defer_loading: true` in the configuration defers a server."
    )


def offers(request: ModelRequest) -> tuple[NoteMessage, ...]:
    """Return the notes with definitions that a gate gives in the conversation."""
    return tuple(m for m in request.messages if isinstance(m, NoteMessage) and m.offers)


def pretty(request: ModelRequest) -> str:
    """Return tools[] indented; it is sent compact."""
    return json.dumps(request.tools, ensure_ascii=False, indent=2) if request.tools else ""


def token_rows(
    request: ModelRequest,
    system: int,
    entries: Sequence[int],
    offered: int = 0,
    ids: Mapping[str, str] | None = None,
) -> tuple[Record, ...]:
    """Return the tokens of the system prompt, of every entry of tools[], and of tools[] as a whole.

    `offered` counts the definitions that a gate gives right before the user's message. `ids` has the tools'
    ids by the names that the model calls them; they are what is copied.
    """
    ids = ids or {}
    names = [str(entry["function"]["name"]) for entry in request.tools]
    rows = [_row("system prompt", system, "muted")]
    rows += [_row(name, tokens, copy=ids.get(name, "")) for name, tokens in zip(names, entries, strict=True)]
    rows.append(_row(f"whole array of {len(names)}", sum(entries), "accent"))
    return (*rows, _row("before the message", offered)) if offered else tuple(rows)


def label(tokenizer: Tokenizer, session: SessionState) -> Content:
    """Return the tokenizer of the counts, and what was cut from the manifest to fit its budget."""
    lines = [Content.styled(f"tokens counted by {tokenizer.label} in the compact JSON that is sent", MUTED)]
    lines += [Content.styled(f"shortened: {rule}", "$text-warning") for rule in session.manifest_rules]
    limit = session.settings.get("manifest", {}).get("max_tokens")
    if session.manifest_rules and limit:
        lines.append(Content.styled(f"to fit in {count(limit, 'token')} (manifest.max_tokens)", MUTED))
    return Content("\n").join(lines)


def _row(name: str, tokens: int, tone: Tone = "", *, copy: str = "") -> Record:
    return Record(name, (name, f"{tokens:,}"), tone, copy=copy)


_VIEWS = ("manifest", "tools array")


class ManifestScreen(ListPage, ToolKeys):
    """Manifest and tools[] as views, the tokens of every entry beside them."""

    page = "manifest"
    CSS_PATH = "request_page.tcss"
    AUTO_FOCUS = "#manifest-text TextLines"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "clients", id="page.view"),
        Binding("left", "view(-1)", "view", key_display="←→", id="manifest.view"),
        Binding("right", "view(1)", "next view", show=False, id="manifest.next_view"),
    ]
    titles: ClassVar[Mapping[str, str]] = {"manifest-tokens": "Tokens"}
    help_lines: ClassVar[tuple[str, ...]] = (
        "Manifest: the text inside search_tools that tells the model which tools it can find; with the",
        "gate, the summaries of all tools, which stay in the system prompt.",
        "tools array: what the next model call sends, indented here but sent compact.",
        "← → switch between the two; y copies the text, / searches it. tab goes to the tokens of each entry.",
        "There, enter opens a tool, w shows why it is or is not found, e edits it, l loads or unloads it.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._ids: dict[str, str] = {}

    def body(self) -> ComposeResult:
        with Container(id="manifest-page"):
            with Vertical(id="manifest-views", classes="pane"):
                yield ViewStrip(_VIEWS, id="manifest-strip")
                yield TextView(id="manifest-text")
                yield TextView(empty="No tools yet: no server is ready (see Tools).", id="manifest-array")
            with Vertical(id="manifest-tokens", classes="pane"):
                yield RecordList(COLUMNS, header=True, empty="Nothing to count yet.", id="manifest-table")
                yield Static(id="manifest-label", markup=False)

    def on_mount(self) -> None:
        self._show_text()

    def show_view(self, view: View) -> None:
        manifest = self.query_one("#manifest-text", TextView)
        manifest.empty, manifest.text = why_empty(view.state), view.state.manifest or view.state.pool
        super().show_view(view)

    def drawn_from(self, view: View) -> object:
        # Counting takes time, and most events change neither the prompt nor tools[].
        request, tokenizer = self.session.next_request(), self.session.accounting.meter.tokenizer
        return request.system, request.tools, offers(request), tokenizer, view.state.manifest_rules

    def draw(self) -> None:
        request, meter = self.session.next_request(), self.session.accounting.meter
        self.query_one("#manifest-array", TextView).text = pretty(request)
        self._ids = {tool.wire_name: tool.id for tool in self.session.catalog.seen}
        offered = sum(map(meter.message, offers(request)))
        entries = meter.entries(request.tools)
        rows = token_rows(request, meter.text(request.system), entries, offered, self._ids)
        self.list.records = rows
        self.write(label(meter.tokenizer, self.view.state), "#manifest-label")

    @property
    def tool_id(self) -> str:
        return self._ids.get(self.key, "")

    def opened(self, key: str) -> None:  # noqa: ARG002 - it is named as the model calls it
        if self.tool_id:
            self.open_tool(self.tool_id)

    def action_view(self, by: int) -> None:
        """Show the manifest or tools[], and focus the text."""
        self.query_one(ViewStrip).step(by)

    @on(ViewStrip.Chosen)
    def _chosen(self) -> None:
        self._show_text().focus()

    def _show_text(self) -> TextView:
        is_array = self.query_one(ViewStrip).current != _VIEWS[0]
        manifest = self.query_one("#manifest-text", TextView)
        array = self.query_one("#manifest-array", TextView)
        manifest.display, array.display = not is_array, is_array
        return array if is_array else manifest
