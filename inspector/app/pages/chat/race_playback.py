"""Plays a race back, one model call at a time, with a pace, pauses and steps back."""

import asyncio

from inspector.app.scenario_job import Lab, Progress, ScenarioFile
from inspector.core.events import Record
from inspector.scenario.comparison import STATIC
from inspector.scenario.race import SECONDS_A_CALL, Race, RaceFrame, Racer, Verdict


async def read_scenarios(lab: Lab | None) -> tuple[ScenarioFile, ...]:
    """Return the scenarios to race; empty without a lab. Raises ToolsightError."""
    return tuple(await asyncio.to_thread(lab.scenarios)) if lab is not None else ()


# Seconds between model calls, fastest first; 0 shows everything at once.
PACES = (0.0, 0.1, 0.2, 0.4, SECONDS_A_CALL, 1.0, 1.5, 2.5)


class Playback:
    """A race that may still be running while it is shown. `progress` is that of both runs, by side."""

    def __init__(self, pace: float) -> None:
        self.pace = pace
        self.is_paused = False
        self.race: Race | None = None
        self.verdict: Verdict | None = None
        self.progress: tuple[Progress, ...] = ()
        self._position = 0

    def begin(self, race: Race, file: ScenarioFile) -> None:
        """Show this race from its start."""
        self.clear()
        self.race = race
        self.progress = tuple(Progress(file, profile) for profile in race.profiles)

    def clear(self) -> None:
        """Show no race."""
        self.race = self.verdict = None
        self.progress = ()
        self.is_paused, self._position = False, 0

    def note(self, side: int, record: Record) -> None:
        """Take one record of a run."""
        self.progress = tuple(
            run.after(record) if number == side else run for number, run in enumerate(self.progress)
        )

    def finish(self) -> None:
        """Take the verdict once both runs are over."""
        self.verdict = self.race.verdict if self.race is not None else None

    @property
    def frames(self) -> tuple[RaceFrame, ...]:
        """Every frame so far."""
        return self.race.frames() if self.race is not None else ()

    @property
    def shown(self) -> tuple[RaceFrame, ...]:
        """The frames from the start to the current one."""
        return self.frames[: self._position + 1]

    @property
    def is_finished(self) -> bool:
        """Whether both runs are over and the last frame is shown."""
        return self.verdict is not None and self._position == len(self.frames) - 1

    def frame(self, profile: str) -> RaceFrame:
        """Return the current frame; before a race, empty racers with `profile` in the second."""
        shown = self.shown
        return shown[-1] if shown else RaceFrame(0.0, (Racer(profile=STATIC), Racer(profile=profile)))

    @property
    def most(self) -> tuple[int, int]:
        """The tokens of the larger racer so far, and of the largest model call."""
        racers = self.race.racers if self.race is not None else ()
        return max((racer.discovery_tokens for racer in racers), default=0), max(
            (racer.present for racer in racers), default=0
        )

    def advance(self) -> bool:
        """Show the next model call (all of them at pace 0); return whether anything can change."""
        if self.race is None or self.is_paused or self.is_finished:
            return False
        last = len(self.frames) - 1
        self._position = min(self._position + 1, last) if self.pace else last
        return True

    def step(self, by: int) -> None:
        """Pause and move by that many model calls, within the race."""
        if self.race is not None:
            self.is_paused = True
            self._position = max(min(self._position + by, len(self.frames) - 1), 0)

    def pause(self) -> None:
        """Pause or resume."""
        self.is_paused = not self.is_paused and self.race is not None

    def slower(self, by: int) -> None:
        """Change the pace by that many steps; negative is faster."""
        nearest = min(range(len(PACES)), key=lambda number: abs(PACES[number] - self.pace))
        self.pace = PACES[min(max(nearest + by, 0), len(PACES) - 1)]
