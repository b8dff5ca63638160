"""A race: one scenario run with every tool bound and again with discovery, compared call by call.

Two runs never take the same time, and a call's duration says nothing about its tokens. So the race is
aligned: the n-th model calls of both racers happen at the same moment, and a racer that needs more calls goes
on alone.
"""

from dataclasses import dataclass, replace

from inspector.core.budget import Prices
from inspector.core.events import ModelRequested, Record, UserSaid
from inspector.core.number import count
from inspector.core.stream import Listener
from inspector.scenario.profile_comparison import compare_profiles
from inspector.scenario.racer import Racer, racer_after
from inspector.scenario.run import ScenarioResult
from inspector.scenario.scenario import Scenario
from inspector.scenario.static_script import left_out
from inspector.scenario.totals import ANSWERED
from inspector.session.view import SessionView


@dataclass(frozen=True, slots=True)
class Estimate:
    """Both sides together: model calls, tokens of input, and their price without answers and cache.

    `dollars` is None if the model has no price.
    """

    calls: int
    tokens: int
    dollars: float | None = None
    prices: Prices | None = None


def estimate(session: SessionView) -> Estimate | None:
    """As many calls a side as the last message took in the session; None if it took none.

    They carry the whole conversation there, and the question alone in a race: the estimate is an upper one.
    """
    calls = 0
    for record in reversed(session.records(("user", "request"))):
        if not isinstance(record.event, ModelRequested):
            break
        calls += 1
    costs = session.state.costs[-calls:] if calls else ()
    if not costs:
        return None
    found = sum(cost.parts.input for cost in costs)
    bound = sum(cost.parts.system + cost.parts.history + cost.static_tools for cost in costs)
    prices = session.accounting.prices()
    dollars = prices.input * (found + bound) if prices is not None else None
    return Estimate(2 * len(costs), found + bound, dollars, prices)


SECONDS_A_CALL = 0.6


