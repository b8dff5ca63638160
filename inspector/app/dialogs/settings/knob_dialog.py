"""The dialog to change a setting: a list of its values, or an input checked while typing."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.app.context import Context
from inspector.app.dialogs.settings import content
from inspector.app.draw.style import MUTED
from inspector.domain.error import ToolsightError
from inspector.domain.knob import Knob, KnobKind, parse_value, render_value, value_of
from widgets import Column, PlainInput, RecordList

_COLUMNS = (Column("mark", width=1), Column("name", weight=3), Column("meaning", min_width=10, weight=2))
_MOST_ROWS = 12
_WHEN = "takes effect with the next model call"


class KnobDialog(ModalScreen[None]):
    """Changes one setting of the session; closes only once the value is accepted."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "PlainInput, RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close", show=False)]

    def __init__(self, context: Context, knob: Knob) -> None:
        super().__init__()
        self._page = context
        self._knob = knob
        self._value = value_of(context.session.settings, knob.path)

    def compose(self) -> ComposeResult:
        knob = self._knob
        with Vertical(id="knob") as box:
            box.border_title = knob.path
            box.border_subtitle = f"enter applies ({_WHEN})   esc closes"
            if not content.has_meanings(knob):
                yield Static(Content(knob.about), id="knob-about")
            if content.choices(knob):
                yield RecordList(_COLUMNS, content.choice_rows(knob, self._value), filterable=False)
            else:
                yield Static(Content.styled(content.hint(knob), MUTED), id="knob-hint")
                is_number = knob.kind in (KnobKind.COUNT, KnobKind.NUMBER)
                text = render_value(self._value) if self._value != {} else ""
                yield PlainInput(text, placeholder="empty", id="knob-value", select_on_focus=is_number)
            yield Static(id="knob-error")

    def on_mount(self) -> None:
        for rows in self.query(RecordList):
            rows.styles.height = min(len(rows.records), _MOST_ROWS)
            rows.move_to(str(self._value))

    @on(PlainInput.Changed, "#knob-value")
    def _check(self, event: PlainInput.Changed) -> None:
        try:
            parse_value(self._knob, event.value)
        except ToolsightError as error:
            self._say(error)
        else:
            self._say(None)

    @on(PlainInput.Submitted, "#knob-value")
    def _typed(self, event: PlainInput.Submitted) -> None:
        self._apply(event.value)

    @on(RecordList.Selected)
    def _chosen(self, event: RecordList.Selected) -> None:
        self._apply(event.key)

    def _apply(self, text: str) -> None:
        try:
            self._page.commands.change_setting(self._knob.path, parse_value(self._knob, text))
        except ToolsightError as error:
            self._say(error)
        else:
            self.dismiss()

    def _say(self, error: ToolsightError | None) -> None:
        line = self.query_one("#knob-error", Static)
        line.update(Content(content.wrong(self._knob, error)) if error is not None else Content())
