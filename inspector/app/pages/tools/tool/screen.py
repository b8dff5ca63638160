"""The tool page: a tool's description, its definition as sent, and a form to call it."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static, TabbedContent, TabPane
from textual.worker import Worker

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.dialogs.approval_text import approval_body
from inspector.app.draw.style import MUTED
from inspector.app.pages.tools.tool import content
from inspector.app.pages.tools.tool.answer import CallAnswer
from inspector.app.pages.tools.tool.form import form_fields
from inspector.domain.approval import why_ask
from inspector.domain.error import ToolsightError
from inspector.domain.events import CallFinished
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolResult
from inspector.domain.session import Binding as Bound, ToolState
from inspector.domain.tool import Tool
from inspector.engine.ports import ApprovalRequest
from widgets import Choice, Confirm, KeyBar, SchemaForm, SchemaTree, TextView, visible

_CALL, _NO = "call", "no"
_CHOICES = (Choice("c", "call it", _CALL), Choice("n", "no", _NO))
_RUNNING = Content.styled("calling …   esc cancels", "$text-warning")


class ToolScreen(BaseScreen):
    """Everything about one tool of the catalog."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "Tabs"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("l", "load", "load", id="tool.load"),
        Binding("e", "evict", "evict", id="tool.evict"),
        Binding("y", "copy_id", "copy id", id="tool.copy"),
        Binding("ctrl+r", "run", "call", show=False, id="tool.run"),
        *(
            Binding(str(number), f"tab('{name}')", name, show=False, id=f"tool.tab.{name}")
            for number, name in enumerate(("about", "schema", "json", "call"), start=1)
        ),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "1 About, 2 Schema, 3 JSON: the definition as sent to the model, 4 Call: a form to call the tool.",
        "What a server claims about its tool (only reads, may destroy) is not checked.",
        "In the form, tab and shift+tab change the field, ctrl+r calls. Empty optional fields are not sent.",
        "You are asked before a call, unless the tool claims that it only reads.",
        "While a call runs, esc cancels it; otherwise esc goes back.",
        "l loads the tool, so that the model sees it; e evicts a loaded tool. Pinned tools stay.",
        "y copies the tool's id or, if focused, the text or the line of JSON.",
    )

    def __init__(self, tool_id: str) -> None:
        super().__init__()
        self._tool_id = tool_id
        self._tool: Tool | None = None
        self._call: Worker[None] | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="title")
        yield Static("Its server may have stopped, or a toolset may hide it. esc goes back.", id="gone")
        with TabbedContent():
            with TabPane("1 About", id="about"):
                yield Static(id="facts")
                with VerticalScroll(id="changed-parts"):
                    yield Static(id="changed")
                yield TextView(empty="No description from its server.", id="description")
            with TabPane("2 Schema", id="schema"):
                yield SchemaTree(empty="No parameters.", id="parameters")
            with TabPane("3 JSON", id="json"):
                yield TextView(id="definition")
            with TabPane("4 Call", id="call"), Container(id="call-parts"):
                with Vertical(id="ask"):
                    yield SchemaForm(submit="Call", id="form")
                yield CallAnswer(id="answer")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#description").border_title = "Description by its server"
        self.show_view(self.view)

    def on_resize(self) -> None:
        super().on_resize()
        self.show_view(self.view)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the state
        # A tool whose server is away is shown as it was listed last.
        tool = self.session.catalog.get(self._tool_id) or self.session.state.recorded(self._tool_id)
        self.set_class(tool is None, "-gone")
        if tool is None:
            name = visible(self._tool_id, limit=200, newlines=False)
            gone = Content.styled(f"{name} is no longer in the catalog.", "$text-warning")
            self.query_one("#title", Static).update(gone)
            return
        self.query_one("#title", Static).update(content.title(tool, self._state, self.size.width - 2))
        self.query_one("#facts", Static).update(content.facts(tool, self._state))
        changed = content.changed(self._state, self.session.state.versions(self._tool_id))
        self.query_one("#changed", Static).update(changed)
        self.query_one("#changed-parts").display = bool(changed.plain)
        if tool != self._tool:
            self._show_definition(tool)

    @property
    def _state(self) -> ToolState | None:
        return self.session.state.known(self._tool_id)

    def _show_definition(self, tool: Tool) -> None:
        """Update only what changed: a new form would discard the typed values."""
        self.query_one("#description", TextView).text = tool.description
        self.query_one("#definition", TextView).text = content.exact_json(tool)
        self.query_one("#parameters", SchemaTree).value = tool.input_schema
        if self._tool is None or tool.input_schema != self._tool.input_schema:
            self.query_one("#form", SchemaForm).fields = form_fields(tool.input_schema)
        self._tool = tool

    @on(SchemaForm.Submitted, "#form")
    def _submitted(self, event: SchemaForm.Submitted) -> None:
        if self._calling:
            self.notify("A call is running; esc cancels it.", severity="warning", markup=False)
        elif self._tool is not None:
            self._call = self.run_worker(self._perform(self._tool, event.values), exit_on_error=False)

    @property
    def _calling(self) -> bool:
        return self._call is not None and not self._call.is_finished

    async def _perform(self, tool: Tool, arguments: JsonObject) -> None:
        if not await self._allowed(tool, arguments):
            self._answer(Content.styled("Not called: you said no.", MUTED))
            return
        self._answer(_RUNNING)
        try:
            result = await self.commands.call(tool.id, arguments)
        except ToolsightError as error:
            self._answer(content.failure_line(error, self._elapsed()))
        else:
            self._answer(content.result_line(result, self._elapsed()), result)

    async def _allowed(self, tool: Tool, arguments: JsonObject) -> bool:
        why = why_ask(tool)
        if not why:
            return True
        body = approval_body(ApprovalRequest(tool, arguments, why))
        name = visible(tool.id, limit=120, newlines=False)
        return await self.app.push_screen_wait(Confirm(f"Call {name}?", body, _CHOICES)) == _CALL

    def _elapsed(self) -> float:
        """Return the milliseconds of this tool's last call by a person, ignoring the model's calls."""
        for record in reversed(self.session.records((CallFinished.kind,))):
            match record.event:
                case CallFinished(call_id=call_id, tool=self._tool_id, milliseconds=elapsed):
                    if call_id.startswith("user-"):
                        return elapsed
        return 0.0

    def _answer(self, line: Content, result: ToolResult | None = None) -> None:
        if self.is_attached:
            self.query_one(CallAnswer).show(line, result)

    async def action_leave(self) -> None:
        """Cancel the running call, or go back."""
        if self._calling and self._call is not None:
            self._call.cancel()
            self._answer(
                Content.styled("Canceled. The server may have completed the call anyway.", "$text-warning")
            )
            return
        await self.app.run_action("app.back")

    def action_tab(self, name: str) -> None:
        """Switch to a tab."""
        tabs = self.query_one(TabbedContent)
        tabs.active = name
        if tabs.active_pane is not None:
            # The pane is displayed only after this, and a hidden widget cannot take the focus.
            self.call_after_refresh(self._focus_first, tabs.active_pane)

    def _focus_first(self, pane: TabPane) -> None:
        first = next((widget for widget in pane.query() if widget.focusable), None)
        if first is not None:
            first.focus()

    def action_run(self) -> None:
        """Call the tool with the form's values."""
        if self.query_one(TabbedContent).active == "call":
            self.query_one("#form", SchemaForm).action_submit()

    def action_load(self) -> None:
        """Load the tool, so that the model sees it."""
        if self._state is not None and self._state.binding.is_bound:
            self.notify("The model already sees this tool.", markup=False)
            return
        try:
            self.commands.load(self._tool_id)
        except ToolsightError as error:
            self.fail(error)
            return
        self.notify("The model sees it in its next call.", title="Loaded", markup=False)

    def action_evict(self) -> None:
        """Take a loaded tool away from the model."""
        binding = self._state.binding if self._state is not None else None
        if binding is Bound.LOADED or (self._state is not None and self._state.returns_loaded):
            self.commands.evict(self._tool_id)
            self.notify("The model has to search for it again.", title="Evicted", markup=False)
            return
        pinned = binding is Bound.PINNED
        message = "The configuration pins this tool, so it stays." if pinned else "This tool is not loaded."
        self.notify(message, severity="warning", markup=False)

    def action_copy_id(self) -> None:
        """Copy the tool's id."""
        self.app.copy_to_clipboard(self._tool_id)
        self.copied(visible(self._tool_id, limit=80, newlines=False))
