"""Every knob of a session, with its default."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DiscoverySettings:
    """PRD section 2.1, and how a search ranks.

    `embedding_model` is "packaged", "none", or the name of any fastembed model. Below `min_probability` a
    search says that no tool fits, and below `min_tool_probability` a tool is no result; 0 switches either
    off. `iso_threshold` is the cosine that the ranker `dense` demands. `evaluation` are files of labelled
    requests (JSONL). `expert_tools` (ids, with `*` and `?`) and `system_servers` are the tiers above the
    catalog.
    """

    enabled: bool = True
    defer_all: bool = False
    max_search_results: int = 5
    ranker: str = "hybrid"
    embedding_model: str = "packaged"
    min_probability: float = 0.35
    min_tool_probability: float = 0.1
    iso_threshold: float = 0.28
    expert_tools: tuple[str, ...] = ()
    system_servers: tuple[str, ...] = ()
    evaluation: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """The iteration guard: more than `max_repeats` equal calls within `window_seconds` evict the tool."""

    max_repeats: int = 2
    window_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class RedundancySettings:
    """A search whose results overlap an earlier one of the window by at least `overlap` (0 to 1)."""

    overlap: float = 0.8
    window_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """`warn_at` is the share of the window where the budget is shown as tight."""

    warn_at: float = 0.7
    output_reserve: int = 4096


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """`max_steps` bounds the model calls of one user message."""

    max_steps: int = 16
    system_prompt: str = (
        "You are a helpful assistant with tools. Not every tool is loaded: call search_tools to find and "
        "load the ones you need before you call them. Answer briefly from what the tools return."
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings tree of a session."""

    discovery: DiscoverySettings = field(default_factory=DiscoverySettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    redundancy: RedundancySettings = field(default_factory=RedundancySettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
