"""Every setting of a session, with its default, its effect and its allowed values.

The metadata of a field is its documentation: the profile page, `toolsight config settings` and the
configuration check read it through `domain.knob`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from inspector.domain.composition_settings import (
    BreakerSettings,
    FallbackSettings,
    InertiaSettings,
    RetrySettings,
    VersionSettings,
)
from inspector.domain.federation import FederationSettings
from inspector.domain.marketplace_settings import MarketplaceSettings
from inspector.domain.setting_field import knob

# Long because every setting stands here with its documentation.

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

    enabled: bool = knob(True, "off: every tool is bound from the start and nothing can be searched")
    defer_all: bool = knob(False, "defer the tools of every server, whatever its own switch says")
    auto: Size = knob(
        "tokens",
        "when a catalog is large enough for discovery: always, or by number of tools (auto_tools), tokens of "
        "definitions (auto_tokens) or share of the window (auto_share); a smaller one is bound in full",
    )
    auto_tools: int = knob(20, "with auto tools: a catalog with fewer tools is bound in full", low=0)
    auto_tokens: int = knob(
        2_300,
        "with auto tokens: a catalog with fewer tokens is bound in full; discovery pays for none so small",
        low=0,
    )
    auto_share: float = knob(
        0.03, "with auto window: a catalog below this share of the window is bound in full", low=0, high=1
    )
    search_tool: bool = knob(True, "the model gets search_tools; without it only the gate binds tools")
    max_search_results: int = knob(5, "the most tools a search usually returns", low=1, high=100)
    more_results: int = knob(
        3,
        "how many more a search returns that is sure, if they fit nearly as well and have short definitions; "
        "none where max_search_results is below 5",
        low=0,
        high=20,
    )
    max_limit: int = knob(10, "the most tools a search returns if the model asks for more", low=1, high=100)
    offer_limit: bool = knob(False, "let the model say how many tools a search returns, up to max_limit")
    offer_domains: bool = knob(False, "let the model narrow a search to tools with certain tags")
    offer_similarity: bool = knob(
        False, "let the model say how well a tool must fit: the probability, or the cosine, of a result"
    )
    offer_server_query: bool = knob(
        False,
        "let the model describe the server that it needs apart from the tool; rankers that look at servers "
        "compare it with them, others add it to the query",
    )
    tags: Mapping[str, tuple[str, ...]] = knob(
        {}, "by tool id (* and ? match): tags, besides those of its server and those that its server sends"
    )
    results: ResultForm = knob(
        "brief",
        "what a search returns for a tool. brief: its id and first sentence, as its definition is then in "
        "tools[]; full: its description and parameters too; ranked: a numbered list with scores and when to "
        "use each; always full with delivery call_tool",
    )
    ranker: str = knob("hybrid", "how searches rank; the search page lists all rankers")
    embedding_model: str = knob("packaged", "packaged, none, or the name of any fastembed model")
    min_probability: float = knob(
        0.35,
        "from this confidence on a search answers “found”, below it at most “closest”; 0 turns this off",
        low=0,
        high=1,
    )
    min_closest: float = knob(
        0.03, "below this confidence a search answers “nothing”; 0 turns this off", low=0, high=1
    )
    iso_threshold: float = knob(
        0.28, "the lowest cosine the rankers dense, iso and three-tier accept", low=-1, high=1
    )
    token_bonus: float = knob(0.12, "what each word of a query adds in the fuzzy rankers", low=0, high=10)
    fuzzy_floor: float = knob(0.05, "the lowest score the fuzzy rankers accept", low=0, high=10)
    expert_tools: tuple[str, ...] = knob((), "ids of tools that rank first; * and ? match")
    system_servers: tuple[str, ...] = knob((), "servers whose tools rank second")
    evaluation: tuple[str, ...] = knob((), "files of labelled requests, JSONL")
    registry: bool = knob(
        False,
        "with ranker three-tier: tools of the registry whose servers are not connected are found, too; they "
        "are listed apart from the results and cannot be called",
    )
    learn: bool = knob(
        False,
        "with ranker hybrid: what was asked for before a tool was called successfully, in the sessions "
        "recorded here, counts for that tool",
    )
    affinity: float = knob(
        0.0,
        "past use: the most that a tool gains which the session's persona (inertia.persona) used before, in "
        "deviations of a query's scores; one that it never used loses nothing; 0 turns this off",
        low=0,
        high=1,
    )


@dataclass(frozen=True, slots=True)
class ManifestSettings:
    """The size of the manifest in the description of `search_tools`."""

    max_tokens: int = knob(
        1_600,
        "the most tokens of the manifest, shortened to fit, every server alike; 0 means no limit",
        low=0,
    )
    listed_in_full: int = knob(10, "a server with more tools lists only the first few", low=0)
    listed_of_many: int = knob(4, "how many tools such a server lists", low=0)


@dataclass(frozen=True, slots=True)
class BindingSettings:
    """When tools are bound and evicted (semantic tool discovery, section 6)."""

    policy: BindingPolicy = knob(
        "bounded",
        "all: every tool, always; keep: found tools stay; bounded: found tools stay while there is room; "
        "gate: the tools that fit the turn",
    )
    delivery: ToolDelivery = knob(
        "append",
        "rewrite: tools[] in catalog order; append: new tools at the end; call_tool: tools[] never changes, "
        "calls go through call_tool; text: the same, and searches return full schemas; native: tools[] never "
        "changes, the provider loads what a search found (Claude: tool_reference, OpenAI: tool_search), and "
        "nothing is unloaded to make room; a model that cannot do it gets append",
    )
    capacity: int = knob(
        16, "loaded tools that stay bound; pinned ones do not count; 0 means no limit", low=0
    )
    adaptive: bool = knob(
        False, "shrink the capacity so that loaded tools take at most `share` of the free window"
    )
    share: float = knob(0.2, "the share of the free window for loaded tools", low=0.001, high=1)
    ttl_seconds: float = knob(
        0.0, "seconds without use after which a tool expires and is evicted first; 0 turns this off", low=0
    )
    expire_eagerly: bool = knob(
        False, "evict expired tools before every model call, not only when there is no room"
    )
    always_include: tuple[str, ...] = knob(
        (), "ids of pinned tools; * and ? match; a toolset may name its own instead"
    )


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The per-turn gate (Tool Attention, sections 4.2 to 4.5); used with the policy gate."""

    ranker: str = knob(
        "iso", "the ranker that scores the tools for a turn; iso compares it with the lines of the summaries"
    )
    threshold: float = knob(0.28, "the score a tool needs; for iso and dense, its cosine", low=-1, high=1000)
    top_k: int = knob(10, "the most tools bound for a turn", low=1, high=200)
    query: GateQuery = knob(
        "user",
        "user: the user's last message; rolling: with a summary of what came before; "
        "either: a tool's better score of these two; "
        "observation: with the last result, so that the gate follows the task",
    )
    summaries: bool = knob(True, "keep a one-line summary of every tool in the prompt")
    summary_tokens: int = knob(60, "the most tokens of a summary", low=5, high=500)
    loader_capacity: int = knob(256, "definitions kept in the loader's cache", low=1)


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Preconditions for using a tool (Tool Attention, section 5.4), and who may see which tools."""

    preconditions: Mapping[str, tuple[str, ...]] = knob(
        {}, "by tool id (* and ? match): predicates such as milestone_reached('plan_confirmed')"
    )
    predicates: str = knob("", "a Python file with your own predicates, run only after consent")
    scopes: tuple[str, ...] = knob((), "the scopes the session holds, checked by is_authenticated()")
    policy: str = knob("", "a file that says who may see which tools, YAML or JSON; see docs/access.md")
    user: str = knob("", "whose tools these are, by a name of access.policy; without one nothing is seen")
    expert: str = knob("", "the agent that the user works through; its allowlist narrows what is seen")


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """The iteration guard (semantic tool discovery, section 7): it evicts, it never blocks."""

    enabled: bool = knob(True, "evict a tool that is called repeatedly with the same arguments")
    max_repeats: int = knob(2, "equal calls allowed within the time window; one more is a loop", low=1)
    window_seconds: float = knob(120.0, "the time window in seconds", low=0.001)
    all_calls: bool = knob(True, "count searches and rejected calls too, not only calls that ran")
    window_calls: int = knob(24, "the sliding window: how many of the last calls count", low=2, high=1000)
    window_repeats: int = knob(3, "equal calls allowed within the sliding window; one more is a loop", low=1)
    progress: bool = knob(
        True,
        "start the count anew with a changed result, a call in between that may have changed something, "
        "and a message of the user",
    )
    normalise: bool = knob(
        True, "ignore trailing slashes, tracking parameters, white space and number formats in arguments"
    )
    ignored_arguments: Mapping[str, tuple[str, ...]] = knob(
        {}, "by tool id (* and ? match): arguments to ignore when comparing calls"
    )
    exempt: tuple[str, ...] = knob((), "ids of tools that may repeat calls; * and ? match")
    guidance: Mapping[str, str] = knob({}, "by tool id (* and ? match): what the model should try instead")
    think: bool = knob(True, "after a loop, the model must think before it may call a tool again")


@dataclass(frozen=True, slots=True)
class RedundancySettings:
    """Searches that find nothing new (semantic tool discovery, section 8): they run, with a note."""

    enabled: bool = knob(True, "tell the model when a search finds what an earlier one found")
    hopeless: bool = knob(True, "also note the third search in a row that finds no tool, and those after it")
    overlap: float = knob(0.8, "the share of known results that makes a search redundant", low=0, high=1)
    window_seconds: float = knob(300.0, "how many seconds back earlier searches count", low=0.001)


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The token budget of the model's window."""

    warn_at: float = knob(0.7, "the share of the window above which the budget is tight", low=0, high=1)
    output_reserve: int = knob(4096, "tokens reserved for the answer", low=0)
    truncate_at: float = knob(
        0.8,
        "the share of the window at which long results of earlier calls are shortened; 0 turns this off",
        low=0,
        high=1,
    )
    compress_at: float = knob(
        0.9,
        "the share of the window at which earlier exchanges become a summary; 0 turns this off",
        low=0,
        high=1,
    )
    emergency: bool = knob(True, "cut a request that exceeds the window down to the last exchange")
    kept_tokens: int = knob(200, "tokens a shortened result keeps", low=10)
    prompt_cache: CacheTtl = knob(
        "5m",
        "how long Claude keeps what a request marks for its prompt cache (cache_control): 5m; 1h, which "
        "costs more to write; off: nothing is marked and nothing kept; other providers decide for themselves",
    )
    priced_as: str = knob(
        "openai/gpt-5", "the litellm model whose prices apply if the session's model has none"
    )


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The chat loop."""

    max_steps: int = knob(16, "the most model calls for one user message", low=1, high=1000)
    system_prompt: str = knob(
        "You are a helpful assistant with tools. Answer briefly from what the tools return.",
        "the system prompt; if tools are deferred, a note about searching is added",
    )
    server_instructions: bool = knob(
        False,
        "add the servers' instructions to the system prompt even while tools are deferred; "
        "a catalog bound whole always has them",
    )
    written_calls: bool = knob(
        True,
        "take an answer that is nothing but the JSON of a call of an offered tool as that call, as models "
        "write it that cannot call; off: it is shown as an answer",
    )
    examples: tuple[str, ...] = knob(
        (), "requests that an empty chat offers; without any, they are made of the tools' descriptions"
    )


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """How long recorded sessions are kept (semantic tool discovery, section 6.4)."""

    max_sessions: int = knob(
        5000,
        "how many of the newest recorded sessions to keep, besides those that are being written; 0 keeps all",
        low=0,
    )
    max_days: float = knob(
        90.0, "how many days to keep a recorded session after its last event; 0 keeps it forever", low=0
    )


@dataclass(frozen=True, slots=True)
class ConsentSettings:
    """When a configuration that was approved asks for consent again."""

    changed_files: ChangedFiles = knob(
        "tell",
        "files that servers run and that changed since you approved them. tell: they are listed with the "
        "server; those outside the configuration's folder or of another owner ask again; ask: all ask again",
    )


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """Client capabilities declared to servers; many list other tools to a client that can do more."""

    roots: bool = knob(True, "say that servers may ask for the folder that Toolsight runs in")
    roots_changes: bool = knob(
        False, "with roots: say that changes of the folders are told (listChanged); there are none"
    )
    forms: bool = knob(True, "say that servers may ask you to fill in a form (elicitation)")
    links: bool = knob(True, "say that servers may ask you to visit an address (elicitation by URL)")
    sampling: bool = knob(
        False,
        "say that servers may ask for an answer of the model; each such request is refused all the same",
    )
    name: str = knob("", "the name to declare instead of Toolsight's own")
    version: str = knob("", "the version to declare; with a name of another client, that client's")


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
