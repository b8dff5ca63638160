"""Decides which loaded tools are evicted (semantic tool discovery, section 6.3)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from inspector.core.events import EvictionCause
from inspector.core.session import ToolState

TTL: Final = "ttl"
LRU: Final = "lru"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many loaded tools may stay (0 for any number), and how many tokens they may take.

    `ttl` is in seconds since the last use, 0 for no limit. `eager` evicts expired tools even if there is
    room.
    """

    capacity: int = 0
    tokens: int | None = None
    ttl: float = 0.0
    eager: bool = False

    def are_exceeded(self, loaded: Sequence[ToolState]) -> bool:
        """Whether these are more tools than may stay, or take more tokens."""
        if self.capacity and len(loaded) > self.capacity:
            return True
        return self.tokens is not None and sum(tool.tokens for tool in loaded) > self.tokens


@dataclass(frozen=True, slots=True)
class Eviction:
    """A tool to evict: `cause` is for programs, `reason` for people."""

    tool_id: str
    cause: EvictionCause
    reason: str


def evictions(
    loaded: Sequence[ToolState],
    limits: Limits,
    now: float,
    latest: Sequence[str] = (),
    busy: Collection[str] = (),
) -> tuple[Eviction, ...]:
    """Evict expired tools first, then the least recently used until the rest is within the limits.

    `loaded` holds the loaded tools in load order, without pinned ones. Use is tracked by model call: of the
    tools last used in the same call, those with fewer uses go first, then those from the earlier search, then
    those with a worse rank. The ids in `latest`, best first, were just found and count as the most recent of
    all, whatever else the same model call used; those that are `busy` come next.
    """
    searches = _searches(loaded)
    just_found = {tool_id: len(latest) - index for index, tool_id in enumerate(latest)}

    def recency(entry: tuple[int, ToolState]) -> tuple[int, bool, int, int, int, int]:
        position, tool = entry
        used = (tool.last_call or 0, tool.uses)
        return (just_found.get(tool.id, 0), tool.id in busy, *used, searches[position], -position)

    staying = sorted(enumerate(loaded), key=recency)
    chosen: list[Eviction] = []
    if limits.ttl > 0 and (limits.eager or limits.are_exceeded(loaded)):
        expired = [tool for _, tool in staying if now - _last_use(tool) > limits.ttl]
        chosen += [Eviction(tool.id, TTL, _expired(tool, limits, now)) for tool in expired]
        gone = {tool.id for tool in expired}
        staying = [entry for entry in staying if entry[1].id not in gone]
    left = [tool for _, tool in staying]
    while left and limits.are_exceeded(left):
        chosen.append(Eviction(left[0].id, LRU, _least(left, limits)))
        left = left[1:]
    return tuple(chosen)


def _searches(loaded: Sequence[ToolState]) -> list[int]:
    """For each tool the number of the search that loaded it; within one search the ranks go up from 1."""
    numbers, number, last = [], 0, 0
    for tool in loaded:
        number += tool.place <= last
        last = tool.place
        numbers.append(number)
    return numbers


def _last_use(tool: ToolState) -> float:
    return tool.last_used_at if tool.last_used_at is not None else tool.discovered_at or 0.0


def _expired(tool: ToolState, limits: Limits, now: float) -> str:
    return f"not used for {now - _last_use(tool):.0f} s, the limit is {limits.ttl:g} s"


def _least(left: Sequence[ToolState], limits: Limits) -> str:
    if limits.capacity and len(left) > limits.capacity:
        return f"least recently used of {len(left)}, with room for {limits.capacity}"
    tokens = sum(tool.tokens for tool in left)
    return f"least recently used of {tokens} tokens, with room for {limits.tokens}"
