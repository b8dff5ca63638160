"""The state of a session, folded from its events by `core.fold`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from inspector.core.budget import Budget, TokenParts
from inspector.core.conversation import Conversation
from inspector.core.error import BreakerStatus, SettingProblem
from inspector.core.events import ApprovalDecided, CallCounted, DefinitionChanged, GateApplied, LoadCause
from inspector.core.marketplace import MarketplaceReport
from inspector.core.prompt_cache import UNCACHED, Breakpoints, CacheTerms, Charge
from inspector.core.ranking import IndexState, SearchOffer
from inspector.core.server import ChangedFile, ServerInfo, ServerPhase, SkippedTool
from inspector.core.tool import Tool


class Binding(StrEnum):
    """Whether the model sees a tool. Pinned tools are bound from the start and never evicted.

    A held tool keeps the binding it had while its server is away: the model is not offered it until then.
    """

    PINNED = "pinned"
    LOADED = "loaded"
    DEFERRED = "deferred"
    EVICTED = "evicted"
    HELD = "held"

    @property
    def is_bound(self) -> bool:
        return self in (Binding.PINNED, Binding.LOADED)

    @property
    def sign(self) -> str:
        """One cell that stands for it."""
        return _SIGNS[self]


_SIGNS = dict(zip(Binding, "⌂●○✕‖", strict=True))


class ToolState(Struct, frozen=True):
    """One permitted tool in the session.

    `last_call` is the model call that last used it, `found` how often a search or the gate found it,
    `discovered_at` when it was first bound and `last_used_at` when it was last used or found, both in seconds
    since 1970. `reason` explains its binding, `place` is its rank in the search that found it (0 if bound by
    hand), and `changed_call` the model call before which its server changed it. `held_as` is the binding that
    a held tool gets back. `definition` is the hash of its definition, "" in records of older versions.
    `cause` is why it was loaded last, for programs.
    """

    id: str
    tokens: int
    binding: Binding
    uses: int = 0
    last_call: int | None = None
    reason: str = ""
    found: int = 0
    discovered_at: float | None = None
    last_used_at: float | None = None
    changed_call: int | None = None
    place: int = 0
    held_as: Binding | None = None
    definition: str = ""
    cause: LoadCause = ""

    @property
    def is_ahead(self) -> bool:
        """Whether it is bound because it may be called next, and was not called so far."""
        return self.binding is Binding.LOADED and self.cause == "inertia" and not self.uses

    @property
    def returns_loaded(self) -> bool:
        """Whether it is held and will be loaded again once its server is back."""
        return self.held_as is Binding.LOADED

    @property
    def has_history(self) -> bool:
        """Whether anything is known of it that a returning server could not supply."""
        return self.binding is not Binding.DEFERRED or self.found > 0 or self.uses > 0

    @property
    def server(self) -> str:
        return self.id.partition(":")[0]


class ServerState(Struct, frozen=True):
    """One server's connection in the session. `declared` is what it was told that its client can do.

    `added` and `removed` are the tools by which its list differed from the one before as it connected, which
    was made at `since` if that was in an earlier session. `changed` and `approved_version` are as in the
    events.
    """

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
    needs_login: bool = False
    milliseconds: float = 0.0
    declared: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    since: float = 0.0
    changed: tuple[ChangedFile, ...] = ()
    approved_version: str = ""

    @property
    def news(self) -> tuple[str, ...]:
        """What of it is not as a person approved it: its files, and the version that it reports."""
        files = tuple(file.text for file in self.changed)
        now = self.info.version
        was = self.approved_version
        return (*files, f"version {now}, was {was} when you approved it") if was else files


class CallCost(Struct, frozen=True, gc=False):
    """What one model call cost. `call` counts model calls; `at` is when it was sent, in seconds since 1970.

    `static_tools` is what binding every permitted tool would have cost. `charge` is how a prompt cache on
    `terms` charges its input, as computed; `breakpoints` are the marks that were sent for it. `answer` is the
    answer's tokens as counted here. `reported_…` are the provider's own counts, None if it reports none: see
    `Usage`.
    """

    call: int
    parts: TokenParts
    static_tools: int
    charge: Charge = Charge()
    terms: CacheTerms = UNCACHED
    at: float = 0.0
    answer: int = 0
    reported_input: int | None = None
    reported_output: int | None = None
    reported_read: int | None = None
    reported_written: int | None = None
    reported_written_hour: int | None = None
    reported_reasoning: int | None = None
    breakpoints: Breakpoints | None = None


class InertiaState(Struct, frozen=True):
    """The model's last call for the current message, and tools bound ahead; `used` were then called."""

    called: str = ""
    ahead: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()


