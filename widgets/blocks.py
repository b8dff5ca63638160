"""`Blocks`: blocks of text below each other, with a cursor; only the lines in sight are drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import is_
from textwrap import dedent
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual

from widgets.line_view import LineView
from widgets.text import Hanging, plain

T = TypeVar("T")
# So many blocks are laid out at once, the newest first, and the rows of so many are kept.
CHUNK, _KEPT = 200, 64
# Cells in which nothing below the blocks is wrapped.
_UNWRAPPED = 1_000


class BlockCanvas(LineView, Generic[T]):
    """Follows its end while that is in sight; what fits begins at the top.

    A block is drawn by `content`, with a blank line below it. Older blocks are laid out when their place
    comes near.
    """

    DEFAULT_CSS = """
    BlockCanvas > .blocks--cursor { background: $boost; }
    BlockCanvas > .blocks--foot { color: $text-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"blocks--cursor", "blocks--foot"}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - as Textual calls it
        super().__init__(id=id)
        self.blocks: Sequence[T] = ()
        self.cursor: int | None = None
        self._first = 0
        # Of each block from the first that is laid out, the line behind it.
        self._ends: list[int] = []
        self._rows: LRUCache[int, tuple[T, list[Content]]] = LRUCache(_KEPT)
        self._shape: Hashable = None
        self._follows = True
        self._is_drawing = False

    def content(self, item: T, width: int) -> Content:  # noqa: ARG002 - a table may depend on it
        """What a block says, in lines that may be wrapped into `width` cells; by default its item."""
        return plain(str(item))

    def foot(self, width: int) -> list[Content]:  # noqa: ARG002 - what is below may depend on it
        """The rows below the last block, of at most `width` cells."""
        return []

    @property
    def shape(self) -> Hashable:
        """What the blocks are laid out for: they are again when it is another."""
        return self.width

    @property
    def width(self) -> int:
        """The cells of text in a line, between the cursor's mark and a blank before the scroll bar."""
        return max(self.scrollable_content_region.width - 2, 1)

    def texts(self) -> Iterator[str]:
        """What the blocks that are laid out say, and what is below them."""
        yield from (str(self.content(block, self.width)) for block in self.blocks[self._first :])
        yield dedent("\n".join(row.plain for row in self.foot(_UNWRAPPED))).strip()

    def show(self, blocks: Sequence[T], *, end: bool = False) -> None:
        """Show these blocks, or their `end`; what is the same object as before is not laid out again."""
        before, self.blocks = self.blocks[self._first :], blocks
        now = blocks[self._first :]
        same = [*map(is_, before, now), False].index(False)
        if self.cursor is not None:
            # What comes while the cursor is not in use is met first.
            is_used = self.screen.focused is self and blocks
            self.cursor = min(self.cursor, len(blocks) - 1) if is_used else None
        if not same or len(now) - same > CHUNK:
            self._first, same = max(0, len(blocks) - CHUNK), 0
        self._ends = self._ends[:same]
        self._follows |= end
        self.fit()

    def fit(self) -> None:
        """Lay out what is not, and take the size of all and of what is below."""
        if not self.size.width:
            return
        rest = range(self._first + len(self._ends), len(self.blocks))
        self._ends += self._laid_out(rest, self._foot_at)
        follows = self._follows
        self.resize(Size(self.size.width, self._foot_at + len(self.foot(self.width))))
        if follows:
            self.scroll_line(self.max_scroll_y)
        self.refresh()

    def _laid_out(self, numbers: Iterable[int], begun: int = 0) -> list[int]:
        """The lines behind blocks, the first of which begins in some line."""
        return list(accumulate((len(self._rows_of(number)) + 1 for number in numbers), initial=begun))[1:]

    def _rows_of(self, number: int) -> list[Content]:
        block = self.blocks[number]
        if (known := self._rows.get(number)) is None or known[0] is not block:
            rows = Hanging(self.content(block, self.width)).rows(self.width)
            known = self._rows[number] = block, rows
        return known[1]

    @property
    def _foot_at(self) -> int:
        return self._ends[-1] if self._ends else 0

    def _top(self, number: int) -> int:
        at = number - self._first
        return self._ends[at - 1] if at else 0

    def _at(self, line: int) -> tuple[int, Content | None]:
        """The number of the block in a line, and the row of its text there, if that is not its end."""
        number = self._first + bisect_right(self._ends, line)
        rows = self._rows_of(number) if number < len(self.blocks) else self.foot(self.width)
        row = line - self._top(number)
        return number, rows[row] if row < len(rows) else None

    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        number, text = self._at(line)
        is_current = number == self.cursor and self.has_focus and text is not None
        is_foot = self.blocks and number == len(self.blocks)
        name = "blocks--cursor" if is_current else "blocks--foot" if is_foot else None
        style = self.get_visual_style(name) if name else self.visual_style
        text = Content() if text is None else text
        span = selected.get_span(line) if (selected := self.text_selection) else None
        if span is not None:
            marked = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            text = text.stylize(marked, max(span[0], 0), None if span[1] == -1 else span[1])
        mark = Content.styled("▌", "$primary") if is_current else Content(" ")
        room = self.width + 2
        strips = Visual.to_strips(self, mark + text, room, 1, style, apply_selection=False, pad=True)
        return strips[0] if self._is_drawing else strips[0].apply_offsets(-1, line)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines as they are drawn: with its place, every piece would be a style that no cache has."""
        self._is_drawing = True
        strips = super().render_lines(crop)
        self._is_drawing = False
        return strips

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text."""
        start, end = (where or Offset() for where in selection)
        last = end.y if selection.end else self._foot_at - 1
        rows = (self._at(line)[1] for line in range(start.y, min(last, self._foot_at - 1) + 1))
        own = Selection(Offset(max(start.x, 0), 0), selection.end and Offset(max(end.x, 0), last - start.y))
        return own.extract("\n".join("" if row is None else row.plain for row in rows)), "\n"

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._follows = new_value >= self.max_scroll_y
        if self._first and new_value < self.size.height:
            self.call_later(self._reach_back)

    def _reach_back(self, to: int | None = None) -> None:
        """Lay out older blocks, so that there is a screen above what is seen, or from one on."""
        if not self._first or (to is None and self.scroll_y >= self.size.height):
            return
        before = self._first
        self._first = max(0, before - CHUNK) if to is None else to
        ends = self._laid_out(range(self._first, before))
        self._ends = [*ends, *(end + ends[-1] for end in self._ends)]
        where = self.scroll_target_y + ends[-1]
        self.resize(self.virtual_size + Size(0, ends[-1]))
        self.scroll_line(int(where))

    def watch_show_vertical_scrollbar(self) -> None:
        super().watch_show_vertical_scrollbar()
        self.on_resize()

    def on_resize(self) -> None:
        """Lay out again for another width; the end stays in sight, or the row on top."""
        if self.shape == self._shape:
            self.fit()
            return
        line = self.scroll_offset.y
        on_top = self._at(line)[0] if self._ends else 0
        row = line - self._top(on_top)
        self._shape = self.shape
        self._rows.clear()
        self._ends = []
        if follows := self._follows:
            self._first = max(0, len(self.blocks) - CHUNK)
        self.fit()
        if not follows and on_top < len(self.blocks):
            self.scroll_line(self._top(on_top) + min(row, len(self._rows_of(on_top))))


