"""Every setting of a session, with its default, its effect and its allowed values.

The annotation of a field is its documentation, and its bounds, which are inclusive: the profile page,
`toolsight config settings` and the configuration check read it through `inspector.config.setting`.
"""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

SERVED: Final = "servers"
"""Stands in `discovery.skills` for the skills that servers serve."""
Preload = Literal["off", "predict", "with_search"]


class InertiaSettings(Struct, frozen=True):
    """What is called after what, and tools that are bound before anybody asks for them (inertia)."""

    preload: Annotated[
        Preload,
        "bind the tool that is likely to be called next by the order of calls in recorded sessions. "
        "predict: only record the predictions; with_search: bind with the results of a search; a predicted "
        "tool never replaces another one",
    ] = "off"
    persona: Annotated[
        str,
        "whose habits these sessions show; if empty, the user's, the toolset's, or one for all sessions",
    ] = ""
    warm_up: Annotated[
        int, "user messages with calls to be recorded before predictions start", Meta(ge=0)
    ] = 100
    half_life_days: Annotated[
        float, "days after which a call counts half; 0: old calls count in full", Meta(ge=0, le=36_500)
    ] = 30.0
    seed: Annotated[str, "a YAML or JSON file of transitions to start from"] = ""


class BreakerSettings(Struct, frozen=True):
    """Circuit breakers: a tool or server that keeps failing is left alone for a while."""

    enabled: Annotated[
        bool,
        "refuse calls to tools and servers that keep failing, in every session on this machine, and restart"
        " a failed server when one of its tools is called",
    ] = False


class RetrySettings(Struct, frozen=True):
    """Retries of calls that failed for a reason that may pass: a connection, a timeout, a rate limit."""

    enabled: Annotated[
        bool,
        "repeat failed model calls, and tool calls where that is harmless: to a trusted server's tools that"
        " are annotated as read-only or idempotent, and to those in `tools`",
    ] = False
    attempts: Annotated[int, "maximum attempts per call, including the first", Meta(ge=1, le=10)] = 3
    max_dollars: Annotated[
        float,
        "maximum estimated price of the model calls that are repeated per user message, without a cache; a "
        "model without known prices has no such limit",
        Meta(ge=0),
    ] = 0.25
    tools: Annotated[
        tuple[str, ...], "ids of tools that may always be retried, whatever they do; * and ? match"
    ] = ()


class FallbackSettings(Struct, frozen=True):
    """Substitutes for tools that are not available: never in silence, never for what changes something."""

    enabled: Annotated[
        bool,
        "if a breaker refuses a call or its attempts fail, call a similar tool whose schema takes the same "
        "arguments; both must be read-only according to a trusted server's annotations",
    ] = False
    min_similarity: Annotated[
        float,
        "how similar a substitute must be: the cosine of both summaries or the share of common words",
        Meta(ge=0, le=1),
    ] = 0.8


class MarketplaceSettings(Struct, frozen=True):
    """Where a search goes on if no tool clearly fits. Nothing is ever installed by itself."""

    catalogs: Annotated[
        tuple[str, ...],
        "plugin files, searched like those added with `toolsight marketplace import FILE`: Toolsight's own "
        "format, a server.json, or a response from an MCP registry",
    ] = ()


class FederationSettings(Struct, frozen=True):
    """Registries of other Toolsights that a search of the registry may include (section 13)."""

    peers: Annotated[str, "a YAML or JSON file of registries to search in addition to your own"] = ""


Size = Literal["always", "tools", "tokens", "window"]
"""What decides whether a catalog is large enough to be searched."""
ResultForm = Literal["brief", "full", "ranked"]
BindingPolicy = Literal["all", "keep", "bounded", "gate"]
ToolDelivery = Literal["rewrite", "append", "call_tool", "text", "code", "native"]
SentDelivery = Literal["rewrite", "append", "call_tool", "text", "code", "tool_reference", "tool_search"]
"""A delivery as used in a request: `native` is the deferral of the model's provider, or append."""
CacheTtl = Literal["off", "5m", "1h"]
ChangedFiles = Literal["tell", "ask"]
GateQuery = Literal["user", "rolling", "either", "observation"]
Offered = Literal["limit", "domains", "similarity", "server"]


