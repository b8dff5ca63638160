"""The iteration guard: equal calls repeated within a time window (paper, section 7.2, time-based counter).

The call always runs. When the guard fires, the tool is evicted afterwards and the result carries guidance,
so that the model has to search again; finding the tool again starts its count anew (section 7.1).
"""

import hashlib
from collections import deque

from inspector.domain.event import LoopDetected
from inspector.domain.jsonvalue import JsonObject, canonical
from inspector.domain.settings import GuardSettings

_DIGITS = 12
_KEPT = 256


class IterationGuard:
    """Counts equal (tool, arguments) calls. Times are seconds of a monotonic clock; memory is bounded."""

    def __init__(self, settings: GuardSettings) -> None:
        self._settings = settings
        self._calls: deque[tuple[float, str, str]] = deque(maxlen=_KEPT)

    def after_call(
        self, tool: str, arguments: JsonObject, now: float, *, evictable: bool = True
    ) -> LoopDetected | None:
        """Note a call that ran; the event if it was one too many. A pinned tool is not `evictable`."""
        digest = arguments_hash(arguments)
        self._forget(now)
        self._calls.append((now, tool, digest))
        count = sum(1 for _, name, seen in self._calls if (name, seen) == (tool, digest))
        if count <= self._settings.max_repeats:
            return None
        return LoopDetected(
            tool=tool,
            count=count,
            window_seconds=self._settings.window_seconds,
            arguments_hash=digest,
            guidance=_guidance(tool, count, evictable),
        )

    def clear(self, tool: str) -> None:
        """A tool that was found again may be used again."""
        self._calls = deque((call for call in self._calls if call[1] != tool), maxlen=_KEPT)

    def _forget(self, now: float) -> None:
        while self._calls and now - self._calls[0][0] > self._settings.window_seconds:
            self._calls.popleft()


def arguments_hash(arguments: JsonObject) -> str:
    """Equal for equal arguments, whatever their key order."""
    return hashlib.sha256(canonical(arguments).encode()).hexdigest()[:_DIGITS]


def _guidance(tool: str, count: int, evictable: bool) -> str:
    unloaded = " and has been unloaded" if evictable else ""
    return (
        f"[Loop detected: {tool} was called {count} times with the same arguments{unloaded}. "
        "Its result will not change. Use search_tools to find another tool, or answer with what you have.]"
    )
