"""The state of a session: what `domain.fold` makes of its events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from inspector.domain.budget import Budget, TokenParts
from inspector.domain.conversation import Conversation
from inspector.domain.events import CallCounted, GateApplied
from inspector.domain.index_state import IndexState
from inspector.domain.prompt_cache import UNCACHED, CacheTerms, Charge
from inspector.domain.server import ServerInfo, ServerPhase, SkippedTool


class Binding(StrEnum):
    """Whether a model sees a tool. Pinned tools are bound from the start and are never evicted."""

    PINNED = "pinned"
    LOADED = "loaded"
    DEFERRED = "deferred"
    EVICTED = "evicted"

    @property
    def is_bound(self) -> bool:
        return self in (Binding.PINNED, Binding.LOADED)


@dataclass(frozen=True, slots=True)
class ToolState:
    """One permitted tool in the session.

    `last_turn` is the model call in which it was last used, `found` how often a search or the gate bound
    it, `discovered_at` and `last_used_at` are seconds since 1970 of its first binding and of what keeps it
    from being the least recently used. `reason` is why it is where it is, `place` its rank in the search
    that found it (0 by hand), `changed_turn` the model call before which its server changed it.
    """

    id: str
    tokens: int
    binding: Binding
    uses: int = 0
    last_turn: int | None = None
    reason: str = ""
    found: int = 0
    discovered_at: float | None = None
    last_used_at: float | None = None
    changed_turn: int | None = None
    place: int = 0

    @property
    def server(self) -> str:
        return self.id.partition(":")[0]


@dataclass(frozen=True, slots=True)
class ServerState:
    """One server's connection as the session knows it."""

    name: str
    phase: ServerPhase = ServerPhase.STOPPED
    target: str = ""
    tools: int = 0
    tokens: int = 0
    info: ServerInfo = ServerInfo()
    skipped: tuple[SkippedTool, ...] = ()
    reason: str = ""
    hint: str = ""
    stderr_tail: str = ""
    milliseconds: float = 0.0


@dataclass(frozen=True, slots=True)
class CallCost:
    """What one model call cost: `turn` counts model calls, `at` is seconds since 1970 when it was sent.

    `static_tools` is what binding every permitted tool would have cost in it. `charge` is what a prompt
    cache on `terms` makes of its input. `reported_…` are the provider's own counts, None where it has none.
    """

    turn: int
    parts: TokenParts
    static_tools: int
    charge: Charge = Charge()
    terms: CacheTerms = UNCACHED
    at: float = 0.0
    reported_input: int | None = None
    reported_output: int | None = None


@dataclass(frozen=True, slots=True)
class SessionState:
    """Everything a screen shows of a session, and everything its policies decide by.

    `at` is the time of the last event. `outputs` are the tools that returned something, `recoveries` the
    rejected calls after which the model called a tool it has. `counts` is what the iteration guard knew
    after the last call of each tool.
    """

    config: str = ""
    model: str = ""
    model_label: str = ""
    window: int = 0
    toolset: str = ""
    servers: Mapping[str, ServerState] = field(default_factory=dict)
    tools: Mapping[str, ToolState] = field(default_factory=dict)
    load_order: tuple[str, ...] = ()
    hidden_tools: int = 0
    manifest: str = ""
    meta_tokens: int = 0
    budget: Budget | None = None
    index: IndexState = IndexState()
    costs: tuple[CallCost, ...] = ()
    reductions: int = 0
    decision: str = ""
    conversation: Conversation = Conversation()
    turn: int = 0
    searches: int = 0
    loads: int = 0
    calls: int = 0
    evictions: int = 0
    loops: int = 0
    redundant: int = 0
    rejections: int = 0
    recoveries: int = 0
    recovering: bool = False
    busy: bool = False
    at: float = 0.0
    profile: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    pool: str = ""
    pool_tokens: int = 0
    advisory: bool = False
    manifest_rules: tuple[str, ...] = ()
    discovered: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    outputs: frozenset[str] = frozenset()
    milestones: tuple[str, ...] = ()
    gate: GateApplied | None = None
    counts: Mapping[str, CallCounted] = field(default_factory=dict)

    def with_binding(self, *bindings: Binding) -> tuple[ToolState, ...]:
        """The tools in any of the given states, in catalog order."""
        return tuple(tool for tool in self.tools.values() if tool.binding in bindings)

    @property
    def bound_ids(self) -> tuple[str, ...]:
        """What the next model call gets: pinned tools in catalog order, then loaded ones in load order."""
        pinned = [tool.id for tool in self.tools.values() if tool.binding is Binding.PINNED]
        return (*pinned, *self.load_order)

    @property
    def has_search(self) -> bool:
        """Whether the model gets `search_tools`."""
        return bool(self.manifest) or self.advisory

    @property
    def accuracy(self) -> float | None:
        """Discovery accuracy |discovered and used| / |discovered| (paper, equation 4); None before any."""
        return len(self.discovered & self.used) / len(self.discovered) if self.discovered else None

    @property
    def tool_tokens(self) -> tuple[int, ...]:
        """What the model was told of tools, call by call."""
        return tuple(cost.parts.tool_tokens for cost in self.costs)

    @property
    def ready_servers(self) -> int:
        return sum(server.phase is ServerPhase.READY for server in self.servers.values())
