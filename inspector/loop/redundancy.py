"""Detects searches that bring nothing new, and says what to do instead (tool discovery, section 8).

Overlap is |found now ∩ found then| / |found now|: 1.0 means that the search found nothing new. A search that
finds no tool has none. Beyond the paper (`guard.as_published`), those in a row count, whatever they ask for.
"""

from collections import deque
from collections.abc import Collection, Sequence

from inspector.core.events import RedundantSearch
from inspector.core.events.call import Counted, LoopTrigger
from inspector.core.stream import LiveSettings

_SEARCH = "Use search_tools to find another tool, or answer with what you have."
_ANSWER = "Answer with what you have."
_USE_FOUND = "Use one of the tools that it found, or answer with what you have."
_ASK_OTHERWISE = "Search for something else, or answer with what you have."
GIVE_UP = "If no tool here does it, say so, or answer without one."


def advice(counted: Counted, *, can_search: bool, found: bool = True, refused: bool = False) -> str:
    """What to do instead, for any tool; of a search, whether it `found` something or was `refused`."""
    if counted == "search" and refused:
        return _ASK_OTHERWISE
    if counted == "search":
        return _USE_FOUND if found else GIVE_UP
    return _SEARCH if can_search else _ANSWER


def loop_text(
    counted: Counted,
    tool: str,
    count: int,
    *,
    trigger: LoopTrigger,
    identical: int,
    evictable: bool,
    alternatives: Sequence[str],
    instead: str,
) -> str:
    """The guidance for a loop of `count` equal calls.

    The last `identical` of them had the same result (0 if that is unknown). It says that the tool is unloaded
    only if it ran and is `evictable`.
    """
    what = {
        "call": f"{tool} was called {count} times with the same arguments",
        "search": f"this search was made {count} times",
        "rejection": f"this call of {tool} was made {count} times and rejected each time",
    }[counted]
    title = "Repeated loop" if trigger == "again" else "Loop detected"
    parts = [f"{title}: {what}{_known(counted, identical)}."]
    if trigger == "again":
        parts.append("It was unloaded for that before, and finding it again changes nothing.")
    elif evictable and counted == "call":
        parts.append("It has been unloaded.")
    if alternatives:
        parts.append(f"Alternatives: {', '.join(alternatives)}.")
    return f"[{' '.join([*parts, instead])}]"


def _known(counted: Counted, identical: int) -> str:
    if identical < 2 or counted == "rejection":
        return ""
    return f"; the last {identical} results were identical"


KEPT_SEARCHES = 64
_IN_A_ROW = 3
# Below this share of known results, a search has brought enough that is new.
_REDUNDANT = 0.8
# How far back earlier searches count, in seconds: what they found is rarely still the subject after as long.
_WINDOW_SECONDS = 300.0


class RedundancyDetector:
    """Remembers what a session's last 64 searches found; times are in seconds of a monotonic clock.

    The settings are read at every search. It remembers searches even while turned off, so that they count
    once it is turned on.
    """

    def __init__(self, live: LiveSettings) -> None:
        self._live = live
        self._history: deque[tuple[float, str, frozenset[str]]] = deque(maxlen=KEPT_SEARCHES)
        self._in_a_row = 0

    def after_search(
        self, label: str, found: Sequence[str], now: float, *, no_room: bool = False
    ) -> RedundantSearch | None:
        """Record a search that was answered; return an event if it brought nothing new.

        `found` are the results that the model can call; with `no_room` there were others.
        """
        if not found and not no_room:
            return self._after_nothing(label)
        self._in_a_row = 0
        if not found:
            return None
        results = frozenset(found)
        recent = [past for past in self._history if now - past[0] <= _WINDOW_SECONDS]
        self._history.append((now, label, results))
        if not self._live.settings.guard.enabled or not recent:
            return None
        known, earlier = max((len(results & seen), name) for _, name, seen in recent)
        if known / len(results) < _REDUNDANT:
            return None
        return RedundantSearch(
            label, earlier, known / len(results), _found_note(earlier, known, len(results))
        )

    def _after_nothing(self, label: str) -> RedundantSearch | None:
        settings, self._in_a_row = self._live.settings.guard, self._in_a_row + 1
        if not settings.enabled or settings.as_published or self._in_a_row < _IN_A_ROW:
            return None
        note = f"[Note: {self._in_a_row} searches in a row found no tool to call. {GIVE_UP}]"
        return RedundantSearch(label, "", None, note, self._in_a_row)

    def forget(self, tools: Collection[str]) -> None:
        """Forget tools that were evicted or left since: finding them again is not redundant."""
        gone = frozenset(tools)
        self._history = deque(
            ((at, label, seen - gone) for at, label, seen in self._history), maxlen=KEPT_SEARCHES
        )

    def new_message(self) -> None:
        """Note that the user said something: searches in a row belong to one request."""
        self._in_a_row = 0

    def clear(self) -> None:
        """Forget every search: what found no tool may now find one."""
        self._history.clear()
        self._in_a_row = 0


def _found_note(earlier: str, known: int, found: int) -> str:
    these = "these tools" if known == found else f"{known} of these {found} tools"
    return (
        f"[Note: an earlier search ({earlier}) found {these}; they are already available to call. "
        "Call one of them, or search with a more specific query if you need a different tool.]"
    )
