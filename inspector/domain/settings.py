"""Every knob of a session, with its default, what it does, and what it may be.

The metadata of a field is its documentation: the profile page, `toolsight settings` and the check of a
configuration read it through `domain.knob`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Size = Literal["always", "tools", "tokens", "window"]
"""What a catalog has to have so much of to be searched."""
ResultForm = Literal["brief", "full"]
BindingPolicy = Literal["all", "keep", "bounded", "gate"]
ToolDelivery = Literal["rewrite", "append", "call_tool", "text"]
GateQuery = Literal["user", "rolling", "observation"]


def knob(
    default: Any,
    about: str,
    *,
    low: float | None = None,
    high: float | None = None,
) -> Any:
    """A field with its documentation; `low` and `high` are included, units stand in `about`."""
    metadata = {"about": about, "low": low, "high": high}
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """PRD section 2.1, and how a search ranks."""

    enabled: bool = knob(True, "off: every tool is bound from the start and there is nothing to search")
    defer_all: bool = knob(False, "every server waits for a search, whatever its own switch says")
    auto: Size = knob(
        "always",
        "when a catalog is large enough for discovery; always, or from so many tools (auto_tools), tokens of "
        "definitions (auto_tokens) or share of the window (auto_share) on; a smaller one is bound whole",
    )
    auto_tools: int = knob(20, "with auto tools: a catalog of fewer tools is bound whole", low=0)
    auto_tokens: int = knob(10_000, "with auto tokens: a catalog of fewer tokens is bound whole", low=0)
    auto_share: float = knob(
        0.03, "with auto window: a catalog of a smaller share of the window is bound whole", low=0, high=1
    )
    search_tool: bool = knob(True, "the model gets search_tools; without it only the gate binds tools")
    max_search_results: int = knob(5, "tools a search returns at most", low=1, high=100)
    results: ResultForm = knob(
        "brief",
        "what a search tells of a tool. brief: its id and first sentence, since its definition is in tools[] "
        "from then on; full: its description and parameters too; with delivery call_tool always full",
    )
    ranker: str = knob("hybrid", "how searches rank; the search page lists all rankers")
    embedding_model: str = knob("packaged", "packaged, none, or the name of any fastembed model")
    min_probability: float = knob(
        0.35, "below this probability a search says that no tool fits; 0 switches it off", low=0, high=1
    )
    min_tool_probability: float = knob(
        0.1, "below this probability a tool is no result; 0 switches it off", low=0, high=1
    )
    iso_threshold: float = knob(0.28, "the cosine that the ranker dense demands", low=-1, high=1)
    expert_tools: tuple[str, ...] = knob((), "ids of tools that come first, * and ? match")
    system_servers: tuple[str, ...] = knob((), "servers whose tools come second")
    evaluation: tuple[str, ...] = knob((), "files of labelled requests, JSONL")


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    """How much the manifest in the description of `search_tools` may say."""

    max_tokens: int = knob(
        0, "tokens of the manifest at most: shortened step by step to fit; 0 is no limit", low=0
    )
    listed_in_full: int = knob(10, "a server with more tools lists only the first few", low=0)
    listed_of_many: int = knob(4, "how many tools such a server lists", low=0)


@dataclass(frozen=True, slots=True)
class BindingSettings:
    """What is bound when, and when it goes (semantic tool discovery, section 6)."""

    policy: BindingPolicy = knob(
        "bounded",
        "all: every tool, always; keep: found tools stay; bounded: found tools stay while there is room; "
        "gate: what fits the turn",
    )
    delivery: ToolDelivery = knob(
        "append",
        "rewrite: tools[] in catalog order; append: new tools at its end; call_tool: tools[] never changes, "
        "calls go through call_tool; text: the same, and searches return whole schemas",
    )
    capacity: int = knob(
        8, "discovered tools that stay bound; pinned ones do not count; 0 is no limit", low=0
    )
    adaptive: bool = knob(
        False, "the capacity shrinks so that discovered tools take no more than `share` of the free window"
    )
    share: float = knob(0.2, "of the free window, for discovered tools", low=0.001, high=1)
    ttl_seconds: float = knob(
        0.0, "a tool that was not used for so long goes first; 0 switches it off", low=0
    )
    expire_eagerly: bool = knob(
        False, "expired tools go before every model call, not only when there is no room"
    )
    always_include: tuple[str, ...] = knob(
        (), "ids of tools that are pinned, * and ? match; a toolset may name its own instead"
    )


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The per-turn gate (Tool Attention, sections 4.2 to 4.5); it works where the policy is gate."""

    ranker: str = knob("dense", "what ranks the tools for a turn")
    threshold: float = knob(0.28, "the score a tool needs: of dense, the cosine", low=-1, high=1000)
    top_k: int = knob(10, "tools bound for a turn at most", low=1, high=200)
    query: GateQuery = knob(
        "user",
        "user: the last message of the user; rolling: with a summary of what went before; "
        "observation: with the last result, so that the gate moves with the task",
    )
    summaries: bool = knob(True, "a one-line summary of every tool is always in the prompt")
    summary_tokens: int = knob(60, "tokens of a summary at most", low=5, high=500)
    loader_capacity: int = knob(256, "definitions that are kept at hand", low=1)


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """What has to be true before a tool may be used (Tool Attention, section 5.4)."""

    preconditions: Mapping[str, tuple[str, ...]] = knob(
        {}, "by tool id, * and ? match: predicates such as milestone_reached('plan_confirmed')"
    )
    predicates: str = knob("", "a Python file with predicates of your own, run only after consent")
    scopes: tuple[str, ...] = knob((), "what the session is authenticated for, for is_authenticated()")


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """The iteration guard (semantic tool discovery, section 7): it evicts, it never blocks."""

    enabled: bool = knob(True, "evict a tool that is called over and over with the same arguments")
    max_repeats: int = knob(2, "equal calls within the time window that are no loop yet", low=1)
    window_seconds: float = knob(120.0, "the time window", low=0.001)
    window_calls: int = knob(10, "the sliding window: so many last calls", low=2, high=1000)
    window_repeats: int = knob(3, "equal calls within the sliding window that are no loop yet", low=1)
    normalise: bool = knob(
        True, "slashes at the end, tracking parameters, white space and ways to write a number do not count"
    )
    ignored_arguments: Mapping[str, tuple[str, ...]] = knob(
        {}, "by tool id, * and ? match: arguments that make no difference"
    )
    exempt: tuple[str, ...] = knob((), "ids of tools that may repeat themselves, * and ? match")
    guidance: Mapping[str, str] = knob({}, "by tool id, * and ? match: what to try instead, for the model")
    think: bool = knob(True, "after a loop the model has to think before it may call again")


