"""The form to call a tool by hand, and the result."""

import asyncio
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static
from textual.worker import Worker

from inspector.app.context import InContext
from inspector.app.dialogs.approver import approval_body
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.draw.line import MUTED
from inspector.app.pages.tools.call_form import CallForm
from inspector.core.definition import definition_hash
from inspector.core.error import ToolsightError
from inspector.core.events import CallFinished, CallStarted
from inspector.core.message import ToolResult
from inspector.core.number import count, milliseconds
from inspector.core.ports import ApprovalRequest
from inspector.core.tool import Tool
from inspector.core.written_call import CALL_FORMS, command_line, curl, json_rpc
from inspector.reliability.approval import CLAIMED, why_ask
from inspector.schema.json_value import JsonObject, compact
from widgets import Choice, Field, GuardedConfirm, Record, SchemaForm, SchemaTree, TextView, plain, visible

# The result of a call by hand: a status line, the text, the structured content.

_BEFORE = Content.styled("Fill in the form and press enter. The result appears here.", MUTED)


class CallAnswer(Vertical):
    """The result panel; empty until the first call."""

    def compose(self) -> ComposeResult:
        yield Static(_BEFORE, id="result-line")
        yield TextView(empty="", id="result-text")
        yield SchemaTree(schema=False, empty="Empty.", id="result-tree")

    def on_mount(self) -> None:
        self.query_one("#result-tree").border_title = "Structured"

    def show(self, line: Content | None, result: ToolResult | None = None) -> None:
        """Show the status of a call, and its result if there is one; without a status, what to do."""
        self.query_one("#result-line", Static).update(line or _BEFORE)
        text = self.query_one("#result-text", TextView)
        text.text = result.text if result else ""
        text.empty = "The tool returned no text." if result else ""
        tree = self.query_one("#result-tree", SchemaTree)
        tree.value = result.structured if result else None
        tree.set_class(tree.value is not None, "-shown")


def result_line(result: ToolResult, elapsed: float, size: int | None = None) -> Content:
    """Return whether the call succeeded according to the server, how long it took, and its text's tokens."""
    mark = ("✕ the tool failed", "$text-error") if result.is_error else ("✓ ok", "$text-success")
    kinds = "" if result.kinds == ("text",) else f"   {', '.join(result.kinds) or 'nothing returned'}"
    counted = "" if size is None else f"   {count(size, 'token')}"
    facts = (f"   {milliseconds(elapsed)}{counted}", "")
    return Content.assemble(mark, facts, (visible(kinds, limit=100), MUTED))


def failure_line(error: ToolsightError, elapsed: float) -> Content:
    """Return an error, and what to try."""
    first = Content.assemble(
        ("✕ ", "$text-error"),
        plain(error.message, limit=600).stylize("$text-error"),
        (f"   {milliseconds(elapsed)}", MUTED),
    )
    return Content.assemble(first, "\n", plain(error.hint, limit=600)) if error.hint else first


_CALL, _TRUST, _NO = "call", "trust", "no"
_CHOICES = (Choice("", "call it", _CALL), Choice("", "no", _NO))
_TRUSTING = (Choice("", "trust its claims", _TRUST), *_CHOICES)
_RUNNING = Content.styled("calling …   esc cancels", "$text-warning")
_CANCELED = Content.styled("Canceled. The server may have completed the call anyway.", "$text-warning")
_REFUSED = Content.styled("Not called: you declined.", MUTED)

Answer = tuple[Content, ToolResult | None]


_JSON = "arguments"
_FORMS = {"line": "a toolsight call for a shell", "json-rpc": "the request", "curl": "for a shell"}


def _json_field(arguments: JsonObject) -> Field:
    """All arguments as one JSON object."""

    def wrong(value: object) -> str:
        return "" if isinstance(value, dict) else "not a JSON object"

    return Field(_JSON, "json", True, default=dict(arguments), title="Arguments as JSON", check=wrong)


