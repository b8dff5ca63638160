"""Whether a catalog is worth discovery at all, or is bound whole.

Below some size discovery costs more than it saves: the definition of `search_tools`, its manifest and every
search are tokens too, and each search is a model call more. How large is large enough is a matter of taste:
a number of tools (the layered stack bypasses its layers below 20), of tokens, or a share of the window.
"""

from dataclasses import dataclass

from inspector.domain.number import count, percent
from inspector.domain.settings import DiscoverySettings


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether there is discovery, and `text` says by which rule and which numbers."""

    is_on: bool
    text: str


def decide(settings: DiscoverySettings, tools: int, tokens: int, window: int) -> Decision:
    """Decide for a catalog of so many tools and tokens of definitions (as one array)."""
    if not settings.enabled:
        return Decision(False, "off: discovery.enabled is off")
    if settings.auto == "tools":
        found = f"{count(tools, 'tool')}, discovery from {settings.auto_tools} on"
        return _decision(tools >= settings.auto_tools, found)
    if settings.auto == "tokens":
        found = f"{count(tokens, 'token')} of definitions, discovery from {settings.auto_tokens:,} on"
        return _decision(tokens >= settings.auto_tokens, found)
    if settings.auto == "window":
        share = tokens / window if window > 0 else 1.0
        found = f"{percent(share, 1)} of the window, discovery from {percent(settings.auto_share, 1)} on"
        return _decision(share >= settings.auto_share, found)
    return Decision(True, "on: always")


def _decision(is_on: bool, inputs: str) -> Decision:
    return Decision(is_on, f"{'on' if is_on else 'off'}: {inputs}")
