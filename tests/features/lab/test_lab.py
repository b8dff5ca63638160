"""Scenarios on a workbench in memory: what is prepared, what is awaited, what is counted."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from inspector.config.configuration import Configuration
from inspector.core.error import ConfigError
from inspector.core.message import ToolResult
from inspector.core.server import ServerSpec
from inspector.features.lab.run import ChangingConnector, LabClock, ScenarioRun
from inspector.features.lab.scenario import CatalogChange, ScriptModel
from inspector.session.workbench import Workbench
from tests.support.fakes import ManualClock
from tests.support.lab import lab_bench
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import shop_and_weather

FORECAST = """
      - calls: [{tool: search_tools, arguments: {tool_names: [get_forecast], server_name: weather}}]
      - calls: [{tool: "weather:get_forecast", arguments: {city: Oslo}}]
      - say: Snow.
"""
ONE_TURN = f"""
title: One turn
expect: [{{event: result, tool: "weather:get_forecast", ok: true}}, {{event: end, outcome: answered}}]
never: [{{event: reject}}]
turns:
  - user: Oslo?
    steps:{FORECAST}"""


@dataclass(frozen=True, slots=True)
class Lab:
    bench: Workbench
    run: ScenarioRun
    clock: LabClock
    connector: ChangingConnector
    servers: dict[str, MemoryServer]


@asynccontextmanager
async def lab(folder: Path, text: str) -> AsyncGenerator[Lab, None]:
    """A connected workbench whose model plays the scenario."""
    path = folder / "case.yaml"
    path.write_text(text, encoding="utf-8")
    model, servers = ScriptModel(path), shop_and_weather()
    configuration = Configuration(
        "test.json",
        tuple(ServerSpec(name, name, defer_loading=name != "calc") for name in servers),
        values={"discovery.auto": "always"},
    )
    opened = lab_bench(
        servers, model_for=lambda _: model, configuration=configuration, model="script", session_id="s"
    )
    async with opened as on:
        await on.connected()
        yield Lab(on.bench, on.run(model.scenario), on.clock, on.connector, servers)


async def test_seconds_pass_a_milestone_is_reached_and_settings_change_before_the_user_speaks(
    tmp_path: Path,
) -> None:
    text = """
expect:
  - {event: milestone, name: agreed, by: scenario}
  - {event: user, text: a}
  - {event: settings, changed: [binding.capacity]}
  - {event: user, text: b}
turns:
  - {user: a, milestone: agreed, steps: [{say: b}]}
  - {user: b, wait: 600, settings: {binding: {capacity: 3}}, steps: [{say: c}]}"""
    async with lab(tmp_path, text) as on:
        await on.run.step()
        assert on.bench.settings.binding.capacity != 3
        assert (await on.run.run()).passed
        assert on.bench.settings.binding.capacity == 3
        first, second = on.bench.records(kinds=("user",))
    assert second.at - first.at == 600


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            CatalogChange(server="weather", remove=("weather:forecast",)),
            "there is no tool 'weather:forecast'",
        ),
        (CatalogChange(server="wether", remove=("wether:x",)), "the server 'wether' is not connected"),
    ],
)
async def test_a_change_of_what_is_not_there_is_refused_with_what_is(
    tmp_path: Path, change: CatalogChange, told: str
) -> None:
    async with lab(tmp_path, ONE_TURN) as on:
        with pytest.raises(ConfigError, match=told) as refused:
            on.connector.change(change)
    assert "weather" in refused.value.hint


async def test_a_cancelled_run_has_its_result_up_to_there(tmp_path: Path) -> None:
    async with lab(tmp_path, ONE_TURN) as on:
        called = asyncio.Event()

        async def never(_tool: str, _arguments: object) -> ToolResult:
            called.set()
            await asyncio.Event().wait()
            raise AssertionError

        on.servers["weather"].answer = never
        running = asyncio.create_task(on.run.run())
        await asyncio.wait_for(called.wait(), 5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        result = on.run.result()
    assert result.totals.outcome == "cancelled"
    assert not result.passed


def test_a_busy_machine_reaches_no_time_limit_that_the_script_does_not() -> None:
    machine = ManualClock()
    clock = LabClock(machine, most=1.0)
    started = clock.monotonic(), clock.now()
    for _ in range(10):
        machine.advance(50.0)
        clock.wait(2.0)
    assert (clock.monotonic() - started[0], clock.now() - started[1]) == pytest.approx((30.0, 30.0))
