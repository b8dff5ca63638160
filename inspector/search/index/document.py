"""A tool as indexed: terms for lexical rankers, passages for semantic ones, and a table of their vectors."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain, repeat
from operator import attrgetter
from threading import RLock

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.core.ranking import Signal
from inspector.core.tool import Tool, summary_line
from inspector.schema.json_value import compact
from inspector.schema.schema import SchemaField, fields
from inspector.search.index.embedded_text import MAX_EMBEDDED, MAX_INDEXED, Key, key_of
from inspector.search.index.vocabulary import spaced, split_words, stem, stems, whole_words, written_words

FIELDS = (Signal.NAME, Signal.DESCRIPTION, Signal.PARAMETERS, Signal.SERVER)
# The words as they are written, stop words too, of name, description and parameters in one.
WORDS = (Signal.WORDS,)
PASSAGES = ("summary", "opening", "description", "parameters")
SUMMARY, OPENING = PASSAGES.index("summary"), PASSAGES.index("opening")
# The passages that describe what a tool does; `parameters` describes what it needs.
TEXTS = slice(0, PASSAGES.index("parameters"))
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")

# What an entry of a posting list counts to: by then a term's score has long saturated.
_MOST = np.iinfo(np.uint8).max

Vector = NDArray[np.float32]
ABSENT = -1
# After so many added documents, and this part of all, the base of the postings is made anew.
_LATE = 32


class Vocabulary(dict[str, int]):
    """The number of each term; a new one gets the next."""

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number


class TermCounts(Struct, frozen=True):
    """How often which terms occur in the fields of one tool.

    `ids` and `frequencies` (one row per term, one column per field) are parallel; `lengths` counts the terms
    in each field.
    """

    ids: NDArray[np.int32]
    frequencies: NDArray[np.uint8]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, fields: Sequence[Sequence[str]], vocabulary: Vocabulary) -> "TermCounts":
        """Count the terms of each field; new ones are added to the vocabulary."""
        counts = [Counter(terms) for terms in fields]
        unique = dict.fromkeys(chain.from_iterable(counts))
        row, width = dict(zip(unique, range(len(unique)), strict=True)), len(counts)
        table = bytearray(len(unique) * width)
        for column, count in enumerate(counts):
            for term, often in count.items():
                table[row[term] * width + column] = often if often < _MOST else _MOST
        return cls(
            np.fromiter(map(vocabulary.__getitem__, unique), np.int32, len(unique)),
            # An array of its own: a reshaped one would keep another behind it, for every tool.
            np.frombuffer(table, np.uint8).reshape(-1, width).copy(),
            tuple(count.total() for count in counts),
        )


class Document(Struct, frozen=True):
    """One tool's index entry, kept as long as the tool does not change.

    `terms` are counted in each of FIELDS, `words` in all texts together (WORDS). `passages` holds the keys of
    its `passage_texts`, in the order of PASSAGES.
    """

    tool: Tool
    terms: TermCounts
    words: TermCounts
    passages: tuple[Key, ...]

    @property
    def size(self) -> int:
        """The size of the definition, in characters."""
        return len(self.tool.description) + len(compact(self.tool.input_schema))


def read(tool: Tool, vocabulary: Vocabulary) -> Document:
    """Build a tool's document. New terms are added to `vocabulary`, which all documents of an index share."""
    known = fields(tool.input_schema)
    prose = tool.description, " ".join(field.description for field in known)
    parameters = " ".join(f"{field.name} {field.description}" for field in known)
    texts = (tool.name, tool.description, parameters, tool.server)
    written = [written_words(text[:MAX_INDEXED]) for text in texts]
    whole = ([], *(whole_words(text[:MAX_INDEXED]) for text in prose), [])
    counted = [(*stems(words), *map(stem, of)) for words, of in zip(written, whole, strict=True)]
    own = chain.from_iterable((*written[: FIELDS.index(Signal.SERVER)], *whole))
    return Document(
        tool,
        TermCounts.of(counted, vocabulary),
        TermCounts.of([tuple(own)], vocabulary),
        tuple(key_of(text) for text in passage_texts(tool, known)),
    )


def passage_texts(tool: Tool, known: Sequence[SchemaField] | None = None) -> tuple[str, ...]:
    """The texts of a tool that are embedded, in the order of PASSAGES.

    The summary has everything a description says; the others let a query match the first sentence, the plain
    description or a parameter. The name replaces a missing description or missing parameters. `known` are
    its parameters, if they were read.
    """
    known = fields(tool.input_schema) if known is None else known
    name = spaced(tool.name) or tool.name
    server = " ".join(split_words(tool.server))
    description = tool.description.strip()[:MAX_EMBEDDED]
    parameters = "; ".join(f"{spaced(field.name)}: {field.description}" for field in known)
    texts = (
        f"{server} {name}: {description}".strip(),
        f"{name}: {_SENTENCE_END.split(description, 1)[0] or name}",
        description or name,
        f"{name} {parameters}" if parameters else name,
    )
    return tuple(text[:MAX_EMBEDDED] for text in texts)


