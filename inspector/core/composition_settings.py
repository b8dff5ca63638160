"""The settings of what runs beside search: breakers, retries, substitutes, predictions, versions."""

from dataclasses import dataclass
from typing import Literal

from inspector.core.setting_field import knob

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
    seed: str = knob(
        "", "a YAML or JSON file of transitions to start from; `toolsight sessions next --check` checks it"
    )


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
        "repeat the model's failed calls where that is harmless: calls to a trusted server's tools that "
        "are annotated as read-only or idempotent, and to the tools listed in `tools`",
    )
    attempts: int = knob(3, "maximum attempts per call, including the first", low=1, high=10)
    max_seconds: float = knob(
        15.0, "no attempt starts later than this many seconds after the first failure", low=0, high=600
    )
    per_turn: int = knob(6, "maximum retries per user message, across all its calls", low=0)
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

    enabled: bool = knob(
        True, "also search the marketplace if a search finds nothing; this requires a catalog"
    )
    catalogs: tuple[str, ...] = knob(
        (), "plugin files: Toolsight's own format, a server.json, or a response from an MCP registry"
    )
    imported: bool = knob(True, "also search the catalogs added with `toolsight marketplace import`")
    results: int = knob(3, "maximum number of suggested plugins", low=1, high=20)


@dataclass(frozen=True, slots=True)
class FederationSettings:
    """Registries of other Toolsights that a search of the registry may include (section 13)."""

    peers: str = knob("", "a YAML or JSON file of registries to search in addition to your own")
    seconds: float = knob(
        5.0, "how many seconds a search waits for all peers; later answers are dropped", low=0.05
    )
