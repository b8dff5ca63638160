"""A session's records as a walkthrough: one frame per step, with the state and the iteration guard's counts.

A step is a model call, or one call by the model: a search, a call that ran, or a rejected call.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from inspector.core.events import (
    AnswerStreamed,
    CallCounted,
    LoopDetected,
    Record,
    ToolEvicted,
    ToolLoaded,
    UserSaid,
)
from inspector.core.fold import apply
from inspector.core.session import SessionState
from inspector.core.settings import GuardSettings
from inspector.core.turns import Act, E, ModelCall, Rejection, Search, ToolCall, turns
from inspector.scenario.expectation import Finding

START, MODEL, SEARCH, CALL, REJECT = "start", "model", "search", "call", "reject"
_KINDS = {ModelCall: MODEL, Search: SEARCH, ToolCall: CALL, Rejection: REJECT}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BEFORE_A_MODEL_CALL = frozenset(
    (
        *(
            "user",
            "budget",
            "reduce",
            "gate",
            "milestone",
            "tools",
            "definition",
            "told",
            "catalog",
            "settings",
        ),
        *("problems", "index", "connecting", "ready", "failed", "stopped", "evict"),
    )
)


@dataclass(frozen=True, slots=True)
class CountedCall:
    """A call that the iteration guard counted. `at` is seconds since 1970.

    It is `cleared` once its tool is found again: it stays among the last calls but no longer counts.
    """

    at: float
    letter: str
    counted: CallCounted
    cleared: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The key that equal calls share."""
        return self.counted.tool, self.counted.arguments_hash


@dataclass(frozen=True, slots=True)
class Counter:
    """Equal calls at a step, counted in either window.

    `leaves` is the seconds until the oldest leaves the time window, None if there is none. `fired` is the
    window of a loop detected at this step; `fires_next` says whether one more call now would be a loop.
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
    """What the model did in one `step`. `records` are its own, without the pieces of a streamed answer.

    `state` is after them, `calls` are all calls counted so far. StepFrame 0 is everything before the first
    model call.
    """

    number: int
    step: ModelCall | Act | None
    records: tuple[Record, ...]
    state: SessionState
    calls: tuple[CountedCall, ...]
    met: tuple[Finding, ...] = ()
    broken: tuple[Finding, ...] = ()

    @property
    def kind(self) -> str:
        """What the step is, in a word."""
        return _KINDS.get(type(self.step), START)

    @property
    def at(self) -> float:
        """When the step ended."""
        return self.state.at

    @property
    def loop(self) -> LoopDetected | None:
        """The loop that the guard detected in this step."""
        return self.step.loop if isinstance(self.step, Act) else None

    def of(self, kind: type[E]) -> list[E]:
        """Its events of this kind, in order."""
        return [record.event for record in self.records if isinstance(record.event, kind)]

    @property
    def counted(self) -> CountedCall | None:
        """The call that the guard counted in this step."""
        return self.calls[-1] if self.calls and self.of(CallCounted) else None

    @property
    def guard(self) -> GuardSettings:
        """The guard's settings at this step."""
        return guard_settings(self.state.settings)

    @property
    def window(self) -> tuple[CountedCall | None, ...]:
        """The sliding window, the newest call last; None is a slot without a call yet."""
        size = self.guard.window_calls
        last = self.calls[-size:]
        return (*(None for _ in range(size - len(last))), *last)

    def counters(self) -> tuple[Counter, ...]:
        """Return every group of equal calls in a window, the newest first."""
        newest: dict[tuple[str, str], CountedCall] = {}
        for call in reversed(self.calls):
            newest.setdefault(call.key, call)
        counters = map(self._counter, newest.values())
        return tuple(counter for counter in counters if counter.in_time or counter.in_calls or counter.fired)

    def _counter(self, call: CountedCall) -> Counter:
        guard = self.guard
        equal = _equal(self.calls, call)
        recent = [other for other in equal if self.at - other.at <= guard.window_seconds]
        window = _equal(self.calls[-guard.window_calls :], call)
        # One more call pushes the oldest out of the sliding window.
        staying = _equal(self.calls[max(len(self.calls) - guard.window_calls + 1, 0) :], call)
        is_current = self.counted is not None and self.counted.key == call.key
        counted = call.counted
        # If the guard has just counted, its own count is used: its clock decides.
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
    """Every frame of a session, and the unmet expectations."""

    frames: tuple[StepFrame, ...] = ()
    missed: tuple[Finding, ...] = ()
    letters: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frames)


