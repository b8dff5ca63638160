"""Every setting of a session, with its default, its effect and its allowed values.

The metadata of a field is its documentation: the profile page, `toolsight config settings` and the
configuration check read it through `inspector.config.setting`.
"""

# Long because it is one table.

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


def knob(default: Any, about: str, *, low: float | None = None, high: float | None = None) -> Any:
    """A field with its documentation; `low` and `high` are inclusive, `about` names the unit."""
    metadata = {"about": about, "low": low, "high": high}
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


Preload = Literal["off", "with_search", "where_it_pays"]
OnBreaking = Literal["rebind", "evict"]


@dataclass(frozen=True, slots=True)
class InertiaSettings:
    """What is called after what, and tools that are bound before anybody asks for them (inertia)."""

    enabled: bool = knob(
        False,
        "predict the next tool from the order of calls in recorded sessions, and record the predictions",
    )
    preload: Preload = knob(
        "off",
        "bind predicted tools ahead of time. off: only predict; with_search: together with the results of "
        "a search, when tools[] changes anyway; where_it_pays: also when it may save a search that would "
        "cost more than resending tokens; a predicted tool never replaces another tool",
    )
    persona: str = knob(
        "",
        "the persona whose habits these sessions show; if empty, the user's, the toolset's or, without "
        "either, one for all sessions here",
    )
    min_probability: float = knob(
        0.3,
        "a tool is bound ahead only if at least this share of the calls after the previous tool went to it",
        low=0,
        high=1,
    )
    min_low: float = knob(
        0.1,
        "minimum for the lower bound of that share's 95 % interval, which is low when calls are few or old",
        low=0,
        high=1,
    )
    most: int = knob(2, "maximum number of tools bound ahead at a time", low=1, high=20)
    warm_up: int = knob(
        100, "how many user messages with calls must be recorded before predictions start", low=0
    )
    half_life_days: float = knob(
        30.0, "days after which a call counts half; 0: old calls count in full", low=0, high=36_500
    )
    seed: str = knob("", "a YAML or JSON file of transitions to start from")


@dataclass(frozen=True, slots=True)
class VersionSettings:
    """What happens when a server changes a tool that the model has read of."""

    on_breaking: OnBreaking = knob(
        "rebind",
        "what happens to a loaded tool when a change breaks existing calls. rebind: it stays, and the next "
        "request has its new definition; evict: it is unloaded and must be found again. With delivery "
        "call_tool or text, every changed tool is unloaded, because the model reads a definition only once",
    )
    tell: bool = knob(
        True, "tell the model when a change breaks existing calls, and how its calls must differ"
    )


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """Circuit breakers: a tool or server that keeps failing is left alone for a while."""

    enabled: bool = knob(
        False,
        "refuse calls to tools and servers that keep failing, in every session on this machine, and "
        "restart a failed server when one of its tools is called",
    )
    failure_rate: float = knob(
        0.5,
        "share of failed calls that opens a breaker; errors reported by the tool itself do not count",
        low=0.01,
        high=1,
    )
    min_calls: int = knob(
        3, "minimum number of calls within the window before a breaker can open", low=1, high=200
    )
    window_seconds: float = knob(
        300.0,
        "how far back calls count, in seconds; make it longer than several timeouts",
        low=1,
        high=86_400,
    )
    cool_down_seconds: float = knob(
        30.0,
        "seconds without calls after a breaker opens; longer if the server asks for it (Retry-After)",
        low=0.1,
        high=3600,
    )
    probes: int = knob(
        1,
        "how many trial calls are allowed at a time after the cool-down; the same number of successes closes "
        "the breaker",
        low=1,
        high=100,
    )


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """Retries of calls that failed for a reason that may pass: a connection, a timeout, a rate limit."""

    enabled: bool = knob(
        False,
        "repeat failed calls of the model itself, and the tool calls that it made where that is harmless: "
        "to a trusted server's tools that are annotated as read-only or idempotent, and to those in `tools`",
    )
    attempts: int = knob(3, "maximum attempts per call, including the first", low=1, high=10)
    max_seconds: float = knob(
        15.0, "no attempt starts later than this many seconds after the first failure", low=0, high=600
    )
    per_turn: int = knob(6, "maximum retries per user message, across all its calls", low=0)
    max_dollars: float = knob(
        0.25,
        "maximum estimated price of the model calls that are repeated per user message, as if no cache held "
        "and every failed one were charged; a model without known prices has no such limit",
        low=0,
    )
    pause_seconds: float = knob(
        0.5,
        "pause before the first retry; it doubles each time, with up to as much again added at random, and "
        "is never shorter than the server asks for (Retry-After)",
        low=0,
        high=60,
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
        "how similar a substitute must be: the cosine of both summaries or, without vectors, the share of "
        "words in common",
        low=0,
        high=1,
    )
    most: int = knob(2, "how many substitutes to try per call", low=1, high=10)


