"""Changed definitions: what is told of them, between two listings and since the last session."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.core.definition import definition_hash
from inspector.core.events import DefinitionChanged, ServerFailed, ToolsChanged
from inspector.core.fold import fold
from inspector.core.message import NoteMessage
from inspector.core.ports import ToolListing
from inspector.core.tool import Tool
from inspector.mcp.listing import MOST_TOLD, changes, kept
from inspector.mcp.pace import FIRST, LONGEST_PAUSE, ChangePace
from tests.mcp.test_connections import Bench, connected
from tests.support.fakes import calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import CITY, READS, Rig, connected as rig_connected, happens as until

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
WIDER = {"type": "object", "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}}
STRICTER = {**WIDER, "required": ["times"]}


def tool(name: str = "echo", schema: object = None, about: str = "Return it.") -> Tool:
    return Tool("a", name, about, schema if isinstance(schema, dict) else TEXT)


def told(bench: Bench) -> list[DefinitionChanged]:
    return [event for event in bench.events if isinstance(event, DefinitionChanged)]


async def test_a_changed_definition_is_told_with_its_verdict_after_the_list() -> None:
    server = MemoryServer((tool(), tool("other")))
    bench = Bench(a=server)
    async with connected(bench):
        server.change((tool(schema=STRICTER), tool("other")))
        await bench.until(lambda: bool(told(bench)))
    (change,) = told(bench)
    assert (change.tool, change.verdict) == ("a:echo", "breaking")
    assert change.reasons == ("parameter times is new and required",)
    assert (change.before, change.after) == (definition_hash(tool()), definition_hash(tool(schema=STRICTER)))
    assert (change.since, change.earlier) == (0.0, None)
    kinds = [type(event) for event in bench.events]
    assert kinds.index(ToolsChanged) < kinds.index(DefinitionChanged)


def test_of_many_changes_the_worst_are_told_and_the_others_counted() -> None:
    before = [tool(f"t{number}") for number in range(MOST_TOLD + 10)]
    after = [replace(one, description="Other words.") for one in before]
    after[-1] = tool(before[-1].name, STRICTER)
    found = changes(before, after)
    assert len(found) == MOST_TOLD
    assert found[0].verdict == "breaking"
    assert found[-1].others == 10
    assert "10 more tools changed" in found[-1].summary()


async def test_a_list_that_cannot_be_read_fails_the_server_instead_of_leaving_it_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise ValueError("no such shape")

    server = MemoryServer((tool(),))
    bench = Bench(a=server)
    async with connected(bench) as connections:
        monkeypatch.setattr("inspector.mcp.listing.changes", fails)
        server.change((tool(schema=WIDER),))
        await bench.until_event(ServerFailed)
        (failed,) = bench.of(ServerFailed)
        assert "ValueError: no such shape" in failed.summary()
        await bench.until(lambda: connections.tools == ())


async def test_a_server_that_ends_while_its_next_listing_waits_is_failed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waiting = asyncio.Event()

    def for_ever(_self: ChangePace) -> float:
        waiting.set()
        return 3600.0

    monkeypatch.setattr(ChangePace, "pause", for_ever)
    server = MemoryServer((tool(),))
    bench = Bench(a=server)
    async with connected(bench):
        server.change((tool(schema=WIDER),))
        await waiting.wait()
        server.die("It was killed")
        await bench.until_event(ServerFailed)


def test_a_server_that_changes_all_the_time_is_listed_less_and_less() -> None:
    now = 0.0
    pace = ChangePace(lambda: now)
    pauses = []
    while now < 60:
        pauses.append(pace.pause())
        now += pauses[-1]
    assert pauses[:3] == [FIRST, FIRST * 2, FIRST * 4]
    assert pauses[-1] == LONGEST_PAUSE
    assert len(pauses) < 15
    now += LONGEST_PAUSE
    assert pace.pause() == FIRST


ID, WIRE = "weather:get_forecast", "weather__get_forecast"
DAYS = {"type": "object", "properties": {**CITY["properties"], "days": {}}, "required": ["city", "days"]}  # type: ignore[dict-item]
FORECAST = Tool("weather", "get_forecast", "Forecast for a city.", CITY, READS)
WITH_DAYS = replace(FORECAST, input_schema=DAYS)
REWORDED = replace(FORECAST, description="Forecast for any city.")


@asynccontextmanager
async def used(*then: Any, **values: Any) -> AsyncGenerator[Rig, None]:
    """A session in which the forecast was found and called once; `then` is what the model does later."""
    steps = (searches(tool_names=["get_forecast"]), calls((WIRE, {"city": "Oslo"})), says("Sunny."), *then)
    async with rig_connected(
        *steps, values={key.replace("__", "."): one for key, one in values.items()}
    ) as rig:
        await rig.bench.chat("Forecast for Oslo?")
        yield rig
        assert fold(rig.bench.records()) == rig.bench.state


def notes(rig: Rig) -> list[str]:
    return [one.text for one in rig.model.requests[-1].messages if isinstance(one, NoteMessage)]


async def change(rig: Rig, to: Tool) -> None:
    rig.servers["weather"].change((to,))
    await until(rig.bench, DefinitionChanged.kind)


async def test_a_loaded_tool_that_breaks_stays_bound_anew_and_the_model_is_told_once() -> None:
    async with used(says("Which days?"), says("Still?")) as rig:
        await change(rig, WITH_DAYS)
        await rig.bench.chat("And tomorrow?")
        (note,) = notes(rig)
        assert "weather:get_forecast: parameter days is new and required" in note
        bound = next(one for one in rig.model.requests[-1].tools if one["function"]["name"] == WIRE)
        assert bound["function"]["parameters"]["required"] == ["city", "days"]
        assert rig.events("evict") == []
        await rig.bench.chat("And after that?")
        assert len(notes(rig)) == len(rig.events("told")) == 1


async def test_a_change_that_breaks_nothing_is_neither_told_nor_evicted() -> None:
    async with used(says("Sunny.")) as rig:
        await change(rig, REWORDED)
        await rig.bench.chat("And tomorrow?")
        assert notes(rig) == []
        assert rig.events("evict") == []
        assert rig.bench.state.changes[ID].verdict == "words"


@pytest.mark.parametrize("now", [1, 1.0, False, "true"])
def test_a_listing_keeps_a_tool_only_if_each_value_of_its_schema_is_as_it_was(now: Any) -> None:
    before, after = (
        ToolListing((Tool("shop", "buy", input_schema={"const": one}), Tool("shop", "sell")))
        for one in (True, now)
    )
    assert repr(kept(after, before).tools[0].input_schema) == repr({"const": now})
    assert kept(after, before).tools[1] is before.tools[1]
