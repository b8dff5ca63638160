"""The flows people come for, with real key presses, over a workbench in memory."""

import asyncio
from collections.abc import Iterable

from textual.pilot import Pilot

from inspector.app.dialogs.detail import DetailScreen
from inspector.app.dialogs.export import ToolPicker
from inspector.core.error import ModelError
from inspector.features.chat.conversation import ConversationPanel, block
from inspector.features.chat.page import SessionScreen, example_requests
from inspector.features.lab.race.page import RaceScreen
from inspector.features.search.page import SearchScreen
from tests.support.app import app_rig, seen, until
from tests.support.fakes import calls, says, searches
from tests.support.workbench import Rig
from widgets import Prompt, RecordList, TextView

FORECAST = (searches(query="forecast for a city"), calls(("weather__get_forecast", {"city": "Oslo"})))
KEYS = {" ": "space", "?": "question_mark", ".": "full_stop"}


async def ask(pilot: Pilot[None], text: str) -> None:
    await pilot.press(*(KEYS.get(character, character) for character in text), "enter")


async def ended(pilot: Pilot[None], rig: Rig, times: int = 1) -> None:
    await until(pilot, lambda: len(rig.store.read("s", kinds=("end",))) >= times)
    await until(pilot, lambda: not shown_busy(pilot))


def shown_busy(pilot: Pilot[None]) -> bool:
    return bool(pilot.app.view and pilot.app.view.state.busy)  # type: ignore[attr-defined]


def blocks(pilot: Pilot[None]) -> list[str]:
    return [str(block(item)) for item in pilot.app.screen.query_one(ConversationPanel).blocks]


def rows(pilot: Pilot[None], selector: str) -> list[str]:
    return [record.key for record in pilot.app.screen.query_one(selector, RecordList).records]


def has(texts: Iterable[str], *words: str) -> bool:
    return any(all(word in text for word in words) for text in texts)


async def hanging(*_: object) -> None:
    await asyncio.Event().wait()


async def test_a_request_runs_the_whole_loop_on_the_screen() -> None:
    async with app_rig(*FORECAST, says("Sunny in Oslo."), at_home=True) as (pilot, rig):
        await ask(pilot, "forecast for Oslo")
        await ended(pilot, rig)
        texts = blocks(pilot)
        assert has(texts, "You", "forecast for Oslo")
        assert has(texts, "searched for", "1 of 4 tools fit", "weather:get_forecast", "+", "✓ called")
        assert has(texts, "weather:get_forecast", "city=Oslo", "ok")
        assert has(texts, "Sunny in Oslo.")
        assert "weather:get_forecast" in rows(pilot, "#tools-loaded")
        assert "weather:get_forecast" not in rows(pilot, "#tools-deferred")


async def test_what_a_provider_answered_is_one_key_further() -> None:
    raw = "HTTP 401 Unauthorized\n\n{\x1b[2J}"
    error = ModelError("openai rejected the key (401)", hint="Set OPENAI_API_KEY.", raw=raw)
    async with app_rig(error, at_home=True) as (pilot, rig):
        await ask(pilot, "hello")
        await ended(pilot, rig)
        assert has(blocks(pilot), "told: openai rejected the key (401)", "raw reply, 3 lines (enter opens)")
        assert "HTTP 401" not in "".join(blocks(pilot))
        await pilot.press("escape", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DetailScreen))
        shown = pilot.app.screen.query_one(TextView).text
        assert shown == f"told: openai rejected the key (401)\n\nSet OPENAI_API_KEY.\n\n{raw}"
        await until(pilot, lambda: "HTTP 401 Unauthorized" in seen(pilot))
        assert "\x1b" not in seen(pilot)


async def test_a_message_that_waits_is_counted_and_escape_brings_it_back() -> None:
    async with app_rig(calls(("calc__evaluate", {})), says("fine"), at_home=True) as (pilot, rig):
        rig.servers["calc"].answer = hanging  # type: ignore[assignment]
        await ask(pilot, "sum")
        await until(pilot, lambda: bool(rig.store.read("s", kinds=("call",))))
        await ask(pilot, "and then")
        panel = pilot.app.screen.query_one(ConversationPanel)
        await until(pilot, lambda: "1 message waits" in str(panel.border_subtitle))
        await pilot.press("escape")
        await ended(pilot, rig)
        assert pilot.app.screen.query_one(Prompt).value == "and then"
        assert len(rig.store.read("s", kinds=("user",))) == 1


async def test_the_examples_are_of_the_connected_tools_and_a_key_or_a_click_away() -> None:
    async with app_rig(says("fine"), at_home=True) as (pilot, rig):
        examples = example_requests(rig.bench.catalog.tools)
        empty = str(pilot.app.screen.query_one(ConversationPanel).empty)
        assert len(examples) == 3
        assert all(text in empty for text in examples)
        await pilot.press("up")
        prompt = pilot.app.screen.query_one(Prompt)
        assert prompt.value == examples[0]
        await pilot.press("up")
        assert prompt.value == examples[1]
        rows = seen(pilot).splitlines()
        row = next(number for number, line in enumerate(rows) if f"› {examples[2]}" in line)
        await pilot.click(offset=(rows[row].index(examples[2]) + 1, row))
        assert prompt.value == examples[2]


async def test_after_a_turn_esc_and_r_race_the_question_and_w_asks_why_not() -> None:
    async with app_rig(*FORECAST, says("Sunny in Oslo."), at_home=True) as (pilot, rig):
        conversation = pilot.app.screen.query_one(ConversationPanel)
        assert not conversation.hint
        await ask(pilot, "forecast for Oslo")
        await ended(pilot, rig)
        await until(
            pilot, lambda: "esc, then w: why a tool was not found   r: race" in str(conversation.hint)
        )
        assert "esc then r: race" in seen(pilot)
        await pilot.press("r")
        assert pilot.app.screen.query_one(Prompt).value == "r"
        await pilot.press("escape", "w")
        await until(pilot, lambda: isinstance(pilot.app.screen, ToolPicker))
        await pilot.press(*"refund", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, SearchScreen))
        await until(pilot, lambda: "forecast for a city" in seen(pilot))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionScreen))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(pilot.app.screen, RaceScreen))
        assert "forecast for Oslo" in seen(pilot)


async def test_text_of_a_page_and_of_a_block_is_selected_with_the_mouse() -> None:
    async with app_rig(says("Sunny in Oslo."), at_home=True) as (pilot, rig):
        await ask(pilot, "weather in Oslo")
        await ended(pilot, rig)
        await pilot.mouse_down(ConversationPanel, offset=(5, 2))
        await pilot.hover(ConversationPanel, offset=(11, 2))
        await pilot.mouse_up(ConversationPanel, offset=(11, 2))
        assert pilot.app.screen.get_selected_text() == "weather"
        await pilot.press("escape", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DetailScreen))
        await pilot.mouse_down("#detail-title", offset=(0, 0))
        await pilot.hover("#detail-title", offset=(5, 0))
        assert pilot.app.screen.get_selected_text() == "answer"
        await until(pilot, lambda: "answer" in seen(pilot))
