"""Detects searches that bring nothing new (semantic tool discovery, section 8).

Overlap is |found now ∩ found then| / |found now|: 1.0 means that the search found nothing new. Beyond the
paper, `redundancy.hopeless` notes searches that find nothing at all: asked before, in these or nearly these
words, or the third in a row.
"""

from collections import deque
from collections.abc import Collection, Sequence

from inspector.domain.events import RedundantSearch
from inspector.engine.discovery.term import terms
from inspector.engine.live import LiveSettings

KEPT_SEARCHES = 64
_IN_A_ROW = 3
# Two requests are the same in other words if more of the shorter one's words than this are in the other.
_SAME_WORDS = 0.5


class RedundancyDetector:
    """Remembers what a session's last 64 searches found; times are in seconds of a monotonic clock.

    The settings are read at every search. It remembers searches even while turned off, so that they count
    once it is turned on.
    """

    def __init__(self, live: LiveSettings) -> None:
        self._live = live
        self._history: deque[tuple[float, str, frozenset[str]]] = deque(maxlen=KEPT_SEARCHES)
        self._hopeless: deque[tuple[float, str, frozenset[str]]] = deque(maxlen=KEPT_SEARCHES)
        self._in_a_row = 0

    def after_search(
        self, label: str, found: Sequence[str], now: float, *, no_room: bool = False
    ) -> RedundantSearch | None:
        """Record a search; return an event if it brought nothing new.

        `found` are the results that the model can call; with `no_room` there were others.
        """
        if not found and not no_room:
            return self._after_nothing(label, now)
        self._in_a_row = 0
        if not found:
            return None
        settings, results = self._live.settings.redundancy, frozenset(found)
        recent = [past for past in self._history if now - past[0] <= settings.window_seconds]
        self._history.append((now, label, results))
        if not settings.enabled or not recent:
            return None
        overlap, earlier = max((len(results & seen) / len(results), name) for _, name, seen in recent)
        if overlap < settings.overlap:
            return None
        return RedundantSearch(query=label, earlier=earlier, overlap=overlap, note=_found_note(earlier))

    def _after_nothing(self, label: str, now: float) -> RedundantSearch | None:
        settings, words = self._live.settings.redundancy, frozenset(terms(label))
        self._in_a_row += 1
        recent = [past for past in self._hopeless if now - past[0] <= settings.window_seconds]
        same = next((name for _, name, known in recent if _are_alike(words, known)), "")
        # Rewordings are kept under the first wording, so that a chain of them stays one request.
        self._hopeless.append((now, same or label, words))
        if not settings.enabled or not settings.hopeless or not recent:
            return None
        if same:
            return RedundantSearch(query=label, earlier=same, overlap=1.0, note=_asked_note(same))
        if self._in_a_row < _IN_A_ROW:
            return None
        return RedundantSearch(label, recent[-1][1], 1.0, _row_note(self._in_a_row))

    def forget(self, tools: Collection[str]) -> None:
        """Forget tools that were evicted or left since: finding them again is not redundant."""
        gone = frozenset(tools)
        self._history = deque(
            ((at, label, seen - gone) for at, label, seen in self._history), maxlen=KEPT_SEARCHES
        )

    def new_message(self) -> None:
        """Note that the user said something: what is hopeless in a row belongs to one request."""
        self._in_a_row = 0

    def clear(self) -> None:
        """Forget every search: what was hopeless may now find something."""
        self._history.clear()
        self._hopeless.clear()
        self._in_a_row = 0


def _are_alike(words: frozenset[str], known: frozenset[str]) -> bool:
    shorter = min(len(words), len(known))
    return words == known or (shorter > 0 and len(words & known) / shorter > _SAME_WORDS)


def _found_note(earlier: str) -> str:
    return (
        f"[Note: an earlier search ({earlier}) found these tools; they are already available to call. "
        "Call one of them, or search with a more specific query if you need a different tool.]"
    )


def _asked_note(earlier: str) -> str:
    return (
        f"[Note: asked before ({earlier}), nothing found. Asking for the same in other words does not help: "
        "say that no tool here does it, or search for another step.]"
    )


def _row_note(count: int) -> str:
    nothing = f"the last {count} searches found nothing"
    return f"[Note: {nothing}. Say that no tool here does it, or answer without one.]"