@dataclass(frozen=True, slots=True)
class MarketplaceSettings:
    """When a search goes on in the marketplace, and where that is. Nothing is ever installed by itself."""

    enabled: bool = knob(True, "also search the marketplace if no tool clearly fits; this requires a catalog")
    max_probability: float = knob(
        1.0,
        "beside an answer “closest”, search the marketplace only if its confidence is below this; 0: only "
        "after “nothing”",
        low=0,
        high=1,
    )
    catalogs: tuple[str, ...] = knob(
        (), "plugin files: Toolsight's own format, a server.json, or a response from an MCP registry"
    )
    imported: bool = knob(True, "also search the catalogs added with `toolsight marketplace import FILE`")
    results: int = knob(3, "maximum number of suggested plugins", low=1, high=20)


@dataclass(frozen=True, slots=True)
class FederationSettings:
    """Registries of other Toolsights that a search of the registry may include (section 13)."""

    peers: str = knob("", "a YAML or JSON file of registries to search in addition to your own")
    seconds: float = knob(
        5.0, "how many seconds a search waits for all peers; later answers are dropped", low=0.05
    )


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


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """What is deferred (PRD section 2.1), and how a search ranks."""

    enabled: bool = knob(True, "off: every tool is bound from the start, and there is nothing to search")
    defer_all: bool = knob(False, "defer every server's tools, regardless of the server's defer_loading")
    auto: Size = knob(
        "tokens",
        "when discovery starts: always, or once the catalog reaches a number of tools (auto_tools), a "
        "number of definition tokens (auto_tokens) or a share of the window (auto_share); a smaller "
        "catalog is bound in full",
    )
    auto_tools: int = knob(20, "if auto is tools, catalogs with fewer tools are bound in full", low=0)
    auto_tokens: int = knob(
        2_300,
        "if auto is tokens, catalogs with fewer definition tokens are bound in full; below the default, "
        "discovery never pays off",
        low=0,
    )
    auto_share: float = knob(
        0.03, "if auto is window, catalogs below this share of the window are bound in full", low=0, high=1
    )
    search_tool: bool = knob(True, "give the model search_tools; without it, only the gate binds tools")
    max_search_results: int = knob(5, "the usual maximum number of tools per search", low=1, high=100)
    more_results: int = knob(
        3,
        "how many more tools a confident search returns, if they fit nearly as well and have short "
        "definitions; none if max_search_results is below 5",
        low=0,
        high=20,
    )
    max_limit: int = knob(
        10, "maximum number of tools per search when the model asks for more", low=1, high=100
    )
    offer_limit: bool = knob(False, "let the model choose how many tools a search returns, up to max_limit")
    offer_domains: bool = knob(False, "let the model restrict a search to tools with certain tags")
    offer_similarity: bool = knob(
        False, "let the model set how well a tool must fit: the minimum probability or cosine of a result"
    )
    offer_server_query: bool = knob(
        False,
        "let the model describe the server it needs separately from the tool; rankers that look at servers "
        "use this description for them, others add it to the query",
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
        "minimum confidence for the answer “found”; below it, a search answers “closest” at best; 0 turns "
        "this off",
        low=0,
        high=1,
    )
    min_closest: float = knob(
        0.03,
        "minimum confidence for the answer “closest”; below it, a search answers “nothing”; 0 turns this off",
        low=0,
        high=1,
    )
    iso_threshold: float = knob(
        0.28, "minimum cosine in the rankers dense, iso and three-tier", low=-1, high=1
    )
    token_bonus: float = knob(
        0.12, "score that each matching query word adds in the fuzzy rankers", low=0, high=10
    )
    fuzzy_floor: float = knob(0.05, "minimum score in the fuzzy rankers", low=0, high=10)
    expert_tools: tuple[str, ...] = knob((), "ids of tools that rank first; * and ? match")
    system_servers: tuple[str, ...] = knob((), "servers whose tools rank second")
    evaluation: tuple[str, ...] = knob((), "files of labelled requests (JSONL)")
    registry: bool = knob(
        False,
        "if ranker is three-tier, also find tools in the registry whose servers are not connected; they are "
        "listed separately and cannot be called",
    )
    learn: bool = knob(
        False,
        "if ranker is hybrid, rank a tool higher for requests like those that led to a successful call to "
        "it in sessions recorded here",
    )
    affinity: float = knob(
        0.0,
        "maximum boost for tools that the session's persona (inertia.persona) has used before, "
        "in standard deviations of a query's scores; unused tools lose nothing; 0 turns this off",
        low=0,
        high=1,
    )


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    """The size of the manifest in the description of `search_tools`."""

    max_tokens: int = knob(
        1_600,
        "maximum tokens in the manifest; a longer one is shortened evenly across servers; 0 means no limit",
        low=0,
    )
    listed_in_full: int = knob(10, "a server with more tools than this has only its first four listed", low=0)


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
    adaptive: bool = knob(
        False, "shrink the capacity so that loaded tools take at most `share` of the free window"
    )
    share: float = knob(0.2, "share of the free window for loaded tools", low=0.001, high=1)
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
        "user: the user's last message; rolling: that message with the latest ones before it; either: the "
        "better of a tool's scores for these two; observation: that message with the latest tool result, "
        "so that the gate follows the task",
    )
    summaries: bool = knob(True, "keep a one-line summary of every tool in the prompt")


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

    enabled: bool = knob(True, "evict a tool that is called repeatedly with the same arguments")
    max_repeats: int = knob(2, "identical calls allowed within the time window; one more is a loop", low=1)
    window_seconds: float = knob(120.0, "length of the time window in seconds", low=0.001)
    all_calls: bool = knob(True, "count searches and rejected calls too, not only calls that ran")
    window_calls: int = knob(
        24, "length of the sliding window: how many of the latest calls count", low=2, high=1000
    )
    window_repeats: int = knob(
        3, "identical calls allowed within the sliding window; one more is a loop", low=1
    )
    progress: bool = knob(
        True,
        "restart the count after a changed result, a call that may have changed something, or a user message",
    )
    ignored_arguments: Mapping[str, tuple[str, ...]] = knob(
        {}, "arguments to ignore when comparing calls, by tool id (* and ? match)"
    )
    exempt: tuple[str, ...] = knob((), "ids of tools that may repeat calls; * and ? match")
    guidance: Mapping[str, str] = knob({}, "what the model should try instead, by tool id (* and ? match)")
    think: bool = knob(True, "after a loop, make the model think before it calls a tool again")


