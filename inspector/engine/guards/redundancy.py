"""Redundant searches: a search that finds what an earlier one had found (paper, section 8).

Overlap is |found now ∩ found then| / |found now|: 1.0 means that the search brought nothing new.
"""

from collections import deque
from collections.abc import Collection, Sequence

from inspector.domain.event import RedundantSearch
from inspector.domain.settings import RedundancySettings

_KEPT = 64


class RedundancyDetector:
    """Remembers what the searches of a session found. Times are seconds of a monotonic clock."""

    def __init__(self, settings: RedundancySettings) -> None:
        self._settings = settings
        self._history: deque[tuple[float, str, frozenset[str]]] = deque(maxlen=_KEPT)

    def after_search(self, label: str, found: Sequence[str], now: float) -> RedundantSearch | None:
        """Note a search; the event if an earlier one of the window had found (nearly) the same."""
        results = frozenset(found)
        recent = [past for past in self._history if now - past[0] <= self._settings.window_seconds]
        self._history.append((now, label, results))
        if not results or not recent:
            return None
        overlap, earlier = max((len(results & seen) / len(results), name) for _, name, seen in recent)
        if overlap < self._settings.overlap:
            return None
        return RedundantSearch(query=label, earlier=earlier, overlap=overlap, note=_note(earlier))

    def forget(self, tools: Collection[str]) -> None:
        """Tools that were taken away since they were found: finding them again is news."""
        gone = frozenset(tools)
        self._history = deque(((at, label, seen - gone) for at, label, seen in self._history), maxlen=_KEPT)

    def clear(self) -> None:
        self._history.clear()


def _note(earlier: str) -> str:
    return (
        f"[Note: an earlier search ({earlier}) found these tools; they are available to call already. "
        "Call one of them, or search with a more specific query if you need a different tool.]"
    )
