"""BM25 over tool name and description, exactly as in PRD section 2.4, for comparison.

Its flaws are kept: texts are split at white space only, so the words in `create_page`, `create-page` and
`createPage` are not found; and idf = log((N - n + .5) / (n + .5)) with rank-bm25's floor is never positive in
a catalog of one or two tools, so nothing is found there.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.search.rankers.ranker import Ranking, Scores

if TYPE_CHECKING:
    from rank_bm25 import BM25Okapi


class PrdBm25Ranker:
    """Unchanged `rank_bm25.BM25Okapi` (k1 = 1.5, b = 0.75, epsilon = 0.25); scores above zero are kept."""

    name = "prd-bm25"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = tuple(tool.id for tool in tools)
        self._names = [Counter(_tokens(tool.name)) for tool in tools]
        documents = [_tokens(f"{tool.name} {tool.description}") for tool in tools]
        self._document_frequency = Counter(token for document in documents for token in set(document))
        self._model = _okapi(documents) if any(documents) else None

    def terms(self, query: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_tokens(query)))

    def rank(self, query: str) -> Ranking:
        by_token = self._scores(Counter(_tokens(query)))
        values = np.zeros(len(self._ids))
        for scores in by_token.values():
            values += scores
        return Ranking(values, values > 0, lambda position: self._score(position, values, by_token))

    def _scores(self, query: Mapping[str, int]) -> dict[str, Scores]:
        """What each query token adds to every tool's score; a repeated token counts repeatedly."""
        if self._model is None:
            return {}
        return {
            token: count * self._model.get_scores([token])
            for token, count in query.items()
            if token in self._model.idf
        }

    def _score(self, position: int, values: Scores, by_token: Mapping[str, Scores]) -> Score:
        parts = tuple(
            part
            for token, scores in by_token.items()
            for part in self._parts(position, token, float(scores[position]))
        )
        return Score(self._ids[position], float(values[position]), parts)

    def _parts(self, position: int, token: str, value: float) -> list[Part]:
        """A token's part of the score, split between name and description by frequency."""
        assert self._model is not None
        frequency = self._model.doc_freqs[position].get(token, 0)
        in_name = self._names[position][token]
        inputs = {
            "tf": float(frequency),
            "idf": float(self._model.idf[token]),
            "df": float(self._document_frequency[token]),
            "N": float(len(self._ids)),
            "length": float(self._model.doc_len[position]),
            "mean length": float(self._model.avgdl),
        }
        shares = ((Signal.NAME, in_name), (Signal.DESCRIPTION, frequency - in_name))
        return [Part(signal, token, value * tf / frequency, inputs) for signal, tf in shares if tf]


def _tokens(text: str) -> list[str]:
    return text.lower().split()


def _okapi(documents: list[list[str]]) -> "BM25Okapi":
    from rank_bm25 import BM25Okapi

    return BM25Okapi(documents)
