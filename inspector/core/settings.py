"""Every setting of a session, with its default, its effect and its allowed values.

The metadata of a field is its documentation: the profile page, `toolsight config settings` and the
configuration check read it through `inspector.config.setting`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


def knob(default: Any, about: str, *, low: float | None = None, high: float | None = None) -> Any:
    """A field with its documentation; `low` and `high` are inclusive, `about` names the unit."""
    metadata = {"about": about, "low": low, "high": high}
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


Preload = Literal["off", "predict", "with_search"]


@dataclass(frozen=True, slots=True)
class InertiaSettings:
    """What is called after what, and tools that are bound before anybody asks for them (inertia)."""

    preload: Preload = knob(
        "off",
        "bind the tool that is likely to be called next by the order of calls in recorded sessions. predict: "
        "only record the predictions; with_search: bind with the results of a search; a predicted tool never "
        "replaces another one",
    )
    persona: str = knob(
        "", "whose habits these sessions show; if empty, the user's, the toolset's, or one for all sessions"
    )
    warm_up: int = knob(100, "user messages with calls to be recorded before predictions start", low=0)
    half_life_days: float = knob(
        30.0, "days after which a call counts half; 0: old calls count in full", low=0, high=36_500
    )
    seed: str = knob("", "a YAML or JSON file of transitions to start from")


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """Circuit breakers: a tool or server that keeps failing is left alone for a while."""

    enabled: bool = knob(
        False,
        "refuse calls to tools and servers that keep failing, in every session on this machine, and "
        "restart a failed server when one of its tools is called",
    )


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """Retries of calls that failed for a reason that may pass: a connection, a timeout, a rate limit."""

    enabled: bool = knob(
        False,
        "repeat failed model calls, and tool calls where that is harmless: to a trusted server's tools that "
        "are annotated as read-only or idempotent, and to those in `tools`",
    )
    attempts: int = knob(3, "maximum attempts per call, including the first", low=1, high=10)
    max_dollars: float = knob(
        0.25,
        "maximum estimated price of the model calls that are repeated per user message, without a cache; a "
        "model without known prices has no such limit",
        low=0,
    )
    tools: tuple[str, ...] = knob(
        (), "ids of tools that may always be retried, whatever they do; * and ? match"
    )


@dataclass(frozen=True, slots=True)
class FallbackSettings:
    """Substitutes for tools that are not available: never in silence, never for what changes something."""

    enabled: bool = knob(
        False,
        "if a breaker refuses a call or its attempts fail, call a similar tool whose schema takes the same "
        "arguments; both must be read-only according to a trusted server's annotations",
    )
    min_similarity: float = knob(
        0.8,
        "how similar a substitute must be: the cosine of both summaries or the share of common words",
        low=0,
        high=1,
    )


@dataclass(frozen=True, slots=True)
class MarketplaceSettings:
    """Where a search goes on if no tool clearly fits. Nothing is ever installed by itself."""

    catalogs: tuple[str, ...] = knob(
        (),
        "plugin files, searched like those added with `toolsight marketplace import FILE`: Toolsight's own "
        "format, a server.json, or a response from an MCP registry",
    )


@dataclass(frozen=True, slots=True)
class FederationSettings:
    """Registries of other Toolsights that a search of the registry may include (section 13)."""

    peers: str = knob("", "a YAML or JSON file of registries to search in addition to your own")


Size = Literal["always", "tools", "tokens", "window"]
"""What decides whether a catalog is large enough to be searched."""
ResultForm = Literal["brief", "full", "ranked"]
BindingPolicy = Literal["all", "keep", "bounded", "gate"]
ToolDelivery = Literal["rewrite", "append", "call_tool", "text", "native"]
SentDelivery = Literal["rewrite", "append", "call_tool", "text", "tool_reference", "tool_search"]
"""A delivery as used in a request: `native` is the deferral of the model's provider, or append."""
CacheTtl = Literal["off", "5m", "1h"]
ChangedFiles = Literal["tell", "ask"]
GateQuery = Literal["user", "rolling", "either", "observation"]
Offered = Literal["limit", "domains", "similarity", "server"]


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """What is deferred (PRD section 2.1), and how a search ranks."""

    enabled: bool = knob(True, "off: every tool is bound from the start, and there is nothing to search")
    defer_all: bool = knob(False, "defer every server's tools, regardless of the server's defer_loading")
    auto: Size = knob(
        "tokens",
        "when discovery starts: always, or once the catalog reaches 20 tools (tools), 2,300 definition "
        "tokens (tokens) or 3 % of the window (window); a smaller catalog is bound in full",
    )
    search_tool: bool = knob(True, "give the model search_tools; without it, only the gate binds tools")
    max_search_results: int = knob(5, "the usual maximum number of tools per search", low=1, high=100)
    more_results: int = knob(
        3,
        "how many more tools with short definitions a confident search returns, if they fit nearly as well",
        low=0,
        high=20,
    )
    max_limit: int = knob(
        10, "maximum number of tools per search when the model asks for more", low=1, high=100
    )
    offers: tuple[Offered, ...] = knob(
        (),
        "what else the model may say in a search. limit: how many tools it returns, up to max_limit; "
        "domains: only tools with certain tags; similarity: the minimum probability or cosine of a result; "
        "server: what server it needs, for rankers that look at servers (others add it to the query)",
    )
    tags: Mapping[str, tuple[str, ...]] = knob(
        {}, "extra tags by tool id (* and ? match), on top of those from the server and its configuration"
    )
    results: ResultForm = knob(
        "brief",
        "what a search returns for each tool. brief: its id and first sentence, because its definition "
        "goes into tools[]; full: its description and parameters too; ranked: a numbered list with scores "
        "and when to use each tool. With delivery call_tool, results are always full",
    )
    ranker: str = knob("hybrid", "how searches rank; the search page lists all rankers")
    embedding_model: str = knob("packaged", "packaged, none, or the name of any fastembed model")
    min_probability: float = knob(
        0.35,
        "minimum confidence for the answer “found” instead of “closest”; 0 turns this off",
        low=0,
        high=1,
    )
    min_closest: float = knob(
        0.01,
        "minimum confidence for the answer “closest” instead of “nothing”; 0 turns this off",
        low=0,
        high=1,
    )
    iso_threshold: float = knob(
        0.28, "minimum cosine in the rankers dense, iso and three-tier", low=-1, high=1
    )
    expert_tools: tuple[str, ...] = knob((), "ids of tools that rank first; * and ? match")
    system_servers: tuple[str, ...] = knob((), "servers whose tools rank second")
    evaluation: tuple[str, ...] = knob((), "files of labelled requests (JSONL)")
    registry: bool = knob(
        False, "if ranker is three-tier, also list tools in the registry whose servers are not connected"
    )
    affinity: float = knob(
        0.0,
        "maximum boost for tools that the session's persona has used before, in standard deviations of a "
        "query's scores; 0 turns this off",
        low=0,
        high=1,
    )


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    """The size of the manifest in the description of `search_tools`."""

    max_tokens: int = knob(
        1_600, "maximum tokens in the manifest, shortened evenly across servers; 0 means no limit", low=0
    )


