"""The inverted index: for each term, the documents that contain it and its frequency in each field."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inspector.search.document import TermCounts


@dataclass(frozen=True)
class _Rows:
    """The terms of all documents in sequence: count per document, term ids, and frequencies by field."""

    counts: NDArray[np.int64]
    terms: NDArray[np.int32]
    frequencies: NDArray[np.uint8]
    lengths: NDArray[np.float64]

    @classmethod
    def of(cls, documents: Sequence[TermCounts], width: int) -> "_Rows":
        return cls(
            np.array([len(d.ids) for d in documents], np.int64),
            np.concatenate([np.zeros(0, np.int32), *(d.ids for d in documents)]),
            np.concatenate([np.zeros((0, width), np.uint8), *(d.frequencies for d in documents)]),
            np.array([d.lengths for d in documents], np.float64).reshape(-1, width),
        )

    def part(self, start: int, stop: int) -> "_Rows":
        """The rows of the documents from `start` to `stop`."""
        first, last = int(self.counts[:start].sum()), int(self.counts[:stop].sum())
        return _Rows(
            self.counts[start:stop],
            self.terms[first:last],
            self.frequencies[first:last],
            self.lengths[start:stop],
        )

    def joined(self, *others: "_Rows") -> "_Rows":
        rows = (self, *others)
        return _Rows(
            np.concatenate([r.counts for r in rows]),
            np.concatenate([r.terms for r in rows]),
            np.concatenate([r.frequencies for r in rows]),
            np.concatenate([r.lengths for r in rows]),
        )


class Postings:
    """The terms of all documents as parallel arrays, grouped by term, with documents ascending within a term.

    Given the postings `before` a change, only the documents from the first to the last changed one are
    gathered again.
    """

    def __init__(self, documents: Sequence[TermCounts], width: int, before: "Postings | None" = None) -> None:
        """`width` is the number of fields."""
        self.size = len(documents)
        self.width = width
        self._read = tuple(documents)
        self._rows = _Rows.of(documents, width) if before is None else before._changed(self._read)
        order = _grouping(self._rows.terms)
        documents_of = np.repeat(np.arange(self.size, dtype=np.int32), self._rows.counts)
        self.documents = documents_of[order]
        self.frequencies = self._rows.frequencies[order]
        self.lengths = self._rows.lengths
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(self._rows.terms))])

    def _changed(self, documents: tuple[TermCounts, ...]) -> _Rows:
        """The rows of other documents, reusing those before and after the changes."""
        head = _common(self._read, documents)
        tail = _common(self._read[head:][::-1], documents[head:][::-1])
        middle = _Rows.of(documents[head : len(documents) - tail], self.width)
        old = len(self._read)
        return self._rows.part(0, head).joined(middle, self._rows.part(old - tail, old))

    @property
    def nbytes(self) -> int:
        return self.documents.nbytes + self.frequencies.nbytes + self.lengths.nbytes

    @cached_property
    def mean_lengths(self) -> NDArray[np.float64]:
        """The mean number of terms per field; 1 for a field that is always empty."""
        if not self.size:
            return np.ones(self.width)
        means = self.lengths.mean(axis=0)
        return np.where(means > 0, means, 1.0)

    def counts(self, document: int) -> TermCounts:
        """The terms of one document."""
        return self._read[document]

    def span(self, term_id: int) -> slice:
        """The range of a term's entries; empty for a term that no document has."""
        if not 0 <= term_id < len(self._starts) - 1:
            return slice(0, 0)
        return slice(int(self._starts[term_id]), int(self._starts[term_id + 1]))

    def document_frequency(self, term_id: int) -> int:
        span = self.span(term_id)
        return int(span.stop) - int(span.start)


def _common(one: Sequence[TermCounts], other: Sequence[TermCounts]) -> int:
    """The number of leading documents that are the same."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a is not b), min(len(one), len(other)))


def _grouping(terms: NDArray[np.int32]) -> NDArray[np.intp]:
    """The order that groups by term and keeps documents ascending; 16-bit radix sort is much faster."""
    small = int(terms.max(initial=0)) < np.iinfo(np.uint16).max
    return np.argsort(terms.astype(np.uint16) if small else terms, kind="stable")
