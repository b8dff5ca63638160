"""The panel with the effect of an edit: the numbers, the neighbors, the requests that moved."""

from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.app.pages.find.edit import content
from widgets import RecordList, visible


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
