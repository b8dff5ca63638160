"""What a lab runs: scenarios in their files, and races on a ground, where nothing does harm twice."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.config.profile import find_profile
from inspector.core.error import ConfigError, ConnectError
from inspector.core.events import Record
from inspector.core.redaction import clean
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.features.lab.comparison import STATIC, ScenarioResult
from inspector.features.lab.scenario import Scenario, Turn
from inspector.loop.approval import CLAIMED_SINCE, why_ask
from inspector.session.view import SessionView


class Ground(Struct, frozen=True):
    """A session's configuration with its secrets as they were read, its toolset and its model.

    `api_base` is the model's address and `window` its size in tokens, "" and 0 for what is known of it.
    `servers` names those to start, or is None for all. `allowed` holds the hashes of the definitions that may
    be called without asking, although they may change something. `trusted` names the servers whose claims to
    only read are believed, or is None for those that the configuration says.
    """

    configuration: Configuration
    model: str
    toolset: str = ""
    api_base: str = ""
    window: int = 0
    servers: frozenset[str] | None = None
    allowed: frozenset[str] = frozenset()
    trusted: frozenset[str] | None = None

    def configured(self, profile: str) -> Configuration:
        """The configuration of one racer. Static binding is not made another profile by the file's settings.

        Raises ConfigError if there is no server.
        """
        whole = self.configuration
        servers = tuple(spec for spec in whole.servers if self.servers is None or spec.name in self.servers)
        if self.trusted is not None:
            servers = tuple(replace(spec, trust_annotations=spec.name in self.trusted) for spec in servers)
        if not servers:
            raise ConfigError("no server is connected, so there is nothing to race with")
        values = static_settings(whole.values) if profile == STATIC else whole.values
        return replace(whole, servers=servers, values=values)


def ground_of(session: SessionView) -> Ground:
    """The ground of a running session: its connected servers, and what the user allowed and trusted in it."""
    state = session.state
    ready = (name for name, server in state.servers.items() if server.phase is ServerPhase.READY)
    return Ground(
        session.configuration,
        state.model,
        state.toolset,
        state.api_base,
        state.window,
        frozenset(ready),
        state.approved,
        state.trusted_servers - _doubtful(session),
    )


def _doubtful(session: SessionView) -> set[str]:
    """The servers that claim anew that a tool only reads, which sessions that start now can't notice."""
    tools = session.catalog.tools
    return {tool.server for tool in tools if why_ask(tool, session.state) == CLAIMED_SINCE}


def question(text: str) -> Scenario:
    """A question as a scenario without a script: a model of its own mind answers it."""
    turn = Turn.model_construct(user=text, steps=())
    return Scenario.model_construct(title=clean(" ".join(text.split())), turns=(turn,))


def require_own_mind(model: str) -> None:
    """Raise ConfigError for a model that plays a script: it says the same whatever tools it has."""
    if model.startswith("demo/script"):
        raise ConfigError(
            "this model plays a script and cannot answer a question",
            hint="Use another model, such as demo/planner.",
        )


def require_tools(state: SessionState) -> None:
    """Raise ConnectError if no server started: without tools there is nothing to compare."""
    failed = [server for server in state.servers.values() if server.phase is ServerPhase.FAILED]
    if failed and not state.tools:
        first = failed[0]
        message = f"no server started; {first.name}: {first.reason}"
        raise ConnectError(message, hint=first.hint, stderr_tail=first.stderr_tail)


def static_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that do not override values of the `static` profile."""
    own = find_profile(STATIC).values
    return {path: value for path, value in values.items() if path not in own}


class ScenarioFile(Struct, frozen=True):
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
    ) -> ScenarioResult:
        """Run a scenario under a profile; cancel to stop it. Raises ToolsightError.

        The scenario's settings override the profile's, and `values`, by setting path, override both. `tell`
        gets every record.
        """

    async def race(
        self,
        scenario: Scenario,
        ground: Ground,
        profile: str,
        values: Mapping[str, Any],
        tell: Callable[[Record], None],
    ) -> ScenarioResult:
        """Run one side of a race, on fresh processes of the ground's servers; see `run`. Asks nobody."""
