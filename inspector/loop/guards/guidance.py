"""The guards' notes to the model: what is known of a loop, and what to do instead."""

from collections.abc import Sequence

from inspector.core.events.call import Counted, LoopTrigger

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
