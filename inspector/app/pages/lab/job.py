"""Scenarios for the app: which there are, who runs them, and how far a run is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from inspector.domain.events.event import (
    IndexChanged,
    ModelRequested,
    Record,
    ServerFailed,
    ServerReady,
    SessionStarted,
    UserSaid,
)
from inspector.domain.index_state import IndexState
from inspector.domain.scenario import Scenario
from inspector.engine.policy import Policy

if TYPE_CHECKING:
    from inspector.engine.scenario.run import ScenarioResult


@dataclass(frozen=True, slots=True)
class ScenarioFile:
    """A scenario and where it stands; `scenario` is None where the file has a `problem`."""

    path: Path
    scenario: Scenario | None = None
    problem: str = ""

    @property
    def title(self) -> str:
        return self.scenario.title if self.scenario is not None else self.path.name


class Lab(Protocol):
    """Runs scenarios, each on servers of its own that nothing has touched before."""

    def scenarios(self) -> Sequence[ScenarioFile]:
        """What there is to run; reads files. Raises ToolsightError."""
        ...

    async def run(
        self,
        file: ScenarioFile,
        profile: str,
        values: Mapping[str, Any],
        tell: Callable[[Record], None],
    ) -> "ScenarioResult":
        """Run a scenario under a profile, with the scenario's settings over it and `values`, by the path of
        the knob, over both. `tell` gets every record. Raises ToolsightError; cancelling it stops it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """What a scenario runs under; `values` are settings of this session, by the path of the knob."""

    profile: str
    values: Mapping[str, Any] = field(default_factory=dict)


def choice(scenario: Scenario, policy: Policy, chosen: str = "") -> Choice:
    """The profile that was chosen, else the scenario's own, else the session's.

    What was set in the session belongs to the session's profile, and to no other.
    """
    profile = chosen or scenario.profile or policy.profile
    return Choice(profile, dict(policy.session_values) if profile == policy.profile else {})


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: servers that have answered, texts embedded, messages of the user, model calls."""

    file: ScenarioFile
    profile: str
    servers: int = 0
    connected: int = 0
    index: IndexState = IndexState()
    turns: int = 0
    calls: int = 0

    def after(self, record: Record) -> "Progress":
        """The progress with one more record."""
        event = record.event
        if isinstance(event, SessionStarted):
            return replace(self, servers=len(event.servers))
        if isinstance(event, ServerReady | ServerFailed):
            return replace(self, connected=min(self.connected + 1, self.servers))
        if isinstance(event, IndexChanged):
            return replace(self, index=event.index)
        if isinstance(event, UserSaid):
            return replace(self, turns=self.turns + 1)
        return replace(self, calls=event.turn) if isinstance(event, ModelRequested) else self


class LabJob:
    """What a page knows of its runs: the one that is under way, and what came of those that ended.

    Runs are numbered, so that what an earlier one still says is passed over. Results go by a key of the
    page's choice.
    """

    def __init__(self) -> None:
        self.number = 0
        self.progress: Progress | None = None
        self.results: dict[str, ScenarioResult] = {}

    def begin(self, file: ScenarioFile, profile: str) -> int:
        """A run starts; its number."""
        self.number += 1
        self.progress = Progress(file, profile)
        return self.number

    def note(self, number: int, record: Record) -> None:
        """Go on by one record of a run."""
        if number == self.number and self.progress is not None:
            self.progress = self.progress.after(record)

    def finish(self, number: int, key: str, result: "ScenarioResult") -> bool:
        """A run has ended; whether it is the one that counts."""
        if number != self.number or self.progress is None:
            return False
        self.progress = None
        self.results[key] = result
        return True

    def drop(self, number: int = 0) -> bool:
        """Give up the run of that number, or whichever is under way; whether it was the one that counts."""
        if number not in (0, self.number) or self.progress is None:
            return False
        self.number += 1
        self.progress = None
        return True
