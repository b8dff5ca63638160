"""Profiles: named values of settings, each after a published design."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.config.setting import find_knob, with_values
from inspector.core.error import ConfigError
from inspector.core.settings import Settings
from inspector.core.text import closest

DEFAULT_PROFILE = "toolsight"


@dataclass(frozen=True, slots=True)
class Profile:
    """A named set of values that override the defaults; `values` is keyed by setting path."""

    name: str
    title: str
    about: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        """The values that differ from the defaults."""
        return {path: one for path, one in self.values.items() if one != find_knob(path).default}


_QUIET: Mapping[str, Any] = {"guard.enabled": False}
CORE_TOOLS = ("*memory*", "*knowledge*", "*:plan_*", "*:*_plan", "*:todo_*", "*thinking*")
"""Tools for memory, knowledge and planning, by their ids, which the bounded profile keeps and lets repeat.

Semantic tool discovery names these kinds (sections 6.2 and 7.4) but no tools; a catalog need not have any.
"""
_ALWAYS_ANSWERS: Mapping[str, Any] = {"discovery.min_probability": 0.0, "discovery.min_closest": 0.0}

PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "toolsight",
            "Toolsight",
            "Found tools stay bound up to a limit and are appended, which keeps the prompt cache's prefix. "
            "A search says if no tool fits; the guard breaks loops and reports redundant searches. "
            "A catalog too small for discovery to pay off is bound in full.",
        ),
        Profile(
            "static",
            "Static binding",
            "Every tool is bound in every model call, without search or guard, as in most agents today.",
            {"discovery.enabled": False, "binding.policy": "all", **_QUIET},
        ),
        Profile(
            "prd",
            "Deferred loading",
            "search_tools has a manifest and ranks with BM25; found tools stay loaded for the session.",
            {
                "discovery.auto": "always",
                "discovery.ranker": "prd-bm25",
                "discovery.results": "full",
                "manifest.max_tokens": 0,
                "binding.policy": "keep",
                **_ALWAYS_ANSWERS,
                **_QUIET,
            },
        ),
        Profile(
            "kaman",
            "Bounded context",
            "Few tools are bound at a time; expired and unused ones go first, those for memory, knowledge or "
            "planning never. Searches use three tiers, and a loop evicts its tool.",
            {
                "discovery.auto": "always",
                "discovery.ranker": "three-tier",
                # It refuses 5 of 160 of our own searches and answers 24 of 84 that no tool serves; 0.28
                # refuses 1 and answers 42.
                "discovery.iso_threshold": 0.36,
                "discovery.results": "full",
                "binding.policy": "bounded",
                "binding.delivery": "rewrite",
                "binding.capacity": 8,
                "binding.ttl_seconds": 600.0,
                "binding.always_include": CORE_TOOLS,
                "guard.exempt": CORE_TOOLS,
                "guard.as_published": True,
                "guard.window_calls": 10,
                **_ALWAYS_ANSWERS,
            },
        ),
        Profile(
            "attention",
            "Per-turn gate",
            "There is no search: the prompt always has a summary of every tool, and each turn binds the "
            "tools whose cosine exceeds a threshold and whose preconditions are met.",
            {
                "discovery.auto": "always",
                "discovery.search_tool": False,
                "discovery.defer_all": True,
                "binding.policy": "gate",
                "binding.delivery": "rewrite",
                # The message alone forgets a conversation's tool at "And Rome?"; see docs/papers/profiles.md.
                "gate.query": "either",
                **_ALWAYS_ANSWERS,
                **_QUIET,
            },
        ),
        Profile(
            "advisory",
            "Advisory search",
            "Every tool is bound, and a fuzzy search helps the model pick one.",
            {
                "discovery.auto": "always",
                "discovery.ranker": "fuzzy",
                "discovery.results": "ranked",
                "binding.policy": "all",
                "discovery.offers": ("limit",),
                **_ALWAYS_ANSWERS,
                **_QUIET,
            },
        ),
        Profile(
            "stack",
            "Layers",
            "Searches by tool, server and tag; all adaptive layers are on.",
            {
                "discovery.auto": "tools",
                "discovery.ranker": "two-stage",
                "discovery.results": "full",
                "binding.policy": "bounded",
                "binding.delivery": "append",
                "binding.capacity": 8,
                "discovery.offers": ("limit", "domains", "similarity", "server"),
                "inertia.preload": "with_search",
                "breaker.enabled": True,
                "retry.enabled": True,
                "fallback.enabled": True,
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
    """A profile's settings: its values override `base`, and `values` override both. Raises ConfigError."""
    return with_values(base or Settings(), {**find_profile(name).values, **(values or {})})
