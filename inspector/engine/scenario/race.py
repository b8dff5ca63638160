"""A race: one scenario run with every tool bound and again with discovery, compared call by call.

Two runs never take the same time, and the duration of a call says nothing about tokens. So the race is
aligned: the n-th model call of both lanes happens at the same moment, and a lane that needs more calls goes
on alone.
"""

from dataclasses import dataclass, replace

from inspector.domain.events import ModelRequested, Record, UserSaid
from inspector.domain.number import count
from inspector.domain.price import Prices
from inspector.domain.scenario import Scenario
from inspector.engine.scenario.comparison import comparison
from inspector.engine.scenario.lane import Lane, lane_after
from inspector.engine.scenario.run import ScenarioResult
from inspector.engine.scenario.static_script import left_out
from inspector.engine.scenario.totals import ANSWERED
from inspector.engine.session import Listener

SECONDS_A_CALL = 0.6


@dataclass(frozen=True, slots=True)
class Frame:
    """A moment of the race: both lanes, static binding first, `seconds` after the start."""

    seconds: float
    lanes: tuple[Lane, Lane]

    @property
    def call(self) -> int:
        """The number of the current model call; a lane that needed fewer has stopped."""
        return max(lane.calls for lane in self.lanes)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a race ended. `saved` and `input_saved` are shares (0 to 1) of what static binding sent.

    They are negative if more was sent, and None if static binding sent nothing. `notes` hold caveats;
    `prices` are the basis of the lanes' dollars.
    """

    lanes: tuple[Lane, Lane]
    notes: tuple[str, ...] = ()
    prices: Prices | None = None

    @property
    def saved(self) -> float | None:
        """The share saved of the tokens sent because of tools."""
        return _saved(*(lane.tokens for lane in self.lanes))

    @property
    def input_saved(self) -> float | None:
        """The share saved of all input tokens."""
        return _saved(*(lane.input_tokens for lane in self.lanes))

    @property
    def billed_saved(self) -> float | None:
        """The share saved of all input as a prompt cache charges it; None if no cache is known."""
        first, second = (lane.billed for lane in self.lanes)
        return None if first is None or second is None else _saved(first, second)


class Race:
    """Follows both runs and builds the race as far as both have come.

    `profiles` are `static` and the other one. With `scripted` the model follows the scenario's script, for
    static binding the one from `static_scenario`. `prices` convert the tokens of future model calls to
    dollars.
    """

    def __init__(
        self,
        scenario: Scenario,
        profiles: tuple[str, str],
        *,
        scripted: bool = True,
        prices: Prices | None = None,
    ) -> None:
        self.scenario = scenario
        self.profiles = profiles
        self.scripted = scripted
        self.prices = prices
        self._tracks = (_Track(Lane(profiles[0])), _Track(Lane(profiles[1])))
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
    def lanes(self) -> tuple[Lane, Lane]:
        """Both runs so far, which need not be at the same moment of the race."""
        first, second = self._tracks
        return first.lane, second.lane

    def frames(self, seconds_a_call: float = SECONDS_A_CALL) -> tuple[Frame, ...]:
        """The start, and every model call that both runs have finished or did not need.

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
        notes = comparison((first, second), scripted=self.scripted).notes
        all_notes = (*((script,) if script else ()), *notes, *_notes(self.lanes))
        return Verdict(self.lanes, all_notes, self.prices)


def _frames(tracks: tuple["_Track", "_Track"], seconds_a_call: float) -> tuple[Frame, ...]:
    first, second = tracks
    known = [len(track.steps) for track in tracks if not track.is_over]
    count = min(known) if known else max(len(first.steps), len(second.steps))
    return tuple(
        Frame(round(number * seconds_a_call, 3), (first.at(number), second.at(number)))
        for number in range(count)
    )


class _Track:
    """One run's lane after each model call; `steps[0]` is the start."""

    def __init__(self, start: Lane) -> None:
        self.lane = start
        self.steps = [start]
        self.is_over = False

    def at(self, number: int) -> Lane:
        """The lane after `number` model calls, or after its last one."""
        return self.steps[min(number, len(self.steps) - 1)]

    def after(self, record: Record, prices: Prices | None) -> None:
        """Add one record."""
        if isinstance(record.event, ModelRequested | UserSaid):
            self._close()
        self.lane = lane_after(self.lane, record.event, prices)
        if not self.lane.calls:
            self.steps[0] = self.lane

    def end(self) -> None:
        """Finish the track: no more records follow."""
        if self.is_over:
            return
        self.is_over = True
        self.lane = replace(self.lane, is_over=True)
        if len(self.steps) > self.lane.calls:
            self.steps[-1] = self.lane
        else:
            self._close()

    def _close(self) -> None:
        """Finish the last model call, if any."""
        if len(self.steps) == self.lane.calls:
            self.steps.append(self.lane)


def _notes(lanes: tuple[Lane, Lane]) -> list[str]:
    static, other = lanes
    notes = []
    more = other.calls - static.calls
    if more:
        what = "more" if more > 0 else "fewer"
        why = ", each a wait for the model" if more > 0 else ""
        notes.append(f"{other.profile}: {count(abs(more), f'{what} model call')} than {static.profile}{why}.")
    for lane in lanes:
        if lane.outcome != ANSWERED:
            notes.append(f"{lane.profile}: a message was not answered: {lane.outcome or 'no outcome'}.")
    return notes


def _saved(static: float, other: float) -> float | None:
    return 1 - other / static if static else None
