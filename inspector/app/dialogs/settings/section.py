"""The headings of the sections of settings."""

from collections.abc import Mapping
from enum import StrEnum

SECTIONS: Mapping[str, str] = {
    "session": "This session",
    "discovery": "Search",
    "manifest": "Manifest",
    "binding": "Binding and eviction",
    "gate": "Per-turn gate",
    "access": "Preconditions",
    "guard": "Iteration guard against loops",
    "redundancy": "Redundant searches",
    "breaker": "Circuit breakers for failing tools",
    "retry": "Retries of transient failures",
    "fallback": "Substitutes for unavailable tools",
    "budget": "Window and budget",
    "chat": "Conversation",
    "client": "Client capabilities declared to servers",
}


class Listed(StrEnum):
    """Which settings the dialog lists."""

    FRONT = "front"
    ALL = "all"
    DIFFERENT = "different"


FRONT = (
    *("discovery.enabled", "discovery.ranker", "discovery.max_search_results", "discovery.min_probability"),
    *(
        "binding.delivery",
        "binding.capacity",
        "guard.enabled",
        "budget.prompt_cache",
        "consent.changed_files",
    ),
)
"""What people change; with model, toolset and profile these are twelve."""
