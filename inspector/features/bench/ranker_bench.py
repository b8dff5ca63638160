"""Measures several rankers on several data sets, and tells which differ by more than chance."""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.number import count
from inspector.core.ports import Clock
from inspector.core.ranking import Answer
from inspector.core.settings import DiscoverySettings, GateSettings
from inspector.features.bench.run import (
    CUT,
    KINDS,
    CaseRun,
    Kind,
    Prepared,
    Run,
    Summary,
    paired,
    prepare,
    run_bench,
    summarise,
)
from inspector.search.answer.metric import SIGNIFICANT, Estimate, clusters, estimate, holm, ndcg_at, p_value
from inspector.search.answer.retrieval import Retrieval
from inspector.search.answer.search import SearchRules
from inspector.search.index.semantics import Semantics, StaticEmbedder
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker import Ranker
from inspector.search.ranker.ranker_list import ISO

ESTIMATES = (
    "hit_1",
    "recall_1",
    "recall_5",
    "recall_10",
    "ndcg_10",
    "mrr",
    "delivered_5",
    "delivered",
    "returned",
)


class Row(Struct, frozen=True):
    """One ranker on one data set of `tools` tools. `note` says what the ranker had to do without."""

    dataset: str
    ranker: str
    summary: Summary
    tools: int
    note: str = ""


def json_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Plain dicts, ready for json.dumps; undefined values are None.

    `answers` counts the requests that get each answer, and `answer_shares` has its share with its interval.
    """
    return [
        {
            "dataset": row.dataset,
            "ranker": row.ranker,
            "tools": row.tools,
            "cases": row.summary.cases,
            "possible": row.summary.possible,
            "impossible": row.summary.impossible,
            **{name: value and to_builtins(value) for name, value in _estimates(row.summary)},
            "answers": {kind: _counts(row.summary, kind) for kind in KINDS},
            "answer_shares": {kind: _shares(row.summary, kind) for kind in KINDS},
            "p50_ms": row.summary.p50_ms,
            "p95_ms": row.summary.p95_ms,
            "note": row.note,
        }
        for row in rows
    ]


def _estimates(summary: Summary) -> Iterator[tuple[str, Estimate | None]]:
    return ((name, getattr(summary, name)) for name in ESTIMATES)


def _counts(summary: Summary, kind: Kind) -> dict[str, int] | None:
    answers = summary.answers.get(kind)
    return None if answers is None else {answer.value: share.count for answer, share in answers.items()}


def _shares(summary: Summary, kind: Kind) -> dict[str, dict[str, float]] | None:
    answers = summary.answers.get(kind)
    if answers is None:
        return None
    return {answer: {"mean": one.value, "low": one.low, "high": one.high} for answer, one in answers.items()}


Report = Callable[[str, int, int], None]


class DataSet(Struct, frozen=True):
    """Labelled requests for tools, and the settings for rankers and gates of these tools."""

    evalset: EvalSet
    settings: DiscoverySettings
    gate: GateSettings = GateSettings()


class Measured(Struct, frozen=True):
    """One ranker measured on one data set; if canceled, on its first requests.

    `rankers` are those over its tools, to say why it misses.
    """

    row: Row
    run: Run
    evalset: EvalSet
    rankers: CatalogRankers | None = None


class RankerBench(Struct, frozen=True):
    """Measures rankers. `semantics` makes a fresh source of vectors; None leaves only words, and
    their `static` vectors.

    `cancelled` is checked before each step and `report(what, done, total)` is called after it.
    """

    rankers: Sequence[str]
    semantics: Callable[[], Semantics | None]
    clock: Clock
    report: Report
    cancelled: Callable[[], bool]
    static: StaticEmbedder | None = None

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
                of = dataset.evalset
                row = Row(of.name, run.ranker, summarise(run, of), len(of.tools), note=run.note)
                yield Measured(row, run, of, CatalogRankers(index, dataset.settings))

    def _over(self, dataset: DataSet) -> list[Measured]:
        if self.cancelled():
            return []
        prepared = self._prepared(dataset.evalset)
        if not prepared.is_complete:
            return []
        return list(self.over(dataset, prepared.index))

    def _prepared(self, evalset: EvalSet) -> Prepared:
        what = f"{evalset.name}: index of {count(len(evalset.tools), 'tool')}"
        self.report(what, 0, 0)
        return prepare(
            evalset,
            self.semantics(),
            static=self.static,
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
        ranker = self._ranker(name, dataset, index)
        # Warms it up, so that its slow first request is not measured.
        note = ranker.rank("warm up").note
        run = run_bench(
            ranker,
            dataset.evalset,
            index,
            rules=SearchRules.of(dataset.settings),
            clock=self.clock,
            progress=lambda done, total: self.report(what, done, total),
            cancelled=self.cancelled,
        )
        return replace(run, note=note)

    def _ranker(self, name: str, dataset: DataSet, index: ToolIndex) -> Ranker:
        # Query vectors are cached: a ranker that finds those of the previous ranker would look fast.
        fresh = ToolIndex(index.tools, summaries=index.summaries, semantics=self.semantics(), before=index)
        return CatalogRankers(fresh, dataset.settings).get(name)


class LiveBench(Struct, frozen=True, dict=True):
    """A session's index and labelled requests for its tools. Safe to use in a thread."""

    index: ToolIndex
    dataset: DataSet
    clock: Clock

    @classmethod
    def of(cls, retrieval: Retrieval, before: "LiveBench | None" = None) -> "LiveBench":
        """The current state of a session; reuses the requests of `before` if the tools are the same."""
        index = retrieval.index
        same = before is not None and before.evalset.tools is index.tools
        evalset = before.evalset if before is not None and same else retrieval.evalset(index)
        return cls(index, DataSet(evalset, retrieval.settings), retrieval.clock)

    def is_same(self, other: "LiveBench") -> bool:
        """Whether measurements from both can share one table."""
        same_evalset = self.evalset is other.evalset
        return same_evalset and self.index is other.index and self.dataset.settings == other.dataset.settings

    def is_current(self, retrieval: Retrieval) -> bool:
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
            rankers, lambda: None if semantics is None else semantics.anew(), self.clock, report, cancelled
        )
        return bench.over(self.dataset, self.index)


