"""Runs a race: two concurrent runs, each on its own servers; if one fails, the other is cancelled."""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from inspector.app.scenario_job import Lab, ScenarioFile
from inspector.core.events import Record
from inspector.scenario.ground import Ground
from inspector.scenario.race import Race
from inspector.scenario.scenario import Scenario, Step
from inspector.scenario.static_script import static_scenario, static_settings

Made = TypeVar("Made")
Tell = Callable[[int, Record], None]


async def read_scenarios(lab: Lab | None) -> tuple[ScenarioFile, ...]:
    """Return the scenarios to race; empty without a lab. Raises ToolsightError."""
    return tuple(await asyncio.to_thread(lab.scenarios)) if lab is not None else ()


async def run_race(
    lab: Lab, file: ScenarioFile, ground: Ground, values: Mapping[str, Any], race: Race, tell: Tell
) -> None:
    """Run both sides on the ground; the model is the scenario's script if the race is scripted.

    `values` are the session's, without those that would make another profile of static binding. `tell` gets
    every record with its side. Raises ToolsightError. Cancelling it stops both runs.
    """
    assert file.scenario is not None
    with static_file(file.scenario) as static:
        sides = ((static, static_settings(values)), (file, values))

        async def play(side: int) -> None:
            played, own = sides[side]
            listen = race.listener(side)
            assert played.scenario is not None

            def on_record(record: Record) -> None:
                listen(record)
                tell(side, record)

            script = f"demo/script:{played.path}"
            on = replace(ground, model=script) if race.scripted else ground
            race.end(side, await lab.race(played.scenario, on, race.profiles[side], own, on_record))

        await both(play(0), play(1))


async def both(first: Awaitable[Made], second: Awaitable[Made]) -> list[Made]:
    """Return both results; on failure or cancellation, both have ended before the error propagates."""
    tasks = [asyncio.ensure_future(first), asyncio.ensure_future(second)]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def static_file(scenario: Scenario) -> Iterator[ScenarioFile]:
    """Write the scenario as static binding plays it to a temporary file, for the duration of the run."""
    static = static_scenario(scenario)
    with tempfile.TemporaryDirectory(prefix="toolsight-race-") as folder:
        path = Path(folder) / "static.yaml"
        path.write_text(_script(static), encoding="utf-8")
        yield ScenarioFile(path, static)


def _script(scenario: Scenario) -> str:
    """Return what the model says and calls as YAML, without the rest of the scenario."""
    import yaml

    turns = [
        {"user": user, "steps": [_step(step) for step in steps]}
        for user, steps in zip(scenario.users, scenario.turns, strict=True)
    ]
    return yaml.safe_dump({"title": scenario.title, "turns": turns})


def _step(step: Step) -> dict[str, Any]:
    calls = [{"tool": call.name, "arguments": dict(call.arguments)} for call in step.calls]
    return {"say": step.say, "think": step.think, "calls": calls}
