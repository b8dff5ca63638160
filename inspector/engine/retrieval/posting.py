"""The inverted index: for each term the documents that have it, and how often in each field."""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from inspector.engine.retrieval.document import FIELDS, Document

T = TypeVar("T", bound=np.generic)


class Postings:
    """All documents' terms as parallel arrays, grouped by term, documents rising within a term."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.size = len(documents)
        counts = np.array([len(d.term_ids) for d in documents], np.int64)
        documents_of = np.repeat(np.arange(self.size, dtype=np.int32), counts)
        terms = _joined([d.term_ids for d in documents], np.zeros(0, np.int32))
        frequencies = _joined([d.frequencies for d in documents], np.zeros((0, len(FIELDS)), np.float32))
        order = _grouping(terms)
        self.documents = documents_of[order]
        self.frequencies = frequencies[order]
        lengths = _joined([d.lengths for d in documents], np.zeros(0))
        self.lengths = lengths.reshape(-1, len(FIELDS))
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(terms))])

    @cached_property
    def mean_lengths(self) -> NDArray[np.float64]:
        """Terms a field, on average; 1 for a field that is empty everywhere."""
        if not self.size:
            return np.ones(len(FIELDS))
        means = self.lengths.mean(axis=0)
        return np.where(means > 0, means, 1.0)

    def span(self, term_id: int) -> slice:
        """Where a term's entries stand; empty for a term that no document has."""
        if not 0 <= term_id < len(self._starts) - 1:
            return slice(0, 0)
        return slice(int(self._starts[term_id]), int(self._starts[term_id + 1]))

    def entry(self, term_id: int, document: int) -> int | None:
        """The entry of one document for a term."""
        span = self.span(term_id)
        place = span.start + int(np.searchsorted(self.documents[span], document))
        return place if place < span.stop and self.documents[place] == document else None

    def document_frequency(self, term_id: int) -> int:
        span = self.span(term_id)
        return int(span.stop) - int(span.start)


def _joined(arrays: Sequence[NDArray[T]], empty: NDArray[T]) -> NDArray[T]:
    return np.concatenate(arrays) if arrays else empty


def _grouping(terms: NDArray[np.int32]) -> NDArray[np.intp]:
    """The order that groups by term and keeps documents rising; 16 bits are sorted by radix, much faster."""
    small = int(terms.max(initial=0)) < np.iinfo(np.uint16).max
    return np.argsort(terms.astype(np.uint16) if small else terms, kind="stable")
