"""BM25F over tool name, description, parameters and server.

A term's frequency is weighted and normalized by length in each field before it saturates (Robertson,
Zaragoza and Taylor 2004, “Simple BM25 extension to multiple weighted fields”):

    x = sum over fields of  w * tf / (1 - b + b * length / mean length)
    score = sum over terms of  idf * x * (k1 + 1) / (x + k1)

with k1 = 1.5 and b = 0.75 as in rank-bm25. Okapi's own idf, log((N - n + .5) / (n + .5)), is zero or negative
for terms in at least half of the documents, so a catalog of one or two tools would never match; idf =
log(1 + (N - n + .5) / (n + .5)), as in Lucene, stays positive. With one field and weight 1 this is BM25Okapi.

AS_WRITTEN searches a second posting list: the words of all texts in one, as they are written, with stop
words. Stems merge what a short query tells apart (“list”, “listing”); stop words make phrases (“turn off”).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inspector.domain.ranking import Part, Score, Signal
from inspector.engine.discovery.document import FIELDS, WORDS
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.ranker import Ranking, Scores
from inspector.engine.discovery.term import terms, written_words
from inspector.engine.discovery.vocabulary import MAX_QUERY_LENGTH

WEIGHTS: Mapping[Signal, float] = {
    Signal.NAME: 3.0,
    Signal.DESCRIPTION: 1.0,
    Signal.PARAMETERS: 0.3,
    Signal.SERVER: 0.5,
}


@dataclass(frozen=True, slots=True)
class Bm25Settings:
    """`weights` by field. `per_field` normalizes each field by its own length, not the whole document's.

    `as_written` compares whole words, stop words too, instead of stems.
    """

    weights: Mapping[Signal, float] = field(default_factory=lambda: WEIGHTS)
    k1: float = 1.5
    b: float = 0.75
    per_field: bool = True
    as_written: bool = False


# With b below .75 a long description loses less: it holds more words only by chance.
AS_WRITTEN = Bm25Settings({Signal.WORDS: 1.0}, b=0.4, as_written=True)


class Bm25Ranker:
    """Scores tools by the terms a query shares with their fields."""

    def __init__(self, index: ToolIndex, settings: Bm25Settings | None = None, *, name: str = "bm25") -> None:
        self.name = name
        self._index = index
        self._settings = settings or Bm25Settings()
        self._postings = index.word_postings if self._settings.as_written else index.postings
        self._fields = WORDS if self._settings.as_written else FIELDS
        self._split = written_words if self._settings.as_written else terms
        self._weights = np.array([self._settings.weights[signal] for signal in self._fields])
        self._per_occurrence = self._weights / self._length_norms()
        self._saturated = self._saturation()

    def terms(self, query: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._split(query[:MAX_QUERY_LENGTH])))

    def idf(self, term: str) -> float:
        """The inverse document frequency of a term; highest for a term that no tool has."""
        return self._idf(self._postings.document_frequency(self._term_id(term)))

    def rank(self, query: str) -> Ranking:
        values = np.zeros(self._postings.size)
        asked = self._asked(query)
        for term in asked:
            if term.df:
                gains = np.multiply(self._saturated[term.span], term.idf, dtype=np.float64)
                values[term.documents] += gains
        return Ranking(values, values > 0, lambda position: self._explain(asked, position, values))

    def coverage(self, query: str) -> Scores:
        """For each tool, the share of the query's idf that its terms cover (0 to 1)."""
        asked = self._asked(query)
        covered = np.zeros(self._postings.size)
        for term in asked:
            covered[term.documents] += term.idf
        total = sum(term.idf for term in asked)
        return covered / total if total else covered

    def _asked(self, query: str) -> list["_Asked"]:
        found = []
        for term in self.terms(query):
            term_id = self._term_id(term)
            span = self._postings.span(term_id)
            documents = self._postings.documents[span]
            found.append(_Asked(term, term_id, span, documents, self._idf(len(documents))))
        return found

    def _idf(self, df: int) -> float:
        return math.log1p((self._postings.size - df + 0.5) / (df + 0.5))

    def _term_id(self, term: str) -> int:
        return self._index.vocabulary.get(term, -1)

    def _saturation(self) -> NDArray[np.float32]:
        """What each entry of the postings adds for a term whose idf is 1."""
        documents, frequencies = self._postings.documents, self._postings.frequencies
        # Field by field: all at once would need the entries' memory five times.
        x = np.zeros(len(documents))
        for column in np.flatnonzero(self._weights):
            x += frequencies[:, column] * self._per_occurrence[documents, column]
        return self._saturate(x)

    def _saturate(self, x: NDArray[np.float64]) -> NDArray[np.float32]:
        """What weighted frequencies add, as rounded as they are added."""
        return (x * (self._settings.k1 + 1) / (x + self._settings.k1)).astype(np.float32)

    def _length_norms(self) -> NDArray[np.float64]:
        """The divisor of each frequency, by document and field."""
        lengths, b = self._postings.lengths, self._settings.b
        if self._settings.per_field:
            relative = lengths / self._postings.mean_lengths
        else:
            whole = lengths @ self._weights
            mean = float(whole.mean()) if len(whole) else 0.0
            relative = np.repeat((whole / (mean or 1.0))[:, None], len(self._fields), axis=1)
        norms: NDArray[np.float64] = 1 - b + b * relative
        return norms

    def _explain(self, asked: Sequence["_Asked"], position: int, values: Scores) -> Score:
        """The parts of each term, split between the fields by weighted frequency."""
        counts = self._postings.counts(position)
        row_of = {term_id: row for row, term_id in enumerate(counts.ids.tolist())}
        found = [(term, row_of[term.id]) for term in asked if term.id in row_of]
        frequencies = counts.frequencies[[row for _term, row in found]]
        weighted = frequencies * self._per_occurrence[position]
        x = sum(weighted.T, start=np.zeros(len(found)))
        # A term that is in fields without a weight only has no part.
        gains = np.divide(self._saturate(x), x, out=np.zeros(len(x)), where=x > 0)
        shares = weighted * (gains * [term.idf for term, _row in found])[:, None]
        fields = self._field_inputs(position)
        parts = []
        rows = zip(found, frequencies.tolist(), shares.tolist(), strict=True)
        for (term, _row), counted, added in rows:
            common = {"idf": term.idf, "df": float(term.df), "N": float(self._postings.size)}
            parts += [
                Part(signal, term.term, value, {**common, "tf": float(tf), **inputs})
                for signal, tf, value, inputs in zip(self._fields, counted, added, fields, strict=True)
                if value > 0
            ]
        return Score(self._index.tools[position].id, float(values[position]), tuple(parts))

    def _field_inputs(self, position: int) -> list[dict[str, float]]:
        """What is the same for all terms in each field of a document."""
        lengths, means = self._postings.lengths[position].tolist(), self._postings.mean_lengths.tolist()
        return [
            {"weight": weight, "length": length, "mean length": mean}
            for weight, length, mean in zip(self._weights.tolist(), lengths, means, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One term of a query: where its entries are, and the documents that have it, ascending."""

    term: str
    id: int
    span: slice
    documents: NDArray[np.int32]
    idf: float

    @property
    def df(self) -> int:
        return len(self.documents)
