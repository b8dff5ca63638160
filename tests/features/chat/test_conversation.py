"""What the conversation shows when it grows, when its reader looks back, and on another terminal size."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from inspector.core.conversation import Conversation, Item, ItemKind
from inspector.features.chat.conversation import ConversationPanel
from tests.features.chat.test_search_block import FOUND, item


class _Host(App[None]):
    def compose(self) -> ComposeResult:
        yield ConversationPanel()


@asynccontextmanager
async def long_conversation() -> AsyncIterator[tuple[Pilot[None], ConversationPanel]]:
    """A panel with more than fits."""
    async with _Host().run_test(size=(80, 12)) as pilot:
        panel = pilot.app.query_one(ConversationPanel)
        await show(
            pilot, panel, *(Item(seq, ItemKind.ANSWER, f"word {'and more ' * 40}") for seq in range(20))
        )
        yield pilot, panel


async def show(pilot: Pilot[None], panel: ConversationPanel, *items: Item) -> None:
    panel.conversation = Conversation((*panel.conversation.items, *items))
    await pilot.pause()


def is_at_end(panel: ConversationPanel) -> bool:
    return panel.max_scroll_y > 0 and panel.scroll_y == panel.max_scroll_y


async def test_the_end_stays_in_sight_when_the_conversation_grows_or_the_terminal_changes() -> None:
    async with long_conversation() as (pilot, panel):
        assert is_at_end(panel)
        await show(pilot, panel, Item(90, ItemKind.ANSWER, "more"))
        assert is_at_end(panel)
        for width, height in ((200, 30), (40, 8)):
            await pilot.resize_terminal(width, height)
            await pilot.pause()
            assert is_at_end(panel)


async def test_who_looks_back_is_left_there_until_they_say_something() -> None:
    async with long_conversation() as (pilot, panel):
        panel.scroll_home(animate=False)
        await pilot.pause()
        await show(pilot, panel, Item(90, ItemKind.ANSWER, "more"))
        assert panel.scroll_y == 0
        await show(pilot, panel, Item(91, ItemKind.USER, "And then?"))
        assert is_at_end(panel)


async def test_a_search_lists_fewer_results_where_the_terminal_is_low() -> None:
    async with _Host().run_test(size=(80, 30)) as pilot:
        panel = pilot.app.query_one(ConversationPanel)
        await show(pilot, panel, item(*FOUND, *FOUND))
        assert "… 1 more" in "".join(panel.texts())
        await pilot.resize_terminal(80, 20)
        await pilot.pause()
        assert "… 3 more" in "".join(strip.text for strip in map(panel.render_line, range(18)))
