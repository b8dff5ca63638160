"""What the lab measures: scenarios, what runs them and the progress of a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from inspector.core.events import Record, UserSaid
from inspector.core.fold.tool import step
from inspector.core.ranking import IndexPhase
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.features.lab.scenario import Scenario
from inspector.session.view import SessionView

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


@dataclass(frozen=True, slots=True)
class Choice:
    """What a scenario runs under: a profile, and this session's own `values` by setting path."""

    profile: str
    values: Mapping[str, Any] = field(default_factory=dict)


def choice(scenario: Scenario, session: SessionView, chosen: str = "") -> Choice:
    """Return the chosen profile, else the scenario's, else the session's.

    The session's own values apply only to the session's profile.
    """
    profile = chosen or scenario.profile or session.profile
    return Choice(profile, dict(session.session_values) if profile == session.profile else {})


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: the state of its session so far, and its user messages (`turns`)."""

    file: ScenarioFile
    profile: str
    state: SessionState = SessionState()
    turns: int = 0

    @property
    def servers(self) -> int:
        return len(self.state.servers)

    @property
    def connected(self) -> int:
        """The servers that are ready or have failed."""
        phases = (server.phase for server in self.state.servers.values())
        return sum(phase in (ServerPhase.READY, ServerPhase.FAILED) for phase in phases)

    @property
    def indexing(self) -> str:
        """How far the index is; "" once it is ready, or if there is none."""
        index = self.state.index
        if index.phase in (IndexPhase.OFF, IndexPhase.READY):
            return ""
        return f"{index.phase} {index.embedded} of {index.total}" if index.total else str(index.phase)

    def after(self, record: Record) -> "Progress":
        """Return the progress after one more record."""
        state = step(record.event, self.state)
        return replace(self, state=state, turns=self.turns + (record.kind == UserSaid.kind))
