"""`TextView`: long text to read, search and copy, be it one line of a megabyte or 100,000 lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from rich.cells import cell_len, get_character_cell_size
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content, Span
from textual.geometry import Size
from textual.getters import query_one
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from widgets.key_bar import FilterBar
from widgets.terminal_text import visible
from widgets.text import Painter, plain

TAB = 4

Row = tuple[int, int, int]
"""A row on screen: its line, and the start and end of the part it shows."""


def wrap(lines: list[str], width: int) -> list[Row]:
    """Break lines into rows of at most `width` cells, at spaces where possible."""
    width = max(2, width)
    rows: list[Row] = []
    for number, line in enumerate(lines):
        if len(line) <= width and (line.isascii() or cell_len(line) <= width):
            rows.append((number, 0, len(line)))
        else:
            rows.extend((number, start, end) for start, end in _breaks(line, width))
    return rows


def _breaks(line: str, width: int) -> Iterator[tuple[int, int]]:
    ascii_only = line.isascii()
    start, length = 0, len(line)
    while start < length:
        end = min(length, start + width) if ascii_only else _reach(line, start, width)
        if end < length and line[end] != " ":
            space = line.rfind(" ", start + 1, end)
            end = space + 1 if space > start + width // 2 else end
        yield start, end
        start = end + 1 if end < length and line[end] == " " else end


def _reach(line: str, start: int, width: int) -> int:
    """Return the end of the longest piece from `start` that takes at most `width` cells."""
    used, end = 0, start
    while end < len(line):
        used += get_character_cell_size(line[end])
        if used > width and end > start:
            break
        end += 1
    return end


class TextLines(ScrollView, can_focus=True):
    """Draws wrapped text and marks the matches of a search."""

    DEFAULT_CSS = """
    TextLines {
        height: 1fr;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        & > .text-view--match { background: $warning 40%; text-style: bold underline; }
        & > .text-view--muted { color: $text-muted; }
    }
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"text-view--match", "text-view--muted"}

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "Up", show=False),
        Binding("down", "scroll_down", "Down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("pagedown", "page_down", "Page down", show=False),
        Binding("home", "scroll_home", "Start", show=False),
        Binding("end", "scroll_end", "End", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.empty = ""
        self._lines: list[str] = []
        self._rows: list[Row] = []
        self._needle: re.Pattern[str] | None = None
        self._painter = Painter(self)

    def show(self, text: str, *, end: bool = False) -> None:
        """Show a text whose hidden characters are visible already, from its start or at its `end`."""
        self._lines = [line.expandtabs(TAB) for line in text.split("\n")] if text else []
        self._wrap()
        if end:
            self.scroll_end(animate=False, force=True)
        else:
            self.scroll_to(y=0, animate=False, force=True)

    def mark(self, needle: str) -> int:
        """Mark every match; return how many there are."""
        self._needle = re.compile(re.escape(needle), re.IGNORECASE) if needle else None
        self.refresh()
        return sum(1 for _ in self._matches())

    def jump(self, direction: int, *, stay: bool = False) -> None:
        """Scroll to the next match down or up; with `stay`, a match in the top row counts as next."""
        rows = [self._row_of(line, column) for line, column in self._matches()]
        if not rows:
            return
        here = self.scroll_offset.y
        if direction > 0:
            later = [row for row in rows if row > here or (stay and row == here)]
            target = later[0] if later else rows[0]
        else:
            earlier = [row for row in rows if row < here]
            target = earlier[-1] if earlier else rows[-1]
        self.scroll_to(y=target, animate=False, force=True)

    def _matches(self) -> Iterator[tuple[int, int]]:
        if self._needle:
            for number, line in enumerate(self._lines):
                for match in self._needle.finditer(line):
                    yield number, match.start()

    def _row_of(self, line: int, column: int) -> int:
        return bisect_left(self._rows, (line, column + 1, 0)) - 1

    def _wrap(self) -> None:
        self._rows = wrap(self._lines, self.size.width - 2) if self.size.width else []
        self.virtual_size = Size(self.size.width, len(self._rows))
        self.refresh()

    def on_resize(self) -> None:
        """Wrap again and keep the top line in place."""
        if self.virtual_size.width == self.size.width:
            return
        top = self._rows[self.scroll_offset.y] if self.scroll_offset.y < len(self._rows) else None
        self._wrap()
        if top is not None:
            self.scroll_to(y=self._row_of(top[0], top[1]), animate=False, force=True)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painter.forget()

    def render_line(self, y: int) -> Strip:
        width, row = self.size.width, y + self.scroll_offset.y
        if not self._lines:
            lines = plain(self.empty).wrap(max(2, width - 2))
            text = lines[y] if y < len(lines) else Content("")
            return self._painter.strip([Content(" "), text], self.get_visual_style("text-view--muted"), width)
        if row >= len(self._rows):
            return self._painter.strip([], self.visual_style, width)
        number, start, end = self._rows[row]
        return self._painter.strip([Content(" "), self._marked(number, start, end)], self.visual_style, width)

    def _marked(self, number: int, start: int, end: int) -> Content:
        line = self._lines[number]
        content = Content(line[start:end])
        if not self._needle:
            return content
        reach = len(self._needle.pattern)
        near = max(0, start - reach)
        spans = [
            Span(max(0, match.start() - start), min(end, match.end()) - start, ".text-view--match")
            for match in self._needle.finditer(line, near, min(len(line), end + reach))
            if match.end() > start and match.start() < end
        ]
        return content.add_spans(spans)


LIMIT = 4_000_000
"""Longer text is cut here, and its end says so."""


class TextView(Vertical):
    """A scrolling view of soft-wrapped text. `/` searches, n and N step through the matches, y copies."""

    DEFAULT_CSS = """
    TextView { height: 1fr; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "search", "search", id="text.search"),
        Binding("n", "step(1)", "next match", show=False, id="text.next"),
        Binding("N", "step(-1)", "previous match", show=False, id="text.previous"),
        Binding("y", "copy", "copy", id="text.copy"),
        Binding("escape", "clear_search", "clear search", id="text.clear"),
    ]

    text: reactive[str] = reactive("", init=False)
    """The text; it may come from anywhere."""
    empty: reactive[str] = reactive("", init=False)
    """Shown when there is no text."""

    lines = query_one(TextLines)
    """The part that takes the focus."""

    class Copied(Message):
        """The text is on the clipboard."""

    def __init__(
        self, text: str = "", *, empty: str = "No text.", follow: bool = False, **options: Any
    ) -> None:
        """Create a view; to `follow` is to show the end of a new text, as of a log."""
        super().__init__(**options)
        self._lines = TextLines()
        self._bar = FilterBar("search: ↑ ↓ previous and next match")
        self._shown = ""
        self._follow = follow
        self.set_reactive(TextView.text, text)
        self.set_reactive(TextView.empty, empty)

    def compose(self) -> ComposeResult:
        yield self._lines
        yield self._bar

    def on_mount(self) -> None:
        self.watch_empty()
        self.watch_text()

    def watch_text(self) -> None:
        self._shown = visible(self.text, limit=LIMIT)
        self._lines.show(self._shown, end=self._follow)
        if self._bar.is_attached and self._bar.is_open:
            self._find(self._bar.input.value)

    def watch_empty(self) -> None:
        self._lines.empty = self.empty
        self._lines.refresh()

    def focus(self, scroll_visible: bool = True, *args: bool, **kwargs: bool) -> Self:
        """Give the focus to the lines."""
        self._lines.focus(scroll_visible, *args, **kwargs)
        return self

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """Leave esc to the screen when there is no search to clear."""
        if action in {"clear_search", "step"}:
            return self._bar.is_open
        return True

    async def action_search(self) -> None:
        """Open the search."""
        await self._bar.open()
        self.refresh_bindings()

    def action_step(self, direction: int) -> None:
        """Go to the next or the previous match."""
        self._lines.jump(direction)

    def action_copy(self) -> None:
        """Copy the text as shown."""
        self.app.copy_to_clipboard(self._shown)
        self.post_message(self.Copied())

    def action_clear_search(self) -> None:
        """Clear the search and go back to the lines."""
        self.focus()
        self._bar.close()
        self._find("")
        self.refresh_bindings()

    def _find(self, needle: str) -> None:
        matches = self._lines.mark(needle)
        self._bar.set_count(f"{matches:,} found" if needle else "")

    @on(FilterBar.Edited)
    def _edited(self, event: FilterBar.Edited) -> None:
        event.stop()
        self._find(self._bar.input.value)
        self._lines.jump(1, stay=True)

    @on(FilterBar.Done)
    def _done(self, event: FilterBar.Done) -> None:
        event.stop()
        self.focus()
        self.refresh_bindings()

    @on(FilterBar.Stepped)
    def _stepped(self, event: FilterBar.Stepped) -> None:
        event.stop()
        self._lines.jump(-1 if event.key.endswith("up") else 1)
