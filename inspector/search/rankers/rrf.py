"""Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) of BM25F and cosine, a simple baseline."""

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.search.index import ToolIndex
from inspector.search.rankers.bm25 import Bm25Ranker
from inspector.search.rankers.dense import DenseRanker
from inspector.search.rankers.ranker import Ranker, Ranking, Scores

# The paper's constant, which keeps a single first rank from deciding alone.
K = 60


class RrfRanker:
    """Adds up 1 / (60 + rank) over both rankers, for the tools that each of them returns."""

    name = "rrf"

    def __init__(self, index: ToolIndex, lexical: Bm25Ranker) -> None:
        self._index = index
        self._sources: tuple[Ranker, ...] = (lexical, DenseRanker(index, threshold=-1.0))

    def terms(self, query: str) -> tuple[str, ...]:
        return self._sources[0].terms(query)

    def rank(self, query: str) -> Ranking:
        rankings = [source.rank(query) for source in self._sources]
        ranks = [_ranks(ranking) for ranking in rankings]
        values = np.sum([np.where(rank > 0, 1 / (K + rank), 0.0) for rank in ranks], axis=0)
        note = "; ".join(filter(None, (ranking.note for ranking in rankings)))
        return Ranking(values, values > 0, lambda p: self._explain(p, values, ranks), note=note)

    def _explain(self, position: int, values: Scores, ranks: list[Scores]) -> Score:
        parts = tuple(
            Part(
                Signal.FUSION,
                source.name,
                1 / (K + rank[position]),
                {"rank": float(rank[position]), "k": K},
            )
            for source, rank in zip(self._sources, ranks, strict=True)
            if rank[position] > 0
        )
        return Score(self._index.tools[position].id, float(values[position]), parts)


def _ranks(ranking: Ranking) -> Scores:
    """Each tool's rank from 1; 0 for tools that the ranker does not return."""
    order = np.array(ranking.order(), np.intp)
    ranks = np.zeros(len(order))
    ranks[order] = np.arange(1, len(order) + 1)
    return np.where(ranking.kept, ranks, 0.0)
