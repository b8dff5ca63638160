"""How much of a race is shown: one model call after the other, at a pace, with pauses and steps back."""

from inspector.app.scenario_job import Progress, ScenarioFile
from inspector.domain.events import Record
from inspector.engine.scenario.profile_comparison import STATIC
from inspector.engine.scenario.race import SECONDS_A_CALL, Race, RaceFrame, Verdict
from inspector.engine.scenario.racer import Racer

# Seconds between two model calls, from the fastest on; with 0 everything is shown at once.
PACES = (0.0, 0.1, 0.2, 0.4, SECONDS_A_CALL, 1.0, 1.5, 2.5)


class Playback:
    """A race that may still be run while it is shown. `progress` is how far both runs are, by side."""

    def __init__(self, pace: float) -> None:
        self.pace = pace
        self.is_paused = False
        self.race: Race | None = None
        self.verdict: Verdict | None = None
        self.progress: tuple[Progress, ...] = ()
        self._place = 0

    def begin(self, race: Race, file: ScenarioFile) -> None:
        """Show this race, from its start."""
        self.clear()
        self.race = race
        self.progress = tuple(Progress(file, profile) for profile in race.profiles)

    def clear(self) -> None:
        """There is no race."""
        self.race = self.verdict = None
        self.progress = ()
        self.is_paused, self._place = False, 0

    def note(self, side: int, record: Record) -> None:
        """A run came a record further."""
        self.progress = tuple(
            one.after(record) if number == side else one for number, one in enumerate(self.progress)
        )

    def finish(self) -> None:
        """Both runs are over."""
        self.verdict = self.race.verdict if self.race is not None else None

    @property
    def frames(self) -> tuple[RaceFrame, ...]:
        """All that could be shown by now."""
        return self.race.frames() if self.race is not None else ()

    @property
    def shown(self) -> tuple[RaceFrame, ...]:
        """From the start to what is shown now."""
        return self.frames[: self._place + 1]

    @property
    def is_finished(self) -> bool:
        """Whether everything has been run, and is shown."""
        return self.verdict is not None and self._place == len(self.frames) - 1

    def frame(self, profile: str) -> RaceFrame:
        """What is shown now; before a race, its empty racers, with `profile` in the second one."""
        shown = self.shown
        return shown[-1] if shown else RaceFrame(0.0, (Racer(STATIC), Racer(profile)))

    @property
    def most(self) -> tuple[int, int]:
        """The tokens of the larger racer, as far as it has come, and of its largest model call."""
        racers = self.race.racers if self.race is not None else ()
        return max((racer.tokens for racer in racers), default=0), max(
            (racer.present for racer in racers), default=0
        )

    def advance(self) -> bool:
        """Show the next model call, without a pause all there are; whether there is more to come."""
        if self.race is None or self.is_paused or self.is_finished:
            return False
        last = len(self.frames) - 1
        self._place = min(self._place + 1, last) if self.pace else last
        return True

    def step(self, by: int) -> None:
        """Stand still, so many model calls further on or back, as far as there are any."""
        if self.race is not None:
            self.is_paused = True
            self._place = max(min(self._place + by, len(self.frames) - 1), 0)

    def pause(self) -> None:
        """Stand still, or go on."""
        self.is_paused = not self.is_paused and self.race is not None

    def slower(self, by: int) -> None:
        """Change the pace by so many steps; below 0 is faster."""
        place = min(range(len(PACES)), key=lambda number: abs(PACES[number] - self.pace))
        self.pace = PACES[min(max(place + by, 0), len(PACES) - 1)]
