"""What a race is run on: the servers and the model of a session, without what would do harm twice."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from inspector.config.configuration import Configuration
from inspector.core.definition import definition_hash
from inspector.core.error import ConfigError, ConnectError
from inspector.core.events import Decision, ModelSwitched, SessionStarted
from inspector.core.ports import ApprovalRequest
from inspector.core.redaction import clean
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.core.tool import Tool
from inspector.reliability.approval import CLAIMED_SINCE, why_ask
from inspector.scenario.profile_comparison import STATIC
from inspector.scenario.scenario import Operator, Scenario
from inspector.scenario.static_script import static_settings
from inspector.session.view import SessionView
from inspector.tokens.manifest import CALL_TOOL, SEARCH_TOOLS, Catalog

_UNKNOWN = ("", "unknown tool")


@dataclass(frozen=True, slots=True)
class Ground:
    """A session's configuration with its secrets as they were read, its toolset and its model.

    `api_base` is the model's address and `window` its size in tokens, "" and 0 for  what is known of it.
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
    models = (record.event for record in session.records((SessionStarted.kind, ModelSwitched.kind)))
    api_base = [event.api_base for event in models if isinstance(event, SessionStarted | ModelSwitched)][-1]
    return Ground(
        session.configuration,
        state.model,
        state.toolset,
        api_base,
        state.window,
        frozenset(ready),
        state.approved,
        state.trusted_servers - _doubtful(session),
    )


def _doubtful(session: SessionView) -> set[str]:
    """The servers that claim anew that a tool only reads, which sessions that start now can't notice."""
    tools = session.catalog.tools
    return {tool.server for tool in tools if why_ask(tool, session.state) == CLAIMED_SINCE}


class AllowedBefore:
    """An `Approver` that asks nobody: it allows what was allowed before, and refuses the rest.

    A race makes every call twice, which is harmless only for calls that change nothing.
    """

    def __init__(self, allowed: frozenset[str]) -> None:
        self._allowed = allowed

    async def ask(self, request: ApprovalRequest) -> Decision:
        """See `Approver`."""
        return Decision.SESSION if definition_hash(request.tool) in self._allowed else Decision.NO


def question(text: str) -> Scenario:
    """A question as a scenario without a script: a model of its own mind answers it."""
    return Scenario(clean(" ".join(text.split())), (text,), ((),))


def lacking(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """The ids of the tools that a scenario needs and the catalog lacks, in the scenario's order."""
    needed = {_id(name): name for name in _needed(scenario)}
    for left_out in (*_added(scenario), *_made_up(scenario)):
        needed.pop(left_out, None)
    return tuple(tool_id for tool_id, name in needed.items() if not catalog.named(name))


def require_fit(scenario: Scenario, catalog: Catalog) -> None:
    """Raise ConfigError if the catalog lacks tools that a scenario needs."""
    if missing := lacking(scenario, catalog):
        raise ConfigError(
            f"“{scenario.title}” cannot run on these servers: it needs {', '.join(missing)}",
            hint="Race a question instead, or omit the servers to run the scenario on the demo servers.",
        )


def require_own_mind(model: str) -> None:
    """Raise ConfigError for a model that plays a script: it says the same whatever tools it has."""
    if model.startswith("demo/script"):
        raise ConfigError(
            "this model plays a script and cannot answer a question",
            hint="Race its scenario instead, or use another model, such as demo/planner.",
        )


def require_tools(state: SessionState) -> None:
    """Raise ConnectError if no server started: without tools there is nothing to compare."""
    failed = [server for server in state.servers.values() if server.phase is ServerPhase.FAILED]
    if failed and not state.tools:
        first = failed[0]
        message = f"no server started; {first.name}: {first.reason}"
        raise ConnectError(message, hint=first.hint, stderr_tail=first.stderr_tail)


def _needed(scenario: Scenario) -> Iterator[str]:
    """The names of the tools that are called or changed."""
    for step in (step for steps in scenario.turns for step in steps):
        names = (
            call.arguments.get("name", "") if call.name == CALL_TOOL else call.name for call in step.calls
        )
        yield from (str(name) for name in names if name and name != SEARCH_TOOLS)
    for change in (one.change for one in scenario.prepare if one.change is not None):
        yield from (*change.remove, *change.describe)


def _added(scenario: Scenario) -> set[str]:
    """The tools that a scenario brings itself."""
    return {tool.id for one in scenario.prepare if one.change is not None for tool in one.change.add}


def _made_up(scenario: Scenario) -> set[str]:
    """The tools that nobody has: their calls are to be rejected, and nothing else is expected of them."""
    rejected, used = set(), set()
    for expected in scenario.expect:
        values = {one.field: one.value for one in expected.conditions if one.how is Operator.EQUALS}
        if expected.kind == "reject" and values.get("reason", "") in _UNKNOWN:
            rejected.add(_id(str(values.get("name", ""))))
        elif expected.kind not in ("reject", "loop"):
            used.add(_id(str(values.get("tool", ""))))
    return rejected - used


def _id(name: str) -> str:
    """The id of a tool that may be written as its wire name."""
    server, sign, tool = name.partition("__")
    return Tool(server, tool).id if sign and ":" not in name else name
