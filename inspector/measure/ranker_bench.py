"""Measures several rankers on several data sets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from inspector.access.reach import EvalSet
from inspector.core.number import count
from inspector.core.ports import Clock
from inspector.core.settings import DiscoverySettings, GateSettings
from inspector.measure.report import Row, summarise
from inspector.measure.run import Prepared, Run, prepare, run_bench
from inspector.search.index import ToolIndex
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.ranker import Ranker
from inspector.search.rankers.ranker_list import ISO
from inspector.search.rules import SearchRules
from inspector.search.semantics import Semantics

Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class DataSet:
    """Labelled requests for tools, and the settings for rankers and gates of these tools."""

    evalset: EvalSet
    settings: DiscoverySettings
    gate: GateSettings = GateSettings()


@dataclass(frozen=True, slots=True)
class Measured:
    """One ranker measured on one data set; if canceled, on its first requests."""

    row: Row
    run: Run
    evalset: EvalSet


@dataclass(frozen=True, slots=True)
class RankerBench:
    """Measures rankers. `semantics` makes a fresh source of vectors; None leaves only the words.

    `cancelled` is checked before each step and `report(what, done, total)` is called after it.
    """

    rankers: Sequence[str]
    semantics: Callable[[], Semantics | None]
    clock: Clock
    report: Report
    cancelled: Callable[[], bool]

    def measure(self, datasets: Sequence[DataSet]) -> list[Measured]:
        """Measure every ranker on every data set, until canceled.

        Raises ToolsightError for an unknown ranker, ModelError or StoreError.
        """
        return [measured for dataset in datasets for measured in self._over(dataset)]

    def over(self, dataset: DataSet, index: ToolIndex) -> Iterator[Measured]:
        """Yield each ranker as soon as it is measured, on an existing index with the vectors it has.

        `index` covers the tools of the data set. Raises what `measure` raises.
        """
        for name in self.rankers:
            run = self._run(name, dataset, index)
            if run.cases:
                yield Measured(_row(run, dataset.evalset), run, dataset.evalset)

    def _over(self, dataset: DataSet) -> list[Measured]:
        if self.cancelled():
            return []
        prepared = self._prepared(dataset.evalset)
        if not prepared.is_complete:
            return []
        measured = self.over(dataset, prepared.index)
        return [replace(each, row=_with_index(each.row, prepared)) for each in measured]

    def _prepared(self, evalset: EvalSet) -> Prepared:
        what = f"{evalset.name}: index of {count(len(evalset.tools), 'tool')}"
        self.report(what, 0, 0)
        return prepare(
            evalset,
            self.semantics(),
            clock=self.clock,
            progress=lambda done, total: self.report(what, done, total),
            cancelled=self.cancelled,
            lined=ISO in self.rankers,
        )

    def _run(self, name: str, dataset: DataSet, index: ToolIndex) -> Run:
        total = len(dataset.evalset.cases)
        if self.cancelled():
            return Run(name, dataset.evalset.name, (), total)
        what = f"{dataset.evalset.name}: {name}"
        self.report(what, 0, total)
        return run_bench(
            self._ranker(name, dataset, index),
            dataset.evalset,
            index,
            rules=SearchRules.of(dataset.settings),
            clock=self.clock,
            progress=lambda done, total: self.report(what, done, total),
            cancelled=self.cancelled,
        )

    def _ranker(self, name: str, dataset: DataSet, index: ToolIndex) -> Ranker:
        """A warmed-up ranker, so that its slow first request is not measured."""
        # Query vectors are cached: a ranker that finds those of the previous ranker would look fast.
        fresh = ToolIndex(index.tools, summaries=index.summaries, semantics=self.semantics(), before=index)
        ranker = CatalogRankers(fresh, dataset.settings).get(name)
        ranker.rank("warm up")
        return ranker


def _row(run: Run, evalset: EvalSet) -> Row:
    return Row(evalset.name, run.ranker, summarise(run, evalset), len(evalset.tools))


def _with_index(row: Row, prepared: Prepared) -> Row:
    return replace(row, index_seconds=prepared.seconds, index_bytes=prepared.bytes)
