"""What a lab runs: scenarios in their files, and questions on a ground."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from inspector.core.events import Record
from inspector.features.lab.scenario import Scenario

if TYPE_CHECKING:
    from inspector.features.lab.comparison import ScenarioResult
    from inspector.features.lab.ground import Ground


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A scenario and its file; `scenario` is None if the file has a `problem`."""

    path: Path
    scenario: Scenario | None = None
    problem: str = ""

    @property
    def title(self) -> str:
        return self.scenario.title if self.scenario is not None else self.path.name


class Lab(Protocol):
    """Runs scenarios, each on fresh servers of its own."""

    def scenarios(self) -> Sequence[ScenarioFile]:
        """Read the scenario files. Raises ToolsightError."""

    async def run(
        self, file: ScenarioFile, profile: str, values: Mapping[str, Any], tell: Callable[[Record], None]
    ) -> "ScenarioResult":
        """Run a scenario under a profile; cancel to stop it. Raises ToolsightError.

        The scenario's settings override the profile's, and `values`, by setting path, override both. `tell`
        gets every record.
        """

    async def race(
        self,
        scenario: Scenario,
        ground: "Ground",
        profile: str,
        values: Mapping[str, Any],
        tell: Callable[[Record], None],
    ) -> "ScenarioResult":
        """Run one side of a race, on fresh processes of the ground's servers; see `run`. Asks nobody."""