class SessionState(Struct, frozen=True, dict=True):
    """Everything screens show about a session and its policies decide by.

    `at` is the time of the last event. `tools` holds the permitted tools of the connected servers, and
    `held` those of servers that are away. `pinned` holds the tools that are always bound, in catalog
    order, so that no model call has to look for them; `places` those that were loaded, with the held ones
    among them. `outputs` holds the tools that returned output, `reports` what servers say of running
    calls, by tool; `recoveries` counts the rejected calls after which the model called an available tool.
    `counts` holds the iteration guard's counts after
    the last call of each tool, `approvals` the last answer about each tool, and `approved` the hashes of
    the definitions approved for the session. `trusted_servers` are those whose claims about what their
    tools do are believed, and `not_read_only` the tools that were listed without the claim that they only
    read. `definitions` holds every definition listed so far by its hash, and `listed` the hash of each
    tool as it was listed last. `problems` are what is wrong with the settings, worst first. `uncounted`
    tools count as 0 tokens because their definitions are not in an agent's transcript. `changes` holds
    the last change of each tool's definition, and `untold` the breaking ones that the model has to be
    told of; `read_as` are the hashes of what it read of those tools. `breakers` holds those that were
    ever open, by tool id or server name. `turn_retries` counts the retries since the user's last message,
    and `turn_dollars` is the estimated price of the model calls among them. `marketplace` is the last
    search that went on there. With `is_restricted` there is only what `user` may see, through `expert` if
    there is one.
    """

    config: str = ""
    model: str = ""
    model_label: str = ""
    api_base: str = ""
    window: int = 0
    toolset: str = ""
    servers: Mapping[str, ServerState] = field(default_factory=dict)
    tools: Mapping[str, ToolState] = field(default_factory=dict)
    pinned: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    held: Mapping[str, ToolState] = field(default_factory=dict)
    manifest: str = ""
    meta_tokens: int = 0
    budget: Budget | None = None
    index: IndexState = IndexState()
    costs: tuple[CallCost, ...] = ()
    reductions: int = 0
    decision: str = ""
    conversation: Conversation = Conversation()
    problems: tuple[SettingProblem, ...] = ()
    model_calls: int = 0
    searches: int = 0
    loads: int = 0
    calls: int = 0
    evictions: int = 0
    loops: int = 0
    redundant: int = 0
    rejections: int = 0
    refusals: int = 0
    recoveries: int = 0
    recovering: bool = False
    busy: bool = False
    at: float = 0.0
    profile: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    pool: str = ""
    instructions: str = ""
    offer: SearchOffer = SearchOffer()
    pool_tokens: int = 0
    advisory: bool = False
    manifest_rules: tuple[str, ...] = ()
    discovered: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    outputs: frozenset[str] = frozenset()
    reports: Mapping[str, str] = field(default_factory=dict)
    milestones: tuple[str, ...] = ()
    gate: GateApplied | None = None
    counts: Mapping[str, CallCounted] = field(default_factory=dict)
    approvals: Mapping[str, ApprovalDecided] = field(default_factory=dict)
    approved: frozenset[str] = frozenset()
    trusted_servers: frozenset[str] = frozenset()
    not_read_only: frozenset[str] = frozenset()
    definitions: Mapping[str, Tool] = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)
    uncounted: int = 0
    inertia: InertiaState = InertiaState()
    breakers: Mapping[str, BreakerStatus] = field(default_factory=dict)
    retries: int = 0
    turn_retries: int = 0
    turn_dollars: float = 0.0
    substitutions: int = 0
    changes: Mapping[str, DefinitionChanged] = field(default_factory=dict)
    untold: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    read_as: Mapping[str, str] = field(default_factory=dict)
    marketplace: MarketplaceReport | None = None
    user: str = ""
    expert: str = ""
    is_restricted: bool = False

    def with_binding(self, *bindings: Binding) -> tuple[ToolState, ...]:
        """The tools with any of the given bindings, in catalog order."""
        return tuple(tool for tool in self.tools.values() if tool.binding in bindings)

    @property
    def load_order(self) -> tuple[str, ...]:
        """The loaded tools in load order; a held one has its place again once it is back."""
        return tuple(id_ for id_ in self.places if id_ not in self.held) if self.held else self.places

    def known(self, tool_id: str) -> ToolState | None:
        """A tool of the session, be its server connected or away."""
        return self.tools.get(tool_id) or self.held.get(tool_id)

    def recorded(self, tool_id: str) -> Tool | None:
        """A tool's definition as it is in the record, or None if it was not recorded."""
        known = self.known(tool_id)
        return self.definitions.get(known.definition) if known is not None else None

    def versions(self, tool_id: str) -> tuple[Tool, ...]:
        """Every definition of a tool in the session in the order of their listing, the current one last."""
        known = self.known(tool_id)
        current = known.definition if known is not None else ""
        every = [(hash_, tool) for hash_, tool in self.definitions.items() if tool.id == tool_id]
        return tuple(tool for _, tool in sorted(every, key=lambda pair: pair[0] == current))

    def held_as(self, binding: Binding) -> tuple[ToolState, ...]:
        """The held tools that get this binding back once their server is there again."""
        return tuple(tool for tool in self.held.values() if tool.held_as is binding)

    @property
    def bound_ids(self) -> tuple[str, ...]:
        """The tools bound in the next model call: pinned in catalog order, then loaded in load order."""
        return (*self.pinned, *self.load_order)

    @property
    def has_search(self) -> bool:
        """Whether the model gets `search_tools`."""
        return bool(self.manifest) or self.advisory

    @property
    def accuracy(self) -> float | None:
        """Discovery accuracy |discovered and used| / |discovered| (paper, equation 4); None without any."""
        return len(self.discovered & self.used) / len(self.discovered) if self.discovered else None

    @property
    def ready_servers(self) -> int:
        return sum(server.phase is ServerPhase.READY for server in self.servers.values())
