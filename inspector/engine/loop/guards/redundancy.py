"""Detects searches that find what an earlier one found (semantic tool discovery, section 8).

Overlap is |found now ∩ found then| / |found now|: 1.0 means that the search found nothing new.
"""

from collections import deque
from collections.abc import Collection, Sequence

from inspector.domain.events import RedundantSearch
from inspector.engine.live import LiveSettings

KEPT_SEARCHES = 64


class RedundancyDetector:
    """Remembers what a session's last 64 searches found; times are in seconds of a monotonic clock.

    The settings are read at every search. It remembers searches even while turned off, so that they count
    once it is turned on.
    """

    def __init__(self, live: LiveSettings) -> None:
        self._live = live
        self._history: deque[tuple[float, str, frozenset[str]]] = deque(maxlen=KEPT_SEARCHES)

    def after_search(self, label: str, found: Sequence[str], now: float) -> RedundantSearch | None:
        """Record a search; return an event if an earlier one in the window found (nearly) the same."""
        settings, results = self._live.settings.redundancy, frozenset(found)
        recent = [past for past in self._history if now - past[0] <= settings.window_seconds]
        self._history.append((now, label, results))
        if not settings.enabled or not results or not recent:
            return None
        overlap, earlier = max((len(results & seen) / len(results), name) for _, name, seen in recent)
        if overlap < settings.overlap:
            return None
        return RedundantSearch(query=label, earlier=earlier, overlap=overlap, note=_note(earlier))

    def forget(self, tools: Collection[str]) -> None:
        """Forget tools that were evicted since they were found: finding them again is not redundant."""
        gone = frozenset(tools)
        self._history = deque(
            ((at, label, seen - gone) for at, label, seen in self._history), maxlen=KEPT_SEARCHES
        )

    def clear(self) -> None:
        self._history.clear()


def _note(earlier: str) -> str:
    return (
        f"[Note: an earlier search ({earlier}) found these tools; they are already available to call. "
        "Call one of them, or search with a more specific query if you need a different tool.]"
    )
