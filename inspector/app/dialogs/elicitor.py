"""Asks on screen what servers want to know, one question after the other."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from inspector.app.dialogs.approver import QuestionDialog, Withdrawable, question_body
from inspector.app.draw.line import failure_text
from inspector.core.error import AuthRequired
from inspector.core.report import Option
from inspector.mcp.elicitation import (
    CANCELLED,
    LONGEST_ADDRESS,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FieldKind,
    FormField,
    FormRequest,
    LinkRequest,
    form_fields,
)
from inspector.mcp.question import ANSWERS, SamplingRequest, server_question, sign_in_question
from inspector.mcp.sign_in.person import open_in_browser, read_answer
from inspector.schema.schema import FORMATS
from widgets import NOTHING, Field, Guarded, PlainInput, SchemaForm, middle, plain
from widgets.prompt import Kind

if TYPE_CHECKING:
    from textual.app import App


_WAITING = "answers open in a moment   esc leaves"
_READY = "tab to the fields   ctrl+r sends   esc"
_LONGEST_LABEL = 46
_LEAST, _LEAST_OF_SAMPLING = Size(44, 16), Size(78, 20)
_KINDS: Mapping[FieldKind, Kind] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "choice": "enum",
    "choices": "many",
}


class FormDialog(ModalScreen[ElicitationAnswer], Withdrawable, Guarded):
    """Returns the answer. The focus is on “not now”, as esc is; letters are for a chosen field only."""

    CSS_PATH = "elicitor.tcss"
    AUTO_FOCUS = "#elicitation-answers > Button:last-of-type"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (40, "-tall")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "not now", show=False),
        Binding("ctrl+r", "send", "send", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("pagedown", "scroll('page_down')", show=False),
    ]

    def __init__(self, request: FormRequest) -> None:
        super().__init__()
        self._question = server_question(request)
        self._fields = tuple(map(shown_field, form_fields(request.schema)))
        # An answer in place of a model has as many lines as it takes.
        self._is_sampling = isinstance(request, SamplingRequest)
        if self._is_sampling:
            self._fields = tuple(replace(one, kind="text") for one in self._fields)

    @property
    def takes_text(self) -> bool:
        return self.focused is not None and any(
            isinstance(node, SchemaForm) for node in self.focused.ancestors
        )

    @property
    def least(self) -> Size:
        """So large that its answers are seen whole, and some of its fields above them."""
        return _LEAST_OF_SAMPLING if self._is_sampling else _LEAST

    def compose(self) -> ComposeResult:
        with Vertical(id="elicitation"):
            yield Static(plain(self._question.title, limit=400), id="elicitation-title")
            with VerticalScroll(id="elicitation-body", can_focus=False):
                yield Static(question_body(self._question))
            yield SchemaForm(self._fields)
            with Horizontal(id="elicitation-answers"):
                for option in self._question.options:
                    label = plain(middle(option.label, _LONGEST_LABEL), newlines=False)
                    button = Button(label, compact=True, name=option.value)
                    button.variant = "default" if option.value in ANSWERS else "primary"
                    yield button

    def show_waiting(self, waiting: bool) -> None:
        """Say whether it takes an answer now."""
        ready = f"{_READY} {'declines' if self._is_sampling else 'not now'}"
        self.query_one("#elicitation").border_subtitle = _WAITING if waiting else ready

    @on(SchemaForm.Submitted)
    def _filled_in(self, event: SchemaForm.Submitted) -> None:
        event.stop()
        self.dismiss(ElicitationAnswer(Action.ACCEPT, event.values))

    @on(Button.Pressed, "#elicitation-answers Button")
    def _pressed(self, event: Button.Pressed) -> None:
        """Give the button's answer; the one that sends has to be filled in."""
        answer = ANSWERS.get(event.button.name or "")
        self.action_send() if answer is None else self.dismiss(answer)

    def action_leave(self) -> None:
        """Give the answer that changes nothing."""
        self.dismiss(ANSWERS[self._question.refusal])

    def action_send(self) -> None:
        """Check the form and send it, if it can be seen."""
        if not self.is_too_small:
            self.query_one(SchemaForm).action_submit()

    def action_scroll(self, where: str) -> None:
        """Scroll what the server says: page_up or page_down."""
        getattr(self.query_one("#elicitation-body", VerticalScroll), f"scroll_{where}")(animate=False)


def shown_field(field: FormField) -> Field:
    """The field as a form shows it."""
    return Field(
        field.name,
        _KINDS[field.kind],
        field.required,
        field.description,
        NOTHING if field.default is None else field.default,
        tuple(value for value, _ in field.options),
        tuple(title for _, title in field.options),
        field.title,
        FORMATS.get(field.format, ""),
        field.problem,
        hidden=field.is_secret,
    )