@dataclass(frozen=True, slots=True)
class BindingSettings:
    """When tools are bound and evicted (semantic tool discovery, section 6)."""

    policy: BindingPolicy = knob(
        "bounded",
        "all: every tool is always bound; keep: found tools stay bound; bounded: found tools stay bound "
        "while there is room; gate: only the tools that fit the turn are bound",
    )
    delivery: ToolDelivery = knob(
        "append",
        "rewrite: tools[] in catalog order; append: new tools go last; call_tool: tools[] never changes, "
        "calls go through call_tool; text: the same, and searches return full schemas; native: tools[] "
        "never changes, the provider loads what a search found (Claude: tool_reference, OpenAI: "
        "tool_search), and nothing is unloaded to make room; models without it get append",
    )
    capacity: int = knob(
        16, "how many loaded tools stay bound, not counting pinned ones; 0 means no limit", low=0
    )
    share: float = knob(
        0.0,
        "maximum share of the free window that loaded tools may take, however few they are; 0 means no limit",
        low=0,
        high=1,
    )
    ttl_seconds: float = knob(
        0.0,
        "seconds without use after which a tool expires; expired tools are evicted first; 0 turns this off",
        low=0,
    )
    expire_eagerly: bool = knob(
        False, "evict expired tools before every model call, not only when there is no room"
    )
    always_include: tuple[str, ...] = knob(
        (), "ids of pinned tools (* and ? match); a toolset may override them"
    )


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The per-turn gate (Tool Attention, sections 4.2 to 4.5); used with the policy gate."""

    ranker: str = knob(
        "iso", "the ranker that scores the tools for a turn; iso compares the query with summary lines"
    )
    threshold: float = knob(0.28, "minimum score of a tool; for iso and dense, a cosine", low=-1, high=1000)
    top_k: int = knob(10, "maximum number of tools bound per turn", low=1, high=200)
    query: GateQuery = knob(
        "user",
        "user: the user's last message; rolling: with the latest ones before it; either: the better of a "
        "tool's scores for these two; observation: the last message with the latest tool result",
    )


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Preconditions for using a tool (Tool Attention, section 5.4), and who may see which tools."""

    preconditions: Mapping[str, tuple[str, ...]] = knob(
        {},
        "the predicates a tool needs, by tool id (* and ? match), such as "
        "milestone_reached('plan_confirmed')",
    )
    predicates: str = knob("", "a Python file with your own predicates; it runs only with your consent")
    scopes: tuple[str, ...] = knob((), "the scopes the session holds, checked by is_authenticated()")
    policy: str = knob("", "a YAML or JSON file that defines who may see which tools; see docs/access.md")
    user: str = knob("", "the user from access.policy whose tools are visible; without a user, none are")
    expert: str = knob("", "the agent the user works through; its allowlist limits what is visible")


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """The iteration guard (semantic tool discovery, section 7): it evicts, it never blocks."""

    enabled: bool = knob(
        True,
        "evict a tool that is called repeatedly with the same arguments, and tell the model when a search "
        "repeats the results of an earlier one",
    )
    max_repeats: int = knob(2, "identical calls allowed within the time window; one more is a loop", low=1)
    window_seconds: float = knob(120.0, "length of the time window in seconds", low=0.001)
    window_calls: int = knob(
        24, "length of the sliding window: how many of the latest calls count", low=2, high=1000
    )
    window_repeats: int = knob(
        3, "identical calls allowed within the sliding window; one more is a loop", low=1
    )
    as_published: bool = knob(
        False,
        "count as the paper does: only calls that ran, whatever came of them. off: searches and rejected "
        "calls count too, as do searches that find no tool, and the count restarts after a changed result, a "
        "call that may have changed something, or a user message",
    )
    exempt: tuple[str, ...] = knob((), "ids of tools that may repeat calls; * and ? match")
    guidance: Mapping[str, str] = knob({}, "what the model should try instead, by tool id (* and ? match)")


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The token budget of the model's window."""

    output_reserve: int = knob(4096, "tokens reserved for the answer", low=0)
    prompt_cache: CacheTtl = knob(
        "5m",
        "how long Claude caches the marked part of a request (cache_control): 5m, 1h (cache writes cost "
        "more) or off (nothing is marked or cached). Other providers decide for themselves",
    )
    priced_as: str = knob(
        "openai/gpt-5", "the litellm model whose prices apply if the session's model has none"
    )


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The chat loop."""

    max_steps: int = knob(16, "maximum number of model calls per user message", low=1, high=1000)
    system_prompt: str = knob(
        "You are a helpful assistant with tools. Answer briefly from what the tools return.",
        "the system prompt; if tools are deferred, a note about searching is added",
    )
    server_instructions: bool = knob(
        False, "add the servers' instructions to the system prompt even while tools are deferred"
    )
    examples: tuple[str, ...] = knob(
        (), "requests suggested in an empty chat; by default, they come from the tools' descriptions"
    )


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """How long recorded sessions are kept (semantic tool discovery, section 6.4)."""

    max_days: float = knob(
        90.0,
        "how many days to keep a recorded session after its last event, if it is among the newest 5,000; 0 "
        "keeps every session",
        low=0,
    )


@dataclass(frozen=True, slots=True)
class ConsentSettings:
    """When a configuration that was approved asks for consent again."""

    changed_files: ChangedFiles = knob(
        "ask",
        "what happens when files that servers run have changed since you approved them. ask: they need "
        "approval again when you next open the configuration; tell: they are listed with the server, and "
        "only files outside the configuration's folder or owned by another user need approval again",
    )


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """Client capabilities declared to servers; many list other tools to a client that can do more."""

    roots: bool = knob(True, "declare that servers may ask for the folder Toolsight runs in")
    forms: bool = knob(True, "declare that servers may ask you to fill in a form (elicitation)")
    links: bool = knob(True, "declare that servers may ask you to visit an address (elicitation by URL)")
    sampling: bool = knob(
        False, "declare that servers may ask for a model's answer (sampling); you answer, or let the model"
    )
    tasks: bool = knob(True, "call tools that run only as a task, and declare the tasks extension")
    name: str = knob("", "the client name to declare instead of Toolsight's own")
    version: str = knob("", "the client version to declare; if `name` is set, the version of that client")


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings tree of a session."""

    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    manifest: ManifestSettings = field(default_factory=ManifestSettings)
    binding: BindingSettings = field(default_factory=BindingSettings)
    gate: GateSettings = field(default_factory=GateSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    breaker: BreakerSettings = field(default_factory=BreakerSettings)
    retry: RetrySettings = field(default_factory=RetrySettings)
    fallback: FallbackSettings = field(default_factory=FallbackSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    inertia: InertiaSettings = field(default_factory=InertiaSettings)
    record: RecordSettings = field(default_factory=RecordSettings)
    consent: ConsentSettings = field(default_factory=ConsentSettings)
    client: ClientCapabilities = field(default_factory=ClientCapabilities)
    marketplace: MarketplaceSettings = field(default_factory=MarketplaceSettings)
    federation: FederationSettings = field(default_factory=FederationSettings)
