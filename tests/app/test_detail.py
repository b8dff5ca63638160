"""The detail of one item."""

from textual.app import App
from textual.pilot import Pilot

from inspector.app.dialogs.detail import DetailScreen
from tests.support.app import seen
from widgets import JsonTree


async def _shown(pilot: Pilot[None], screen: DetailScreen) -> str:
    await pilot.app.push_screen(screen)
    await pilot.pause()
    return seen(pilot)


async def test_it_shows_text_and_data_and_closes() -> None:
    app: App[None] = App()
    async with app.run_test(size=(80, 24)) as pilot:
        shown = await _shown(pilot, DetailScreen("shop:list_orders [ok]", "3 orders", {"orders": 3}))
        assert "shop:list_orders [ok]" in shown
        assert "3 orders" in shown
        assert app.screen.query_one(JsonTree).value == {"orders": 3}
        await pilot.press("escape")
        assert not isinstance(app.screen, DetailScreen)


async def test_y_copies_the_text_and_esc_leaves_a_search_first() -> None:
    app: App[None] = App()
    async with app.run_test(size=(80, 24)) as pilot:
        await _shown(pilot, DetailScreen("Answer", "one two"))
        await pilot.press("y")
        assert app.clipboard == "one two"
        await pilot.press("slash", *"two", "enter", "escape")
        assert isinstance(app.screen, DetailScreen)
        await pilot.press("escape")
        assert not isinstance(app.screen, DetailScreen)
