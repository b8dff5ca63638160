"""Decides whether a catalog needs discovery or is bound in full.

Below some size discovery costs more than it saves: the `search_tools` definition, its manifest and every
search take tokens, and each search takes another model call. The limit is a setting: a number of tools (the
layered stack bypasses its layers below 20), of tokens, or a share of the window.
"""

from dataclasses import dataclass

from inspector.core.number import count, percent
from inspector.core.settings import DiscoverySettings


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether discovery is on; `text` gives the rule and its numbers."""

    is_on: bool
    text: str


def decide(settings: DiscoverySettings, tools: int, tokens: int, window: int) -> Decision:
    """Decide for a catalog of `tools` tools whose definitions take `tokens` tokens as one array."""
    if not settings.enabled:
        return Decision(False, "off: discovery.enabled is off")
    if settings.auto == "tools":
        inputs = f"{count(tools, 'tool')}, discovery starts at {settings.auto_tools}"
        return _decision(tools >= settings.auto_tools, inputs)
    if settings.auto == "tokens":
        inputs = f"{count(tokens, 'definition token')}, discovery starts at {settings.auto_tokens:,}"
        return _decision(tokens >= settings.auto_tokens, inputs)
    if settings.auto == "window":
        share = tokens / window if window > 0 else 1.0
        inputs = f"{percent(share, 1)} of the window, discovery starts at {percent(settings.auto_share, 1)}"
        return _decision(share >= settings.auto_share, inputs)
    return Decision(True, "on: always")


def _decision(is_on: bool, inputs: str) -> Decision:
    return Decision(is_on, f"{'on' if is_on else 'off'}: {inputs}")
