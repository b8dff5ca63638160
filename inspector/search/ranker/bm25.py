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
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import Tool
from inspector.search.index.document import FIELDS, WORDS
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import MAX_QUERY_LENGTH, stem, terms, whole_words, written_words
from inspector.search.ranker.ranker import Ranking, Scores

_X = TypeVar("_X", float, NDArray[np.float64])
WEIGHTS: Mapping[Signal, float] = {
    Signal.NAME: 3.0,
    Signal.DESCRIPTION: 1.0,
    Signal.PARAMETERS: 0.3,
    Signal.SERVER: 0.5,
}


class Bm25Settings(Struct, frozen=True):
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
        # Python's numbers: arrays of a few would take most of an explanation's time.
        self._weight_of = self._weights.tolist()
        self._mean_lengths = self._postings.mean_lengths.tolist()
        self._gains: dict[int, Gains] = {}

    def terms(self, query: str) -> tuple[str, ...]:
        query = query[:MAX_QUERY_LENGTH]
        whole = whole_words(query) if self._settings.as_written else map(stem, whole_words(query))
        # A name of several words (`createPage`) is mostly no word of its own.
        return tuple(dict.fromkeys((*self._split(query), *filter(self.knows, whole))))

    def idf(self, term: str) -> float:
        """The inverse document frequency of a term; highest for a term that no tool has."""
        return self._known(term).idf

    def knows(self, term: str) -> bool:
        """Whether any tool has the term."""
        return self._known(term).df > 0

    def rank(self, query: str) -> Ranking:
        return self.ranking(self.asked([query])[0])

    def asked(self, queries: Sequence[str]) -> list["Asked"]:
        """The terms of each query; what several ask for is looked up once."""
        known: dict[str, AskedTerm] = {}
        return [
            tuple(known.get(t) or known.setdefault(t, self._known(t)) for t in self.terms(q)) for q in queries
        ]

    def ranking(self, asked: "Asked") -> Ranking:
        """The score of each tool for a query's terms."""
        values = self._added(asked, lambda term: term.gains.values)

        def explain(position: int) -> Score:
            parts = tuple(self.parts(((term, 1.0) for term in asked), position))
            return Score(self._index.ids[position], float(values[position]), parts)

        return Ranking(values, values > 0, explain)

    def weighted(self, terms: Mapping[str, float]) -> Scores:
        """The score of each tool for terms that count by their weights."""
        known = (self._known(term) for term in terms)
        asked = tuple(replace(one, idf=one.idf * terms[one.term]) for one in known)
        return self._added(asked, lambda term: term.gains.values)

    def coverage(self, query: str) -> Scores:
        """For each tool, the share of the query's idf that its terms cover (0 to 1)."""
        return self.covered(self.asked([query])[0])

    def covered(self, asked: "Asked") -> Scores:
        """The coverage of a query's terms."""
        covered = self._added(asked, lambda term: np.ones(term.df, np.float32))
        total = sum(term.idf for term in asked)
        return covered / total if total else covered

    def _added(self, asked: "Asked", of: Callable[["AskedTerm"], NDArray[np.float32]]) -> Scores:
        """For each tool what the entries of all its terms add, each weighted by the idf of the term."""
        found = [term for term in asked if term.df]
        if not found:
            return np.zeros(self._postings.size)
        documents = np.concatenate([term.gains.positions for term in found])
        idf = np.repeat([term.idf for term in found], [term.df for term in found])
        # It adds in the order of the entries, so each tool's sum is that of its terms one after the other.
        gains = np.concatenate([of(term) for term in found]) * idf
        return np.bincount(documents, gains, self._postings.size).astype(np.float64, copy=False)

    def _known(self, term: str) -> "AskedTerm":
        term_id = self._term_id(term)
        if term_id not in self._gains:
            self._gains[term_id] = self._gains_of(term_id)
        gains = self._gains[term_id]
        df = len(gains.positions)
        return AskedTerm(term, term_id, gains, df, self._idf(df))

    def _idf(self, df: int) -> float:
        return math.log1p((self._postings.size - df + 0.5) / (df + 0.5))

    def _term_id(self, term: str) -> int:
        return self._index.vocabulary.get(term, -1)

    def _gains_of(self, term_id: int) -> "Gains":
        """What a term adds to each tool that has it if its idf is 1."""
        positions, frequencies = self._postings.entries(term_id)
        x = np.zeros(len(positions))
        for column in np.flatnonzero(self._weights).tolist():
            x += frequencies[:, column] * self._per_occurrence[positions, column]
        return Gains(positions, self._saturate(x).astype(np.float32))

    def _saturate(self, x: _X) -> _X:
        """What weighted frequencies add."""
        return x * (self._settings.k1 + 1) / (x + self._settings.k1)

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

    def parts(self, asked: Iterable[tuple["AskedTerm", float]], position: int) -> Iterator[Part]:
        """The parts of a tool's score by term and field, each term's times its scale."""
        own = self._postings.counts(position)
        counts = dict(zip(own.ids.tolist(), own.frequencies.tolist(), strict=True))
        per_occurrence = self._per_occurrence[position].tolist()
        for term, scale in asked:
            if term.id not in counts:
                continue
            counted = counts[term.id]
            weighted = [times * each for times, each in zip(counted, per_occurrence, strict=True)]
            x = sum(weighted)
            # Rounded as it is added. A term that is in fields without a weight only has no part.
            gain = float(np.float32(self._saturate(x))) / x * term.idf if x > 0 else 0.0
            for number, value in enumerate(weighted):
                if not value:
                    continue
                inputs = {
                    "idf": term.idf,
                    "df": float(term.df),
                    "N": float(self._postings.size),
                    "tf": float(counted[number]),
                    "weight": self._weight_of[number],
                    "length": float(own.lengths[number]),
                    "mean length": self._mean_lengths[number],
                }
                yield Part(self._fields[number], term.term, value * gain * scale, inputs)


class Gains(NamedTuple):
    """What a term adds at which positions."""

    positions: NDArray[np.int32]
    values: NDArray[np.float32]


class AskedTerm(Struct, frozen=True):
    """One term of a query: what it adds where, the number of documents that have it, and its idf."""

    term: str
    id: int
    gains: Gains
    df: int
    idf: float


Asked = tuple[AskedTerm, ...]


# BM25 over tool name and description, exactly as in PRD section 2.4, for comparison.
#
# Its flaws are kept: texts are split at white space only, so the words in `create_page`, `create-page` and
# `createPage` are not found; and idf = log((N - n + .5) / (n + .5)) with rank-bm25's floor is never
# positive in a catalog of one or two tools, so nothing is found there.


class PrdBm25Ranker:
    """Unchanged `rank_bm25.BM25Okapi` (k1 = 1.5, b = 0.75, epsilon = 0.25); scores above zero are kept."""

    name = "prd-bm25"

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = tuple(tool.id for tool in tools)
        self._names = [Counter(_tokens(tool.name)) for tool in tools]
        documents = [_tokens(f"{tool.name} {tool.description}") for tool in tools]
        self._document_frequency = Counter(token for document in documents for token in set(document))
        from rank_bm25 import BM25Okapi

        self._model = BM25Okapi(documents) if any(documents) else None

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