# Whether two measurements differ by more than chance, and which ranker is best.


class Change(Struct, frozen=True):
    """One request's nDCG@10 in both runs."""

    id: str
    query: str
    before: float
    after: float

    @property
    def value(self) -> float:
        return self.after - self.before


class Difference(Struct, frozen=True):
    """`mean` is the mean of after - before in nDCG@10, `p_value` that of a paired randomization test.

    Requests that need the same tool count as one, in the interval and in the test. `changes` holds every
    request that some tool fits, largest absolute change first, equal ones in data set order.
    """

    mean: Estimate
    changes: tuple[Change, ...]
    p_value: float = 1.0

    @property
    def is_significant(self) -> bool:
        """Whether so large a difference is rare by chance alone."""
        return self.p_value < SIGNIFICANT


def difference(before: Run, after: Run, evalset: EvalSet) -> Difference | None:
    """A paired comparison of two runs, request by request.

    None if no tool fits any request.
    """
    changes = [
        Change(
            case.id,
            case.query,
            ndcg_at(CUT, old.ranked, case.relevant),
            ndcg_at(CUT, new.ranked, case.relevant),
        )
        for (case, old), (_, new) in zip(paired(before, evalset), paired(after, evalset), strict=True)
        if case.is_possible
    ]
    if not changes:
        return None
    grouped = clusters([case for case, _ in paired(before, evalset) if case.is_possible])
    values = [change.value for change in changes]
    ordered = tuple(sorted(changes, key=lambda change: -abs(change.value)))
    return Difference(estimate(values, grouped), ordered, p_value(values, grouped))


class Behind(Struct, frozen=True):
    """A ranker that is behind the best one: by how much in nDCG@10, and the corrected p value."""

    ranker: str
    difference: Difference
    p_value: float

    @property
    def is_worse(self) -> bool:
        """Whether so large a difference is rare by chance alone."""
        return self.p_value < SIGNIFICANT


class Standing(Struct, frozen=True):
    """The ranker with the highest nDCG@10 on a data set; the others in their order."""

    dataset: str
    best: str
    others: tuple[Behind, ...]

    @property
    def tied(self) -> tuple[str, ...]:
        """The others that are not worse by more than chance."""
        return tuple(other.ranker for other in self.others if not other.is_worse)


def standings(measured: Sequence[Measured]) -> tuple[Standing, ...]:
    """The standing on each data set on which two or more rankers were measured completely.

    Each difference from the best has a paired randomization test, request by request and clustered by tool,
    corrected for the number of rankers (Holm).
    """
    complete = [one for one in measured if one.run.is_complete and one.row.summary.ndcg_10 is not None]
    grouped = groupby(complete, lambda one: one.row.dataset)
    return tuple(found for _, group in grouped if (found := _standing(list(group))) is not None)


def _standing(measured: Sequence[Measured]) -> Standing | None:
    if len(measured) < 2:
        return None
    scores = [one.row.summary.ndcg_10 for one in measured]
    best = max(zip(measured, scores, strict=True), key=lambda one: one[1].mean if one[1] else 0.0)[0]
    rest = [
        (one.run.ranker, difference(best.run, one.run, best.evalset)) for one in measured if one is not best
    ]
    behind = [(ranker, found) for ranker, found in rest if found is not None]
    corrected = holm([found.p_value for _, found in behind])
    others = (Behind(ranker, found, p) for (ranker, found), p in zip(behind, corrected, strict=True))
    return Standing(best.row.dataset, best.run.ranker, tuple(others))


class Weak(Struct, frozen=True):
    """A request not served perfectly; `ndcg_10` measures the ranking alone, None if no tool fits."""

    case: EvalCase
    done: CaseRun
    ndcg_10: float | None

    @property
    def is_refused(self) -> bool:
        """Whether some tool fits, but the search returned nothing."""
        return self.case.is_possible and self.done.answer is Answer.NOTHING

    @property
    def value(self) -> float:
        """The value to the user: a refusal, or a tool that is said to fit if none does, is worth 0."""
        return 0.0 if self.is_refused else self.ndcg_10 or 0.0


def weakest(run: Run, evalset: EvalSet) -> tuple[Weak, ...]:
    """The requests that could be served better, worst first, equal ones in data set order."""
    candidates = [
        Weak(case, done, ndcg_at(CUT, done.ranked, case.relevant) if case.is_possible else None)
        for case, done in paired(run, evalset)
        if case.is_possible or done.answer is Answer.FOUND
    ]
    return tuple(sorted((weak for weak in candidates if weak.value < 1), key=lambda weak: weak.value))