class Blocks(BlockCanvas[T], can_focus=True):
    """Moves a cursor over the blocks, and opens one."""

    # A click gives it the focus only where it hits a block.
    FOCUS_ON_CLICK = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open"),
        Binding("up,k", "step(-1)", show=False),
        Binding("down,j", "step(1)", show=False),
    ]

    @dataclass
    class Opened(Message):
        """Enter was pressed on the block of that number, or it was clicked."""

        index: int

    def allow_focus(self) -> bool:
        """Only a block can have the focus."""
        return super().allow_focus() and bool(self.blocks)

    def on_focus(self) -> None:
        if self.cursor is None:
            self.move_to(len(self.blocks) - 1)

    def move_to(self, number: int) -> None:
        """Move the cursor to a block, and bring that into view."""
        self.cursor = number
        if number < self._first:
            self._reach_back(max(0, number - CHUNK))
        top, end, window = self._top(number), self._top(number + 1), self.size.height
        if not self.scroll_y <= top < end - 1 <= self.scroll_y + window:
            # As Textual centers a widget that gets the focus.
            centered = self.scroll_y + int((top + end - window) / 2 - self.scroll_y + 0.5)
            self.scroll_to(y=min(top, centered))
        self.refresh()

    def action_step(self, blocks: int) -> None:
        """Move the cursor by some blocks; beyond the first and the last is what else takes the focus."""
        number = (len(self.blocks) if self.cursor is None else self.cursor) + blocks
        if 0 <= number < len(self.blocks):
            self.move_to(number)
        else:
            (self.screen.focus_previous if blocks < 0 else self.screen.focus_next)()

    def action_scroll_home(self) -> None:
        """Go to the very first block."""
        self._reach_back(0)
        super().action_scroll_home()

    def action_open(self) -> None:
        """Open the block under the cursor."""
        if self.cursor is not None:
            self.post_message(self.Opened(self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Open the clicked block, unless its text was selected."""
        where = event.get_content_offset(self)
        if where is None or self.text_selection:
            return
        number, text = self._at(where.y + self.scroll_offset.y)
        if text is not None and number < len(self.blocks):
            self.cursor = number
            self.focus(scroll_visible=False)
            self.action_open()
