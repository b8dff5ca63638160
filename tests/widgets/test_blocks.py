"""Many blocks: what is laid out and drawn, where the cursor and the reader stay, and what is copied."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.content import Content
from textual.events import Click
from textual.pilot import Pilot
from textual.widgets import Input

from widgets import Blocks

WORDS = "and more words"


class Numbered(Blocks[str]):
    """Blocks of a title and a line."""

    laid_out = 0

    def content(self, item: str, width: int) -> Content:  # noqa: ARG002
        self.laid_out += 1
        return Content(f"{item}\n  {WORDS}")

    def foot(self, width: int) -> list[Content]:  # noqa: ARG002
        return [Content("the end")]


class _Host(App[None]):
    CSS = "Numbered { height: 1fr; }"
    opened: int | None = None

    def compose(self) -> ComposeResult:
        yield Input()
        yield Numbered()

    def on_blocks_opened(self, event: Blocks.Opened) -> None:
        self.opened = event.index


@asynccontextmanager
async def shown(count: int, start: int = 0) -> AsyncIterator[tuple[Pilot[None], Numbered]]:
    """So many blocks in 21 lines."""
    async with _Host().run_test(size=(40, 24)) as pilot:
        blocks = pilot.app.query_one(Numbered)
        blocks.show(titles(start, count))
        await pilot.pause()
        yield pilot, blocks


def titles(start: int, end: int) -> tuple[str, ...]:
    return tuple(f"block {number}" for number in range(start, end))


def lines(blocks: Numbered) -> list[str]:
    return [blocks.render_line(y).text.rstrip() for y in range(blocks.size.height)]


async def test_only_a_block_that_changed_is_laid_out_again() -> None:
    async with shown(150) as (pilot, blocks):
        before, blocks.laid_out = blocks.blocks, 0
        blocks.show((*before[:-1], "block 149 goes on"))
        assert blocks.laid_out == 1
        blocks.show((*blocks.blocks, "one more"))
        assert blocks.laid_out == 2
        await pilot.pause()
        assert "  " + WORDS in lines(blocks)[-3]


async def test_blocks_are_no_widgets_and_of_thousands_the_newest_are_laid_out() -> None:
    async with shown(10_000) as (pilot, blocks):
        assert blocks.laid_out < 500
        assert not blocks.children
        assert " block 9999" in lines(blocks)
        assert lines(blocks)[-1] == " the end"
        await pilot.press("tab", "home")
        await pilot.pause()
        assert lines(blocks)[0] == " block 0"


async def test_older_blocks_come_above_while_the_reader_stays_in_place() -> None:
    async with shown(450) as (pilot, blocks):
        blocks.scroll_to(y=30, animate=False)
        await pilot.pause()
        before, laid_out = lines(blocks), blocks.laid_out
        blocks.scroll_to(y=12, animate=False)
        await pilot.pause()
        assert blocks.laid_out > laid_out
        assert lines(blocks)[18:] == before[:3]
        for _ in range(80):
            blocks.scroll_relative(y=-21, animate=False)
            await pilot.pause()
        assert lines(blocks)[0] == " block 0"


async def test_who_reads_up_there_is_left_there_and_in_another_width_too() -> None:
    async with shown(60) as (pilot, blocks):
        blocks.scroll_to(y=30, animate=False)
        await pilot.pause()
        top = lines(blocks)[0]
        assert top == " block 10"
        blocks.show((*blocks.blocks, "more"))
        await pilot.pause()
        assert lines(blocks)[0] == top
        blocks.laid_out = 0
        await pilot.resize_terminal(12, 24)
        await pilot.pause()
        assert lines(blocks)[0] == top
        assert blocks.laid_out >= len(blocks.blocks)


async def test_the_cursor_opens_a_block_and_leaves_the_list_at_its_ends() -> None:
    async with shown(3) as (pilot, blocks):
        await pilot.press("tab")
        assert blocks.cursor == 2
        await pilot.press("k", "enter")
        assert pilot.app.opened == 1  # type: ignore[attr-defined]
        await pilot.press("up", "up")
        assert isinstance(pilot.app.focused, Input)
        blocks.show(titles(0, 5))
        await pilot.press("tab")
        assert blocks.cursor == 4
        await pilot.press("down")
        assert isinstance(pilot.app.focused, Input)


async def test_a_click_opens_the_block_that_it_hits() -> None:
    async with shown(3) as (pilot, blocks):
        await pilot.click(blocks, offset=(3, 2))
        assert pilot.app.opened is None  # type: ignore[attr-defined]
        assert isinstance(pilot.app.focused, Input)
        await pilot.click(blocks, offset=(3, 4))
        assert pilot.app.opened == 1  # type: ignore[attr-defined]
        assert blocks.has_focus


async def test_text_is_selected_across_blocks_without_opening_one() -> None:
    async with shown(60) as (pilot, blocks):
        blocks.scroll_to(y=30, animate=False)
        await pilot.mouse_down(blocks, offset=(7, 0))
        await pilot.hover(blocks, offset=(6, 4))
        await pilot.mouse_up(blocks, offset=(6, 4))
        assert pilot.app.screen.get_selected_text() == f"10\n  {WORDS}\n\nblock 11\n  and "
        # What the app makes of the two when a button goes up where it went down.
        await pilot._post_mouse_events([Click], blocks, (6, 4))
        assert pilot.app.opened is None  # type: ignore[attr-defined]


async def test_nothing_takes_the_focus_while_there_is_no_block() -> None:
    async with shown(0) as (pilot, blocks):
        assert lines(blocks)[0] == " the end"
        await pilot.press("tab")
        assert isinstance(pilot.app.focused, Input)


async def test_the_styles_of_drawn_lines_do_not_grow_with_the_lines() -> None:
    async with shown(150) as (pilot, blocks):
        styles: set[object] = set()
        for line in range(0, 300, 20):
            blocks.scroll_to(y=line, animate=False)
            drawn = blocks.render_lines(blocks.size.region)
            styles.update(segment.style for strip in drawn for segment in strip)
        assert len(styles) < 10
        await pilot.pause()
