"""Measures rankers on the current tools of a session, separately from its searches."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inspector.access.evaluation import EvalSet
from inspector.core.ports import Clock
from inspector.measure.calibrate import Calibration, calibrate
from inspector.measure.ranker_bench import DataSet, Measured, RankerBench, Report
from inspector.search.index import ToolIndex
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.session.view import DiscoveryView


@dataclass(frozen=True)
class LiveBench:
    """A session's index and labelled requests for its tools. Safe to use in a thread."""

    index: ToolIndex
    dataset: DataSet
    clock: Clock

    @classmethod
    def of(cls, retrieval: DiscoveryView, before: "LiveBench | None" = None) -> "LiveBench":
        """The current state of a session; reuses the requests of `before` if the tools are the same."""
        index = retrieval.index
        same = before is not None and before.evalset.tools is index.tools
        evalset = before.evalset if before is not None and same else retrieval.evalset(index)
        return cls(index, DataSet(evalset, retrieval.settings), retrieval.clock)

    def is_same(self, other: "LiveBench") -> bool:
        """Whether measurements from both can share one table."""
        same_evalset = self.evalset is other.evalset
        return same_evalset and self.index is other.index and self.dataset.settings == other.dataset.settings

    def is_current(self, retrieval: DiscoveryView) -> bool:
        """Whether the session still uses the index and settings measured here."""
        return self.index is retrieval.index and self.dataset.settings == retrieval.settings

    @property
    def evalset(self) -> EvalSet:
        return self.dataset.evalset

    def measure(
        self, rankers: Sequence[str], report: Report, cancelled: Callable[[], bool]
    ) -> Iterator[Measured]:
        """Each ranker as soon as it is measured, see RankerBench. Raises ToolsightError."""
        semantics = self.index.semantics
        bench = RankerBench(
            rankers,
            lambda: None if semantics is None else semantics.anew(),
            self.clock,
            report,
            cancelled,
        )
        return bench.over(self.dataset, self.index)

    def calibrate(
        self, ranker: str, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> Calibration | None:
        """Calibrate a ranker's threshold, see `calibrate`. Raises ToolsightError."""
        rankers = CatalogRankers(self.index, self.dataset.settings)
        return calibrate(rankers, self.evalset, ranker_name=ranker, progress=progress, cancelled=cancelled)
