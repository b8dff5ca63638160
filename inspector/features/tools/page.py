"""The servers and their tools in one list on the left, everything about the chosen one on the right."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Button, Input, Static, TextArea

from inspector.app.base_screen import NO_TOOL, ToolKeys
from inspector.app.list_page import ListPage
from inspector.app.place import Destination, FindingsPage, ServerPage, ToolPage
from inspector.app.stream import View
from inspector.core.number import count
from inspector.core.text import file_name
from inspector.features.tools.catalog_rows import COLUMNS, CatalogRows, server_key, server_of
from inspector.features.tools.panel import NO_SERVER, ServerPanel
from inspector.features.tools.server_actions import ServerActions
from inspector.features.tools.tool_panel import ToolPanel, exact_json
from inspector.features.tools.wire_panel import exported
from widgets import FocusFrame, RecordList, SchemaForm

_ON_A_SERVER = frozenset({"stop", "reconnect", "trust", "ping"})
_ON_A_REMOTE_SERVER = frozenset({"sign_in", "sign_out"})
_ON_A_TOOL = frozenset({"why", "edit_tool", "load", "call"})


# Long because every key of the list and of its two kinds of rows is here, each in a few lines.
class ToolsScreen(ListPage, ToolKeys, ServerActions):
    """Servers and tools as one list; at less than 100 columns the list and the detail take turns."""

    page = "servers"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#catalog RecordRows"
    titles: ClassVar[Mapping[str, str]] = {"catalog": "Servers and tools"}
    help_lines: ClassVar[tuple[str, ...]] = (
        "Every server with its tools. enter opens one, esc goes back to the list. ← → change the view, and",
        "so does the letter that is underlined in its name. W: the messages of the server, also from a tool.",
        "space folds a server; / searches names and descriptions, including folded servers.",
        "On a tool, w (why) and e (edit) open in Search, and l loads it for the model, or unloads it; on a",
        "server the same letters open its views. The last line says which.",
        "v lists the findings for the server or tool under the cursor, V those about trust.",
        "On a server: r reconnects, S stops, R reconnects all failed servers; D (doctor) walks from its",
        "entry in the configuration to the model, up to the step that loses a tool.",
        "On a server with an address: i signs in (OAuth) after asking about the address, I signs out.",
        "stderr shows the end of its output, log its log messages, wire JSON-RPC in both directions and the",
        "status and headers of HTTP. There, / method:tools/ finds methods; enter shows a request with its",
        "answer, from either. P on a server pings it; esc cancels.",
        "resources and prompts: enter reads one, or asks for arguments; ↓ fills in the server's proposals.",
        "r reads it again, x saves it, esc shows the list.",
        "The wire log stays in memory and is never stored. Secrets are redacted.",
        "c opens the call: tab changes the field, enter or ctrl+r calls, esc cancels the call, r repeats it.",
        "ctrl+t changes between fields and JSON; ctrl+↑ lists earlier and saved calls: enter fills one in.",
        "esc leaves a field; then y copies the call as a line or JSON-RPC, and x saves the call with a",
        "name, to repeat and compare it, or an image of its result to a file.",
        "A call that may change something asks first; one that its server calls read-only asks once.",
        "On a server: T toggles trust in its annotations for this session. For good: set trust_annotations.",
        "x exports the tool's definition or the server's wire log, y copies the name.",
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "findings('')", "findings", id="tools.findings"),
        Binding("V", "findings('trust')", "trust", show=False, id="tools.trust_findings"),
        # A letter is the view of a server's row, and something else on a tool's.
        Binding("w", "why", "why", id="tool.why"),
        Binding("e", "edit_tool", "edit", id="tool.edit"),
        Binding("l", "load", "load/unload", id="tool.load"),
        Binding("w", "show('wire')", "wire", id="tools.server_wire"),
        Binding("e", "show('stderr')", "stderr", id="tools.stderr"),
        Binding("l", "show('log')", "log", id="tools.log"),
        Binding("D", "show('doctor')", "doctor", show=False, id="tools.doctor"),
        Binding("u", "show('resources')", "resources", show=False, id="tools.resources"),
        Binding("m", "show('prompts')", "prompts", show=False, id="tools.prompts"),
        Binding("a", "show('about')", "about", show=False, id="tools.about"),
        Binding("J", "show('JSON')", "JSON", show=False, id="tools.json"),
        Binding("W", "wire", "wire", show=False, id="tools.wire"),
        Binding("c", "call", "call", id="tools.call"),
        Binding("left", "view(-1)", "view", key_display="←→", id="tools.view"),
        Binding("right", "view(1)", "next view", show=False, id="tools.next_view"),
        Binding("space", "fold", "fold", id="tools.fold"),
        Binding("r", "reconnect", "reconnect", id="tools.reconnect"),
        Binding("r", "run", "call again", id="tools.repeat"),
        Binding("i", "sign_in", "sign in", id="tools.sign_in"),
        Binding("I", "sign_out", "sign out", show=False, id="tools.sign_out"),
        Binding("S", "stop", "stop", id="tools.stop"),
        Binding("P", "ping", "ping", show=False, id="tools.ping"),
        Binding("T", "trust", "trust", show=False, id="tools.trust"),
        Binding("R", "reconnect_failed", "reconnect failed", show=False, id="tools.reconnect_failed"),
        Binding("x", "export", "export", id="tools.export"),
        Binding("y", "copy", "copy", show=False, id="tools.copy"),
        Binding("ctrl+r", "run", "call", show=False, id="tools.run"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._rows = CatalogRows()
        self._folded: frozenset[str] = frozenset()
        self._selected = ""
        self._is_drawing = self._is_filtered = False
        self._came_from_elsewhere = False
        self._back_to = ""

    def body(self) -> ComposeResult:
        with Horizontal(id="catalog-page"):
            empty = "No server has started yet." if self.session.configuration.servers else NO_SERVER
            yield RecordList(COLUMNS, header=True, empty=empty, id="catalog", classes="pane")
            with FocusFrame(id="detail") as detail:
                detail.border_subtitle = "← → view"
                yield Static("Nothing selected.", id="nothing", markup=False)
                yield ServerPanel(id="server")
                yield ToolPanel(id="tool")

    def on_mount(self) -> None:
        self.watch(self.list, "filter_text", self._filtered, init=False)

    @property
    def _panel(self) -> ServerPanel | ToolPanel:
        return self.query_one(ServerPanel) if self.server else self.query_one(ToolPanel)

    @property
    def server(self) -> str:
        """The chosen server; "" if a tool is chosen."""
        return server_of(self._selected)

    @property
    def tool_id(self) -> str:
        """The chosen tool; "" if a server is chosen."""
        return "" if self.server else self._selected

    def arrive(self, destination: Destination) -> None:
        """Show a tool or a server, or the page as it was left; esc leads back to where it was asked for."""
        if isinstance(destination, ToolPage):
            self._folded -= {destination.tool_id.partition(":")[0]}
            self.when_ready(partial(self._go, destination.tool_id))
        elif isinstance(destination, ServerPage):
            self.when_ready(partial(self._go, server_key(destination.name)))

    def _go(self, key: str) -> None:
        if not any(row.key == key for row in self.list.shown):
            self.list.filter_text = ""
        self._show_rows()
        self._select(key)
        self.list.move_to(key)
        self._open_detail()
        self._came_from_elsewhere = True

    def show_view(self, view: View) -> None:
        if self._rows.update(view.state, self.session.catalog, self.session.retrieval.tags):
            self._show_rows()
        self._draw_soon()

    def _filtered(self, text: str) -> None:
        if self._folded and bool(text.strip()) != self._is_filtered:
            self._show_rows()

    def _show_rows(self) -> None:
        """Show the rows; a filter looks into folded servers too."""
        self._is_filtered = bool(self.list.filter_text.strip())
        folded = frozenset() if self._is_filtered else self._folded
        self.list.records = self._rows.shown(folded)
        if self._selected in self._rows.keys:
            self.list.move_to(self._selected)

    def moved(self) -> None:
        key = self.key
        is_gone = self._selected not in self._rows.keys
        # A row that goes while its detail is read leaves the detail where it is, for it may come back.
        if key != self._selected and not (self._selected and is_gone and not self._is_in_list):
            self._came_from_elsewhere = False
            self._select(key)

    def _select(self, key: str) -> None:
        self._selected = key
        self._draw_soon()
        self.refresh_bindings()

    @property
    def _is_in_list(self) -> bool:
        return self.focused is not None and self.list in self.focused.ancestors_with_self

    def _draw_soon(self) -> None:
        """Draw the detail once the messages that wait are handled, however far the cursor moves by them."""
        if not self._is_drawing:
            self._is_drawing = True
            self.call_later(self._draw)

    def _draw(self) -> None:
        self._is_drawing = False
        server, tool = self.query_one(ServerPanel), self.query_one(ToolPanel)
        server.display, tool.display = bool(self.server), bool(self.tool_id)
        self.query_one("#nothing").display = not self._selected
        if self.server:
            server.show(self.server)
        elif self.tool_id:
            tool.show(self.tool_id)

    def opened(self, _key: str) -> None:
        self._open_detail()

    def _open_detail(self) -> None:
        self.add_class("-opened")
        self._draw()
        self._focus_view()

    def _focus_view(self) -> None:
        part = next(part for part in self._panel.query(".part") if part.display)
        widgets = (widget for widget in (part, *part.query("*")) if widget.focusable)
        shown = (one for one in widgets if all(each.display for each in one.ancestors_with_self))
        next(shown, self._panel.strip).focus()

    @property
    def _is_calling(self) -> bool:
        """Whether a call runs whose form or answer has the focus."""
        is_shown = bool(self.tool_id) and self._panel.strip.current == "call"
        return is_shown and self.query_one(ToolPanel).call.shows_call and not self._is_in_list

    def action_leave_input(self) -> None:
        """Leave a field of the form, unless there is a call to cancel first."""
        if self._is_calling or self.query_one(ServerPanel).is_asked:
            raise SkipAction
        super().action_leave_input()

    def leave_input(self) -> None:
        """Leave a field of the form for its button, where letters are keys; any other input for the list."""
        form = next((one for one in self.query(SchemaForm) if one.has_focus_within), None)
        if form is None:
            super().leave_input()
        else:
            form.query_one(Button).focus()

    async def action_leave(self) -> None:
        """Cancel the running call, ping or sign-in, or go back: to the list, or to the page that led here."""
        if self.running is not None:
            self.stop_running()
            return
        if self._is_calling:
            self.query_one(ToolPanel).call.cancel()
            return
        leaves = self._is_in_list or self._came_from_elsewhere
        self.list.move_to(self._back_to)
        self._came_from_elsewhere, self._back_to = False, ""
        self.remove_class("-opened")
        self.list.focus()
        if leaves:
            await self.app.run_action("app.back")

    def _has_tool(self) -> bool:
        if self.tool_id and self.query_one(ToolPanel).tool is None:
            self.warn("This tool is no longer in the catalog.")
            return False
        return super()._has_tool()

    def why_not(self, action: str) -> str:
        """The keys of a row are those of its kind, and some those of the view that is shown."""
        if action in _ON_A_SERVER and not self.server:
            return "Put the cursor on a server first."
        if action in _ON_A_TOOL and not self.tool_id:
            return NO_TOOL
        specs = self.session.configuration.servers
        if action in _ON_A_REMOTE_SERVER and not any(one.is_http for one in specs if one.name == self.server):
            return "Only a server with an address is signed in to."
        if action == "run" and not (self.tool_id and self._panel.strip.current == "call"):
            return "Only in the view call: ← → change the view."
        return super().why_not(action)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Fold only in the list: elsewhere a blank is typed. Views are those that the strip offers."""
        if action == "show":
            return bool(self._selected) and parameters[0] in self._panel.strip.views
        return super().check_action(action, parameters) and (action != "fold" or self._is_in_list)

    def action_view(self, by: int) -> None:
        """Show the next view of the tool or the server."""
        if isinstance(self.focused, Input | TextArea) or not self._selected:
            raise SkipAction
        self._panel.strip.step(by)
        self.refresh_bindings()
        if not self._is_in_list:
            self._panel.strip.focus()

    def action_show(self, view: str) -> None:
        """Show a view of the tool or the server, and go into it."""
        self._panel.strip.current = view
        self._panel.show_part()
        self._open_detail()
        self.refresh_bindings()

    def action_wire(self) -> None:
        """Show the messages of the server under the cursor, or of the tool's; esc leads back to that."""
        self._back_to = self.tool_id
        if self.tool_id:
            self._go(server_key(self.tool_id.partition(":")[0]))
            self._came_from_elsewhere = False
        if self.server:
            self.action_show("wire")

    def action_findings(self, stage: str) -> None:
        """Show what is found about the server or the tool under the cursor, or about its trust."""
        self.open(FindingsPage(self.server or self.tool_id, stage))

    def action_fold(self) -> None:
        """Fold or unfold the server under the cursor, or that of the tool under the cursor."""
        if not self._selected:
            return
        name = self.server or self._selected.partition(":")[0]
        self._folded ^= {name}
        self._selected = server_key(name)
        self._show_rows()

    async def action_call(self) -> None:
        """Open the form of the tool under the cursor."""
        panel = self.query_one(ToolPanel)
        panel.open_call()
        self._open_detail()
        await panel.call.query_one(SchemaForm).open()

    def action_run(self) -> None:
        """Call the tool with the form's values."""
        self.query_one(ToolPanel).call.submit()

    def action_copy(self) -> None:
        """Copy the id of the tool or the name of the server."""
        name = self.server or self.tool_id
        if name:
            self.copy(name, name)

    def action_export(self) -> None:
        """Write the tool's definition or the server's wire log to a file, or the page."""
        tool = self.query_one(ToolPanel).tool if self.tool_id else None
        log = self.session.wire(self.server) if self.server else None
        frames = log.frames() if log is not None else ()
        if tool is not None:
            what = ".json: the tool's definition"
            self.share(f"{file_name(tool.id)}.json", lambda: f"{exact_json(tool)}\n", what)
        elif frames:
            what = f".jsonl: the wire log ({count(len(frames), 'message')})"
            self.share(f"{file_name(self.server)}-wire.jsonl", lambda: exported(frames), what)
        else:
            self.share()
