"""Measures how similar the tools of an index are: by name, by the cosine of their summaries, by words."""

import math
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inspector.core.ranking import Signal
from inspector.search.index.document import FIELDS, SUMMARY
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import name_key

# Summaries with at least this cosine are close in meaning.
CLOSE = 0.8
# The last bits of float32 products depend on the shape of the matrices; this many digits do not.
DIGITS = 6
_OWN_FIELDS = [column for column, signal in enumerate(FIELDS) if signal is not Signal.SERVER]


class Closeness:
    """Similarities within one index. Cosines are NaN if a summary is not embedded or too few are."""

    def __init__(self, index: ToolIndex) -> None:
        self._index = index
        self._terms: dict[int, frozenset[int]] = {}
        self._idf: dict[int, float] = {}
        self._weights: dict[int, float] = {}

    @cached_property
    def names(self) -> NDArray[np.intp]:
        """A number for each tool, equal for tools with the same name, ignoring case and separators."""
        numbers: dict[str, int] = {}
        keys = (name_key(tool.name) or tool.name for tool in self._index.tools)
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.intp)

    @cached_property
    def servers(self) -> NDArray[np.intp]:
        """The number of each tool's server."""
        return self._index.server_of

    @cached_property
    def summaries(self) -> NDArray[np.float32]:
        """Unit vectors of shape (tools, dimension), NaN if absent; no columns if there are only words."""
        tools = len(self._index.tools)
        if not self._index.is_semantic:
            return np.zeros((tools, 0), np.float32)
        vectors = [self._index.vectors.get(document.passages[SUMMARY]) for document in self._index.documents]
        dimension = next(len(vector) for vector in vectors if vector is not None)
        absent = np.full(dimension, np.nan, np.float32)
        return np.stack([absent if vector is None else vector for vector in vectors])

    def cosines(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        """The cosines between two ranges of tools, of shape (rows, columns)."""
        if not self.summaries.shape[1]:
            return np.full((len(self.names[rows]), len(self.names[columns])), np.nan)
        product: NDArray[np.float32] = self.summaries[rows] @ self.summaries[columns].T
        return product.astype(np.float64).round(DIGITS)

    def same_name(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        """Whether tools on different servers have the same name, of shape (rows, columns)."""
        one_name: NDArray[np.bool_] = self.names[rows, None] == self.names[None, columns]
        one_server: NDArray[np.bool_] = self.servers[rows, None] == self.servers[None, columns]
        return one_name & ~one_server

    def collisions(self, position: int) -> int:
        """The number of tools that are close in meaning to this one, or have its name on another server."""
        row, every = slice(position, position + 1), slice(None)
        colliding = ((self.cosines(row, every) >= CLOSE) | self.same_name(row, every))[0]
        return int(np.count_nonzero(colliding)) - int(colliding[position])

    def terms(self, position: int) -> frozenset[int]:
        """The term ids in a tool's own fields, without the server name, which all its tools share."""
        if position not in self._terms:
            document = self._index.documents[position]
            own = document.terms.frequencies[:, _OWN_FIELDS].any(axis=1)
            self._terms[position] = frozenset(document.terms.ids[own].tolist())
        return self._terms[position]

    def idf(self, term_id: int) -> float:
        """The inverse document frequency of a term, as in BM25F: log(1 + (N - n + .5) / (n + .5))."""
        if term_id not in self._idf:
            n = self._index.postings.document_frequency(term_id)
            self._idf[term_id] = math.log1p((len(self._index.tools) - n + 0.5) / (n + 0.5))
        return self._idf[term_id]

    def jaccard(self, first: int, second: int) -> float:
        """The idf of the terms both tools have, divided by the idf of those either has (Ružička 1958)."""
        both = math.fsum(map(self.idf, self.terms(first) & self.terms(second)))
        either = self._weight(first) + self._weight(second) - both
        return round(both / either, DIGITS) if either else 0.0

    def _weight(self, position: int) -> float:
        """The total idf of a tool's terms."""
        if position not in self._weights:
            self._weights[position] = math.fsum(map(self.idf, self.terms(position)))
        return self._weights[position]
