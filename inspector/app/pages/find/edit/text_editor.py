"""A tool's texts as fields to edit, and what the edit does to its ranks."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label, Static, TextArea

from inspector.app.draw.line import MUTED
from inspector.app.pages.find.edit import content
from inspector.core.tool import Tool
from inspector.schema.schema import fields
from inspector.search.explanation.tool_edit import ParameterText, ToolText, wording_of
from widgets import PlainInput, RecordList, plain, visible

LONGEST = 20_000
MOST_PARAMETERS = 60
_NEWLINE = "↵"
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
        return (value.replace(_NEWLINE, "\n") if broken else value) + self.text[LONGEST:]


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
            yield _input(self._shown_name, id="name")
        with Horizontal():
            yield Label("description")
            yield DescriptionArea(
                self._shown_text.value, compact=True, highlight_cursor_line=False, id="description"
            )
        if len(self._shown_text.text) > LONGEST:
            hidden = len(self._shown_text.text) - LONGEST
            yield Static(Content.styled(f"The last {hidden:,} characters cannot be edited here.", MUTED))
        if self._parameters:
            yield Static(Content.styled("parameters (* required)", MUTED))
        for number, field in enumerate(fields(self._tool.input_schema)[:MOST_PARAMETERS]):
            yield from self._parameter(number, field.required)
        if self._kept:
            text = f"The other {len(self._kept)} parameters cannot be edited here."
            yield Static(plain(text).stylize(MUTED))

    @property
    def wording(self) -> ToolText:
        """The wording in the fields."""
        if self._is_taking or not self.query("#description"):
            return self._wording
        name = self._shown_name.read(self.query_one("#name", PlainInput).value)
        description = self._shown_text.read(self.query_one(DescriptionArea).text)
        return ToolText(name, description, (*self._read_parameters(), *self._kept))

    def show(self, wording: ToolText) -> None:
        """Fill in the fields; the text area can undo this."""
        self._take(self._tool, wording)
        self.query_one("#name", PlainInput).value = self._shown_name.value
        area = self.query_one(DescriptionArea)
        area.replace(self._shown_text.value, (0, 0), area.document.end)
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
        self._shown_name, self._shown_text = (
            FieldText(wording.name),
            FieldText(wording.description, lines=True),
        )
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


class EffectPanel(Vertical):
    """Shows the latest reading."""

    def __init__(self, tokenizer: str, *, id: str | None = None) -> None:  # noqa: A002
        """`tokenizer` names the tokenizer of the counts."""
        super().__init__(id=id)
        self.reading = content.Reading()
        self._tokenizer = visible(tokenizer, limit=40, newlines=False)

    def compose(self) -> ComposeResult:
        yield Static(id="numbers")
        with Container(id="lists"):
            yield RecordList(content.AROUND_COLUMNS, header=True, empty=content.COMPUTING, id="around")
            yield RecordList(content.CHANGE_COLUMNS, header=True, empty=content.COMPUTING, id="changes")

    def on_mount(self) -> None:
        title = Content(f"Before → after   tokens: {self._tokenizer}")
        self.query_one("#numbers").border_title = title
        self.show(self.reading, 0)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_numbers)

    def show(self, reading: content.Reading, tools: int, description: str = "") -> None:
        """Show a reading; `tools` is the number of tools searched, `description` that of the draft."""
        if reading.cases is None and not reading.problem:
            # The last results of the requests stay visible until there are newer ones.
            reading = replace(reading, cases=self.reading.cases, requests=self.reading.requests)
        self.reading = reading
        self._show_numbers()
        self._show_around(tools, description)
        changes = self.query_one("#changes", RecordList)
        changes.border_title = content.change_title(reading)
        changes.empty = content.why_no_rows(reading)
        changes.records = content.change_rows(reading.cases) if reading.cases else ()

    def _show_around(self, tools: int, description: str) -> None:
        effect, around = self.reading.effect, self.query_one("#around", RecordList)
        around.border_title = content.around_title(effect, tools)
        around.empty = content.why_no_rows(self.reading)
        around.records = content.around_rows(effect, description) if effect else ()
        if effect is not None and not around.rows.has_focus:
            around.move_to(effect.edited_id)

    def _show_numbers(self) -> None:
        numbers = self.query_one("#numbers", Static)
        numbers.update(content.numbers(self.reading, numbers.content_size.width))