_OPEN, _COPY = Option("open", "open in the browser"), Option("copy", "copy the address")
_WAITS = "Sign in there: the answer comes back by itself. "
_ELSEWHERE = "Open the address in a browser, then paste the address you end up at (http://127.0.0.1…)."


class AnswerDialog(ModalScreen[str | None], Withdrawable):
    """Waits for the answer to a sign-in, which comes by itself or is pasted; ctrl+y copies the address."""

    DEFAULT_CSS = """
    AnswerDialog { align: center middle; }
    AnswerDialog > Vertical {
        width: 90; max-width: 96%; height: auto; max-height: 90%; padding: 1 2;
        border: round $accent; background: $surface; border-subtitle-color: $text-muted;
        & > * { height: auto; margin-bottom: 1; }
        & > VerticalScroll { max-height: 40vh; }
        & #answer-error { color: $text-error; margin: 0; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False),
        Binding("ctrl+y", "copy", show=False, priority=True),
    ]

    def __init__(self, where: str, *, is_open: bool) -> None:
        super().__init__()
        self.where, self._is_open = where, is_open

    def compose(self) -> ComposeResult:
        told = f"{_WAITS}If it does not: o{_ELSEWHERE[1:]}" if self._is_open else _ELSEWHERE
        with Vertical() as box:
            box.border_title = "Sign in"
            box.border_subtitle = "enter takes the answer   ctrl+y copies the address   esc cancels"
            yield Static(plain(told))
            with VerticalScroll(can_focus=False):
                yield Static(plain(self.where, limit=LONGEST_ADDRESS, newlines=False))
            yield PlainInput(placeholder="http://127.0.0.1…/callback?code=…")
            yield Static(id="answer-error", markup=False)

    @on(PlainInput.Submitted)
    def _pasted(self, event: PlainInput.Submitted) -> None:
        event.stop()
        try:
            read_answer(event.value)
        except AuthRequired as error:
            self.query_one("#answer-error", Static).update(failure_text(error)[1])
        else:
            self.dismiss(event.value)

    def action_copy(self) -> None:
        """Copy the address."""
        self.app.copy_to_clipboard(self.where)


class ModalVisitor:
    """A `Visitor` that asks on screen: first whether the address may open, then for the answer."""

    def __init__(self, app: "App[None]") -> None:
        self._app = app

    async def visit(self, server: str, where: str) -> str:
        """See `Visitor`."""
        # The last but one is where tab and the arrows lead.
        question = sign_in_question(server, where, (_COPY, _OPEN))
        choice = await _shown(self._app, QuestionDialog(question))
        if choice == _COPY.value:
            self._app.copy_to_clipboard(where)
        is_open = choice == _OPEN.value and await open_in_browser(where)
        stays = choice in (_OPEN.value, _COPY.value)
        answer = await _shown(self._app, AnswerDialog(where, is_open=is_open)) if stays else None
        if not isinstance(answer, str):
            raise AuthRequired(f"the sign-in to {server} was cancelled", hint="Nothing was kept.")
        return answer


class ModalElicitor:
    """An `Elicitor` that asks on screen. It is created before the app and attached to it later."""

    def __init__(self) -> None:
        self._app: App[None] | None = None
        self._turn = asyncio.Lock()

    def attach(self, app: "App[None]") -> None:
        self._app = app

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:
        """See `Elicitor`."""
        if self._app is None:
            return ElicitationAnswer(Action.DECLINE, why="the app is not on screen yet")
        async with self._turn:
            if isinstance(request, FormRequest):
                return await _shown(self._app, FormDialog(request)) or CANCELLED
            dialog = QuestionDialog(server_question(request, (_OPEN, _COPY)))
            return _visited(self._app, request, await _shown(self._app, dialog))


def _visited(app: "App[None]", request: LinkRequest, choice: str | None) -> ElicitationAnswer:
    if choice == _OPEN.value:
        app.open_url(request.url)
    elif choice == _COPY.value:
        app.copy_to_clipboard(request.url)
    else:
        return ANSWERS.get(choice or "", CANCELLED)
    return ElicitationAnswer(Action.ACCEPT)


async def _shown(app: "App[None]", dialog: Withdrawable) -> Any:
    """Show a dialog and wait for its answer; it is taken back if the one who waits is cancelled.

    The caller may come from another thread: only what the app calls itself is in its context.
    """
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def told(value: Any) -> None:
        if not answer.done():
            answer.set_result(value)

    app.call_later(app.push_screen, dialog, told)
    try:
        return await answer
    except asyncio.CancelledError:
        app.call_later(dialog.withdraw)
        raise
