"""Profiles: the published designs, and Toolsight's own, as values of one settings tree."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.domain.closest import closest
from inspector.domain.error import ConfigError
from inspector.domain.knob import with_values
from inspector.domain.settings import Settings

DEFAULT_PROFILE = "toolsight"


@dataclass(frozen=True, slots=True)
class Profile:
    """A named set of values over the defaults; `values` go by the path of the knob."""

    name: str
    title: str
    about: str
    values: Mapping[str, Any] = field(default_factory=dict)


_QUIET: Mapping[str, Any] = {"guard.enabled": False, "redundancy.enabled": False}
_ALWAYS_ANSWERS: Mapping[str, Any] = {
    "discovery.min_probability": 0.0,
    "discovery.min_tool_probability": 0.0,
}

PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "toolsight",
            "Toolsight",
            "Found tools stay bound up to a number, appended so that the prompt cache keeps its prefix; "
            "searches may say that nothing fits; loops are broken, repeats are noted.",
        ),
        Profile(
            "static",
            "Static binding",
            "Every tool of every server is bound on every call. No search, no guard: what agents do today.",
            {"discovery.enabled": False, "binding.policy": "all", **_QUIET},
        ),
        Profile(
            "prd",
            "Deferred loading",
            "A manifest in search_tools, BM25, and what was found stays loaded for the session.",
            {
                "discovery.ranker": "prd-bm25",
                "discovery.results": "full",
                "binding.policy": "keep",
                **_ALWAYS_ANSWERS,
                **_QUIET,
            },
        ),
        Profile(
            "kaman",
            "Bounded context",
            "Few tools at a time: those that expired go first, then the least recently used. "
            "Loops evict their tool and ask the model to think; repeated searches are noted.",
            {
                "discovery.results": "full",
                "binding.policy": "bounded",
                "binding.delivery": "rewrite",
                "binding.capacity": 8,
                "binding.ttl_seconds": 600.0,
                **_ALWAYS_ANSWERS,
            },
        ),
        Profile(
            "attention",
            "Per-turn gate",
            "No search: a summary of every tool is always in the prompt, and each turn binds the tools "
            "whose cosine with it is over a threshold and whose preconditions hold.",
            {
                "discovery.search_tool": False,
                "discovery.defer_all": True,
                "binding.policy": "gate",
                "binding.delivery": "rewrite",
                **_ALWAYS_ANSWERS,
                **_QUIET,
            },
        ),
        Profile(
            "advisory",
            "Search that advises",
            "Every tool is bound, and a fuzzy search helps the model to pick one.",
            {
                "discovery.ranker": "fuzzy",
                "discovery.results": "full",
                "binding.policy": "all",
                **_ALWAYS_ANSWERS,
                **_QUIET,
            },
        ),
        Profile(
            "stack",
            "Layers",
            "Server first, then tool, within tags; found tools stay while there is room.",
            {
                "discovery.ranker": "two-stage",
                "discovery.results": "full",
                "binding.policy": "bounded",
                "binding.delivery": "append",
                "binding.capacity": 8,
                **_ALWAYS_ANSWERS,
            },
        ),
    )
}


def find_profile(name: str) -> Profile:
    """The profile of that name. Raises ConfigError with the nearest names."""
    if name in PROFILES:
        return PROFILES[name]
    near = closest(name, list(PROFILES), limit=1) or tuple(PROFILES)
    raise ConfigError(f"there is no profile '{name}'", hint=f"Profiles: {', '.join(near)}.")


def profile_settings(
    name: str, base: Settings | None = None, values: Mapping[str, Any] | None = None
) -> Settings:
    """The profile's values over `base`, and over both of them `values` by path. Raises ConfigError."""
    profiled = with_values(base or Settings(), find_profile(name).values)
    return with_values(profiled, values or {})
