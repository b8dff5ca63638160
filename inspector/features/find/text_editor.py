"""A tool's texts as fields to edit."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label, Static, TextArea

from inspector.app.draw.line import MUTED
from inspector.core.tool import Tool
from inspector.schema.schema import fields
from inspector.search.answer.tool_edit import ParameterText, ToolText, wording_of
from widgets import PlainInput, plain, visible

LONGEST = 20_000
MOST_PARAMETERS = 60
# Keys left to the app (other pages) and to the page around the editor (copying).
_KEYS_OF_OTHERS = frozenset({"f6", "f7", "ctrl+y,super+y"})


@dataclass(frozen=True, slots=True)
class FieldText:
    """A text as a field shows it. An unedited text is returned unchanged, hidden characters included."""

    text: str
    lines: bool = False

    @property
    def value(self) -> str:
        """The first LONGEST characters, made visible; a one-line field shows a sign for each line break."""
        return visible(self.text[:LONGEST], limit=LONGEST, newlines=self.lines)

    def read(self, value: str) -> str:
        """Return the text of an edited value; the part that the field did not show stays."""
        if value == self.value:
            return self.text
        broken = not self.lines and "\n" in self.text
        return (value.replace("↵", "\n") if broken else value) + self.text[LONGEST:]


class DescriptionArea(TextArea, inherit_bindings=False):
    """A text area that leaves the app its keys, and redoes with ctrl+shift+z or alt+z."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(b for b in TextArea.BINDINGS if isinstance(b, Binding) and b.key not in _KEYS_OF_OTHERS),
        # A terminal sends alt+z as z, so without priority it would be typed.
        Binding("ctrl+shift+z,alt+z", "redo", "redo", show=False, priority=True),
    ]


class ToolTextEditor(VerticalScroll, can_focus=False):
    """Edits the wording of a tool. `use` shows another tool, `show` another wording."""

    DEFAULT_CSS = """
    ToolTextEditor {
        scrollbar-size-vertical: 1;
        & > Horizontal { height: auto; }
        & Label { width: 13; color: $text-muted; }
        & PlainInput, & TextArea { background: $foreground 6%; }
        & PlainInput:focus, & TextArea:focus { background: $primary 15%; }
        & .star { width: 2; color: $text-warning; }
        & .parameter { width: 2fr; }
        & .text { width: 5fr; }
        & TextArea { width: 1fr; height: auto; min-height: 3; max-height: 14; border: none; padding: 0; }
        & TextArea:focus { border: none; }
        & > Static { height: auto; margin-top: 1; }
    }
    """

    class Changed(Message):
        """A text was typed, undone or replaced."""

    def __init__(self, tool: Tool, wording: ToolText, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._is_taking = False
        self._take(tool, wording)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Label("name")
            yield _input(self._named, id="name")
        with Horizontal():
            yield Label("description")
            text = self._description
            yield DescriptionArea(text.value, compact=True, highlight_cursor_line=False, id="description")
        if len(text.text) > LONGEST:
            hidden = f"The last {len(text.text) - LONGEST:,} characters cannot be edited here."
            yield Static(Content.styled(hidden, MUTED))
        if self._parameters:
            yield Static(Content.styled("parameters (* required)", MUTED))
        for number, field in enumerate(fields(self._tool.input_schema)[:MOST_PARAMETERS]):
            yield from self._parameter(number, field.required)
        if self._kept:
            kept = f"The other {len(self._kept)} parameters cannot be edited here."
            yield Static(plain(kept).stylize(MUTED))

    @property
    def wording(self) -> ToolText:
        """The wording in the fields."""
        if self._is_taking or not self.query("#description"):
            return self._wording
        name = self._named.read(self.query_one("#name", PlainInput).value)
        description = self._description.read(self.query_one(DescriptionArea).text)
        return ToolText(name, description, (*self._read_parameters(), *self._kept))

    def show(self, wording: ToolText) -> None:
        """Fill in the fields; the text area can undo this."""
        self._take(self._tool, wording)
        self.query_one("#name", PlainInput).value = self._named.value
        area = self.query_one(DescriptionArea)
        area.replace(self._description.value, (0, 0), area.document.end)
        for number, (name, text, _) in enumerate(self._parameters):
            self.query_one(f"#name-{number}", PlainInput).value = name.value
            self.query_one(f"#text-{number}", PlainInput).value = text.value

    async def use(self, tool: Tool, wording: ToolText) -> None:
        """Edit another tool, or a new version of this one."""
        self._take(tool, wording)
        self._is_taking = True
        try:
            await self.recompose()
        finally:
            self._is_taking = False

    def _take(self, tool: Tool, wording: ToolText) -> None:
        self._tool, self._wording = tool, wording
        self._named, self._description = FieldText(wording.name), FieldText(wording.description, lines=True)
        by_name = {parameter.original: parameter for parameter in wording.parameters}
        every = [by_name.get(own.original, own) for own in wording_of(tool).parameters]
        shown, self._kept = every[:MOST_PARAMETERS], tuple(every[MOST_PARAMETERS:])
        self._parameters = [(FieldText(p.name), FieldText(p.description), p.original) for p in shown]

    def _parameter(self, number: int, required: bool) -> ComposeResult:
        name, text, _ = self._parameters[number]
        with Horizontal():
            yield _input(name, id=f"name-{number}", classes="parameter")
            yield Label("*" if required else "", classes="star")
            yield _input(text, placeholder="no description", id=f"text-{number}", classes="text")

    def _read_parameters(self) -> Iterator[ParameterText]:
        for number, (name, text, original) in enumerate(self._parameters):
            new_name = self.query_one(f"#name-{number}", PlainInput).value
            new_text = self.query_one(f"#text-{number}", PlainInput).value
            yield ParameterText(original, name.read(new_name), text.read(new_text))

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _edited(self, event: Input.Changed | TextArea.Changed) -> None:
        event.stop()
        self.post_message(self.Changed())


def _input(shown: FieldText, *, id: str, placeholder: str = "name", classes: str = "") -> PlainInput:  # noqa: A002
    # The text is there to be edited, so focusing the field must not select all of it.
    return PlainInput(
        shown.value, placeholder=placeholder, select_on_focus=False, id=id, classes=classes or None
    )
