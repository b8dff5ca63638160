"""A form that a server asks a person to fill in."""

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from inspector.app.dialogs.elicitation.text import form_body, title
from inspector.app.dialogs.elicitation.withdrawn import Withdrawable
from inspector.domain.elicitation import CANCELLED, DECLINED, Action, ElicitationAnswer, FormRequest
from inspector.domain.elicitation_form import FieldKind, FormField, form_fields
from widgets import NOTHING, Field, Guarded, Hanging, SchemaForm, plain
from widgets.typed_value import Kind

_WAITING = "one moment: keys go to the input below"
_READY = "tab to the fields   ctrl+r sends   esc not now"
_LEAST = Size(44, 16)
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

    CSS_PATH = "form.tcss"
    AUTO_FOCUS = "#elicitation-later"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (40, "-tall")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer('cancel')", "not now", show=False),
        Binding("ctrl+r", "send", "send", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("pagedown", "scroll('page_down')", show=False),
    ]

    def __init__(self, request: FormRequest) -> None:
        super().__init__()
        self._request = request
        self._fields = form_fields(request.schema)

    @property
    def takes_text(self) -> bool:
        return self.focused is not None and any(
            isinstance(node, SchemaForm) for node in self.focused.ancestors
        )

    @property
    def least(self) -> Size:
        """So large that its answers are seen whole, and some of its fields above them."""
        return _LEAST

    def compose(self) -> ComposeResult:
        with Vertical(id="elicitation"):
            yield Static(plain(title(self._request), limit=400), id="elicitation-title")
            with VerticalScroll(id="elicitation-body", can_focus=False):
                yield Static(Hanging(form_body(self._request, self._fields), 0))
            yield SchemaForm(tuple(map(shown_field, self._fields)))
            with Horizontal(id="elicitation-answers"):
                yield Button("send", variant="primary", compact=True, id="elicitation-send")
                yield Button("decline", compact=True, id="elicitation-decline")
                yield Button("not now", compact=True, id="elicitation-later")

    def show_waiting(self, waiting: bool) -> None:
        """Say whether it takes an answer now."""
        self.query_one("#elicitation").border_subtitle = _WAITING if waiting else _READY

    @on(SchemaForm.Submitted)
    def _filled_in(self, event: SchemaForm.Submitted) -> None:
        event.stop()
        self.dismiss(ElicitationAnswer(Action.ACCEPT, event.values))

    @on(Button.Pressed, "#elicitation-decline")
    def _decline(self) -> None:
        self.dismiss(DECLINED)

    @on(Button.Pressed, "#elicitation-later")
    def _leave(self) -> None:
        self.dismiss(CANCELLED)

    def action_answer(self, action: str) -> None:
        """Give an answer without values."""
        self.dismiss(ElicitationAnswer(Action(action)))

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
        field.problem,
        hidden=field.is_secret,
    )