@dataclass(frozen=True, slots=True)
class RaceFrame:
    """Both racers, static binding first, a number of seconds after the start."""

    seconds: float
    racers: tuple[Racer, Racer]

    @property
    def call(self) -> int:
        """The number of the model call; a racer that needed fewer stands still."""
        return max(racer.calls for racer in self.racers)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a race ended. `saved` and `input_saved` are shares (0 to 1) of what static binding sent.

    They are negative if more was sent, and None if nothing was. `notes` say what to know before trusting
    them; `prices` are those used for the racers' dollars.
    """

    racers: tuple[Racer, Racer]
    notes: tuple[str, ...] = ()
    prices: Prices | None = None

    @property
    def shortfall(self) -> str:
        """Why the saving is no result, in a sentence; "" if both did the same work."""
        static, other = self.racers
        for racer in self.racers:
            if racer.outcome != ANSWERED:
                return f"No saving: {racer.profile} did not answer ({racer.outcome or 'no outcome'})."
        if static.solved.count == other.solved.count:
            return ""
        less, more = sorted(self.racers, key=lambda racer: racer.solved.count)
        did = f"{less.profile} solved {count(less.solved.count, 'step')}, {more.profile} {more.solved.count}"
        return f"No saving: {did}. Using fewer tokens for less work saves nothing."

    @property
    def saved(self) -> float | None:
        """The share saved of the tokens spent on tools."""
        return _saved(*(racer.tokens for racer in self.racers))

    @property
    def input_saved(self) -> float | None:
        """The share saved of everything sent."""
        return _saved(*(racer.input_tokens for racer in self.racers))

    @property
    def billed_saved(self) -> float | None:
        """The share saved of everything as a prompt cache charges it; None if no cache is known."""
        first, second = (racer.billed for racer in self.racers)
        return None if first is None or second is None else _saved(first, second)


class Race:
    """Follows both runs and builds the race as far as both have come.

    `profiles` are `static` and the other one. With `scripted` the model follows the scenario's script, for
    static binding the one from `static_scenario`. `prices` convert the tokens of future model calls to
    dollars. `notes` come before those of the verdict.
    """

    def __init__(
        self,
        scenario: Scenario,
        profiles: tuple[str, str],
        *,
        scripted: bool = True,
        prices: Prices | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.scenario = scenario
        self.profiles = profiles
        self.scripted = scripted
        self.prices = prices
        self._own_notes = notes
        self._tracks = (_Track(Racer(profiles[0])), _Track(Racer(profiles[1])))
        self._results: list[ScenarioResult | None] = [None, None]

    def listener(self, side: int) -> Listener:
        """The listener for the records of a run; side 0 is static binding."""
        track = self._tracks[side]
        return lambda record: track.after(record, self.prices)

    def end(self, side: int, result: ScenarioResult) -> None:
        """Mark a run as over."""
        self._tracks[side].end()
        self._results[side] = result

    @property
    def is_over(self) -> bool:
        return all(track.is_over for track in self._tracks)

    @property
    def racers(self) -> tuple[Racer, Racer]:
        """The current state of both runs, which may be different moments of the race."""
        first, second = self._tracks
        return first.racer, second.racer

    def frames(self, seconds_a_call: float = SECONDS_A_CALL) -> tuple[RaceFrame, ...]:
        """The start, and every model call that both have finished or did not need.

        Once there is a second frame, existing frames never change.
        """
        return _frames(self._tracks, seconds_a_call)

    @property
    def verdict(self) -> Verdict | None:
        """How the race ended; None while it is running."""
        first, second = self._results
        if first is None or second is None:
            return None
        script = left_out(self.scenario) if self.scripted else ""
        notes = compare_profiles((first, second), scripted=self.scripted).notes
        told = (*self._own_notes, *((script,) if script else ()), *notes, *_notes(self.racers))
        return Verdict(self.racers, told, self.prices)


def _frames(tracks: tuple["_Track", "_Track"], seconds_a_call: float) -> tuple[RaceFrame, ...]:
    first, second = tracks
    known = [len(track.steps) for track in tracks if not track.is_over]
    count = min(known) if known else max(len(first.steps), len(second.steps))
    return tuple(
        RaceFrame(round(number * seconds_a_call, 3), (first.at(number), second.at(number)))
        for number in range(count)
    )


class _Track:
    """One run: its racer after each model call; `steps[0]` is the start."""

    def __init__(self, start: Racer) -> None:
        self.racer = start
        self.steps = [start]
        self.is_over = False

    def at(self, number: int) -> Racer:
        """The racer after a number of model calls, or after its last."""
        return self.steps[min(number, len(self.steps) - 1)]

    def after(self, record: Record, prices: Prices | None) -> None:
        """Add one record."""
        if isinstance(record.event, ModelRequested | UserSaid):
            self._close()
        self.racer = racer_after(self.racer, record.event, prices)
        if not self.racer.calls:
            self.steps[0] = self.racer

    def end(self) -> None:
        """Finish the track: no more records follow."""
        if self.is_over:
            return
        self.is_over = True
        self.racer = replace(self.racer, is_over=True)
        if len(self.steps) > self.racer.calls:
            self.steps[-1] = self.racer
        else:
            self._close()

    def _close(self) -> None:
        """Take the last model call, if there was one, as finished."""
        if len(self.steps) == self.racer.calls:
            self.steps.append(self.racer)


def _notes(racers: tuple[Racer, Racer]) -> list[str]:
    static, other = racers
    notes = []
    more = other.calls - static.calls
    if more:
        what = "more" if more > 0 else "fewer"
        why = ", each of which takes time" if more > 0 else ""
        notes.append(f"{other.profile}: {count(abs(more), f'{what} model call')} than {static.profile}{why}.")
    if not static.solved.count + other.solved.count:
        notes.append("Neither side made a successful tool call, so the number only covers definitions.")
    for racer in racers:
        if racer.failed:
            notes.append(f"{racer.profile}: {', '.join(racer.failed)} did not start.")
        if racer.refused:
            calls, which = count(len(racer.refused), "call"), ", ".join(dict.fromkeys(racer.refused))
            notes.append(
                f"{racer.profile}: {calls} skipped, because a race might change something twice: {which}. "
                "It only calls tools that a trusted server marks as read-only or that "
                "you have allowed in this session."
            )
        if racer.outcome != ANSWERED:
            why = racer.last if racer.outcome == "failed" and racer.last else racer.outcome or "no outcome"
            notes.append(f"{racer.profile}: a message got no answer ({why}).")
    return notes


def _saved(static: float, other: float) -> float | None:
    return 1 - other / static if static else None
