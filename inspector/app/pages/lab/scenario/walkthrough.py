"""A walkthrough of a session: a frame for each step, with the state and the guard's counts by then.

A step is a model call, or one call of the model: a search, a call that ran, or one that was rejected.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from inspector.domain.events import (
    AnswerStreamed,
    BudgetMeasured,
    CallCounted,
    CallRejected,
    CallStarted,
    CatalogBuilt,
    ContextReduced,
    Event,
    GateApplied,
    IndexChanged,
    LoopDetected,
    MilestoneReached,
    ModelRequested,
    Record,
    SearchPerformed,
    ServerConnecting,
    ServerFailed,
    ServerReady,
    ServerStopped,
    SettingsChanged,
    ToolEvicted,
    ToolLoaded,
    ToolsChanged,
    UserSaid,
)
from inspector.domain.expectation import Finding
from inspector.domain.fold import apply
from inspector.domain.session import SessionState
from inspector.domain.settings import GuardSettings

# Long because every kind of event adds to one fold.

START, MODEL, SEARCH, CALL, REJECT = "start", "model", "search", "call", "reject"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BEFORE_A_MODEL_CALL = (
    UserSaid,
    BudgetMeasured,
    ContextReduced,
    GateApplied,
    MilestoneReached,
    ToolsChanged,
    CatalogBuilt,
    SettingsChanged,
    IndexChanged,
    ServerConnecting,
    ServerReady,
    ServerFailed,
    ServerStopped,
    ToolEvicted,
)


@dataclass(frozen=True, slots=True)
class CountedCall:
    """A call that the iteration guard has counted. `at` is seconds since 1970.

    `cleared` once its tool was found again: it keeps its place among the last calls, and counts no more.
    """

    at: float
    letter: str
    counted: CallCounted
    cleared: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What equal calls share."""
        return self.counted.tool, self.counted.arguments_hash


@dataclass(frozen=True, slots=True)
class Counter:
    """Equal calls at a step: how many in either window, and what they do.

    `leaves` are the seconds until the oldest leaves the time window, None without one. `fired` is the window
    of a loop that was detected at this step, `fires_next` whether one more call now would be a loop.
    """

    letter: str
    counted: CallCounted
    in_time: int
    in_calls: int
    leaves: float | None
    fired: str = ""
    fires_next: bool = False
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class StepFrame:
    """One step. `records` are its own, without the pieces of a streamed answer; `state` is after them.

    `calls` are all that were counted by then. Number 0 is what was there before the first model call.
    """

    number: int
    kind: str
    records: tuple[Record, ...]
    state: SessionState
    calls: tuple[CountedCall, ...]
    met: tuple[Finding, ...] = ()
    broken: tuple[Finding, ...] = ()

    @property
    def at(self) -> float:
        """When the step ended."""
        return self.state.at

    @property
    def loop(self) -> LoopDetected | None:
        """The loop that the guard saw in this step."""
        return next((one.event for one in self.records if isinstance(one.event, LoopDetected)), None)

    @property
    def counted(self) -> CountedCall | None:
        """The call that the guard counted in this step."""
        is_counted = any(isinstance(record.event, CallCounted) for record in self.records)
        return self.calls[-1] if is_counted and self.calls else None

    @property
    def guard(self) -> GuardSettings:
        """The guard's settings in force."""
        return guard_settings(self.state.settings)

    @property
    def window(self) -> tuple[CountedCall | None, ...]:
        """The sliding window, the newest call last; None where nothing was called yet."""
        size = self.guard.window_calls
        last = self.calls[-size:]
        return (*(None for _ in range(size - len(last))), *last)

    def counters(self) -> tuple[Counter, ...]:
        """Every group of equal calls that is in a window, the newest first."""
        newest = {call.key: call for call in self.calls}
        order = sorted(newest, key=lambda key: -max(_places(self.calls, key)))
        found = (self._counter(newest[key]) for key in order)
        return tuple(one for one in found if one.in_time or one.in_calls or one.fired)

    def _counter(self, call: CountedCall) -> Counter:
        guard = self.guard
        recent = [one for one in _equal(self.calls, call) if self.at - one.at <= guard.window_seconds]
        window = _equal(self.calls[-guard.window_calls :], call)
        # A further call pushes the oldest one out of the sliding window.
        staying = _equal(self.calls[max(len(self.calls) - guard.window_calls + 1, 0) :], call)
        is_current = self.counted is not None and self.counted.key == call.key
        counted = call.counted
        # The guard's own count, where it has just counted: its clock is the one that decides.
        in_time = counted.in_time if is_current else len(recent)
        in_calls = counted.in_calls if is_current else len(window)
        loop = self.loop
        fired = loop.trigger if loop is not None and is_current else ""
        return Counter(
            call.letter,
            counted,
            in_time,
            in_calls,
            max(guard.window_seconds - (self.at - recent[0].at), 0.0) if recent else None,
            fired,
            guard.enabled
            and not counted.exempt
            and (in_time >= guard.max_repeats or len(staying) >= guard.window_repeats),
            is_current,
        )


