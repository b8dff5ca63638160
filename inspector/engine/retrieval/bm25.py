"""BM25 over tool name and description (PRD section 2.4), with its tokenizer and idf repaired.

The formula is Okapi BM25 as rank-bm25 computes it (k1 = 1.5, b = 0.75). Its idf,
log((N - n + .5) / (n + .5)), is zero or negative for terms in half of the documents or more, so one or two
tools are never found; idf = log(1 + (N - n + .5) / (n + .5)) (as in Lucene) stays positive.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from inspector.domain.ranking import Part, Score, Signal
from inspector.domain.tool import Tool
from inspector.engine.retrieval.term import terms

if TYPE_CHECKING:
    from rank_bm25 import BM25Okapi


class Bm25Ranker:
    """Scores tools by the terms a query shares with their names and descriptions."""

    name = "bm25"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = tuple(tool.id for tool in tools)
        self._names = [Counter(terms(tool.name)) for tool in tools]
        self._descriptions = [Counter(terms(tool.description)) for tool in tools]
        documents = [list((a + b).elements()) for a, b in zip(self._names, self._descriptions, strict=True)]
        self._document_frequency = Counter(term for document in documents for term in set(document))
        self._model = _okapi(documents) if any(documents) else None

    def terms(self, query: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(terms(query)))

    def rank(self, query: str) -> tuple[Score, ...]:
        by_term = {term: self._term_scores(term) for term in self.terms(query)}
        return tuple(self._score(index, by_term) for index in range(len(self._ids)))

    def _term_scores(self, term: str) -> Sequence[float]:
        if self._model is None or term not in self._model.idf:
            return ()
        scores: Sequence[float] = self._model.get_scores([term]).tolist()
        return scores

    def _score(self, index: int, by_term: Mapping[str, Sequence[float]]) -> Score:
        parts = tuple(
            part
            for term, scores in by_term.items()
            if scores and scores[index] > 0
            for part in self._parts(index, term, scores[index])
        )
        return Score(self._ids[index], math.fsum(part.value for part in parts), parts)

    def _parts(self, index: int, term: str, value: float) -> list[Part]:
        """A term's share, split between name and description by how often it occurs in each."""
        assert self._model is not None
        in_name, in_description = self._names[index][term], self._descriptions[index][term]
        inputs = {
            "tf": float(in_name + in_description),
            "idf": float(self._model.idf[term]),
            "df": float(self._document_frequency[term]),
            "N": float(len(self._ids)),
            "length": float(self._model.doc_len[index]),
            "mean length": float(self._model.avgdl),
        }
        shares = ((Signal.NAME, in_name), (Signal.DESCRIPTION, in_description))
        total = in_name + in_description
        return [Part(signal, term, value * tf / total, inputs) for signal, tf in shares if tf]


def _okapi(documents: list[list[str]]) -> "BM25Okapi":
    from rank_bm25 import BM25Okapi

    class PositiveIdf(BM25Okapi):  # type: ignore[misc]
        def _calc_idf(self, nd: Mapping[str, int]) -> None:
            self.idf = {
                term: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for term, n in nd.items()
            }

    return PositiveIdf(documents)
