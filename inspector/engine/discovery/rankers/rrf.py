"""Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009) of BM25F and cosine: the plain baseline."""

import numpy as np

from inspector.domain.ranking import Part, Score, Signal
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.bm25 import Bm25Ranker
from inspector.engine.discovery.rankers.dense import DenseRanker
from inspector.engine.discovery.rankers.ranker import Ranker, Ranking, Scores

# The constant of the paper: what keeps one first place from deciding alone.
K = 60


class RrfRanker:
    """Adds 1 / (60 + rank) over both rankers, for the tools each of them has a score for."""

    name = "rrf"

    def __init__(self, index: ToolIndex, lexical: Bm25Ranker) -> None:
        self._index = index
        self._sources: tuple[Ranker, ...] = (lexical, DenseRanker(index, threshold=-1.0))

    def terms(self, query: str) -> tuple[str, ...]:
        return self._sources[0].terms(query)

    def rank(self, query: str) -> Ranking:
        rankings = [source.rank(query) for source in self._sources]
        places = [_places(ranking) for ranking in rankings]
        values = np.sum([np.where(place > 0, 1 / (K + place), 0.0) for place in places], axis=0)
        note = "; ".join(filter(None, (ranking.note for ranking in rankings)))
        return Ranking(values, values > 0, lambda p: self._explain(p, values, places), note=note)

    def _explain(self, position: int, values: Scores, places: list[Scores]) -> Score:
        parts = tuple(
            Part(
                Signal.FUSION,
                source.name,
                1 / (K + place[position]),
                {"rank": float(place[position]), "k": K},
            )
            for source, place in zip(self._sources, places, strict=True)
            if place[position] > 0
        )
        return Score(self._index.tools[position].id, float(values[position]), parts)


def _places(ranking: Ranking) -> Scores:
    """Each tool's rank from 1; 0 for those the ranker does not return."""
    order = np.array(ranking.order(), np.intp)
    places = np.zeros(len(order))
    places[order] = np.arange(1, len(order) + 1)
    return np.where(ranking.kept, places, 0.0)
