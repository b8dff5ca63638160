"""The settings of what runs beside search: breakers, retries, substitutes, predictions, versions."""

from dataclasses import dataclass
from typing import Literal

from inspector.domain.setting_field import knob

Preload = Literal["off", "with_search", "where_it_pays"]
OnBreaking = Literal["rebind", "evict"]


@dataclass(frozen=True, slots=True)
class InertiaSettings:
    """What is called after what, and tools that are bound before anybody asks for them (inertia)."""

    enabled: bool = knob(
        False, "predict the next tool from what was called after what in recorded sessions, and record it"
    )
    preload: Preload = knob(
        "off",
        "bind predicted tools. off: only predict; with_search: together with what a search binds, when "
        "tools[] changes anyway; where_it_pays: also where the search that it may spare costs more than "
        "what is sent again; never in place of a tool",
    )
    persona: str = knob(
        "", "whose habits these sessions show; without a name the toolset's, or those of every session here"
    )
    min_probability: float = knob(
        0.3, "the share of calls after a tool that a tool needs to be bound ahead", low=0, high=1
    )
    min_low: float = knob(
        0.1,
        "how high the lower end of that share's 95 % interval must be: few calls, or old ones, are not sure",
        low=0,
        high=1,
    )
    most: int = knob(2, "the most tools bound ahead at once", low=1, high=20)
    warm_up: int = knob(
        100, "messages of the user with calls that are seen before anything is predicted", low=0
    )
    half_life_days: float = knob(
        30.0, "days after which a call counts half; 0 counts old calls in full", low=0, high=36_500
    )
    seed: str = knob(
        "", "a file of transitions to start from, JSON or YAML; `toolsight sessions next --check` checks it"
    )


@dataclass(frozen=True, slots=True)
class VersionSettings:
    """What happens when a server changes a tool that the model has read of."""

    on_breaking: OnBreaking = knob(
        "rebind",
        "a loaded tool whose change breaks calls as they were. rebind: it stays, and the next request has "
        "its new definition; evict: it is unloaded, to be found again. With delivery call_tool or text every "
        "changed tool is unloaded, since the model reads a definition only once",
    )
    tell: bool = knob(True, "tell the model of such a change, and in what its calls have to differ")


@dataclass(frozen=True, slots=True)
class BreakerSettings:
    """Circuit breakers: a tool or server that keeps failing is left alone for a while."""

    enabled: bool = knob(
        False,
        "refuse calls to tools and servers that keep failing, in every session on this machine; and start a "
        "failed server again when one of its tools is called",
    )
    failure_rate: float = knob(
        0.5,
        "the share of failed calls that opens a breaker; a tool's own error is no failure",
        low=0.01,
        high=1,
    )
    min_calls: int = knob(
        3, "a breaker opens after so many calls within the window at least", low=1, high=200
    )
    window_seconds: float = knob(
        300.0, "how many seconds back calls count; longer than several timeouts", low=1, high=86_400
    )
    cool_down_seconds: float = knob(
        30.0,
        "seconds without calls after a breaker opened; longer if the server said so (Retry-After)",
        low=0.1,
        high=3600,
    )
    probes: int = knob(
        1,
        "how many calls try a tool or server again after that, at a time; so many successes close it",
        low=1,
        high=100,
    )


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """Retries of calls that failed for a reason that may pass: a connection, a timeout, a rate limit."""

    enabled: bool = knob(
        False,
        "repeat such a call of the model where that is harmless: of a trusted server's tool that only reads "
        "or is idempotent by its annotations, and of those that `tools` names",
    )
    attempts: int = knob(3, "the most attempts at one call, the first included", low=1, high=10)
    max_seconds: float = knob(
        15.0, "no attempt begins later than so many seconds after the first failure", low=0, high=600
    )
    per_turn: int = knob(6, "the most retries for one message of the user, over all its calls", low=0)
    pause_seconds: float = knob(
        0.5,
        "the pause before the first retry; doubled each time, with up to as much at random, and never "
        "shorter than the server asks for (Retry-After)",
        low=0,
        high=60,
    )
    tools: tuple[str, ...] = knob((), "ids of tools that may be retried whatever they do; * and ? match")


@dataclass(frozen=True, slots=True)
class FallbackSettings:
    """Substitutes for tools that are not available: never in silence, never for what changes something."""

    enabled: bool = knob(
        False,
        "where a breaker refuses a call or its attempts failed, call a similar tool whose schema takes the "
        "same arguments; both must be known to only read (of trusted servers, by their annotations)",
    )
    min_similarity: float = knob(
        0.8,
        "how similar a substitute must be: the cosine of both summaries, or the share of their words without "
        "vectors",
        low=0,
        high=1,
    )
    most: int = knob(2, "how many substitutes are tried for one call", low=1, high=10)
