"""The form to call a tool by hand, the calls it had before, and the result."""

import asyncio
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.worker import Worker

from inspector.app.context import InContext
from inspector.app.dialogs.approver import agrees
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.draw.line import MUTED, failure_text
from inspector.core.error import ToolsightError
from inspector.core.events import CallFinished, CallStarted
from inspector.core.redaction import clean
from inspector.core.tool import Tool
from inspector.features.tools.call import written
from inspector.features.tools.call_answer import (
    Answer,
    CallAnswer,
    PastCall,
    changes_since,
    compared,
    elapsed,
    past_calls,
    result_line,
    result_notes,
    saved_for,
)
from inspector.features.tools.call_form import CallForm
from inspector.loop.approval import why_confirm
from inspector.mcp.question import call_question
from inspector.schema.json_value import JsonObject
from widgets import Field, Record, SchemaForm, plain

_RUNNING = Content.styled("calling …   esc cancels", "$text-warning")
_CANCELED = Content.styled("Canceled. The server may have completed the call anyway.", "$text-warning")
_REFUSED = Content.styled("Not called: you declined.", MUTED)

_JSON = "arguments"
_FORMS = {"line": "a toolsight call for a shell", "json-rpc": "the request"}


def _json_field(arguments: JsonObject) -> Field:
    """All arguments as one JSON object."""

    def wrong(value: object) -> str:
        return "" if isinstance(value, dict) else "not a JSON object"

    return Field(_JSON, "json", True, default=dict(arguments), title="Arguments as JSON", check=wrong)


class CallPanel(InContext, Container):
    """Calls one tool at a time; every tool keeps its last answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "switch", "JSON/fields", id="call.json"),
        # In a field h is a letter.
        Binding("ctrl+up,h", "history", "history", key_display="^↑", id="call.history"),
        Binding("y", "copy", "copy call", id="call.copy"),
        Binding("x", "export", "export", id="call.export"),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._tool: Tool | None = None
        self._call: Worker[None] | None = None
        self._called = ""
        self._answers: dict[str, Answer] = {}
        self._form: CallForm | None = None
        self._chosen: PastCall | None = None

    def compose(self) -> ComposeResult:
        with Vertical(id="ask"):
            yield SchemaForm(submit="Call", id="form")
        yield CallAnswer(id="answer")

    def show(self, tool: Tool) -> None:
        """Show the tool's form, which keeps what is typed as long as its parameters stay the same."""
        before, self._tool = self._tool, tool
        is_other = before is None or before.id != tool.id
        if is_other or (before is not None and before.input_schema != tool.input_schema):
            self._chosen = None
            self._fill(CallForm.of(tool.input_schema))
        if is_other or self.shows_call:
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
        if self._tool is None or form.focus_unread():
            return
        arguments = self._arguments(form.values())
        if self._form is not None:
            self._fill(None, arguments)
        elif not self._fill_in(arguments):
            self.warn("The fields cannot hold these arguments.")
        form.focus_first()

    def _past(self, tool: Tool) -> list[PastCall]:
        return past_calls(self.session.records((CallStarted.kind, CallFinished.kind)), tool.id)

    def action_history(self) -> None:
        """Choose a saved call of this tool or one of this session; its arguments are filled in."""
        if (tool := self._tool) is None:
            return
        try:
            calls = {one.row.key: one for one in (*saved_for(tool), *reversed(self._past(tool)))}
        except ToolsightError as error:
            self.fail(error)
            return
        if not calls:
            self.warn("No earlier call of this tool in this session, and none saved.")
            return

        def fill_in(key: str) -> None:
            self._chosen = call = calls[key]
            self._fill_in(call.arguments)
            self._answer(tool.id, Answer(call.line, call.result, call.arguments))
            self.query_one("#form", SchemaForm).focus_first()

        rows = tuple(one.row for one in calls.values())
        self.app.push_screen(ChoiceDialog("Calls of this tool", rows, fill_in, rows[0].key))

    def action_export(self) -> None:
        """Save the call with a name, or what is attached to its result."""
        self.query_one(CallAnswer).export_answer()

    def action_copy(self) -> None:
        """Ask for a form, and copy the call as it is filled in."""
        tool, values = self._tool, self.query_one("#form", SchemaForm).values()
        if tool is None:
            return
        arguments = self._arguments(values)

        def copy(form: str) -> None:
            text = written(form, tool, arguments, self.context.opened.source)
            self.copy(clean(text), f"the call ({form})")

        rows = tuple(Record(form, (" ", form, ""), detail=about) for form, about in _FORMS.items())
        self.app.push_screen(ChoiceDialog("Copy the call", rows, copy, "line"))

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
            self._answer(self._called, Answer(_CANCELED))

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
            self._answer(tool.id, Answer(_REFUSED))
            return
        self._answer(tool.id, Answer(_RUNNING))
        try:
            result = await self.commands.call(tool.id, arguments)
        except ToolsightError as error:
            self._answer(tool.id, Answer(Content.styled(f"✕ {failure_text(error)[1]}", "$text-error")))
        else:
            past = self._past(tool)
            changes, self._chosen = changes_since(self._chosen, past, arguments, result), None
            tokens = self.session.accounting.meter.text
            size, notes = await asyncio.to_thread(
                lambda: (result.in_whole(tokens(result.text)), result_notes(tool, result, tokens))
            )
            line = Content.assemble(result_line(result, elapsed(past), size), compared(changes))
            line = Content("\n").join([line, notes]) if notes else line
            self._answer(tool.id, Answer(line, result, arguments, changes))

    async def _allowed(self, tool: Tool, arguments: JsonObject) -> bool:
        """Whether to make the call: who fills in a form has said what to do, unless it destroys something."""
        why = why_confirm(tool)
        if not why:
            return True
        return await agrees(self.app, call_question(tool, arguments, why, key="ctrl+r"))

    def _answer(self, tool_id: str, answer: Answer) -> None:
        self._answers[tool_id] = answer
        if self._tool is not None and self._tool.id == tool_id:
            self._show_answer()

    def _show_answer(self) -> None:
        if self.is_attached and (tool := self._tool) is not None:
            answer, report = self._answers.get(tool.id), self.session.state.reports.get(tool.id)
            if answer is not None and answer.line is _RUNNING and report is not None:
                told = plain(report, newlines=False).stylize(MUTED)
                answer = Answer(Content("\n").join([_RUNNING, told]))
            self.query_one(CallAnswer).show(tool, answer)
