"""Measures how similar the tools of an index are: by name, by the cosine of their summaries, by words."""

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from inspector.core.ranking import Signal
from inspector.core.text import first_sentence
from inspector.core.tool import Tool
from inspector.search.index.document import FIELDS, MAX_EMBEDDED, SUMMARY
from inspector.search.index.tool_index import ToolIndex, name_key
from inspector.search.index.vocabulary import split_words

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
        numbers = {server: number for number, server in enumerate(self._index.servers)}
        return np.array([numbers[tool.server] for tool in self._index.tools], np.intp)

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

    def shared(self, first: int, second: int) -> tuple[str, ...]:
        """The terms both tools have, highest idf first."""
        both = self.terms(first) & self.terms(second)
        numbers = sorted(both, key=lambda number: (-self.idf(number), self._spelt[number]))
        return tuple(self._spelt[number] for number in numbers)

    def _weight(self, position: int) -> float:
        """The total idf of a tool's terms."""
        if position not in self._weights:
            self._weights[position] = math.fsum(map(self.idf, self.terms(position)))
        return self._weights[position]

    @cached_property
    def _spelt(self) -> dict[int, str]:
        return {number: term for term, number in dict(self._index.vocabulary).items()}


# Without vectors, the weighted Jaccard index of the terms from which two tools count as close.
ALIKE = 0.5
SHARED_TERMS = 8
# Cosines held at once: 32 MB.
_CELLS = 4_000_000
# Without vectors only tools that share a rare term are compared, in at most this many pairs.
_RARE, _RARE_SHARE, _PAIRS = 8, 50, 100_000

_Pair = tuple[int, int]


class Reason(StrEnum):
    """Why two tools are confusable; the first reason that holds."""

    SAME_NAME = "same name on two servers"
    MEANING = "close in meaning"
    WORDS = "the same words"


@dataclass(frozen=True, slots=True)
class Confusable:
    """Two confusable tools in catalog order.

    `closeness` (0 to 1) is the cosine of their summaries, or their weighted Jaccard index if `cosine` is
    None. `shared` holds at most SHARED_TERMS terms that both have, highest idf first.
    """

    first: str
    second: str
    reason: Reason
    closeness: float
    cosine: float | None
    shared: tuple[str, ...]


def confusables(index: ToolIndex, *, limit: int = 50) -> tuple[Confusable, ...]:
    """Pairs of confusable tools, closest first, equally close ones in catalog order.

    If there are more than `limit` pairs, tools with the same name on different servers are chosen first,
    however different they are; then pairs with a cosine of at least CLOSE, or without vectors a Jaccard index
    of at least ALIKE.
    """
    limit = max(limit, 0)
    closeness = Closeness(index)
    pairs = _by_meaning(closeness, limit) if index.is_semantic else _by_words(index, closeness, limit)
    named, others = pairs
    chosen = [*((pair, True) for pair in named), *((pair, False) for pair in others)][:limit]
    entries = [(pair, _confusable(index, closeness, pair, same)) for pair, same in chosen]
    ordered = sorted(entries, key=lambda entry: (-entry[1].closeness, entry[0]))
    return tuple(confusable for _, confusable in ordered)


def own_words(tool: Tool) -> str:
    """The first sentence of a tool's description, or the words of its name without one."""
    sentence = first_sentence(tool.description.strip()[:MAX_EMBEDDED])
    return sentence or " ".join(split_words(tool.name)) or tool.name


def _confusable(index: ToolIndex, closeness: Closeness, pair: _Pair, same_name: bool) -> Confusable:
    first, second = pair
    cosine = float(closeness.cosines(slice(first, first + 1), slice(second, second + 1))[0, 0])
    known = not np.isnan(cosine)
    reason = Reason.SAME_NAME if same_name else Reason.MEANING if known else Reason.WORDS
    return Confusable(
        first=index.ids[first],
        second=index.ids[second],
        reason=reason,
        closeness=min(max(cosine, 0.0), 1.0) if known else closeness.jaccard(first, second),
        cosine=cosine if known else None,
        shared=closeness.shared(first, second)[:SHARED_TERMS],
    )


