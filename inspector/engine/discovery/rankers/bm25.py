"""BM25F over tool name, description, parameters and server.

A term's frequency is weighted and normalized by length in each field before it saturates (Robertson,
Zaragoza and Taylor 2004, “Simple BM25 extension to multiple weighted fields”):

    x = sum over fields of  w * tf / (1 - b + b * length / mean length)
    score = sum over terms of  idf * x * (k1 + 1) / (x + k1)

with k1 = 1.5 and b = 0.75 as in rank-bm25. Okapi's own idf, log((N - n + .5) / (n + .5)), is zero or negative
for terms in at least half of the documents, so a catalog of one or two tools would never match; idf =
log(1 + (N - n + .5) / (n + .5)), as in Lucene, stays positive. With one field and weight 1 this is BM25Okapi.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.domain.ranking import Part, Score, Signal
from inspector.engine.discovery.document import FIELDS
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.ranker import Ranking, Scores
from inspector.engine.discovery.term import terms
from inspector.engine.discovery.vocabulary import MAX_QUERY_LENGTH

WEIGHTS: Mapping[Signal, float] = {
    Signal.NAME: 3.0,
    Signal.DESCRIPTION: 1.0,
    Signal.PARAMETERS: 0.3,
    Signal.SERVER: 0.5,
}


@dataclass(frozen=True, slots=True)
class Bm25Settings:
    """`weights` by field. `per_field` normalizes each field by its own length, not the whole document's."""

    weights: Mapping[Signal, float] = field(default_factory=lambda: WEIGHTS)
    k1: float = 1.5
    b: float = 0.75
    per_field: bool = True


class Bm25Ranker:
    """Scores tools by the terms a query shares with their fields."""

    def __init__(self, index: ToolIndex, settings: Bm25Settings | None = None, *, name: str = "bm25") -> None:
        self.name = name
        self._index = index
        self._postings = index.postings
        self._settings = settings or Bm25Settings()
        self._weights = np.array([self._settings.weights[signal] for signal in FIELDS])
        per_occurrence = (self._weights / self._length_norms()).astype(np.float32)
        self._shares = self._postings.frequencies * per_occurrence[self._postings.documents]

    def terms(self, query: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(terms(query[:MAX_QUERY_LENGTH])))

    def idf(self, term: str) -> float:
        """The inverse document frequency of a term; highest for a term that no tool has."""
        n = self._postings.document_frequency(self._term_id(term))
        return float(np.log1p((self._postings.size - n + 0.5) / (n + 0.5)))

    def rank(self, query: str) -> Ranking:
        values = np.zeros(self._postings.size)
        for term in self.terms(query):
            span = self._postings.span(self._term_id(term))
            if span.stop > span.start:
                x = self._shares[span].sum(axis=1, dtype=np.float64)
                values[self._postings.documents[span]] += self._saturated(x) * self.idf(term)
        return Ranking(values, values > 0, lambda position: self._explain(query, position, values))

    def coverage(self, query: str) -> Scores:
        """For each tool, the share of the query's idf that its terms cover (0 to 1)."""
        wanted = {term: self.idf(term) for term in self.terms(query)}
        covered = np.zeros(self._postings.size)
        for term, idf in wanted.items():
            covered[self._postings.documents[self._postings.span(self._term_id(term))]] += idf
        total = sum(wanted.values())
        return covered / total if total else covered

    def _term_id(self, term: str) -> int:
        return self._index.vocabulary.get(term, -1)

    def _saturated(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        k1 = self._settings.k1
        return x * (k1 + 1) / (x + k1)

    def _length_norms(self) -> NDArray[np.float64]:
        """The divisor of each frequency, by document and field."""
        lengths, b = self._postings.lengths, self._settings.b
        if self._settings.per_field:
            relative = lengths / self._postings.mean_lengths
        else:
            whole = lengths @ self._weights
            mean = float(whole.mean()) if len(whole) else 0.0
            relative = np.repeat((whole / (mean or 1.0))[:, None], len(FIELDS), axis=1)
        norms: NDArray[np.float64] = 1 - b + b * relative
        return norms

    def _explain(self, query: str, position: int, values: Scores) -> Score:
        parts = [part for term in self.terms(query) for part in self._parts(term, position)]
        return Score(self._index.tools[position].id, float(values[position]), tuple(parts))

    def _parts(self, term: str, position: int) -> list[Part]:
        """A term's part of the score, split between the fields by weighted frequency."""
        entry = self._postings.entry(self._term_id(term), position)
        if entry is None:
            return []
        shares = self._shares[entry].astype(np.float64)
        x = float(shares.sum())
        if not x:
            # The term is in fields without a weight only.
            return []
        gain = self.idf(term) * float(self._saturated(np.array([x]))[0]) / x
        common = {
            "idf": self.idf(term),
            "df": float(self._postings.document_frequency(self._term_id(term))),
            "N": float(self._postings.size),
        }
        return [
            Part(signal, term, gain * float(shares[column]), common | self._inputs(entry, position, column))
            for column, signal in enumerate(FIELDS)
            if shares[column] > 0
        ]

    def _inputs(self, entry: int, position: int, column: int) -> dict[str, float]:
        return {
            "tf": float(self._postings.frequencies[entry, column]),
            "weight": float(self._weights[column]),
            "length": float(self._postings.lengths[position, column]),
            "mean length": float(self._postings.mean_lengths[column]),
        }