def walkthrough(records: Iterable[Record], findings: Sequence[Finding] = ()) -> Walkthrough:
    """Cut a session into steps, each with the state folded from its records."""
    frames: list[StepFrame] = []
    state, calls = SessionState(), _Calls()
    for number, (step, group) in enumerate(_groups(records)):
        for record in group:
            state = apply(state, record)
            calls.after(record, guard_settings(state.settings))
        own = {record.seq for record in group}
        marks = [finding for finding in findings if finding.seq in own]
        frames.append(
            StepFrame(
                number,
                step,
                tuple(group),
                state,
                tuple(calls.calls),
                tuple(finding for finding in marks if finding.met and not finding.forbidden),
                tuple(finding for finding in marks if not finding.met and finding.forbidden),
            )
        )
    missed = tuple(finding for finding in findings if not finding.met and not finding.forbidden)
    return Walkthrough(tuple(frames), missed, calls.letters)


def guard_settings(settings: Mapping[str, Any]) -> GuardSettings:
    """Return the guard's recorded settings, with defaults for what an old record lacks."""
    given, defaults = settings.get("guard"), GuardSettings()
    if not isinstance(given, Mapping):
        return defaults
    counts = {name: given.get(name) for name in ("max_repeats", "window_calls", "window_repeats")}
    held: dict[str, Any] = {name: max(count, 1) for name, count in counts.items() if isinstance(count, int)}
    seconds = given.get("window_seconds")
    if isinstance(seconds, int | float):
        held["window_seconds"] = seconds
    # Records without the setting are from before there was progress.
    held["progress"] = given.get("progress") is True
    return replace(defaults, enabled=given.get("enabled") is not False, **held)


class _Calls:
    """The calls that the guard counted, with a letter for each group of equal ones."""

    def __init__(self) -> None:
        self.calls: list[CountedCall] = []
        self.letters: dict[tuple[str, str], str] = {}

    def after(self, record: Record, guard: GuardSettings) -> None:
        """Take one record: a call was counted, or counting restarts."""
        event = record.event
        if isinstance(event, CallCounted):
            key = (event.tool, event.arguments_hash)
            if event.restarts in ("equal", "all"):
                self._clear(lambda call: call.key == key)
            if event.restarts in ("others", "all"):
                self._clear(lambda call: call.key != key)
            letter = self.letters.setdefault(key, _letter(len(self.letters)))
            self.calls.append(CountedCall(record.at, letter, event))
        elif isinstance(event, ToolLoaded):
            self._clear(lambda call: call.counted.tool == event.tool)
        elif record.kind == UserSaid.kind and guard.progress:
            self._clear(lambda _: True)

    def _clear(self, gone: Callable[[CountedCall], bool]) -> None:
        self.calls = [replace(call, cleared=True) if gone(call) else call for call in self.calls]


def _letter(number: int) -> str:
    return _LETTERS[number] if number < len(_LETTERS) else "?"


def _equal(calls: Sequence[CountedCall], call: CountedCall) -> list[CountedCall]:
    return [other for other in calls if other.key == call.key and not other.cleared]


def _groups(records: Iterable[Record]) -> list[tuple[ModelCall | Act | None, list[Record]]]:
    """Return each step with its records; what prepares a model call belongs to that call."""
    groups: list[tuple[ModelCall | Act | None, list[Record]]] = [(None, [])]
    for turn in turns(records):
        every: list[ModelCall | Act] = [*turn.calls, *turn.acts]
        steps = {step.record.seq: step for step in every}
        for record in turn.records:
            step = steps.get(record.seq)
            if isinstance(step, ModelCall):
                groups.append((step, [*_preparation(*groups[-1]), record]))
            elif step is not None:
                groups.append((step, [record]))
            elif record.kind != AnswerStreamed.kind:
                groups[-1][1].append(record)
    return groups


def _preparation(step: ModelCall | Act | None, group: list[Record]) -> list[Record]:
    """Remove the records that prepare the next model call from the end of a step, and return them.

    Evictions by a search or a loop stay with their step; only those for a model call go with the call.
    """
    start = len(group)
    if step is None:
        start = next((index for index, record in enumerate(group) if record.kind == UserSaid.kind), start)
    else:
        while start and group[start - 1].kind in _BEFORE_A_MODEL_CALL:
            start -= 1
        while start < len(group) and _is_own(group[start], step):
            start += 1
    prepared = group[start:]
    del group[start:]
    return prepared


def _is_own(record: Record, step: ModelCall | Act) -> bool:
    event = record.event
    return isinstance(event, ToolEvicted) and (isinstance(step, Search) or event.cause == "loop")