class DiscoverySettings(Struct, frozen=True):
    """What is deferred (PRD section 2.1), and how a search ranks."""

    enabled: Annotated[bool, "off: every tool is bound from the start, and there is nothing to search"] = True
    defer_all: Annotated[bool, "defer every server's tools, regardless of the server's defer_loading"] = False
    auto: Annotated[
        Size,
        "when discovery starts: always, or once the catalog reaches 20 tools (tools), 2,300 definition "
        "tokens (tokens) or 3 % of the window (window); a smaller catalog is bound in full",
    ] = "tokens"
    search_tool: Annotated[bool, "give the model search_tools; without it, only the gate binds tools"] = True
    max_search_results: Annotated[int, "the usual maximum number of tools per search", Meta(ge=1, le=100)] = 5
    more_results: Annotated[
        int,
        "how many more tools with short definitions a confident search returns, if they fit nearly as well",
        Meta(ge=0, le=20),
    ] = 3
    max_limit: Annotated[
        int, "maximum number of tools per search when the model asks for more", Meta(ge=1, le=100)
    ] = 10
    offers: Annotated[
        tuple[Offered, ...],
        "what else the model may say in a search. limit: how many tools it returns, up to max_limit; "
        "domains: only tools with certain tags; similarity: the minimum probability or cosine of a result; "
        "server: what server it needs, for rankers that look at servers (others add it to the query)",
    ] = ()
    tags: Annotated[
        Mapping[str, tuple[str, ...]],
        "extra tags by tool id (* and ? match), on top of those from the server and its configuration",
    ] = {}
    results: Annotated[
        ResultForm,
        "what a search returns for each tool. brief: its id and first sentence, because its definition goes"
        " into tools[]; full: its description and parameters too; ranked: a numbered list with scores and "
        "when to use each tool. With delivery call_tool, results are always full",
    ] = "brief"
    ranker: Annotated[str, "how searches rank; the search page lists all rankers"] = "hybrid"
    embedding_model: Annotated[str, "packaged, none, or the name of any fastembed model"] = "packaged"
    min_probability: Annotated[
        float,
        "minimum confidence for the answer “found” instead of “closest”; 0 turns this off",
        Meta(ge=0, le=1),
    ] = 0.35
    min_closest: Annotated[
        float,
        "minimum confidence for the answer “closest” instead of “nothing”; 0 turns this off",
        Meta(ge=0, le=1),
    ] = 0.01
    iso_threshold: Annotated[
        float, "minimum cosine in the rankers dense, iso and three-tier", Meta(ge=-1, le=1)
    ] = 0.28
    expert_tools: Annotated[tuple[str, ...], "ids of tools that rank first; * and ? match"] = ()
    system_servers: Annotated[tuple[str, ...], "servers whose tools rank second"] = ()
    evaluation: Annotated[tuple[str, ...], "files of labelled requests (JSONL)"] = ()
    registry: Annotated[
        bool, "if ranker is three-tier, also list tools in the registry whose servers are not connected"
    ] = False
    skills: Annotated[
        tuple[str, ...],
        "also find skills (SKILL.md), from the next start on: those of these folders, wherever clients look "
        "in a folder and in HOME (.) and, with `servers`, those that servers serve",
    ] = ()
    affinity: Annotated[
        float,
        "maximum boost for tools that the session's persona has used before, in standard deviations of a "
        "query's scores; 0 turns this off",
        Meta(ge=0, le=1),
    ] = 0.0


class ManifestSettings(Struct, frozen=True):
    """The size of the manifest in the description of `search_tools`."""

    max_tokens: Annotated[
        int, "maximum tokens in the manifest, shortened evenly across servers; 0 means no limit", Meta(ge=0)
    ] = 1_600