def _by_meaning(closeness: Closeness, limit: int) -> tuple[list[_Pair], list[_Pair]]:
    """The closest `limit` pairs with the same name, and of the others, by blocks of the upper triangle."""
    size = len(closeness.names)
    height = max(1, _CELLS // max(size, 1))
    named, others = _Closest(limit), _Closest(limit)
    for start in range(0, size, height):
        rows, columns = slice(start, start + height), slice(start, size)
        cosines = np.nan_to_num(closeness.cosines(rows, columns), nan=0.0).clip(0.0, 1.0)
        later = np.arange(cosines.shape[1])[None, :] > np.arange(cosines.shape[0])[:, None]
        same = closeness.same_name(rows, columns)
        named.add(cosines, later & same, start)
        others.add(cosines, later & ~same & (cosines >= CLOSE), start)
    return named.pairs(), others.pairs()


class _Closest:
    """Keeps the closest pairs of those added; equally close ones by position."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: NDArray[np.float64] = np.zeros(0)
        self._positions: NDArray[np.intp] = np.zeros((0, 2), np.intp)

    def add(self, values: NDArray[np.float64], wanted: NDArray[np.bool_], start: int) -> None:
        """Add a block of pairs whose first row and column are both `start`."""
        positions = np.argwhere(wanted) + start
        self._values = np.concatenate([self._values, values[wanted]])
        self._positions = np.concatenate([self._positions, positions])
        best = self._best()
        self._values, self._positions = self._values[best], self._positions[best]

    def pairs(self) -> list[_Pair]:
        return [(int(first), int(second)) for first, second in self._positions]

    def _best(self) -> NDArray[np.intp]:
        values, limit = self._values, self._limit
        candidates = np.arange(len(values))
        if 0 < limit < len(values):
            # Of a million equally close pairs only the first few are considered.
            last = np.partition(values, -limit)[-limit]
            ties = np.flatnonzero(values == last)[:limit]
            candidates = np.sort(np.concatenate([np.flatnonzero(values > last), ties]))
        return candidates[np.argsort(-values[candidates], kind="stable")][:limit]


def _by_words(index: ToolIndex, closeness: Closeness, limit: int) -> tuple[list[_Pair], list[_Pair]]:
    """The closest `limit` pairs with the same name, and of others with a rare term in common, by Jaccard."""
    named = set(islice(_same_names(closeness), _PAIRS))
    others = set(islice(_sharing_a_rare_term(index), _PAIRS)) - named
    measured = {pair: closeness.jaccard(*pair) for pair in (*named, *others)}

    def closest(pairs: set[_Pair]) -> list[_Pair]:
        return sorted(pairs, key=lambda pair: (-measured[pair], pair))[:limit]

    return closest(named), closest({pair for pair in others if measured[pair] >= ALIKE})


def _same_names(closeness: Closeness) -> Iterator[_Pair]:
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for position, name in enumerate(closeness.names.tolist()):
        groups[name].append(position)
    servers = closeness.servers
    for group in groups.values():
        yield from (pair for pair in combinations(group, 2) if servers[pair[0]] != servers[pair[1]])


def _sharing_a_rare_term(index: ToolIndex) -> Iterator[_Pair]:
    """Pairs of tools that share a rare term, rarest terms first; a pair repeats for each such term."""
    postings = index.postings
    most = max(_RARE, len(index.tools) // _RARE_SHARE)
    spans = [postings.span(number) for number in index.vocabulary.values()]
    rare = [span for span in spans if 2 <= span.stop - span.start <= most]
    for span in sorted(rare, key=lambda span: (span.stop - span.start, span.start)):
        yield from combinations(postings.documents[span].tolist(), 2)
