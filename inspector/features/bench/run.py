"""Runs rankers on every request of a data set: rankings, what a search returns of them, latencies."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, get_args

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.number import Share, percentile
from inspector.core.ports import Clock
from inspector.core.ranking import Answer, SearchRequest
from inspector.search.answer.metric import (
    Estimate,
    clusters,
    effective_size,
    estimate,
    hit_at,
    ndcg_at,
    recall_at,
    reciprocal_rank,
    share_estimate,
)
from inspector.search.answer.search import SearchRules, ToolSearch
from inspector.search.index.embedding import BATCH
from inspector.search.index.name_index import NameIndex
from inspector.search.index.semantics import Semantics, StaticEmbedder
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.ranker import Ranker, Ranking


class Prepared(Struct, frozen=True):
    """An index over the tools of a data set, for which `embedded` texts were embedded anew."""

    index: ToolIndex
    embedded: int = 0
    is_complete: bool = True


def prepare(
    evalset: EvalSet,
    semantics: Semantics | None,
    *,
    static: StaticEmbedder | None = None,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    lined: bool = False,
) -> Prepared:
    """Build the index and, with `semantics`, its vectors: stored ones are loaded, the rest embedded.

    Without a model, or with one that could not be loaded, the only vectors are `static` ones. A `lined` index
    has the tools' summary lines too, which the ranker iso needs.

    `cancelled` is checked before each batch and `progress(done, total)` counts texts after it. Raises
    ModelError or StoreError.
    """
    model = semantics if semantics is not None and not semantics.problem else None
    index = ToolIndex(evalset.tools, semantics=semantics, static=static, lined=lined)
    embedded, missing = 0, 0
    if model is not None:
        embedded, missing = _embed(index, model, progress, cancelled)
        index = index.with_new_vectors()
        model.settle(index.vectors)
    return Prepared(index, embedded, is_complete=not missing)


def _embed(
    index: ToolIndex,
    semantics: Semantics,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> tuple[int, int]:
    """Embed missing texts; return how many were embedded, and how many were left if canceled."""
    texts = index.texts()
    known = semantics.recall(list(texts))
    wanted = [key for key in texts if key not in known]
    embedded = 0
    while embedded < len(wanted) and not cancelled():
        batch = wanted[embedded : embedded + BATCH]
        semantics.embed({key: texts[key] for key in batch})
        embedded += len(batch)
        progress(len(texts) - len(wanted) + embedded, len(texts))
    return embedded, len(wanted) - embedded


DEPTH = 10


class CaseRun(Struct, frozen=True):
    """One request's outcome.

    `ranked` holds the first tools that the ranker keeps, best first, whatever the search returns of them, so
    that the ranking and the answer are measured separately. `returned` is what the search returns, in order.
    """

    id: str
    ranked: tuple[str, ...]
    seconds: float
    answer: Answer
    returned: tuple[str, ...] = ()
    probability: float | None = None


class Run(Struct, frozen=True):
    """A ranker's outcomes in the order of the data set's cases; fewer than `total` if canceled.

    `note` says what the ranker had to do without.
    """

    ranker: str
    dataset: str
    cases: tuple[CaseRun, ...]
    total: int
    depth: int = DEPTH
    note: str = ""

    @property
    def is_complete(self) -> bool:
        return len(self.cases) == self.total


def run_bench(
    ranker: Ranker,
    evalset: EvalSet,
    index: ToolIndex,
    *,
    rules: SearchRules,
    clock: Clock,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    depth: int = DEPTH,
) -> Run:
    """Run every request of `evalset` on a ranker built over `index`, which holds its tools in order.

    `cancelled` is checked before each request and `progress(done, total)` is called after it. A query's
    seconds run until its first `depth` tools are known. What is returned is what a search under `rules`
    returns.
    """
    once = _Once(ranker)
    search = ToolSearch(index, NameIndex(index), once, rules, clock)
    total = len(evalset.cases)
    done: list[CaseRun] = []
    for case in evalset.cases:
        if cancelled():
            break
        done.append(_ask(once, search, case, evalset=evalset, clock=clock, depth=depth))
        progress(len(done), total)
    return Run(ranker.name, evalset.name, tuple(done), total, depth)


class _Once:
    """A ranker that a search asks again for the ranking that was measured before it."""

    def __init__(self, ranker: Ranker) -> None:
        self.name = ranker.name
        self.terms = ranker.terms
        self._ranker = ranker
        self._last: tuple[str, Ranking] | None = None

    def rank(self, query: str) -> Ranking:
        if self._last is None or self._last[0] != query:
            self._last = query, self._ranker.rank(query)
        return self._last[1]


def _ask(
    ranker: _Once, search: ToolSearch, case: EvalCase, *, evalset: EvalSet, clock: Clock, depth: int
) -> CaseRun:
    started = clock.monotonic()
    ranking = ranker.rank(case.query)
    first = _first(ranking, depth)
    seconds = clock.monotonic() - started
    tools = evalset.tools
    report = search.run(SearchRequest(case.query), load=False, misses=0).report
    return CaseRun(
        case.id,
        tuple(tools[position].id for position in first),
        seconds,
        report.answer,
        tuple(hit.tool_id for hit in report.results),
        ranking.probability,
    )


def _first(ranking: Ranking, depth: int) -> list[int]:
    """The positions of the best `depth` tools among those kept."""
    positions = np.flatnonzero(ranking.kept)
    among_kept = replace(ranking, values=ranking.values[positions], kept=ranking.kept[positions])
    return [int(positions[index]) for index in among_kept.order(depth)]


CUT = 10
# How many of the returned tools a model sees first.
FIRST = 5

Pairs = Sequence[tuple[EvalCase, CaseRun]]
Measure = Callable[[Sequence[str], tuple[frozenset[str], ...]], float]
# Whether some tool fits a request.
Kind = Literal["possible", "impossible"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Summary(Struct, frozen=True):
    """Means over the requests that some tool fits, the answers that requests get, and latencies.

    Requests that need the same tool are one cluster of the intervals.

    Hit, recall, nDCG and MRR are of the ranking, whatever the answer. `delivered` is the share of what a
    request needs among all that the search returns, `delivered_5` among the first five, and `returned` is how
    many tools that are. The means are None if every request is impossible, the latencies (milliseconds) if
    nothing ran, and `answers` has no kind of which there is no request. MRR looks no deeper than the run.
    """

    possible: int
    impossible: int
    hit_1: Estimate | None
    recall_1: Estimate | None
    recall_5: Estimate | None
    recall_10: Estimate | None
    ndcg_10: Estimate | None
    mrr: Estimate | None
    delivered_5: Estimate | None
    delivered: Estimate | None
    returned: Estimate | None
    answers: Mapping[Kind, Mapping[Answer, Share]]
    p50_ms: float | None
    p95_ms: float | None

    @property
    def cases(self) -> int:
        return self.possible + self.impossible

    def share(self, kind: Kind, answer: Answer) -> Share | None:
        """The share of such requests that get this answer; None without such requests."""
        return self.answers[kind][answer] if kind in self.answers else None


def summarise(run: Run, evalset: EvalSet) -> Summary:
    """Summarize a run over `evalset`, for as many cases as it finished."""
    pairs = paired(run, evalset)
    possible = [(case, done) for case, done in pairs if case.is_possible]
    impossible = [(case, done) for case, done in pairs if not case.is_possible]
    milliseconds = [done.seconds * 1000 for done in run.cases]
    return Summary(
        possible=len(possible),
        impossible=len(impossible),
        hit_1=_hit_1(possible),
        recall_1=_mean(possible, lambda ranked, relevant: recall_at(1, ranked, relevant)),
        recall_5=_mean(possible, lambda ranked, relevant: recall_at(5, ranked, relevant)),
        recall_10=_mean(possible, lambda ranked, relevant: recall_at(10, ranked, relevant)),
        ndcg_10=_mean(possible, lambda ranked, relevant: ndcg_at(CUT, ranked, relevant)),
        mrr=_mean(possible, reciprocal_rank),
        delivered_5=_delivered(possible, FIRST),
        delivered=_delivered(possible, None),
        returned=_estimate(possible, [float(len(done.returned)) for _, done in possible]),
        answers={kind: _answers(of) for kind, of in zip(KINDS, (possible, impossible), strict=True) if of},
        p50_ms=percentile(milliseconds, 0.5) if milliseconds else None,
        p95_ms=percentile(milliseconds, 0.95) if milliseconds else None,
    )


def paired(run: Run, evalset: EvalSet) -> Pairs:
    """Each case that ran, with its outcome."""
    return list(zip(evalset.cases, run.cases, strict=False))


def _mean(pairs: Pairs, measure: Measure) -> Estimate | None:
    return _estimate(pairs, [measure(done.ranked, case.relevant) for case, done in pairs])


def _delivered(pairs: Pairs, most: int | None) -> Estimate | None:
    """The share of what each request needs among the first `most` tools that its search returns."""
    returned = [(case, done.returned[:most]) for case, done in pairs]
    return _estimate(pairs, [recall_at(len(tools), tools, case.relevant) for case, tools in returned])


def _estimate(pairs: Pairs, values: Sequence[float]) -> Estimate | None:
    return estimate(values, clusters([case for case, _ in pairs])) if pairs else None


def _hit_1(pairs: Pairs) -> Estimate | None:
    flags = [hit_at(1, done.ranked, case.relevant) > 0 for case, done in pairs]
    return share_estimate(flags, clusters([case for case, _ in pairs])) if pairs else None


def _answers(pairs: Pairs) -> dict[Answer, Share]:
    """How many requests get each answer; an impossible request is a cluster of its own."""
    groups = clusters([case for case, _ in pairs])
    given = {answer: [done.answer is answer for _, done in pairs] for answer in Answer}
    return {a: Share(sum(flags), len(flags), effective_size(flags, groups)) for a, flags in given.items()}
