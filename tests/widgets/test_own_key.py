"""Keys that come at once, as from a paste or a slow link, reach what the first of them opens."""

import asyncio
from collections.abc import Callable

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.widget import Widget

from widgets import Column, PlainInput, Record, RecordList, TextView


class Burst(App[None]):
    """Has a letter of its own, as pages do: `s` stops something."""

    BINDINGS = [Binding("s", "stop", "stop")]  # noqa: RUF012 - as Textual declares it

    def __init__(self, make: Callable[[], Widget]) -> None:
        super().__init__()
        self._make = make
        self.stopped = 0

    def compose(self) -> ComposeResult:
        yield self._make()

    def action_stop(self) -> None:
        self.stopped += 1


def rows() -> RecordList:
    shown = RecordList((Column("name"),))
    shown.records = (Record("a", ("orders",)), Record("b", ("lists",)))
    return shown


def text() -> TextView:
    shown = TextView()
    shown.text = "orders\nlists"
    return shown


@pytest.mark.parametrize("make", [rows, text])
async def test_what_is_typed_right_behind_the_key_of_a_filter_is_in_the_filter(
    make: Callable[[], Widget],
) -> None:
    app = Burst(make)
    async with app.run_test() as pilot:
        await pilot.press("tab")
        for letter in "/orders":
            app.post_message(events.Key("slash" if letter == "/" else letter, letter))
        async with asyncio.timeout(30):
            while not app.query(PlainInput) or app.query_one(PlainInput).value != "orders":  # noqa: ASYNC110 - only a look tells
                await asyncio.sleep(0.003)
        assert app.stopped == 0


async def test_letters_that_overtake_the_filter_stay_in_the_order_they_were_typed() -> None:
    app = Burst(rows)
    async with app.run_test() as pilot:
        await pilot.press("tab", "slash")
        typed = app.query_one(PlainInput)
        for letter in "orde":
            typed.insert_text_at_cursor(letter)
        await pilot.press("r", "s")
        assert typed.value == app.query_one(RecordList).filter_text == "orders"
