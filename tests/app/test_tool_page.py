"""The tool screen, driven by keys."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from textual.pilot import Pilot

from inspector.adapters.memory.fakes import MemoryServer, echo
from inspector.app.pages.tools.tool.screen import ToolScreen
from inspector.domain.error import CallTimeout
from inspector.domain.events import CallFinished
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolResult
from inspector.domain.session import Binding
from inspector.domain.tool import Annotations, Tool
from tests.support.app import app_rig, seen, until
from tests.support.hostile import KINDS
from tests.support.workbench import CITY, READS, Rig, shop_and_weather
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines
from widgets import Confirm, SchemaTree, TextView

FORECAST = "weather:get_forecast"


async def _says(pilot: Pilot[None], text: str) -> None:
    await until(pilot, lambda: text in seen(pilot))


@asynccontextmanager
async def _opened(
    tool_id: str, server: MemoryServer | None = None, size: tuple[int, int] = (120, 32)
) -> AsyncGenerator[tuple[Pilot[None], Rig], None]:
    servers = shop_and_weather() | ({"weather": server} if server else {})
    async with app_rig(servers=servers, size=size) as (pilot, rig):
        pilot.app.push_screen(ToolScreen(tool_id))
        await until(pilot, lambda: isinstance(pilot.app.screen, ToolScreen))
        yield pilot, rig


def _forecast(answer: object = None, annotations: Annotations = READS) -> MemoryServer:
    tool = Tool("weather", "get_forecast", "Forecast for a city.", CITY, annotations)
    return MemoryServer([tool], answer=answer or echo)  # type: ignore[arg-type]


async def _typed_in(pilot: Pilot[None]) -> None:
    await pilot.press("4")
    await until(pilot, lambda: pilot.app.focused is not None and pilot.app.focused.id != "definition")
    await until(pilot, lambda: type(pilot.app.focused).__name__ == "PlainInput")
    await pilot.press(*"Oslo", "enter")


async def test_the_tabs_show_what_the_tool_is() -> None:
    async with _opened(FORECAST) as (pilot, _):
        await _says(pilot, "Forecast for a city.")
        screen = seen(pilot)
        assert "weather:get_forecast   ○ deferred" in screen
        assert "weather__get_forecast" in screen
        assert "its server claims    only reads" in screen
        await pilot.press("2")
        await _says(pilot, "city")
        await pilot.press("3")
        await _says(pilot, '"name": "weather__get_forecast"')


async def test_a_call_shows_text_and_structure() -> None:
    async with _opened(FORECAST) as (pilot, rig):
        await _typed_in(pilot)
        await _says(pilot, "✓ ok")
        assert pilot.app.screen.query_one("#result-text", TextView).text == '{"city":"Oslo"}'
        assert pilot.app.screen.query_one("#result-tree", SchemaTree).value == {"city": "Oslo"}
        assert "used 1x" in seen(pilot)
        (started,) = rig.store.read("s", kinds=("call",))
        assert getattr(started.event, "by", "") == "user"


async def test_a_form_that_is_not_filled_in_calls_nothing() -> None:
    async with _opened(FORECAST) as (pilot, rig):
        await pilot.press("4", "ctrl+r")
        await _says(pilot, "required")
        assert rig.servers["weather"].calls == []


@pytest.mark.parametrize(("key", "calls"), [("c", 1), ("n", 0), ("escape", 0)])
async def test_a_tool_that_may_change_something_asks_first(key: str, calls: int) -> None:
    async with _opened(FORECAST, _forecast(annotations=Annotations(destructive=True))) as (pilot, rig):
        await _typed_in(pilot)
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        assert "marks it as destructive" in seen(pilot)
        assert "Oslo" in seen(pilot)
        await pilot.press(key)
        await _says(pilot, "✓ ok" if calls else "Not called")
        assert len(rig.servers["weather"].calls) == calls


async def test_an_error_of_the_tool_is_a_result() -> None:
    async def fails(_tool: str, _arguments: JsonObject) -> ToolResult:
        return ToolResult("no such city", is_error=True)

    async with _opened(FORECAST, _forecast(fails)) as (pilot, _):
        await _typed_in(pilot)
        await _says(pilot, "✕ the tool failed")
        await _says(pilot, "no such city")


async def test_an_error_of_the_connection_comes_with_its_hint() -> None:
    async def times_out(_tool: str, _arguments: JsonObject) -> ToolResult:
        raise CallTimeout("weather did not answer", hint="Raise call_timeout.")

    async with _opened(FORECAST, _forecast(times_out)) as (pilot, _):
        await _typed_in(pilot)
        await _says(pilot, "✕ weather did not answer")
        await _says(pilot, "Raise call_timeout.")


async def test_esc_cancels_the_call_and_then_goes_back() -> None:
    async def never(_tool: str, _arguments: JsonObject) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    async with _opened(FORECAST, _forecast(never)) as (pilot, rig):
        await _typed_in(pilot)
        await _says(pilot, "esc cancels")
        await pilot.press("escape")
        await _says(pilot, "Canceled.")
        await until(pilot, lambda: bool(rig.store.read("s", kinds=("result",))))
        (finished,) = rig.store.read("s", kinds=("result",))
        assert isinstance(finished.event, CallFinished)
        assert finished.event.text == "cancelled"
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ToolScreen))


async def test_a_second_call_waits_for_the_first() -> None:
    gate = asyncio.Event()

    async def waits(tool: str, arguments: JsonObject) -> ToolResult:
        await gate.wait()
        return await echo(tool, arguments)

    async with _opened(FORECAST, _forecast(waits)) as (pilot, rig):
        await _typed_in(pilot)
        await _says(pilot, "esc cancels")
        await pilot.press("enter")
        gate.set()
        await _says(pilot, "✓ ok")
        assert len(rig.servers["weather"].calls) == 1


async def test_l_loads_and_e_evicts() -> None:
    async with _opened(FORECAST) as (pilot, rig):
        await pilot.press("e", "l")
        await _says(pilot, "● loaded")
        await pilot.press("l", "e")
        await _says(pilot, "✕ evicted")
        assert rig.bench.state.tools[FORECAST].binding is Binding.EVICTED


async def test_a_pinned_tool_stays() -> None:
    async with _opened("calc:evaluate") as (pilot, rig):
        await pilot.press("e", "l")
        await pilot.pause()
        assert rig.bench.state.tools["calc:evaluate"].binding is Binding.PINNED


async def test_y_copies_the_id() -> None:
    async with _opened(FORECAST) as (pilot, _):
        await pilot.press("y")
        assert pilot.app.clipboard == FORECAST


async def test_a_tool_that_vanishes_says_so_and_comes_back() -> None:
    async with _opened(FORECAST) as (pilot, rig):
        rig.bench.switch_toolset("sums")
        await _says(pilot, "is no longer in the catalog")
        await pilot.press("e", "l", "4", "ctrl+r")
        assert isinstance(pilot.app.screen, ToolScreen)
        rig.bench.switch_toolset("")
        await _says(pilot, "○ deferred")


async def test_what_was_typed_survives_a_new_catalog() -> None:
    async with _opened(FORECAST) as (pilot, rig):
        await pilot.press("4")
        await until(pilot, lambda: type(pilot.app.focused).__name__ == "PlainInput")
        await pilot.press(*"Oslo")
        rig.bench.switch_toolset("")
        await pilot.press(*" S", "enter")
        await _says(pilot, "✓ ok")
        assert rig.servers["weather"].calls == [("get_forecast", {"city": "Oslo S"})]


async def _hostile_answer(name: str, _arguments: JsonObject) -> ToolResult:
    return ToolResult(KINDS[name], structured={KINDS[name]: KINDS[name]})


def _hostile_tool(name: str, text: str) -> Tool:
    choice = {"type": "string", "enum": [text, "plain"], "default": text, "description": text}
    schema = {"type": "object", "properties": {text: {"type": "string"}, "choice": choice}}
    return Tool("weather", name, text, schema, READS, title=text)


@pytest.mark.slow
async def test_hostile_tools_do_no_harm() -> None:
    """The strings of a kind share a tool, because each tool is five pages to draw."""
    tools = [_hostile_tool(name, text) for name, text in KINDS.items()]
    async with _opened(FORECAST, MemoryServer(tools, answer=_hostile_answer)) as (pilot, rig):
        for tool in tools:
            await pilot.app.push_screen(ToolScreen(tool.id))
            for key in ("1", "2", "3", "4", "ctrl+r"):
                await pilot.press(key)
                assert not dangerous("".join(lines(pilot.app))), tool.name
            await until(pilot, partial(_was_called, rig, tool.name))
            assert not dangerous("".join(lines(pilot.app))), tool.name
            pilot.app.pop_screen()


def _was_called(rig: Rig, name: str) -> bool:
    return any(called == name for called, _ in rig.servers["weather"].calls)
