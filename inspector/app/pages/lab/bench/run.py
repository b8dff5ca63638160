"""What the bench page knows: the chosen rankers, the run that is under way, and what it measured."""

from collections.abc import Sequence

from inspector.app.pages.lab.bench.content import DEFAULT_RANKERS, Running, State, running
from inspector.engine.discovery.rankers.ranker_list import RANKERS
from inspector.engine.measure.live import LiveBench
from inspector.engine.measure.ranker_bench import Measured
from inspector.engine.measure.report import Row
from inspector.engine.view import DiscoveryView


class BenchRun:
    """Changed by the screen alone, but for `report`, which the thread of a run calls.

    Runs are numbered, so that what an earlier one still says is passed over. `live` is what there is to
    measure, and everything in `measured` is of the same tools, requests and thresholds.
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
        """Choose a ranker, or take it back."""
        self.chosen = self.chosen ^ {ranker}

    def begin(self) -> tuple[str, ...]:
        """Start a run; the rankers to measure, none where there is nothing to do or one is under way."""
        if self.waiting or self.live is None or not self.live.index.tools:
            return ()
        self.waiting = tuple(name for name in RANKERS if name in self.chosen)
        self.number += 1
        self._progress, self.is_stopping = None, False
        return self.waiting

    def report(
        self, number: int, names: Sequence[str], what: str, done: int, total: int, seconds: float
    ) -> None:
        """Keep how far a run is after so many seconds."""
        if number == self.number:
            self._progress = running(names, what, done, total, seconds)

    def arrive(self, number: int, live: LiveBench, measured: Measured | None) -> None:
        """A run starts over `live`, or one more ranker of it is measured."""
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
        """A run has ended, whatever the reason."""
        if number == self.number:
            self.waiting, self._progress = (), None

    def state(self, retrieval: DiscoveryView) -> State:
        """What the status line says; `retrieval` tells what the session searches now."""
        over = self._measured_over
        return State(
            len(self.chosen),
            tuple(self.measured.values()),
            bool(self.waiting),
            self._progress,
            self.is_stopping,
            is_stale=over is not None and not over.is_current(retrieval),
        )

    def table(self) -> list[Row]:
        """What was measured, in the order of the page."""
        return [self.measured[name].row for name in RANKERS if name in self.measured]

    def compared_with(self, ranker: str) -> Measured | None:
        """The first measured ranker; None for that one itself."""
        first = next(name for name in RANKERS if name in self.measured)
        return None if first == ranker else self.measured[first]
