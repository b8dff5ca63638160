"""The app's lab: scenarios on their own demo servers, and races on copies of the session's servers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.app.scenario_job import ScenarioFile
from inspector.cli.composition import shipped_scenarios
from inspector.cli.options import Options
from inspector.cli.scenario.opening import open_lab
from inspector.core.error import ConfigError
from inspector.core.events import Record
from inspector.scenario.scenario import Scenario

if TYPE_CHECKING:
    from inspector.scenario.ground import Ground
    from inspector.scenario.run import ScenarioResult


class ShippedLab:
    """A `Lab`. It records sessions where the options say; the servers of `run` are always the demo's."""

    def __init__(self, options: Options) -> None:
        self._options = replace(
            options, config=None, server=(), demo=False, toolset="", profile="", values={}
        )

    def scenarios(self) -> Sequence[ScenarioFile]:
        """See `Lab`; a file that cannot be read has its problem instead."""
        return [_read(path) for path in shipped_scenarios()]

    async def run(
        self, file: ScenarioFile, profile: str, values: Mapping[str, Any], tell: Callable[[Record], None]
    ) -> "ScenarioResult":
        """See `Lab`. The run is recorded as a session like any other."""
        if file.scenario is None:
            raise ConfigError(file.problem)
        options = replace(self._options, model=f"demo/script:{file.path}", values=values)
        async with open_lab(file.scenario, options, profile, tell=tell) as lab:
            return await lab.run.run()

    async def race(
        self,
        scenario: Scenario,
        ground: "Ground",
        profile: str,
        values: Mapping[str, Any],
        tell: Callable[[Record], None],
    ) -> "ScenarioResult":
        """See `Lab`. On the demo's servers every side has data of its own, so it may change them."""
        options = replace(
            self._options,
            model=ground.model,
            api_base=ground.api_base,
            window=ground.window or None,
            toolset=ground.toolset,
            values=values,
        )
        async with open_lab(scenario, options, profile, tell=tell, ground=ground) as lab:
            return await lab.run.run()


def _read(path: Path) -> ScenarioFile:
    from inspector.scenario.file import load_scenario

    try:
        return ScenarioFile(path, load_scenario(path))
    except ConfigError as error:
        return ScenarioFile(path, problem=error.message)
