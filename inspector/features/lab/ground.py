"""What a race is run on: a session's servers and model, nothing that does harm twice, and a fair script."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspector.config.configuration import Configuration
from inspector.config.profile import find_profile
from inspector.core.budget import Prices
from inspector.core.definition import definition_hash
from inspector.core.error import ConfigError, ConnectError
from inspector.core.events import Decision, ModelRequested
from inspector.core.number import count
from inspector.core.ports import ApprovalRequest
from inspector.core.redaction import clean
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.core.tool import Catalog, Tool
from inspector.features.lab.comparison import STATIC
from inspector.features.lab.expectation import Operator
from inspector.features.lab.scenario import Scenario, Step, Turn
from inspector.loop.approval import CLAIMED_SINCE, why_ask
from inspector.session.view import SessionView
from inspector.tokens.manifest import CALL_TOOL, SEARCH_TOOLS

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
    turn = Turn.model_construct(user=text, steps=())
    return Scenario.model_construct(title=clean(" ".join(text.split())), turns=(turn,))


def lacking(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """The ids of the tools that a scenario needs and the catalog lacks, in the scenario's order."""
    needed = {_id(name): name for name in _needed(scenario)}
    brought = (tool.id for change in scenario.changes for tool in change.add)
    for tool_id in (*brought, *_made_up(scenario)):
        needed.pop(tool_id, None)
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
    for call in (call for step in scenario.steps for call in step.calls):
        name = call.arguments.get("name", "") if call.tool == CALL_TOOL else call.tool
        if name and name != SEARCH_TOOLS:
            yield str(name)
    for change in scenario.changes:
        yield from (*change.remove, *change.describe)


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


# The same script for static binding, where every tool is bound, so that a race with it is fair.

_NOTHING_LEFT = "There is nothing left to do."


def static_scenario(scenario: Scenario) -> Scenario:
    """The scenario with every tool bound: the same calls without the searches.

    A scripted search would still be a model call that carries every tool, which would make discovery look
    better than it is. Settings that would turn `static` into another profile are left out, and so are the
    expectations, which are about discovery.
    """
    turns = (turn.model_copy(update={"steps": _without_searches(turn.steps)}) for turn in scenario.turns)
    settings = static_settings(scenario.settings)
    own = {"profile": STATIC, "settings": settings, "turns": tuple(turns), "expect": (), "never": ()}
    return scenario.model_copy(update=own)


def static_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that do not override values of the `static` profile."""
    own = find_profile(STATIC).values
    return {path: value for path, value in values.items() if path not in own}


def left_out(scenario: Scenario) -> str:
    """What `static_scenario` left out, as a sentence; "" if nothing."""
    searches = sum(call.tool == SEARCH_TOOLS for step in scenario.steps for call in step.calls)
    if not searches:
        return ""
    steps = len(scenario.steps) - len(static_scenario(scenario).steps)
    fewer = f", {count(steps, 'fewer model call')}" if steps else ""
    return f"{STATIC}: {count(searches, 'scripted search', 'scripted searches')} left out{fewer}."


def _without_searches(steps: Sequence[Step]) -> tuple[Step, ...]:
    kept = []
    for step in steps:
        calls = tuple(call for call in step.calls if call.tool != SEARCH_TOOLS)
        if calls or not step.calls:
            kept.append(step.model_copy(update={"calls": calls}))
    return tuple(kept) or (Step(say=_NOTHING_LEFT),)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Both sides together: model calls, tokens of input, and their price without answers and cache.

    `dollars` is None if the model has no price.
    """

    calls: int
    tokens: int
    dollars: float | None = None
    prices: Prices | None = None


def estimate(session: SessionView) -> Estimate | None:
    """As many calls a side as the last message took in the session; None if it took none.

    They carry the whole conversation there, and the question alone in a race: the estimate is an upper one.
    """
    calls = 0
    for record in reversed(session.records(("user", "request"))):
        if record.kind != ModelRequested.kind:
            break
        calls += 1
    costs = session.state.costs[-calls:] if calls else ()
    if not costs:
        return None
    found = sum(cost.parts.input for cost in costs)
    bound = sum(cost.parts.prompt + cost.parts.history + cost.static_tools for cost in costs)
    prices = session.accounting.prices()
    dollars = prices.input * (found + bound) if prices is not None else None
    return Estimate(2 * len(costs), found + bound, dollars, prices)