@dataclass(frozen=True, slots=True)
class RedundancySettings:
    """Searches that find nothing new (semantic tool discovery, section 8): they run, with a note."""

    enabled: bool = knob(True, "tell the model when a search repeats the results of an earlier one")
    hopeless: bool = knob(True, "also tell the model once three searches in a row have found no tool")
    window_seconds: float = knob(300.0, "how far back earlier searches count, in seconds", low=0.001)


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The token budget of the model's window."""

    warn_at: float = knob(0.7, "share of the window above which the budget is tight", low=0, high=1)
    output_reserve: int = knob(4096, "tokens reserved for the answer", low=0)
    truncate_at: float = knob(
        0.8,
        "share of the window at which long results of earlier calls are shortened; 0 turns this off",
        low=0,
        high=1,
    )
    compress_at: float = knob(
        0.9, "share of the window at which earlier exchanges are summarized; 0 turns this off", low=0, high=1
    )
    emergency: bool = knob(True, "if a request exceeds the window, cut it down to the last exchange")
    kept_tokens: int = knob(200, "tokens to keep of a shortened result", low=10)
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
        False,
        "add the servers' instructions to the system prompt even while tools are deferred; a catalog bound "
        "in full always includes them",
    )
    written_calls: bool = knob(
        True,
        "treat an answer that is only the JSON of a call to an offered tool as that call, because models "
        "without tool calling write calls this way; off: show it as an answer",
    )
    examples: tuple[str, ...] = knob(
        (), "requests suggested in an empty chat; by default, they come from the tools' descriptions"
    )


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """How long recorded sessions are kept (semantic tool discovery, section 6.4)."""

    max_sessions: int = knob(
        5000,
        "how many recorded sessions to keep, newest first, not counting those still being recorded; 0 "
        "keeps all",
        low=0,
    )
    max_days: float = knob(
        90.0, "how many days to keep a recorded session after its last event; 0 keeps it forever", low=0
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
    roots_changes: bool = knob(
        False,
        "if roots is on, declare that changes to the folders are announced (listChanged); none ever occur",
    )
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
    redundancy: RedundancySettings = field(default_factory=RedundancySettings)
    breaker: BreakerSettings = field(default_factory=BreakerSettings)
    retry: RetrySettings = field(default_factory=RetrySettings)
    fallback: FallbackSettings = field(default_factory=FallbackSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    inertia: InertiaSettings = field(default_factory=InertiaSettings)
    versions: VersionSettings = field(default_factory=VersionSettings)
    record: RecordSettings = field(default_factory=RecordSettings)
    consent: ConsentSettings = field(default_factory=ConsentSettings)
    client: ClientCapabilities = field(default_factory=ClientCapabilities)
    marketplace: MarketplaceSettings = field(default_factory=MarketplaceSettings)
    federation: FederationSettings = field(default_factory=FederationSettings)