@dataclass(frozen=True, slots=True)
class RedundancySettings:
    """Searches that bring nothing new (semantic tool discovery, section 8): they run, with a note."""

    enabled: bool = knob(True, "tell the model when a search finds what an earlier one had found")
    overlap: float = knob(0.8, "the share of results that were known already", low=0, high=1)
    window_seconds: float = knob(300.0, "how far back searches count", low=0.001)


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The window of the model."""

    warn_at: float = knob(0.7, "the share of the window where the budget is shown as tight", low=0, high=1)
    output_reserve: int = knob(4096, "tokens that are kept free for the answer", low=0)
    truncate_at: float = knob(
        0.8,
        "the share of the window where long results of earlier calls are shortened; 0 never",
        low=0,
        high=1,
    )
    compress_at: float = knob(
        0.9, "the share of the window where earlier exchanges become a summary; 0 never", low=0, high=1
    )
    emergency: bool = knob(True, "a request over the window is cut down to the last exchange")
    kept_tokens: int = knob(200, "tokens that a shortened result keeps", low=10)
    priced_as: str = knob(
        "openai/gpt-5", "whose prices count where the session's own model has none, any litellm model"
    )


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The loop."""

    max_steps: int = knob(16, "model calls for one message of the user", low=1, high=1000)
    system_prompt: str = knob(
        "You are a helpful assistant with tools. Answer briefly from what the tools return.",
        "what the model is told first; where tools wait for a search it is told that, too",
    )


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """How long recorded sessions are kept (semantic tool discovery, section 6.4)."""

    max_sessions: int = knob(0, "recorded sessions that are kept, the newest; 0 keeps all", low=0)
    max_days: float = knob(0.0, "days that a recorded session is kept; 0 keeps it for ever", low=0)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings tree of a session."""

    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    manifest: ManifestSettings = field(default_factory=ManifestSettings)
    binding: BindingSettings = field(default_factory=BindingSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    redundancy: RedundancySettings = field(default_factory=RedundancySettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    record: RecordSettings = field(default_factory=RecordSettings)
