"""The state of the bench page: the chosen rankers, the current run and its results."""

from collections.abc import Sequence

from inspector.app.pages.lab.bench.content import DEFAULT_RANKERS, Running, State, running
from inspector.engine.discovery.rankers.ranker_list import RANKERS
from inspector.engine.measure.live import LiveBench
from inspector.engine.measure.ranker_bench import Measured
from inspector.engine.measure.report import Row
from inspector.engine.view import DiscoveryView


class BenchRun:
    """Changed only by the screen, except `report`, which a run's thread calls.

    Runs are numbered, so that late reports of an earlier run are ignored. `live` is what can be measured, and
    everything in `measured` is of the same tools, requests and thresholds.
    """

    def __init__(self) -> None:
        self.chosen = DEFAULT_RANKERS
        self.live: LiveBench | None = None
        self.measured: dict[str, Measured] = {}
        self.waiting: tuple[str, ...] = ()
        self.number = 0
        self.is_stopping = False
        self._measured_over: LiveBench | None = None
        self._progress: Running | None = None

    def toggle(self, ranker: str) -> None:
        """Choose a ranker, or undo the choice."""
        self.chosen = self.chosen ^ {ranker}

    def begin(self) -> tuple[str, ...]:
        """Start a run; return the rankers to measure, none if there is nothing to do or a run is active."""
        if self.waiting or self.live is None or not self.live.index.tools:
            return ()
        self.waiting = tuple(name for name in RANKERS if name in self.chosen)
        self.number += 1
        self._progress, self.is_stopping = None, False
        return self.waiting

    def report(
        self, number: int, names: Sequence[str], what: str, done: int, total: int, seconds: float
    ) -> None:
        """Store the progress of a run after `seconds`."""
        if number == self.number:
            self._progress = running(names, what, done, total, seconds)

    def arrive(self, number: int, live: LiveBench, measured: Measured | None) -> None:
        """Take the start of a run over `live`, or one more measured ranker of it."""
        if number != self.number:
            return
        if self._measured_over is None or not self._measured_over.is_same(live):
            self.measured = {}
        self.live = self._measured_over = live
        if measured is not None:
            name = measured.run.ranker
            self.measured[name] = measured
            self.waiting = tuple(other for other in self.waiting if other != name)

    def finish(self, number: int) -> None:
        """End a run, for whatever reason."""
        if number == self.number:
            self.waiting, self._progress = (), None

    def state(self, retrieval: DiscoveryView) -> State:
        """Return what the status line shows; `retrieval` is what the session searches now."""
        over = self._measured_over
        return State(
            len(self.chosen),
            tuple(self.measured.values()),
            bool(self.waiting),
            self._progress,
            self.is_stopping,
            is_stale=over is not None and not over.is_current(retrieval),
        )

    @property
    def steps(self) -> tuple[int, int]:
        """How many requests of all rankers are done, and how many there are; 0 if not known yet."""
        now = self._progress
        return ((now.number - 1) * now.total + now.done, now.of * now.total) if now is not None else (0, 0)

    def table(self) -> list[Row]:
        """Return the results in the order of the page."""
        return [self.measured[name].row for name in RANKERS if name in self.measured]

    def compared_with(self, ranker: str) -> Measured | None:
        """Return the first measured ranker, or None for that ranker itself."""
        first = next(name for name in RANKERS if name in self.measured)
        return None if first == ranker else self.measured[first]
