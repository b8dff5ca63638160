"""Keys that come at once, as from a paste or a slow link, reach what the first of them opens."""

import asyncio
from collections.abc import Callable

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.widget import Widget
from textual.widgets import TextArea

from inspector.app import opening, terminal
from inspector.app.terminal import TerminalApp
from tests.support.app import app_rig, goes, until
from tests.support.fakes import says
from tests.support.office import office
from tests.support.tools_page import shown, tools_page
from widgets import Column, PlainInput, Prompt, Record, RecordList, TextView


@pytest.fixture(autouse=True)
def _busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys wait for a page that takes longer to open than a person waits."""
    monkeypatch.setattr(terminal, "_LONGEST", 60.0)


class Burst(TerminalApp[None]):
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


async def test_a_message_that_is_sent_while_the_app_still_asks_for_consent_is_answered_with_tools(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agreed = asyncio.Event()

    async def asks(*_: object, **__: object) -> bool:
        return await agreed.wait()

    monkeypatch.setattr(opening, "has_consent", asks)
    async with app_rig(says("done"), at_home=True, settled=False) as (pilot, rig):
        await until(pilot, lambda: bool(pilot.app.screen.query(Prompt)))
        await pilot.press("h", "i", "enter")
        agreed.set()
        await until(pilot, lambda: bool(rig.model.requests))
    assert "search_tools" in str(rig.model.requests[0].tools)


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


def _typed_at_once(app: App[None], keys: str) -> None:
    for key in keys.split():
        app.post_message(events.Key(key, {"slash": "/"}.get(key, key if len(key) == 1 else None)))


async def test_what_is_typed_right_behind_the_key_of_an_editor_is_in_it_and_loads_nothing() -> None:
    async with tools_page(servers=office()) as (pilot, rig):
        await pilot.press("down")
        await until(pilot, lambda: ":" in shown(pilot))
        before = rig.bench.state.tools
        _typed_at_once(pilot.app, "e l a t e")
        await until(
            pilot, lambda: any(area.text.startswith("late") for area in pilot.app.screen.query(TextArea))
        )
        assert rig.bench.state.tools == before


async def test_keys_behind_a_search_are_for_its_results() -> None:
    async with app_rig(servers=office()) as (pilot, _):
        await goes(pilot, "search")
        await until(pilot, lambda: isinstance(pilot.app.focused, PlainInput))
        _typed_at_once(pilot.app, "m a i l enter e n e w")
        await until(
            pilot, lambda: any(area.text.startswith("new") for area in pilot.app.screen.query(TextArea))
        )
        assert pilot.app.screen.query_one("#query", PlainInput).value == "mail"


async def test_a_key_is_answered_though_what_had_the_focus_is_gone() -> None:
    app = Burst(rows)
    async with app.run_test() as pilot:
        gone = app.query_one(RecordList).query("RecordRows").first()
        await app.query_one(RecordList).remove()
        app.screen.set_focus(gone)
        await pilot.press("s")
        assert app.stopped == 1
