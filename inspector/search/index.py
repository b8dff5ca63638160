"""The index over one catalog: documents, postings and vectors, cheap to update when the catalog changes."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from inspector.core.tool import Tool
from inspector.search.document import (
    FIELDS,
    PASSAGES,
    SUMMARY,
    WORDS,
    Document,
    Key,
    TermCounts,
    Vocabulary,
    key_of,
    line_text,
    opening_text,
    read,
    server_texts,
)
from inspector.search.ports import StaticEmbedder
from inspector.search.predecessor import Predecessor
from inspector.search.semantics import Semantics
from inspector.search.vector_table import ABSENT, Vector, VectorTable, similarities


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


# Below this share of embedded tools rankers use words alone: a mixture would favor the embedded tools.
ENOUGH_EMBEDDED = 0.9
_PASSAGES_OF = attrgetter("passages")
# Of the static vectors, so that several threads can compare them.
_PARTS = 16
# What an index makes on demand and takes over from the one before it.
_TAKEN_OVER = ("postings", "word_postings", "static_vectors")


class ToolIndex:
    """The basis of every ranker over one catalog. Immutable; `updated` returns the next one.

    Only the documents of changed tools are rebuilt. The rest is array work over all documents in catalog
    order, so an index updated a hundred times equals one built from scratch, to the last bit.
    """

    def __init__(
        self,
        tools: Sequence[Tool] = (),
        *,
        summaries: Mapping[str, str] | None = None,
        instructions: Mapping[str, str] | None = None,
        semantics: Semantics | None = None,
        before: "ToolIndex | None" = None,
        lined: bool | None = None,
    ) -> None:
        """`summaries` and `instructions` are the servers' own; without `semantics` there are no vectors.

        A `lined` index has vectors of the tools' summary lines too; by default it has them if `before` does.
        """
        self.tools = tuple(tools)
        self.summaries = dict(summaries or {})
        self.instructions = dict(instructions or {})
        self.semantics = semantics
        self.lined: bool = lined if lined is not None else before is not None and before.lined
        self.vocabulary: Vocabulary = before.vocabulary if before is not None else {}
        self.documents = self._documents(before)
        # What was never used is not built now.
        self._before = _before(before)
        self.static: StaticEmbedder | None = semantics.static if semantics is not None else None
        self.position = {tool.id: position for position, tool in enumerate(self.tools)}
        self.servers = tuple(dict.fromkeys(tool.server for tool in self.tools))
        known: VectorTable | None = before.vectors if before is not None else None
        self.vectors: VectorTable = VectorTable()
        if semantics is not None:
            self.vectors = semantics.table(self.keys(), known)

    def updated(
        self,
        tools: Sequence[Tool],
        summaries: Mapping[str, str] | None = None,
        instructions: Mapping[str, str] | None = None,
        *,
        lined: bool | None = None,
    ) -> "ToolIndex":
        """The index over other tools, reusing everything that is still valid."""
        return ToolIndex(
            tools,
            summaries=self.summaries if summaries is None else summaries,
            instructions=self.instructions if instructions is None else instructions,
            semantics=self.semantics,
            before=self,
            lined=lined,
        )

    def with_new_vectors(self) -> "ToolIndex":
        """The same index with vectors added since."""
        index = copy(self)
        for derived in ("_rows", "_server_rows", "_line_rows", "absent", "coverage"):
            index.__dict__.pop(derived, None)
        if self.semantics is not None:
            index.vectors = self.semantics.table(self.keys(), self.vectors)
        return index

    @cached_property
    def postings(self) -> Postings:
        return Postings([d.terms for d in self.documents], len(FIELDS), self._before.take("postings"))

    @cached_property
    def word_postings(self) -> Postings:
        """The words as written."""
        return Postings([d.words for d in self.documents], len(WORDS), self._before.take("word_postings"))

    @cached_property
    def static_vectors(self) -> NDArray[np.float32]:
        """The static vector of each tool's name and first sentence, one a row; empty without `static`."""
        if self.static is None:
            return np.zeros((len(self.tools), 0), np.float32)
        known: NDArray[np.float32] | None = self._before.take("static_vectors")
        rows = np.full(len(self.tools), ABSENT) if known is None else self._before.rows(self.documents)
        new = np.flatnonzero(rows == ABSENT)
        fresh = self.static.embed([opening_text(self.tools[position]) for position in new])
        vectors = np.zeros((len(self.tools), self.static.dimensions), np.float32)
        if known is not None:
            vectors[rows != ABSENT] = known[rows[rows != ABSENT]]
        vectors[new] = fresh
        return vectors

    @cached_property
    def server_texts(self) -> Mapping[str, str]:
        """The aggregate description of each server."""
        return server_texts(self.tools, self.summaries, self.instructions)

    @cached_property
    def line_texts(self) -> tuple[str, ...]:
        """The summary line of each tool as it is embedded; empty unless the index is lined."""
        return tuple(map(line_text, self.tools)) if self.lined else ()

    def keys(self) -> list[Key]:
        """The keys of all texts to embed, in an order that depends only on the tools."""
        others = (*self.server_texts.values(), *self.line_texts)
        return [*self._passage_keys(), *map(key_of, others)]

    @cached_property
    def coverage(self) -> float:
        """The share of tools whose summary is embedded (0 to 1)."""
        return float(np.mean(self._rows[SUMMARY] != ABSENT)) if self.tools and len(self.vectors) else 0.0

    def _passage_keys(self) -> Iterable[Key]:
        return chain.from_iterable(map(_PASSAGES_OF, self.documents))

    @property
    def is_semantic(self) -> bool:
        """Whether enough tools are embedded to compare cosines."""
        return self.coverage >= ENOUGH_EMBEDDED

    def query_vector(self, query: str) -> Vector | None:
        """The query's unit vector, or None while rankers must use words alone."""
        found = self.query_vectors([query])
        return None if found is None else found[0]

    def small_talk(self, text: str) -> float:
        """How much closer a text is to small talk than to requests, see Semantics; 0 without a model."""
        vector = self.query_vector(text)
        return 0.0 if vector is None or self.semantics is None else self.semantics.small_talk(vector)

    def query_vectors(
        self, queries: Sequence[str], made_of: Mapping[str, Sequence[str]] | None = None
    ) -> list[Vector | None] | None:
        """The vectors of queries, see Semantics.meanings; None while rankers must use words alone."""
        return self.semantics.meanings(queries, made_of) if self.semantics and self.is_semantic else None

    @cached_property
    def absent(self) -> NDArray[np.bool_] | None:
        """Marks the tools whose summary is not embedded yet; None if every passage is."""
        missing = self._rows == ABSENT
        return missing[SUMMARY] if missing.any() else None

    def similarities(self, vector: Vector) -> NDArray[np.float64]:
        """Cosines of shape (passages, tools), NaN for passages not embedded yet."""
        cosines: NDArray[np.float64] = self.similarities_of([vector])[0].astype(np.float64)
        return cosines

    def similarities_of(self, vectors: Sequence[Vector]) -> NDArray[np.float32]:
        """The `similarities` of several vectors, one below the other: the table is read once for all."""
        cosines = self.vectors.similarities(np.stack(vectors)).take(self._rows, axis=1)
        if self.absent is not None:
            cosines[:, self._rows == ABSENT] = np.nan
        return cosines

    def static_similarities(self, query: str) -> NDArray[np.float64] | None:
        """The cosine of each tool's name and first sentence with a query, by static vectors, or None."""
        found = self.static_similarities_of([query])
        return None if found is None else found[0]

    def static_similarities_of(self, queries: Sequence[str]) -> NDArray[np.float64] | None:
        """The `static_similarities` of several queries, one below the other."""
        if self.static is None:
            return None
        parts = np.array_split(self.static_vectors, _PARTS)
        return similarities(parts, self.static.embed(queries)).astype(np.float64)

    def server_similarities(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each of `servers`, NaN for those not embedded yet."""
        return _gather(self.vectors.similarity(vector), self._server_rows)

    def line_similarities(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each tool's summary line in a lined index, NaN for those not embedded yet."""
        return _gather(self.vectors.similarity(vector), self._line_rows)

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        flat = self.vectors.rows(self._passage_keys())
        return flat.reshape(-1, len(PASSAGES)).T.copy()

    @cached_property
    def _server_rows(self) -> NDArray[np.intp]:
        return self.vectors.rows(map(key_of, self.server_texts.values()))

    @cached_property
    def _line_rows(self) -> NDArray[np.intp]:
        return self.vectors.rows(map(key_of, self.line_texts))

    def _documents(self, before: "ToolIndex | None") -> tuple[Document, ...]:
        """The documents of the tools; those of unchanged tools are reused."""
        if before is None:
            return tuple(read(tool, self.vocabulary) for tool in self.tools)
        # Most tools keep their position; only the others are looked up by id.
        same = [old if old.tool is t else None for old, t in zip(before.documents, self.tools, strict=False)]
        same += [None] * (len(self.tools) - len(same))
        return tuple(old or self._document(tool, before) for old, tool in zip(same, self.tools, strict=True))

    def _document(self, tool: Tool, before: "ToolIndex") -> Document:
        position = before.position.get(tool.id)
        if position is not None and before.tools[position] == tool:
            return before.documents[position]
        return read(tool, self.vocabulary)


def _gather(cosines: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.where(rows == ABSENT, np.nan, cosines[rows])


def _before(index: ToolIndex | None) -> Predecessor:
    if index is None:
        return Predecessor({}, (), {})
    made = {name: index.__dict__[name] for name in _TAKEN_OVER if name in index.__dict__}
    return Predecessor(made, index.documents, index.position)
