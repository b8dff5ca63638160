"""Writing a message: lines, pasted text, and what was sent before."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual import events, on
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from widgets import Prompt


class _Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.submitted: list[str] = []

    def compose(self) -> ComposeResult:
        yield Prompt("Say something")

    @on(Prompt.Submitted)
    def _submitted(self, event: Prompt.Submitted) -> None:
        self.submitted.append(event.value)


@asynccontextmanager
async def prompt(*sent: str) -> AsyncIterator[tuple[Pilot[None], Prompt]]:
    async with _Host().run_test(size=(40, 20)) as pilot:
        found = pilot.app.query_one(Prompt)
        found.sent = sent
        found.focus()
        await pilot.pause()
        yield pilot, found


def submitted(pilot: Pilot[None]) -> list[str]:
    assert isinstance(pilot.app, _Host)
    return pilot.app.submitted


async def test_enter_sends_every_line() -> None:
    async with prompt() as (pilot, _):
        await pilot.press("a", "ctrl+j", "b", "enter", "c", "enter")
        assert submitted(pilot) == ["a\nb", "c"]


async def test_what_is_typed_in_a_burst_stays_in_order() -> None:
    async with prompt() as (pilot, widget):
        for key in (*"ab", "ctrl+j", *"cd", "enter", "enter", *"ef"):
            character = {"enter": "\r", "ctrl+j": "\n"}.get(key, key)
            pilot.app.post_message(events.Key(key, character))
        await pilot.pause()
        assert submitted(pilot) == ["ab\ncd"]
        assert widget.value == "ef"


async def test_up_brings_back_what_was_sent_and_down_what_was_being_written() -> None:
    async with prompt("first", "second\nline") as (pilot, widget):
        await pilot.press("d", "r")
        seen = []
        for key in ("up", "up", "up", "up", "down", "down", "down", "down"):
            await pilot.press(key)
            seen.append(widget.value)
        # The second message has two lines: one press more is needed to get to its first line.
        assert seen == ["second\nline", "second\nline", "first", "first", "second\nline", "dr", "dr", "dr"]


async def test_the_keys_of_the_app_stay_its_own() -> None:
    keys = {key for binding in Prompt.BINDINGS for key in binding.key.split(",")}  # type: ignore[union-attr]
    assert not keys & {"f6", "f7", "pageup", "pagedown", "tab", "escape"}
