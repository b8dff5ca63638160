"""Asks on screen what servers want to know, one question after the other."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Event, Key
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widgets import Button, Static

from inspector.app.draw.line import MUTED, failure_text
from inspector.core.error import AuthRequired
from inspector.mcp.elicitation import (
    CANCELLED,
    DECLINED,
    LONGEST_ADDRESS,
    LONGEST_MESSAGE,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FieldKind,
    FormField,
    FormRequest,
    LinkRequest,
    address,
    form_fields,
    form_warnings,
    impersonation,
)
from inspector.mcp.sampling import LONGEST_PROMPT, SamplingRequest, sampling_note
from inspector.mcp.sign_in.person import open_in_browser, read_answer
from inspector.schema.schema import FORMATS
from widgets import (
    NOTHING,
    Choice,
    Field,
    Guarded,
    GuardedConfirm,
    Hanging,
    PlainInput,
    SchemaForm,
    middle,
    plain,
    visible,
)
from widgets.typed_value import Kind

if TYPE_CHECKING:
    from textual.app import App


# What a person reads of a server's question. All of it but our own sentences is the server's text.

_WARNING = "$text-warning"
_NO_SECRETS = "Your answers go to the server unchanged. Never enter passwords, keys or tokens."
_OPENS_NOTHING = (
    "The link opens only if you choose to. What you enter there goes to its host, not through Toolsight."
)


def title(request: ElicitationRequest) -> str:
    """Which server asks for what."""
    server = visible(request.server, limit=60, newlines=False)
    return f"The server {server} asks you to {request.wants}"


def form_body(request: FormRequest, fields: Sequence[FormField]) -> Content:
    """What the server says, and what to know before sending anything."""
    warnings = [plain(f"! {one}", limit=400, newlines=False) for one in form_warnings(request, fields)]
    warned = [warning.stylize(_WARNING) for warning in warnings]
    if isinstance(request, SamplingRequest):
        # Above the prompt, which may be long.
        note = Content.styled(sampling_note(request), MUTED)
        return Content("\n").join([note, *warned, Content(""), _said(request.message, LONGEST_PROMPT)])
    return Content("\n").join([_said(request.message), Content.styled(_NO_SECRETS, MUTED), *warned])


def link_body(request: LinkRequest) -> Content:
    """What the server says, and the whole address with its host marked."""
    parts = address(request.url)
    whole = Content.assemble(
        plain(parts.before, newlines=False).stylize(MUTED),
        plain(parts.host, newlines=False).stylize("bold reverse"),
        plain(parts.after, newlines=False).stylize(MUTED),
    )
    host = (
        Content.assemble("host  ", plain(parts.host, newlines=False).stylize("bold"))
        if parts.host
        else Content("")
    )
    found = (impersonation(f"the server {request.server}", request.message), *parts.warnings)
    warnings = [plain(f"! {one}", limit=400, newlines=False).stylize(_WARNING) for one in filter(None, found)]
    note = Content.styled(_OPENS_NOTHING, MUTED)
    return Content("\n").join(
        [_said(request.message), Content(""), whole, host, *warnings, Content(""), note]
    )


def _said(message: str, limit: int = LONGEST_MESSAGE) -> Content:
    return (
        plain(message, limit=limit)
        if message.strip()
        else Content.styled("The server gave no reason.", MUTED)
    )


# A question that whoever asked it can take back.


class Withdrawable(Screen[Any]):
    """It closes itself without an answer when it is taken back, at the latest when it is on top again."""

    _is_withdrawn = False

    def withdraw(self) -> None:
        """Take the question back."""
        self._is_withdrawn = True
        self._close_if_withdrawn()

    def on_screen_resume(self) -> None:
        self._close_if_withdrawn()

    def _close_if_withdrawn(self) -> None:
        if self._is_withdrawn and self.is_current:
            self.dismiss(None)


# A form that a server asks a person to fill in.

_WAITING = "one moment: keys go to the input below"
_READY = "tab to the fields   ctrl+r sends   esc"
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
    AUTO_FOCUS = "#elicitation-later"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (40, "-tall")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "not now", show=False),
        Binding("ctrl+r", "send", "send", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("pagedown", "scroll('page_down')", show=False),
    ]

    def __init__(self, request: FormRequest) -> None:
        super().__init__()
        self._request = request
        self._fields = form_fields(request.schema)
        self._sampling = request if isinstance(request, SamplingRequest) else None

    @property
    def takes_text(self) -> bool:
        return self.focused is not None and any(
            isinstance(node, SchemaForm) for node in self.focused.ancestors
        )

    @property
    def least(self) -> Size:
        """So large that its answers are seen whole, and some of its fields above them."""
        return _LEAST_OF_SAMPLING if self._sampling else _LEAST

    def compose(self) -> ComposeResult:
        with Vertical(id="elicitation"):
            yield Static(plain(title(self._request), limit=400), id="elicitation-title")
            with VerticalScroll(id="elicitation-body", can_focus=False):
                yield Static(Hanging(form_body(self._request, self._fields), 0))
            fields = tuple(map(shown_field, self._fields))
            # An answer in place of a model has as many lines as it takes.
            yield SchemaForm(tuple(replace(one, kind="text") for one in fields) if self._sampling else fields)
            with Horizontal(id="elicitation-answers"):
                yield Button("send", variant="primary", compact=True, id="elicitation-send")
                if self._sampling is None:
                    yield Button("decline", compact=True, id="elicitation-decline")
                elif self._sampling.model:
                    label = plain(f"let {middle(self._sampling.model, 36)} answer", newlines=False)
                    yield Button(label, compact=True, id="elicitation-model")
                yield Button("decline" if self._sampling else "not now", compact=True, id="elicitation-later")

    def show_waiting(self, waiting: bool) -> None:
        """Say whether it takes an answer now."""
        ready = f"{_READY} {'declines' if self._sampling else 'not now'}"
        self.query_one("#elicitation").border_subtitle = _WAITING if waiting else ready

    @on(SchemaForm.Submitted)
    def _filled_in(self, event: SchemaForm.Submitted) -> None:
        event.stop()
        self.dismiss(ElicitationAnswer(Action.ACCEPT, event.values))

    @on(Button.Pressed, "#elicitation-decline")
    def _decline(self) -> None:
        self.dismiss(DECLINED)

    @on(Button.Pressed, "#elicitation-model")
    def _let_model(self) -> None:
        """Accept without an answer of one's own: the model's is given."""
        self.dismiss(ElicitationAnswer(Action.ACCEPT))

    @on(Button.Pressed, "#elicitation-later")
    def action_leave(self) -> None:
        """Give no answer."""
        self.dismiss(DECLINED if self._sampling else CANCELLED)

    @on(Button.Pressed, "#elicitation-send")
    def action_send(self) -> None:
        """Check the form and send it, if it can be seen."""
        if self.is_too_small:
            return
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


# An address that a server asks a person to visit.

OPEN, COPY, DECLINE, LATER = "open", "copy", "decline", "later"
_GO = (Choice("", "open in the browser", OPEN), Choice("", "copy the address", COPY))
_STAY = (Choice("", "decline", DECLINE), Choice("", "not now", LATER))
_ALL = (*_GO, *_STAY)


class LinkDialog(GuardedConfirm, Withdrawable):
    """Shows the whole address with its host marked. The focus is on “not now”; it opens nothing by itself."""

    DEFAULT_CSS = "LinkDialog > Vertical { width: 90; }"

    def __init__(self, request: LinkRequest, heading: str = "", choices: Sequence[Choice] = _ALL) -> None:
        choices = choices if address(request.url).opens else choices[len(_GO) :]
        super().__init__(heading or title(request), link_body(request), choices)


# An address at which a person signs in to a server, and the answer that it leads to.

_WAITS = "Sign in there: the answer comes back by itself. "
_ELSEWHERE = "Open the address in a browser, then paste the address you end up at (http://127.0.0.1…)."


class SignInDialog(LinkDialog):
    """The question whether the address of a sign-in may open; esc cancels at once."""

    def __init__(self, server: str, where: str) -> None:
        name = visible(server, limit=60, newlines=False)
        request = LinkRequest(server, f"{name} wants you to sign in at this address.", where)
        super().__init__(request, f"Sign in to {name}", (*_GO[::-1], _STAY[-1]))

    def pass_on(self, event: Event) -> bool:
        """Let esc through in the first second too: it only cancels what the person began."""
        return not (isinstance(event, Key) and event.key == "escape") and super().pass_on(event)


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
        choice = await _shown(self._app, SignInDialog(server, where))
        if choice == COPY:
            self._app.copy_to_clipboard(where)
        is_open = choice == OPEN and await open_in_browser(where)
        stays = choice in (OPEN, COPY)
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
            return _visited(self._app, request, await _shown(self._app, LinkDialog(request)))


def _visited(app: "App[None]", request: LinkRequest, choice: str | None) -> ElicitationAnswer:
    if choice == OPEN:
        app.open_url(request.url)
    elif choice == COPY:
        app.copy_to_clipboard(request.url)
    else:
        return DECLINED if choice == DECLINE else CANCELLED
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
