"""Runs rankers on every request of a data set: rankings, what a search returns of them, latencies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.ports import Clock
from inspector.core.ranking import Answer, SearchRequest
from inspector.search.document import Key, key_of, texts_by_key
from inspector.search.embedding import BATCH
from inspector.search.index import NameIndex, ToolIndex
from inspector.search.rankers.ranker import Ranker, Ranking
from inspector.search.rules import SearchRules
from inspector.search.search import ToolSearch
from inspector.search.semantics import Semantics

_START = 8


@dataclass(frozen=True, slots=True)
class Prepared:
    """An index over the tools of a data set.

    `seconds` is the time to build it, including embedding the `embedded` texts whose vectors were not stored,
    but not loading the model. `bytes` is the size of its arrays: documents, postings and vectors, without the
    model. If canceled, vectors are missing.
    """

    index: ToolIndex
    seconds: float
    bytes: int
    embedded: int = 0
    is_complete: bool = True


def prepare(
    evalset: EvalSet,
    semantics: Semantics | None,
    *,
    clock: Clock,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
    lined: bool = False,
) -> Prepared:
    """Build the index and, with `semantics`, its vectors: stored ones are loaded, the rest embedded.

    A `lined` index has the tools' summary lines too, which the ranker iso needs.

    `cancelled` is checked before each batch and `progress(done, total)` counts texts after it. Raises
    ModelError or StoreError.
    """
    if semantics is not None and evalset.tools:
        # Loads the model, which is not part of building an index.
        semantics.query("warm up")
    started = clock.monotonic()
    index = ToolIndex(evalset.tools, semantics=semantics, lined=lined)
    embedded, missing = 0, 0
    if semantics is not None:
        embedded, missing = _embed(index, semantics, progress, cancelled)
        index = index.with_new_vectors()
        semantics.settle(index.vectors)
    size = _bytes(index)
    return Prepared(index, clock.monotonic() - started, size, embedded, is_complete=not missing)


def _embed(
    index: ToolIndex,
    semantics: Semantics,
    progress: Callable[[int, int], None],
    cancelled: Callable[[], bool],
) -> tuple[int, int]:
    """Embed missing texts; return how many were embedded, and how many were left if canceled."""
    texts = _texts(index)
    known = semantics.recall(list(texts))
    wanted = [key for key in texts if key not in known]
    embedded = 0
    while embedded < len(wanted) and not cancelled():
        batch = wanted[embedded : embedded + BATCH]
        semantics.embed({key: texts[key] for key in batch})
        embedded += len(batch)
        progress(len(texts) - len(wanted) + embedded, len(texts))
    return embedded, len(wanted) - embedded


def _texts(index: ToolIndex) -> Mapping[Key, str]:
    servers = {key_of(text): text for text in index.server_texts.values()}
    return {**texts_by_key(index.tools, lined=index.lined), **servers}


def _bytes(index: ToolIndex) -> int:
    """The size of all arrays, including one start position per term in the postings."""
    documents = sum(d.terms.nbytes + d.words.nbytes for d in index.documents)
    entries = index.postings.nbytes + index.word_postings.nbytes
    vectors = index.vectors.bytes + index.static_vectors.nbytes
    return documents + entries + 2 * (len(index.vocabulary) + 1) * _START + vectors


DEPTH = 10


@dataclass(frozen=True, slots=True)
class CaseRun:
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


@dataclass(frozen=True, slots=True)
class Run:
    """A ranker's outcomes in the order of the data set's cases; fewer than `total` if canceled."""

    ranker: str
    dataset: str
    cases: tuple[CaseRun, ...]
    total: int
    depth: int = DEPTH

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
    returns. Raises ValueError if the ranker has a different number of tools.
    """
    once = _Once(ranker)
    search = ToolSearch(index, NameIndex(evalset.tools), once, rules, clock)
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
    if len(ranking.values) != len(tools):
        raise ValueError(
            f"{ranker.name} ranks {len(ranking.values)} tools, but the data set has {len(tools)}"
        )
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
