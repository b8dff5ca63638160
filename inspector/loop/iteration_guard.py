"""The iteration guard, which detects repeated equal calls (semantic tool discovery, section 7).

Two windows (section 7.2) count equal calls, that is the same tool with arguments of the same normalized form:
one over the last seconds, and one over the last calls of any tools, which catches A, B, A, B however slow.

The paper counts calls that ran, whatever they return; so does `guard.as_published`. Otherwise searches and
rejected calls count too, and a repeated call is a loop only while nothing comes of it: its count starts anew
when its result changes, all others when a call that is not read-only does something new, and all with a
message of the user. Rejections of a call are counted apart from the times that it ran.

The call always runs. If the guard detects a loop, it then evicts the tool and adds guidance to the result, so
the model has to search again; finding the tool again resets its count (section 7.1).
"""

import hashlib
import re
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from inspector.core.access import matches, values_for
from inspector.core.events import CallCounted, LoopDetected
from inspector.core.events.call import Counted, Restarts
from inspector.core.ports import Clock
from inspector.core.settings import GuardSettings
from inspector.core.stream import LiveSettings, Session
from inspector.schema.json_value import JsonObject, canonical

# Normalizes arguments, so that equivalent ones are equal (semantic tool discovery, section 7.2).

# And all of utm_*.
_TRACKING = frozenset({"gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "_ga", "_", "cachebuster"})
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_URL = re.compile(r"https?://[^/?# ][^ ]*", re.IGNORECASE)


def normalised(arguments: JsonObject) -> JsonObject:
    """The normalized arguments, without nulls. Idempotent.

    Numbers become text, so that 1 differs from true in Python too. Raises RecursionError for those that are
    nested too deeply.
    """
    return {key: _value(value) for key, value in arguments.items() if value is not None}


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return normalised(value)
    if isinstance(value, list | tuple):
        return [_value(item) for item in value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    # Without an exponent, as people write it.
    return _number(format(Decimal(repr(value)), "f"))


def _text(text: str) -> str:
    text = " ".join(text.split())
    if _URL.fullmatch(text) is None:
        text = text.rstrip("/ ") or text[:1]
    return _number(text) if _URL.fullmatch(text) is None else _url(text)


def _number(text: str) -> str:
    if _NUMBER.fullmatch(text) is None:
        return text
    whole, _, fraction = text.partition(".")
    if fraction.strip("0"):
        return text
    return "0" if whole == "-0" else whole


def _url(text: str) -> str:
    try:
        scheme, authority, path, query, _ = urlsplit(text)
    except ValueError:
        return text
    named = [(part.partition("=")[0], part) for part in query.split("&") if part]
    named = [pair for pair in named if pair[0].lower() not in _TRACKING and not pair[0].startswith("utm_")]
    kept = "&".join(part for _, part in sorted(named, key=lambda pair: pair[0]))
    user, at, host = authority.rpartition("@")
    return urlunsplit((scheme, f"{user}{at}{host.lower()}", path.rstrip("/"), kept, ""))


# The latest calls within a span, and how many of them are equal.

KEPT_CALLS = 1024
CallKey = tuple[str, str]


class CallWindow:
    """The latest (tool, hash) pairs with their positions, in seconds or calls."""

    def __init__(self) -> None:
        self._calls: deque[tuple[float, CallKey]] = deque()
        self._counts = Counter[CallKey]()

    def add(self, call: CallKey, at: float, span: float) -> int:
        """Add a call at `at`, drop those more than `span` before it, and return the count of equal ones."""
        self._calls.append((at, call))
        self._counts[call] += 1
        while at - self._calls[0][0] > span or len(self._calls) > KEPT_CALLS:
            _, gone = self._calls.popleft()
            self._counts[gone] -= 1
            if not self._counts[gone]:
                del self._counts[gone]
        return self._counts[call]

    def forget(self, gone: Callable[[CallKey], bool]) -> None:
        """Drop the calls for which this holds."""
        if lost := {call for call in self._counts if gone(call)}:
            self._calls = deque(kept for kept in self._calls if kept[1] not in lost)
            self._counts = Counter(call for _, call in self._calls)


_DIGITS = 12
_SHOWN = 200


class Outcome(Struct, frozen=True):
    """What came of a call, as far as the guard has to know.

    A search that is `refused` has an error as its result, one that found no tool an empty one.
    `changes` means that it succeeded and is not read-only. The guidance says that the tool is unloaded only
    if it is `evictable`, advises a search only if the model `can_search`, and names the `alternatives`.
    """

    result: str = ""
    counted: Counted = "call"
    refused: bool = False
    changes: bool = False
    evictable: bool = True
    can_search: bool = True
    alternatives: Callable[[], Sequence[str]] = tuple


_RETURNED = Outcome()


class Verdict(Struct, frozen=True):
    """The guard's counts after a call, and the loop if there is one."""

    counted: CallCounted
    loop: LoopDetected | None = None


class _Seen(Struct, frozen=True):
    """The digest of a call's last result, and how often it came in a row.

    `since` is how many calls had changed something by then: what came before the last of them counts no more.
    """

    digest: bytes
    since: int
    times: int = 1


class IterationGuard:
    """Counts equal calls; the settings are read at every call.

    Times are in seconds of a monotonic clock. Each window keeps the latest 1024 calls at most. Shrinking a
    window takes effect at once; an enlarged one fills up from then on.
    """

    def __init__(self, live: LiveSettings) -> None:
        self._live = live
        self._in_time = CallWindow()
        self._in_calls = CallWindow()
        self._seen: dict[CallKey, _Seen] = {}
        self._changes = self._position = 0

    def after_call(
        self, tool: str, arguments: JsonObject, now: float, outcome: Outcome = _RETURNED
    ) -> Verdict:
        """Count a call."""
        settings, position = self._live.settings.guard, self._position
        try:
            form = canonical(normalised(arguments))  # equal for equal arguments in any key order
        except RecursionError:
            form = f"call {position}, nested too deeply to compare"
        digest = hashlib.sha256(form.encode()).hexdigest()[:_DIGITS]
        # A rejection is no result: it says nothing of what the same call returns when it runs.
        call = (tool, f"{digest} rejected" if outcome.counted == "rejection" else digest)
        restarts: Restarts = ""
        if settings.as_published:
            self._seen.clear()  # results that nobody compares are not known to be identical
        else:
            restarts = self._note_progress(call, outcome)
        self._position += 1
        counted = CallCounted(
            tool=tool,
            arguments_hash=digest,
            normalised=form if len(form) <= _SHOWN else f"{form[: _SHOWN - 1]}…",
            in_time=self._in_time.add(call, now, settings.window_seconds),
            in_calls=self._in_calls.add(call, position, settings.window_calls - 1),
            exempt=matches(tool, settings.exempt),
            restarts=restarts,
        )
        return Verdict(counted, self._loop(counted, call, outcome))

    def clear(self, tool: str) -> None:
        """Forget a tool's calls in both windows, since a tool that is found again may be used again."""
        self._forget(lambda call: call[0] == tool)

    def new_message(self) -> None:
        """Forget every call if a message of the user is progress: they may want the same once more."""
        if not self._live.settings.guard.as_published:
            self._forget(lambda _: True)
            self._seen.clear()

    def _note_progress(self, call: CallKey, outcome: Outcome) -> Restarts:
        """Forget the calls that no longer count after this one, and return which they are."""
        digest = hashlib.sha256(outcome.result.encode("utf-8", "surrogatepass")).digest()
        before = self._seen.pop(call, None)
        if before is not None and before.digest == digest:
            self._seen[call] = _Seen(digest, self._changes, self._times(before) + 1)
            return ""
        if outcome.changes:
            self._changes += 1
            self._forget(lambda other: other != call)
        self._seen[call] = _Seen(digest, self._changes)
        if len(self._seen) > KEPT_CALLS:
            del self._seen[next(iter(self._seen))]
        if before is not None:
            self._forget(lambda other: other == call)
            return "all" if outcome.changes else "equal"
        return "others" if outcome.changes else ""

    def _loop(self, counted: CallCounted, call: CallKey, outcome: Outcome) -> LoopDetected | None:
        settings = self._live.settings.guard
        trigger = _trigger(counted, settings)
        if trigger is None:
            return None
        count = counted.in_time if trigger == "time" else counted.in_calls
        seen = None if settings.as_published else self._seen.get(call)
        alternatives = tuple(outcome.alternatives())
        specific = (text.strip() for text in values_for(counted.tool, settings.guidance))
        guidance = _guidance(
            counted.tool,
            count,
            outcome,
            identical=min(count, self._times(seen)) if seen is not None else 0,
            alternatives=alternatives,
            instead=" ".join(text for text in specific if text) or _advice(outcome),
        )
        return LoopDetected(
            tool=counted.tool,
            count=count,
            window_seconds=settings.window_seconds,
            arguments_hash=counted.arguments_hash,
            guidance=guidance,
            trigger=trigger,
            counted=outcome.counted,
            alternatives=alternatives,
        )

    def _times(self, seen: _Seen) -> int:
        return seen.times if seen.since == self._changes else 0

    def _forget(self, gone: Callable[[CallKey], bool]) -> None:
        self._in_time.forget(gone)
        self._in_calls.forget(gone)


def _trigger(counted: CallCounted, settings: GuardSettings) -> Literal["time", "calls"] | None:
    """The window that is over its limit."""
    if counted.exempt or not settings.enabled:
        return None
    if counted.in_time > settings.max_repeats:
        return "time"
    return "calls" if counted.in_calls > settings.window_repeats else None


GIVE_UP = "If no tool here does it, say so, or answer without one."


def _advice(outcome: Outcome) -> str:
    """What to do instead, for any tool."""
    if outcome.counted == "search":
        if outcome.refused:
            return "Search for something else, or answer with what you have."
        use_found = "Use one of the tools that it found, or answer with what you have."
        return use_found if outcome.result else GIVE_UP
    if outcome.can_search:
        return "Use search_tools to find another tool, or answer with what you have."
    return "Answer with what you have."


def _guidance(
    tool: str, count: int, outcome: Outcome, *, identical: int, alternatives: Sequence[str], instead: str
) -> str:
    """What the model reads of a loop of `count` equal calls.

    The last `identical` of them had the same result (0 if that is unknown). It says that the tool is unloaded
    only if it ran and is `evictable`.
    """
    what = {
        "call": f"{tool} was called {count} times with the same arguments",
        "search": f"this search was made {count} times",
        "rejection": f"this call of {tool} was made {count} times and rejected each time",
    }[outcome.counted]
    is_known = identical >= 2 and outcome.counted != "rejection"
    parts = [f"Loop detected: {what}{f'; the last {identical} results were identical' if is_known else ''}."]
    if outcome.evictable and outcome.counted == "call":
        parts.append("It has been unloaded.")
    if alternatives:
        parts.append(f"Alternatives: {', '.join(alternatives)}.")
    return f"[{' '.join([*parts, instead])}]"


@dataclass(eq=False)
class LoopWatch:
    """The iteration guard on a session's stream: every count and every loop becomes an event."""

    session: Session
    guard: IterationGuard
    clock: Clock
    live: LiveSettings

    def note(self, tool: str, arguments: JsonObject, outcome: Outcome) -> LoopDetected | None:
        """Count what the model did and return the loop if that is one."""
        if outcome.counted != "call" and self.live.settings.guard.as_published:
            return None
        verdict = self.guard.after_call(tool, arguments, self.clock.monotonic(), outcome)
        self.session.emit(verdict.counted)
        if verdict.loop is not None:
            self.session.emit(verdict.loop)
        return verdict.loop
