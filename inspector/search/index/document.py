"""A tool as indexed: terms for lexical rankers, passages for semantic ones, and a table of their vectors."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import chain, repeat

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.core.ranking import Signal
from inspector.core.tool import Tool, summary_line
from inspector.schema.json_value import compact
from inspector.schema.schema import fields
from inspector.search.index.vocabulary import spaced, split_words, stem, terms, whole_words, written_words

FIELDS = (Signal.NAME, Signal.DESCRIPTION, Signal.PARAMETERS, Signal.SERVER)
# The words as they are written, stop words too, of name, description and parameters in one.
WORDS = (Signal.WORDS,)
PASSAGES = ("summary", "opening", "description", "parameters")
SUMMARY, OPENING = PASSAGES.index("summary"), PASSAGES.index("opening")
# The passages that describe what a tool does; `parameters` describes what it needs.
TEXTS = slice(0, PASSAGES.index("parameters"))
# Caps the cost of indexing: a megabyte of description would otherwise take a second.
MAX_INDEXED = 20_000
# The encoder reads 256 tokens, which hold fewer characters than this.
MAX_EMBEDDED = 2_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")

# What an entry of a posting list counts to: by then a term's score has long saturated.
_MOST = np.iinfo(np.uint8).max

Key = bytes
Vocabulary = dict[str, int]


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
        unique = tuple(dict.fromkeys(chain.from_iterable(counts)))
        rows = [[min(count[term], _MOST) for count in counts] for term in unique]
        return cls(
            np.fromiter((vocabulary.setdefault(t, len(vocabulary)) for t in unique), np.int32, len(unique)),
            # An array of its own: a reshaped one would keep another behind it, for every tool.
            np.array(rows, np.uint8) if rows else np.zeros((0, len(fields)), np.uint8),
            tuple(count.total() for count in counts),
        )


class Document(Struct, frozen=True):
    """One tool's index entry, kept as long as the tool does not change.

    `terms` are counted in each of FIELDS, `words` in all texts together (WORDS). `passages` holds the keys of
    its `passage_texts`, in the order of PASSAGES. `size` is that of the definition, in characters.
    """

    tool: Tool
    terms: TermCounts
    words: TermCounts
    passages: tuple[Key, ...]
    size: int


def read(tool: Tool, vocabulary: Vocabulary) -> Document:
    """Build a tool's document. New terms are added to `vocabulary`, which all documents of an index share."""
    texts = [text[:MAX_INDEXED] for text in _field_texts(tool)]
    whole = [whole_words(prose[:MAX_INDEXED]) for prose in _prose(tool)]
    counted = [(*terms(text), *map(stem, words)) for text, words in zip(texts, whole, strict=True)]
    own = [word for text in texts[: FIELDS.index(Signal.SERVER)] for word in written_words(text)]
    return Document(
        tool,
        TermCounts.of(counted, vocabulary),
        TermCounts.of([[*own, *chain.from_iterable(whole)]], vocabulary),
        tuple(key_of(text) for text in passage_texts(tool)),
        len(tool.description) + len(compact(tool.input_schema)),
    )


def _field_texts(tool: Tool) -> tuple[str, ...]:
    """One text per field, in the order of FIELDS."""
    parameters = " ".join(f"{field.name} {field.description}" for field in fields(tool.input_schema))
    return tool.name, tool.description, parameters, tool.server


def _prose(tool: Tool) -> tuple[str, ...]:
    """What of each of FIELDS is prose, and no identifier."""
    return "", tool.description, " ".join(field.description for field in fields(tool.input_schema)), ""


def passage_texts(tool: Tool) -> tuple[str, ...]:
    """The texts of a tool that are embedded, in the order of PASSAGES.

    The summary has everything a description says; the others let a query match the first sentence, the plain
    description or a parameter. The name replaces a missing description or missing parameters.
    """
    name = spaced(tool.name) or tool.name
    server = " ".join(split_words(tool.server))
    description = tool.description.strip()[:MAX_EMBEDDED]
    parameters = "; ".join(
        f"{spaced(field.name)}: {field.description}" for field in fields(tool.input_schema)
    )
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