def line_text(tool: Tool) -> str:
    """The tool's line in the summary pool, as it is embedded (Tool Attention, section 4.2)."""
    return summary_line(tool)[:MAX_EMBEDDED]


def server_texts(
    tools: Sequence[Tool], summaries: Mapping[str, str], instructions: Mapping[str, str]
) -> Mapping[str, str]:
    """The text of each server, in the order of their first tools."""
    names: dict[str, list[str]] = {}
    for tool in tools:
        names.setdefault(tool.server, []).append(tool.name)
    return {
        server: _server_text(server, summaries.get(server, ""), own, instructions.get(server, ""))
        for server, own in names.items()
    }


def _server_text(server: str, summary: str, tool_names: Iterable[str], instructions: str) -> str:
    """A server's aggregate capability description (layered composition, layer 3, stage 1)."""
    names = ", ".join(map(spaced, tool_names))
    text = f"{' '.join(split_words(server))}: {summary} {names}"
    return (f"{text} {instructions}" if instructions not in ("", summary) else text)[:MAX_EMBEDDED]


def texts_by_key(tools: Sequence[Tool], *, lined: bool = False) -> Mapping[Key, str]:
    """The passages of the tools, all summaries first: they are embedded first.

    With `lined`, their summary lines follow.
    """
    passages = [passage_texts(tool) for tool in tools]
    ordered = chain.from_iterable(zip(*passages, strict=True)) if passages else ()
    lines = map(line_text, tools) if lined else ()
    return {key_of(text): text for text in (*ordered, *lines)}


