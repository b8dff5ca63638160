"""How the widgets look; the pictures are compared."""

from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import TabbedContent

from widgets import RecordList, SchemaForm, SchemaTree
from widgets.__main__ import Gallery

SnapCompare = Callable[..., bool]


def _tab(number: int) -> Callable[[Pilot[None]], object]:
    async def open_tab(pilot: Pilot[None]) -> None:
        pilot.app.query_one(TabbedContent).active = f"tab-{number}"
        await pilot.pause()
        if number == 2:
            pilot.app.query_one("#scores", RecordList).focus()
        if number == 3:
            pilot.app.query_one(SchemaTree).focus()
            await pilot.press("down", "down", "right")
            pilot.app.query_one(SchemaForm).action_submit()
        await pilot.pause()

    return open_tab


@pytest.mark.parametrize("width", [80, 120])
def test_lists_look_the_same(snap_compare: SnapCompare, width: int) -> None:
    assert snap_compare(Gallery(), terminal_size=(width, 24), press=["tab", "down", "down"])


def test_numbers_look_the_same(snap_compare: SnapCompare) -> None:
    assert snap_compare(Gallery(), terminal_size=(80, 24), run_before=_tab(2))


def test_schemas_look_the_same_in_a_light_theme(snap_compare: SnapCompare) -> None:
    app = Gallery()
    app.theme = "textual-light"
    assert snap_compare(app, terminal_size=(120, 32), run_before=_tab(3))


async def test_the_gallery_asks_and_hears_the_answer() -> None:
    app = Gallery()
    async with app.run_test() as pilot:
        await pilot.press("f2", "n")
        await pilot.pause()
        assert "answer: no" in str(app.query_one("#heard").render())