@dataclass(frozen=True, slots=True)
class Walkthrough:
    """Every frame of a session, and the expectations that nothing met."""

    frames: tuple[StepFrame, ...] = ()
    missed: tuple[Finding, ...] = ()
    letters: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frames)


def walkthrough(records: Iterable[Record], findings: Sequence[Finding] = ()) -> Walkthrough:
    """Cut a session into steps, with the state after each of them folded from its records."""
    frames: list[StepFrame] = []
    state, calls = SessionState(), _Calls()
    for number, group in enumerate(_groups(records)):
        for record in group:
            state = apply(state, record)
            calls.after(record)
        own = {record.seq for record in group}
        marks = [finding for finding in findings if finding.seq in own]
        frames.append(
            StepFrame(
                number,
                _kind(group),
                tuple(group),
                state,
                tuple(calls.calls),
                tuple(one for one in marks if one.met and not one.forbidden),
                tuple(one for one in marks if not one.met and one.forbidden),
            )
        )
    missed = tuple(one for one in findings if not one.met and not one.forbidden)
    return Walkthrough(tuple(frames), missed, calls.letters)


def guard_settings(settings: Mapping[str, Any]) -> GuardSettings:
    """The guard's part of the settings that a record holds; defaults for what an old one does not."""
    given, defaults = settings.get("guard"), GuardSettings()
    if not isinstance(given, Mapping):
        return defaults
    counts = {name: given.get(name) for name in ("max_repeats", "window_calls", "window_repeats")}
    held: dict[str, Any] = {name: max(count, 1) for name, count in counts.items() if isinstance(count, int)}
    seconds = given.get("window_seconds")
    if isinstance(seconds, int | float):
        held["window_seconds"] = seconds
    return replace(defaults, enabled=given.get("enabled") is not False, **held)


class _Calls:
    """The calls that the guard has counted, with a letter for each group of equal ones."""

    def __init__(self) -> None:
        self.calls: list[CountedCall] = []
        self.letters: dict[tuple[str, str], str] = {}

    def after(self, record: Record) -> None:
        """Go on by one record: a call is counted, or a tool was found again and starts anew."""
        event = record.event
        if isinstance(event, CallCounted):
            key = (event.tool, event.arguments_hash)
            letter = self.letters.setdefault(key, _letter(len(self.letters)))
            self.calls.append(CountedCall(record.at, letter, event))
        elif isinstance(event, ToolLoaded):
            self.calls = [
                replace(one, cleared=True) if one.counted.tool == event.tool else one for one in self.calls
            ]


def _letter(number: int) -> str:
    return _LETTERS[number] if number < len(_LETTERS) else "?"


def _equal(calls: Sequence[CountedCall], call: CountedCall) -> list[CountedCall]:
    return [one for one in calls if one.key == call.key and not one.cleared]


def _places(calls: Sequence[CountedCall], key: tuple[str, str]) -> Iterator[int]:
    return (place for place, call in enumerate(calls) if call.key == key)


def _groups(records: Iterable[Record]) -> list[list[Record]]:
    """The records of each step; before a model call stands what was made ready for it."""
    groups: list[list[Record]] = [[]]
    for record in records:
        if isinstance(record.event, AnswerStreamed):
            continue
        if _head(record.event):
            before = _made_ready(groups[-1]) if isinstance(record.event, ModelRequested) else []
            groups.append([*before, record])
        else:
            groups[-1].append(record)
    return groups


def _head(event: Event) -> str:
    match event:
        case ModelRequested():
            return MODEL
        case SearchPerformed(by="model"):
            return SEARCH
        case CallStarted(by="model"):
            return CALL
        case CallRejected():
            return REJECT
    return ""


def _kind(group: Sequence[Record]) -> str:
    return next((kind for kind in (_head(record.event) for record in group) if kind), START)


def _made_ready(group: list[Record]) -> list[Record]:
    """Take what belongs to the next model call from the end of a step.

    What a search or a loop evicts is their own; only what goes before a model call belongs to that.
    """
    start = _ready_from(group)
    ready = group[start:]
    del group[start:]
    return ready


def _ready_from(group: Sequence[Record]) -> int:
    if _kind(group) == START:
        said = (place for place, record in enumerate(group) if isinstance(record.event, UserSaid))
        return next(said, len(group))
    start = len(group)
    while start and isinstance(group[start - 1].event, _BEFORE_A_MODEL_CALL):
        start -= 1
    is_search = _kind(group) == SEARCH
    while start < len(group) and _is_own(group[start].event, is_search=is_search):
        start += 1
    return start


def _is_own(event: Event, *, is_search: bool) -> bool:
    return isinstance(event, ToolEvicted) and (is_search or event.cause == "loop")