class Postings:
    """The terms of all documents as parallel arrays, grouped by term. Immutable.

    Documents have numbers for good: those of a `base` that many versions share, then those added since. A
    version knows the position of each number; a document that is gone has none. So a change copies no
    entries, and searches in other threads go on in the version that they have.
    """

    def __init__(
        self,
        documents: Sequence[Document],
        fields: Sequence[Signal],
        before: "Postings | None" = None,
        kept: NDArray[np.intp] | None = None,
    ) -> None:
        """`fields` are FIELDS or WORDS; `kept` are the positions in `before`, ABSENT for what is new."""
        self.size = len(documents)
        self.width = len(fields)
        self._documents = documents
        self._of: Callable[[Document], TermCounts] = attrgetter("words" if fields == WORDS else "terms")
        if before is None or kept is None:
            self._begin()
            self.lengths = _lengths(self.base.counts, self.width)
        else:
            self._continue(before, kept)
        self._added = _Entries(self.late, self.width)
        self._position = np.full(self.base.size + len(self.late), ABSENT, np.int32)
        self._position[self.numbers] = np.arange(self.size, dtype=np.int32)

    def _begin(self) -> None:
        self.base = _Entries(list(map(self._of, self._documents)), self.width)
        self.numbers, self.late = np.arange(self.size), list[TermCounts]()

    def _continue(self, before: "Postings", kept: NDArray[np.intp]) -> None:
        new = np.flatnonzero(kept == ABSENT)
        added = [self.counts(position) for position in new.tolist()]
        self.base, self.late = before.base, [*before.late, *added]
        last = self.base.size + len(self.late)
        self.numbers = before.numbers.take(kept)
        self.numbers[new] = np.arange(last - len(added), last)
        self.lengths = before.lengths.take(kept, axis=0)
        self.lengths[new] = _lengths(added, self.width)
        gone = last - self.size
        if len(self.late) + gone > _LATE + self.size // _LATE:
            self._begin()

    def counts(self, position: int) -> TermCounts:
        """How often which terms occur in a document."""
        return self._of(self._documents[position])

    @cached_property
    def document_frequencies(self) -> NDArray[np.intp]:
        """How many documents have each term of the vocabulary; a later term has none."""
        gone = np.flatnonzero(self._position == ABSENT).tolist()
        counts = (*self.base.counts, *self.late)
        ids = [np.zeros(0, np.int32), *(counts[number].ids for number in gone)]
        size = max(len(self.base.starts), len(self._added.starts)) - 1
        found = -np.bincount(np.concatenate(ids), minlength=size)
        for entries in (self.base, self._added):
            found[: len(entries.starts) - 1] += np.diff(entries.starts)
        return found

    @cached_property
    def mean_lengths(self) -> NDArray[np.float64]:
        """The mean number of terms per field; 1 for a field that is always empty."""
        if not self.size:
            return np.ones(self.width)
        means = self.lengths.mean(axis=0)
        return np.where(means > 0, means, 1.0)

    def entries(self, term_id: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The positions of the documents that have a term, and how often it is in each of their fields."""
        base, added = self.base.span(term_id), self._added.span(term_id)
        numbers, frequencies = self.base.documents[base], self.base.frequencies[base]
        if added.stop > added.start:
            numbers = np.concatenate([numbers, self._added.documents[added] + np.int32(self.base.size)])
            frequencies = np.concatenate([frequencies, self._added.frequencies[added]])
        positions = self._position[numbers]
        is_here = positions != ABSENT
        return (positions, frequencies) if is_here.all() else (positions[is_here], frequencies[is_here])

    def document_frequency(self, term_id: int) -> int:
        return len(self.entries(term_id)[0])


def _lengths(documents: Sequence[TermCounts], width: int) -> NDArray[np.float64]:
    return np.array([d.lengths for d in documents], np.float64).reshape(-1, width)


class _Entries:
    """The terms of documents, grouped by term."""

    def __init__(self, documents: Sequence[TermCounts], width: int) -> None:
        self.size, self.counts = len(documents), documents
        terms = np.concatenate([np.zeros(0, np.int32), *(d.ids for d in documents)])
        frequencies = np.concatenate([np.zeros((0, width), np.uint8), *(d.frequencies for d in documents)])
        order = _grouping(terms)
        counts = np.array([len(d.ids) for d in documents], np.int64)
        self.documents = np.repeat(np.arange(self.size, dtype=np.int32), counts)[order]
        self.frequencies = frequencies[order]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(terms))])

    def span(self, term_id: int) -> slice:
        """The range of a term's entries; empty for a term that no document has."""
        if not 0 <= term_id < len(self.starts) - 1:
            return slice(0, 0)
        return slice(int(self.starts[term_id]), int(self.starts[term_id + 1]))


def _grouping(terms: NDArray[np.int32]) -> NDArray[np.intp]:
    """The order that groups by term and keeps documents ascending; 16-bit radix sort is much faster."""
    small = int(terms.max(initial=0)) < np.iinfo(np.uint16).max
    return np.argsort(terms.astype(np.uint16) if small else terms, kind="stable")


class VectorTable:
    """An immutable table from keys to unit vectors, of which `extended` makes the next one.

    Versions share a matrix that grows, and each sees its first rows. Only the latest grows it: an older one
    that is extended takes a copy.
    """

    def __init__(self, vectors: Mapping[Key, Vector] | None = None) -> None:
        self._shared = _Matrix()
        self._size = 0
        self._matrix = self._shared.add(0, vectors or {})
        self._size = len(self._shared.rows)

    def extended(self, vectors: Mapping[Key, Vector]) -> "VectorTable":
        """A table with more vectors; the same one if it has them all."""
        new = {key: vector for key, vector in vectors.items() if key not in self}
        if not new:
            return self
        with self._shared.lock:
            if len(self._shared.rows) != self._size:
                return self.only(self._shared.rows, new)
            table = copy(self)
            table._matrix = self._shared.add(self._size, new)
            table._size = len(self._shared.rows)
            return table

    def only(self, keys: Iterable[Key], more: Mapping[Key, Vector] | None = None) -> "VectorTable":
        """A table of its own, of those of the keys that this one has, and of more vectors."""
        own = {key: vector for key in keys if (vector := self.get(key)) is not None}
        return VectorTable(own | dict(more or {}))

    def __len__(self) -> int:
        return self._size

    def __contains__(self, key: Key) -> bool:
        return self._row(key) != ABSENT

    def get(self, key: Key) -> Vector | None:
        row = self._row(key)
        return None if row == ABSENT else self._matrix[row]

    def _row(self, key: Key) -> int:
        row = self._shared.rows.get(key, ABSENT)
        return row if row < self._size else ABSENT

    def rows(self, keys: Iterable[Key]) -> NDArray[np.intp]:
        """The row of each key, or ABSENT."""
        found = np.fromiter(map(self._shared.rows.get, keys, repeat(ABSENT)), np.intp)
        return np.where(found < self._size, found, ABSENT)

    def similarity(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each row with a unit vector."""
        cosines: NDArray[np.float64] = self.similarities(vector[None])[0].astype(np.float64)
        return cosines

    def similarities(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine of each row with unit vectors, of shape (vectors, rows).

        A product of whole matrices would read the table slower, and its last bits depend on its shape.
        """
        cosines: NDArray[np.float32] = np.vecdot(self._matrix[:, None], vectors).T
        return cosines


class _Matrix:
    """Rows of vectors, and room for more: a growing matrix is copied only once an eighth was added."""

    def __init__(self) -> None:
        self.rows: dict[Key, int] = {}
        self.lock = RLock()
        self._all = np.zeros((0, 0), np.float32)

    def add(self, size: int, vectors: Mapping[Key, Vector]) -> NDArray[np.float32]:
        """Put vectors after the first `size` rows; all rows."""
        end = size + len(vectors)
        if vectors and end > len(self._all):
            grown = np.zeros((end + end // 8, len(next(iter(vectors.values())))), np.float32)
            grown[:size] = self._all[:size].reshape(size, grown.shape[1])
            self._all = grown
        for row, (key, vector) in enumerate(vectors.items(), size):
            self._all[row] = vector
            self.rows[key] = row
        return self._all[:end]