class CallPanel(InContext, Container):
    """Calls one tool at a time; every tool keeps its last answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "switch", "fields or JSON", show=False, id="call.json"),
        Binding("ctrl+up", "earlier(1)", "earlier call", show=False, id="call.earlier"),
        Binding("ctrl+down", "earlier(-1)", "later call", show=False, id="call.later"),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._tool: Tool | None = None
        self._call: Worker[None] | None = None
        self._called = ""
        self._answers: dict[str, Answer] = {}
        self._form: CallForm | None = None
        self._back = 0
        self._read_before: set[str] = set()

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield SchemaForm(submit="Call", id="form")
        yield CallAnswer(id="answer")

    def show(self, tool: Tool) -> None:
        """Show the tool's form, which keeps what is typed as long as its parameters stay the same."""
        before, self._tool = self._tool, tool
        is_other = before is None or before.id != tool.id
        if is_other or (before is not None and before.input_schema != tool.input_schema):
            self._back = 0
            self._fill(CallForm.of(tool.input_schema))
        if is_other:
            self._show_answer()

    def _fill(self, form: CallForm | None, arguments: JsonObject | None = None) -> None:
        """Show a form, or these arguments as JSON without one."""
        self._form = form
        fields = form.fields if form is not None else (_json_field(arguments or {}),)
        self.query_one("#form", SchemaForm).fields = fields

    def _fill_in(self, arguments: JsonObject) -> bool:
        """Show arguments in the form, or as JSON if it cannot hold them; whether it can."""
        assert self._tool is not None
        form = CallForm.of(self._tool.input_schema, arguments)
        can = form.holds(arguments)
        self._fill(form if can else None, arguments)
        return can

    def _arguments(self, values: dict[str, Any]) -> JsonObject:
        return self._form.arguments(values) if self._form is not None else values.get(_JSON, {})

    def action_switch(self) -> None:
        """Change between fields and JSON, with what is filled in so far."""
        form = self.query_one("#form", SchemaForm)
        if self._tool is None or (self._form is None and form.errors()):
            return
        arguments = self._arguments(form.values())
        if self._form is not None:
            self._fill(None, arguments)
        elif not self._fill_in(arguments):
            self.warn("The fields cannot hold these arguments.")
        self.focus_form()

    def action_earlier(self, by: int) -> None:
        """Fill in the arguments of an earlier or a later call of this tool in this session."""
        past = self._past()
        if not past:
            self.warn("No earlier call of this tool in this session.")
            return
        self._back = min(max(self._back + by, 1), len(past))
        self._fill_in(past[-self._back])
        self.focus_form()

    def _past(self) -> list[JsonObject]:
        """The arguments of this tool's calls, oldest first, each once."""
        events = (record.event for record in self.session.records((CallStarted.kind,)))
        tool_id = self._tool.id if self._tool is not None else ""
        mine = [one for one in events if isinstance(one, CallStarted) and one.tool == tool_id]
        return list({compact(one.arguments): one.arguments for one in mine}.values())

    def copy_call(self) -> None:
        """Ask for a form, and copy the call as it is filled in."""
        tool, values = self._tool, self.query_one("#form", SchemaForm).values()
        if tool is None:
            return
        spec = next((one for one in self.session.configuration.servers if one.name == tool.server), None)
        arguments, protocol = self._arguments(values), self.session.state.servers[tool.server].info.protocol

        def copy(form: str) -> None:
            text = command_line(tool, arguments) if form == "line" else json_rpc(tool, arguments)
            if form == "curl" and spec is not None:
                text = curl(tool, arguments, spec, protocol)
            self.copy(text, f"the call as {form}")

        forms = CALL_FORMS if spec is not None and spec.is_http else CALL_FORMS[:2]
        rows = tuple(Record(form, (" ", form, ""), detail=_FORMS[form]) for form in forms)
        self.app.push_screen(ChoiceDialog("Copy the call", rows, copy, "line"))

    def focus_form(self) -> None:
        """Move the focus to the first field."""
        self.query_one("#form", SchemaForm).focus_first()

    @property
    def shows_call(self) -> bool:
        """Whether the tool that is shown is being called."""
        return self._is_calling and self._tool is not None and self._tool.id == self._called

    @property
    def _is_calling(self) -> bool:
        return self._call is not None and not self._call.is_finished

    def cancel(self) -> None:
        """Cancel the running call."""
        if self._call is not None:
            self._call.cancel()
            self._answer(self._called, _CANCELED)

    def submit(self) -> None:
        """Call the tool with what is typed."""
        self.query_one("#form", SchemaForm).action_submit()

    @on(SchemaForm.Submitted, "#form")
    def _submitted(self, event: SchemaForm.Submitted) -> None:
        event.stop()
        if self._is_calling:
            self.warn("A call is running; esc cancels it.")
        elif self._tool is not None:
            self._called = self._tool.id
            self._call = self.run_worker(
                self._perform(self._tool, self._arguments(event.values)), exit_on_error=False
            )

    async def _perform(self, tool: Tool, arguments: JsonObject) -> None:
        if not await self._allowed(tool, arguments):
            self._answer(tool.id, _REFUSED)
            return
        self._answer(tool.id, _RUNNING)
        try:
            result = await self.commands.call(tool.id, arguments)
        except ToolsightError as error:
            self._answer(tool.id, failure_line(error, self._elapsed(tool.id)))
        else:
            size = await asyncio.to_thread(self.session.accounting.meter.text, result.text)
            self._answer(tool.id, result_line(result, self._elapsed(tool.id), size), result)

    async def _allowed(self, tool: Tool, arguments: JsonObject) -> bool:
        why = why_ask(tool, self.session.state)
        definition = definition_hash(tool)
        if not why or (why == CLAIMED and definition in self._read_before):
            return True
        request = ApprovalRequest(tool, arguments, why, offers_trust=why == CLAIMED)
        name = visible(tool.id, limit=120, newlines=False)
        choices = _TRUSTING if request.offers_trust else _CHOICES
        dialog = GuardedConfirm(f"Call {name}?", approval_body(request), choices)
        answer = await self.app.push_screen_wait(dialog)
        if answer == _TRUST:
            self.commands.trust(tool.server, trusted=True)
        if answer == _CALL and why == CLAIMED:
            self._read_before.add(definition)
        return answer in (_CALL, _TRUST)

    def _elapsed(self, tool_id: str) -> float:
        """Return the milliseconds of this tool's last call by a person, ignoring the model's calls."""
        for record in reversed(self.session.records((CallFinished.kind,))):
            match record.event:
                case CallFinished(call_id=call_id, tool=tool, milliseconds=elapsed):
                    if tool == tool_id and call_id.startswith("user-"):
                        return elapsed
        return 0.0

    def _answer(self, tool_id: str, line: Content, result: ToolResult | None = None) -> None:
        self._answers[tool_id] = (line, result)
        if self._tool is not None and self._tool.id == tool_id:
            self._show_answer()

    def _show_answer(self) -> None:
        if self.is_attached and self._tool is not None:
            answer = self._answers.get(self._tool.id)
            self.query_one(CallAnswer).show(*(answer or (None, None)))
