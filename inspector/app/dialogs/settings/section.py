"""The headings of the sections of settings."""

from collections.abc import Mapping

SECTIONS: Mapping[str, str] = {
    "session": "This session",
    "discovery": "Search",
    "manifest": "Manifest",
    "binding": "Binding and eviction",
    "gate": "Per-turn gate",
    "access": "Preconditions",
    "guard": "Iteration guard, against loops",
    "redundancy": "Redundant searches",
    "breaker": "Circuit breakers, against what keeps failing",
    "retry": "Retries of what may pass",
    "fallback": "Substitutes for tools that are not available",
    "budget": "Window and budget",
    "chat": "Conversation",
    "client": "What servers are told that their client can do",
}
