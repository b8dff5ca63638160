"""What is known of registered tools, for page, terminal and programs: health, versions, search results."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field, to_builtins

from inspector.core.access import Sight
from inspector.core.definition import definition_changes, shown_changes
from inspector.core.error import BreakerState
from inspector.core.number import count, percent, shown_moment
from inspector.core.ports import ToolOutcomes
from inspector.core.report import NAME, NUMBER, TIME, TWO, Column, Diff, Table
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState
from inspector.core.text import first_sentence, shortened
from inspector.features.registry.acceptance import Neighbour, RegisteredTool, SyncReport
from inspector.loop.breaker import Breaker

NOTHING_SEEN = "The registry has no tools you may see."
FIRST = "first version seen"


class HealthState(StrEnum):
    """FAILING: at least half of the recorded calls failed; BLOCKED: a circuit breaker refuses calls."""

    WORKS = "works"
    FAILING = "failing"
    BLOCKED = "blocked"
    UNCALLED = "not called"


_WORST = (BreakerState.OPEN, BreakerState.HALF_OPEN)


class ToolHealth(Struct, frozen=True):
    """The calls of one tool in all recorded sessions, and the breaker in front of it.

    `failed` counts every call without a result, the tool's own errors too. `last_call` is in seconds since
    1970, None without a call. `breaker` is the state of the tool's or its server's, whichever lets less
    through.
    """

    calls: int = 0
    failed: int = 0
    last_call: float | None = None
    breaker: BreakerState = BreakerState.CLOSED

    @property
    def state(self) -> HealthState:
        if self.breaker is BreakerState.OPEN:
            return HealthState.BLOCKED
        if not self.calls:
            return HealthState.UNCALLED
        return HealthState.FAILING if 2 * self.failed >= self.calls else HealthState.WORKS

    @property
    def brief(self) -> str:
        """The state, and how many calls failed if it fails."""
        failed = f" {self.failed:,}/{self.calls:,}" if self.state is HealthState.FAILING else ""
        return f"{self.state}{failed}"

    def told(self, server: ServerState | None = None) -> str:
        """What else is known: the calls, the circuit breaker, and the server if there is one."""
        known = [f"{self.failed:,} of {count(self.calls, 'recorded call')} failed"] if self.calls else []
        known += [f"last {shown_moment(self.last_call)}"] if self.last_call is not None else []
        known += [f"circuit breaker {self.breaker}"] if self.breaker is not BreakerState.CLOSED else []
        if server is not None:
            why = f" ({server.reason})" if server.phase is ServerPhase.FAILED and server.reason else ""
            known.append(f"server {server.phase}{why}")
        return ", ".join(known)


class Health(Struct, frozen=True):
    """The health of every tool by its id; `breakers` are the states of breakers by name."""

    outcomes: Mapping[str, ToolOutcomes] = field(default_factory=dict)
    breakers: Mapping[str, BreakerState] = field(default_factory=dict)

    def of(self, tool_id: str) -> ToolHealth:
        """The health of a tool, called or not."""
        done = self.outcomes.get(tool_id, ToolOutcomes())
        states = {self.breakers.get(name) for name in (tool_id, tool_id.partition(":")[0])}
        breaker = next((state for state in _WORST if state in states), BreakerState.CLOSED)
        return ToolHealth(done.calls, done.failed, done.last or None, breaker)


HealthOf = Callable[[Sight], Health | None]
"""Reads the health of tools; None for who may not see everything. Raises StoreError."""


def health_of(
    outcomes: Callable[[], Mapping[str, ToolOutcomes]], breakers: Callable[[], Iterable[Breaker]]
) -> HealthOf:
    """Reads it from the recorded calls and the breakers, which are those of all users."""

    def read(sight: Sight) -> Health | None:
        if not sight.is_whole:
            return None
        states: dict[str, BreakerState] = {}
        for one in breakers():
            both = {one.state, states.get(one.name)}
            states[one.name] = next((state for state in _WORST if state in both), BreakerState.CLOSED)
        return Health(outcomes(), states)

    return read


def about(found: RegisteredTool) -> str:
    """What a tool does, on a line."""
    return shortened(first_sentence(found.tool.description), 100)


def tool_table(tools: Sequence[RegisteredTool], health: Health | None) -> Table:
    """Tools of the registry, with their health if that may be known."""
    columns = (
        Column("tool", "tool.id", NAME),
        Column("origin"),
        Column("version", kind=NUMBER),
        Column("since", "at", TIME),
        Column("health", lambda one: "" if health is None else health.of(one.tool.id).brief),
        Column("what it does", about),
    )
    return Table.of(columns, tools)


def found_table(found: Sequence[tuple[str, Neighbour]], *, federated: bool) -> Table:
    """What a search found, by rank, each with its peer; a `federated` one names the registry of each."""
    ranks = iter(range(1, len(found) + 1))
    columns = (
        Column("#", lambda _one: next(ranks), NUMBER),
        *([Column("registry", lambda one: one[0] or "(local)", NAME)] if federated else []),
        Column("tool", lambda one: one[1].found.tool.id, NAME),
        Column("cosine", lambda one: one[1].similarity, TWO),
        Column("origin", lambda one: one[1].found.origin),
        Column("what it does", lambda one: about(one[1].found)),
    )
    return Table.of(columns, found)


def tool_json(found: RegisteredTool, health: Health | None) -> dict[str, Any]:
    """What programs read of a version of a tool, with its health if that may be known."""
    tool, known = found.tool, None if health is None else health.of(found.tool.id)
    return {
        "id": tool.id,
        **to_builtins(found, enc_hook=str),
        "tool": {
            "server": tool.server,
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.input_schema,
            "annotations": to_builtins(tool.annotations),
            "output_schema": tool.output_schema,
            "title": tool.title,
            "tags": tool.tags,
        },
        "health": None if known is None else {"state": known.state, **to_builtins(known)},
    }


def history(versions: Sequence[RegisteredTool]) -> Iterator[tuple[RegisteredTool, tuple[Diff, ...] | None]]:
    """Each version, the newest first, with what it changed; None for the first one."""
    for newer, older in zip(versions, [*versions[1:], None], strict=True):
        changed = None if older is None else definition_changes(older.tool, newer.tool)
        yield newer, None if changed is None else tuple(shown_changes(changed))


def embedded_text(embedded: int, tools: int) -> str:
    """How many tools a search by meaning can find."""
    return f"{embedded:,} embedded ({percent(embedded / tools)})"


def report_text(report: SyncReport) -> str:
    """What a synchronisation did."""
    told = f"{report.added:,} new, {report.changed:,} changed, {report.unchanged:,} unchanged"
    return f"{told}, {report.removed:,} removed" if report.removed else told