class BindingSettings(Struct, frozen=True):
    """When tools are bound and evicted (semantic tool discovery, section 6)."""

    policy: Annotated[
        BindingPolicy,
        "all: every tool is always bound; keep: found tools stay bound; bounded: found tools stay bound "
        "while there is room; gate: only the tools that fit the turn are bound",
    ] = "bounded"
    delivery: Annotated[
        ToolDelivery,
        "rewrite: tools[] in catalog order; append: new tools go last; call_tool: tools[] never changes, "
        "calls go through call_tool; text: the same, and searches return full schemas; code: searches return "
        "declarations for scripts, of which only the demo model's run here; native: the provider loads what "
        "a search found (Claude: tool_reference, OpenAI: tool_search), and nothing is unloaded to make room; "
        "models without it get append",
    ] = "append"
    capacity: Annotated[
        int, "how many loaded tools stay bound, not counting pinned ones; 0 means no limit", Meta(ge=0)
    ] = 16
    share: Annotated[
        float,
        "maximum share of the free window that loaded tools may take, however few they are; 0 means no limit",
        Meta(ge=0, le=1),
    ] = 0.0
    ttl_seconds: Annotated[
        float,
        "seconds without use after which a tool expires; expired tools are evicted first; 0 turns this off",
        Meta(ge=0),
    ] = 0.0
    expire_eagerly: Annotated[
        bool, "evict expired tools before every model call, not only when there is no room"
    ] = False
    always_include: Annotated[
        tuple[str, ...], "ids of pinned tools (* and ? match); a toolset may override them"
    ] = ()


class GateSettings(Struct, frozen=True):
    """The per-turn gate (Tool Attention, sections 4.2 to 4.5); used with the policy gate."""

    ranker: Annotated[
        str, "the ranker that scores the tools for a turn; iso compares the query with summary lines"
    ] = "iso"
    threshold: Annotated[
        float, "minimum score of a tool; for iso and dense, a cosine", Meta(ge=-1, le=1000)
    ] = 0.28
    top_k: Annotated[int, "maximum number of tools bound per turn", Meta(ge=1, le=200)] = 10
    query: Annotated[
        GateQuery,
        "user: the user's last message; rolling: with the latest ones before it; either: the better of a "
        "tool's scores for these two; observation: the last message with the latest tool result",
    ] = "user"


class AccessSettings(Struct, frozen=True):
    """Preconditions for using a tool (Tool Attention, section 5.4), and who may see which tools."""

    preconditions: Annotated[
        Mapping[str, tuple[str, ...]],
        "the predicates a tool needs, by tool id (* and ? match), such as "
        "milestone_reached('plan_confirmed')",
    ] = {}
    predicates: Annotated[str, "a Python file with your own predicates; it runs only with your consent"] = ""
    scopes: Annotated[tuple[str, ...], "the scopes the session holds, checked by is_authenticated()"] = ()
    policy: Annotated[str, "a YAML or JSON file that defines who may see which tools; see docs/access.md"] = (
        ""
    )
    user: Annotated[str, "the user from access.policy whose tools are visible; without a user, none are"] = ""
    expert: Annotated[str, "the agent the user works through; its allowlist limits what is visible"] = ""


class GuardSettings(Struct, frozen=True):
    """The iteration guard (semantic tool discovery, section 7): it evicts, it never blocks."""

    enabled: Annotated[
        bool,
        "evict a tool that is called repeatedly with the same arguments, and tell the model when a search "
        "repeats the results of an earlier one",
    ] = True
    max_repeats: Annotated[
        int, "identical calls allowed within the time window; one more is a loop", Meta(ge=1)
    ] = 2
    window_seconds: Annotated[float, "length of the time window in seconds", Meta(ge=0.001)] = 120.0
    window_calls: Annotated[
        int, "length of the sliding window: how many of the latest calls count", Meta(ge=2, le=1000)
    ] = 24
    window_repeats: Annotated[
        int, "identical calls allowed within the sliding window; one more is a loop", Meta(ge=1)
    ] = 3
    as_published: Annotated[
        bool,
        "count as the paper does: only calls that ran, whatever came of them. off: searches and rejected "
        "calls count too, as do searches that find no tool, and the count restarts after a changed result, "
        "a call that may have changed something, or a user message",
    ] = False
    exempt: Annotated[tuple[str, ...], "ids of tools that may repeat calls; * and ? match"] = ()
    guidance: Annotated[
        Mapping[str, str], "what the model should try instead, by tool id (* and ? match)"
    ] = {}