def key_of(text: str) -> Key:
    """The content hash under which a vector is stored."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def texts_by_key(tools: Sequence[Tool], *, lined: bool = False) -> Mapping[Key, str]:
    """The passages of the tools, all summaries first: they are embedded first.

    With `lined`, their summary lines follow.
    """
    passages = [passage_texts(tool) for tool in tools]
    ordered = chain.from_iterable(zip(*passages, strict=True)) if passages else ()
    lines = map(line_text, tools) if lined else ()
    return {key_of(text): text for text in (*ordered, *lines)}


class Postings:
    """The terms of all documents as parallel arrays, grouped by term, documents ascending within a term."""

    def __init__(self, documents: Sequence[TermCounts], width: int) -> None:
        """`width` is the number of fields."""
        self.size = len(documents)
        self.width = width
        self.counts = tuple(documents)
        terms = np.concatenate([np.zeros(0, np.int32), *(d.ids for d in documents)])
        frequencies = np.concatenate([np.zeros((0, width), np.uint8), *(d.frequencies for d in documents)])
        order = _grouping(terms)
        counts = np.array([len(d.ids) for d in documents], np.int64)
        self.documents = np.repeat(np.arange(self.size, dtype=np.int32), counts)[order]
        self.frequencies = frequencies[order]
        self.lengths = np.array([d.lengths for d in documents], np.float64).reshape(-1, width)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(terms))])

    @cached_property
    def mean_lengths(self) -> NDArray[np.float64]:
        """The mean number of terms per field; 1 for a field that is always empty."""
        if not self.size:
            return np.ones(self.width)
        means = self.lengths.mean(axis=0)
        return np.where(means > 0, means, 1.0)

    def span(self, term_id: int) -> slice:
        """The range of a term's entries; empty for a term that no document has."""
        if not 0 <= term_id < len(self._starts) - 1:
            return slice(0, 0)
        return slice(int(self._starts[term_id]), int(self._starts[term_id + 1]))

    def document_frequency(self, term_id: int) -> int:
        span = self.span(term_id)
        return int(span.stop) - int(span.start)


def _grouping(terms: NDArray[np.int32]) -> NDArray[np.intp]:
    """The order that groups by term and keeps documents ascending; 16-bit radix sort is much faster."""
    small = int(terms.max(initial=0)) < np.iinfo(np.uint16).max
    return np.argsort(terms.astype(np.uint16) if small else terms, kind="stable")


Vector = NDArray[np.float32]
ABSENT = -1


class VectorTable:
    """An immutable table from keys to unit vectors.

    Rows are sorted by key: the layout depends only on the content, and a product with an extended table is
    the same to the last bit as with a rebuilt one.
    """

    def __init__(
        self,
        keys: Iterable[Key] = (),
        known: Mapping[Key, Vector] | None = None,
        before: "VectorTable | None" = None,
    ) -> None:
        """Take the vectors of the keys from `known` or else the table `before`; other keys stay absent."""
        found: dict[Key, Vector] = {}
        for key in set(keys):
            vector = known.get(key) if known else None
            if vector is None and before is not None:
                vector = before.get(key)
            if vector is not None:
                found[key] = vector
        ordered = sorted(found)
        self._rows: dict[Key, int] = {key: row for row, key in enumerate(ordered)}
        self._matrix = np.stack([found[key] for key in ordered]) if ordered else np.zeros((0, 0), np.float32)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    def get(self, key: Key) -> Vector | None:
        row = self._rows.get(key)
        return None if row is None else self._matrix[row]

    def rows(self, keys: Iterable[Key]) -> NDArray[np.intp]:
        """The row of each key, or ABSENT."""
        return np.fromiter(map(self._rows.get, keys, repeat(ABSENT)), np.intp)

    def similarity(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each row with a unit vector."""
        cosines: NDArray[np.float64] = self.similarities(vector[None])[0].astype(np.float64)
        return cosines

    def similarities(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine of each row with unit vectors, of shape (vectors, rows)."""
        return similarities(self._matrix, vectors)


def similarities(matrix: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine of each row of the matrix with unit vectors, of shape (vectors, rows)."""
    return np.ascontiguousarray((matrix @ np.ascontiguousarray(vectors.T)).T)
