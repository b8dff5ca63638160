"""The iteration guard, which detects repeated equal calls (semantic tool discovery, section 7).

Two windows (section 7.2) count equal calls, that is the same tool with arguments of the same normalized form:
one over the last seconds, and one over the last calls of any tools, which catches A, B, A, B however slow.

The paper counts them whatever they return. With `guard.progress` a repeated call is a loop only while nothing
comes of it: its count starts anew when its result changes, all others when a call that is not read-only does
something new, and all with a message of the user.

The call always runs. If the guard detects a loop, it then evicts the tool and adds guidance to the result, so
the model has to search again; finding the tool again resets its count (section 7.1).
"""

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass

from inspector.domain.events import CallCounted, LoopDetected, LoopTrigger
from inspector.domain.events.call import Restarts
from inspector.domain.jsonvalue import JsonObject, canonical
from inspector.domain.settings import GuardSettings
from inspector.domain.tool_pattern import matches, values_for
from inspector.engine.live import LiveSettings
from inspector.engine.loop.guards.normalise import normalised

KEPT_CALLS = 1024
_DIGITS = 12
_Call = tuple[str, str]
_SHOWN = 200
_SEARCH = "Use search_tools to find another tool, or answer with what you have."
_ANSWER = "Answer with what you have."


@dataclass(frozen=True, slots=True)
class Verdict:
    """The guard's counts after a call, and the loop if there is one."""

    counted: CallCounted
    loop: LoopDetected | None = None


class IterationGuard:
    """Counts equal calls; the settings are read at every call.

    Times are in seconds of a monotonic clock; if it goes back, no time counts as passed. Each window keeps
    the latest 1024 calls at most. Besides hashing arguments and result a call takes amortized constant
    time; one that is progress takes a pass over the windows.
    Shrinking a window takes effect at once; an enlarged one fills up from then on.
    """

    def __init__(self, live: LiveSettings) -> None:
        self._live = live
        self._in_time = CallWindow()
        self._in_calls = CallWindow()
        self._results: dict[_Call, bytes] = {}
        self._position = 0
        self._latest = float("-inf")
        self._set_back = 0.0

    def after_call(
        self,
        tool: str,
        arguments: JsonObject,
        now: float,
        *,
        result: str = "",
        changes: bool = False,
        evictable: bool = True,
        can_search: bool = True,
    ) -> Verdict:
        """Count a call that ran; `changes` means that it succeeded and is not read-only.

        The guidance says that the tool is unloaded only if it is `evictable`, and advises a search only if
        the model `can_search`.
        """
        settings, position = self._live.settings.guard, self._position
        form = _form(tool, arguments, settings)
        call = (tool, hashlib.sha256(form.encode()).hexdigest()[:_DIGITS])
        restarts = self._note_progress(call, result, changes) if settings.progress else ""
        self._position += 1
        counted = CallCounted(
            tool=tool,
            arguments_hash=call[1],
            normalised=form if len(form) <= _SHOWN else f"{form[: _SHOWN - 1]}…",
            in_time=self._in_time.add(call, self._steady(now), settings.window_seconds),
            in_calls=self._in_calls.add(call, position, settings.window_calls - 1),
            exempt=matches(tool, settings.exempt),
            restarts=restarts,
        )
        advice = _SEARCH if can_search else _ANSWER
        return Verdict(counted, _loop(counted, settings, evictable, advice))

    def clear(self, tool: str) -> None:
        """Forget a tool's calls in both windows, since a tool that is found again may be used again."""
        self._forget(lambda call: call[0] == tool)

    def new_message(self) -> None:
        """Forget every call if a message of the user is progress: they may want the same once more."""
        if self._live.settings.guard.progress:
            self._forget(lambda _: True)
            self._results.clear()

    def _note_progress(self, call: _Call, result: str, changes: bool) -> Restarts:
        """Forget the calls that no longer count after this one, and return which they are."""
        digest = hashlib.sha256(result.encode("utf-8", "surrogatepass")).digest()
        before = self._results.pop(call, None)
        self._results[call] = digest
        if len(self._results) > KEPT_CALLS:
            del self._results[next(iter(self._results))]
        if before == digest:
            return ""
        if before is not None:
            self._forget(lambda other: other == call)
        if changes:
            self._forget(lambda other: other != call)
        if before is not None:
            return "all" if changes else "equal"
        return "others" if changes else ""

    def _forget(self, gone: Callable[[_Call], bool]) -> None:
        self._in_time.forget(gone)
        self._in_calls.forget(gone)

    @property
    def kept(self) -> int:
        """The number of calls kept in both windows, at most 2048."""
        return len(self._in_time) + len(self._in_calls)

    def _steady(self, now: float) -> float:
        if now < self._latest:
            self._set_back += self._latest - now
        self._latest = now
        return now + self._set_back


class CallWindow:
    """The latest (tool, hash) pairs with their positions, in seconds or calls, and counts of equal ones."""

    def __init__(self) -> None:
        self._calls: deque[tuple[float, _Call]] = deque()
        self._counts: Counter[_Call] = Counter()

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: _Call, at: float, span: float) -> int:
        """Add a call at `at`, drop those more than `span` before it, and return the count of equal ones."""
        self._calls.append((at, call))
        self._counts[call] += 1
        while at - self._calls[0][0] > span or len(self._calls) > KEPT_CALLS:
            self._drop_oldest()
        return self._counts[call]

    def forget(self, gone: Callable[[_Call], bool]) -> None:
        """Drop the calls for which this holds."""
        self._calls = deque(kept for kept in self._calls if not gone(kept[1]))
        self._counts = Counter(call for _, call in self._calls)

    def _drop_oldest(self) -> None:
        _, call = self._calls.popleft()
        self._counts[call] -= 1
        if not self._counts[call]:
            del self._counts[call]


def _form(tool: str, arguments: JsonObject, settings: GuardSettings) -> str:
    """The text to hash, equal for equal arguments in any key order."""
    ignored = {name for names in values_for(tool, settings.ignored_arguments) for name in names}
    if not settings.normalise:
        try:
            return canonical(_without(arguments, ignored))
        except (RecursionError, ValueError):  # nested too deeply, or a number too long to write in full
            pass
    return canonical(normalised(arguments, ignored))


def _without(arguments: JsonObject, ignored: Collection[str]) -> JsonObject:
    return {key: value for key, value in arguments.items() if key not in ignored}


def _loop(counted: CallCounted, settings: GuardSettings, evictable: bool, advice: str) -> LoopDetected | None:
    if counted.exempt or not settings.enabled:
        return None
    if counted.in_time > settings.max_repeats:
        trigger: LoopTrigger = "time"
        count = counted.in_time
    elif counted.in_calls > settings.window_repeats:
        trigger, count = "calls", counted.in_calls
    else:
        return None
    return LoopDetected(
        tool=counted.tool,
        count=count,
        window_seconds=settings.window_seconds,
        arguments_hash=counted.arguments_hash,
        guidance=_guidance(counted.tool, count, evictable, settings, advice),
        trigger=trigger,
    )


def _guidance(tool: str, count: int, evictable: bool, settings: GuardSettings, advice: str) -> str:
    """What is known of the loop, and what to do instead."""
    identical = f"; the last {count} results were identical" if settings.progress else ""
    unloaded = " It has been unloaded." if evictable else ""
    specific = (text.strip() for text in values_for(tool, settings.guidance))
    instead = " ".join(text for text in specific if text) or advice
    called = f"{tool} was called {count} times with the same arguments"
    return f"[Loop detected: {called}{identical}.{unloaded} {instead}]"