class BudgetSettings(Struct, frozen=True):
    """The token budget of the model's window."""

    output_reserve: Annotated[int, "tokens reserved for the answer", Meta(ge=0)] = 4096
    prompt_cache: Annotated[
        CacheTtl,
        "how long Claude caches the marked part of a request (cache_control): 5m, 1h (cache writes cost "
        "more) or off (nothing is marked or cached). Other providers decide for themselves",
    ] = "5m"
    priced_as: Annotated[str, "the litellm model whose prices apply if the session's model has none"] = (
        "openai/gpt-5"
    )


class ChatSettings(Struct, frozen=True):
    """The chat loop."""

    max_steps: Annotated[int, "maximum number of model calls per user message", Meta(ge=1, le=1000)] = 16
    system_prompt: Annotated[
        str, "the system prompt; if tools are deferred, a note about searching is added"
    ] = "You are a helpful assistant with tools. Answer briefly from what the tools return."
    server_instructions: Annotated[
        bool, "add the servers' instructions to the system prompt even while tools are deferred"
    ] = False
    examples: Annotated[
        tuple[str, ...],
        "requests suggested in an empty chat; by default, they come from the tools' descriptions",
    ] = ()


class RecordSettings(Struct, frozen=True):
    """How long recorded sessions are kept (semantic tool discovery, section 6.4)."""

    max_days: Annotated[
        float,
        "how many days to keep a recorded session after its last event, if it is among the newest 5,000; 0 "
        "keeps every session",
        Meta(ge=0),
    ] = 90.0


class ConsentSettings(Struct, frozen=True):
    """When a configuration that was approved asks for consent again."""

    changed_files: Annotated[
        ChangedFiles,
        "what happens when files that servers run have changed since you approved them. ask: they need "
        "approval again when you next open the configuration; tell: they are listed with the server, and "
        "only files outside the configuration's folder or owned by another user need approval again",
    ] = "ask"


class ClientCapabilities(Struct, frozen=True):
    """Client capabilities declared to servers; many list other tools to a client that can do more."""

    roots: Annotated[bool, "declare that servers may ask for the folder Toolsight runs in"] = True
    forms: Annotated[bool, "declare that servers may ask you to fill in a form (elicitation)"] = True
    links: Annotated[bool, "declare that servers may ask you to visit an address (elicitation by URL)"] = True
    sampling: Annotated[
        bool, "declare that servers may ask for a model's answer (sampling); you answer, or let the model"
    ] = False
    tasks: Annotated[bool, "call tools that run only as a task, and declare the tasks extension"] = True
    name: Annotated[str, "the client name to declare instead of Toolsight's own"] = ""
    version: Annotated[str, "the client version to declare; if `name` is set, the version of that client"] = (
        ""
    )


class Settings(Struct, frozen=True):
    """The settings tree of a session."""

    discovery: DiscoverySettings = DiscoverySettings()
    manifest: ManifestSettings = ManifestSettings()
    binding: BindingSettings = BindingSettings()
    gate: GateSettings = GateSettings()
    access: AccessSettings = AccessSettings()
    guard: GuardSettings = GuardSettings()
    breaker: BreakerSettings = BreakerSettings()
    retry: RetrySettings = RetrySettings()
    fallback: FallbackSettings = FallbackSettings()
    budget: BudgetSettings = BudgetSettings()
    chat: ChatSettings = ChatSettings()
    inertia: InertiaSettings = InertiaSettings()
    record: RecordSettings = RecordSettings()
    consent: ConsentSettings = ConsentSettings()
    client: ClientCapabilities = ClientCapabilities()
    marketplace: MarketplaceSettings = MarketplaceSettings()
    federation: FederationSettings = FederationSettings()
