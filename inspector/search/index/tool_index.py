"""The index over one catalog: documents, postings, vectors, names; a change of catalog updates it cheaply."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from operator import attrgetter, is_
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from inspector.core.number import count
from inspector.core.tool import Tool, destroying_verb
from inspector.search.index.document import (
    ABSENT,
    FIELDS,
    OPENING,
    PASSAGES,
    SUMMARY,
    WORDS,
    Document,
    Postings,
    Vector,
    VectorTable,
    Vocabulary,
    line_text,
    passage_texts,
    read,
    server_texts,
    texts_by_key,
)
from inspector.search.index.embedded_text import Key, key_of
from inspector.search.index.phrasebook import Phrasebook, Phrases, own_phrases
from inspector.search.index.query import offered
from inspector.search.index.semantics import Semantics, StaticEmbedder
from inspector.search.index.vocabulary import name_key

T = TypeVar("T")
# Below this share of embedded tools rankers use words alone: a mixture would favor the embedded tools.
ENOUGH_EMBEDDED = 0.9
# So many vectors of former texts a table keeps at least; it keeps half in vain at most.
_STALE = 1_024
_PASSAGES_OF = attrgetter("passages")
# What rankers ask of every tool, as numbers, so that a change asks it of changed tools alone.
_FACTS: Sequence[Callable[[Tool, Vocabulary], int]] = (
    lambda tool, _vocabulary: hash(name_key(tool.name)),
    lambda tool, _vocabulary: offered(tool.name),
    lambda tool, _vocabulary: bool(destroying_verb(tool)),
    lambda tool, vocabulary: vocabulary[tool.server],
)


# Long because every ranker asks it, and one object has to carry what a change keeps.
class ToolIndex:
    """The basis of every ranker over one catalog. Immutable; `updated` returns the next one.

    Only the documents of changed tools are read again; their entries and vectors are added to what versions
    of an index share. An index updated a hundred times equals one built from scratch, to the last bit.
    """

    def __init__(
        self,
        tools: Sequence[Tool] = (),
        *,
        summaries: Mapping[str, str] | None = None,
        instructions: Mapping[str, str] | None = None,
        semantics: Semantics | None = None,
        static: StaticEmbedder | None = None,
        before: "ToolIndex | None" = None,
        lined: bool | None = None,
        phrases: Phrases | None = None,
    ) -> None:
        """`summaries`, `instructions` and `phrases` (by default those of `before`) are the servers' own;
        without `semantics` the only vectors are `static` ones.

        A `lined` index has vectors of the tools' summary lines too; by default it has them if `before` does.
        """
        self.tools = tuple(tools)
        self.summaries = dict(summaries or {})
        self.instructions = dict(instructions or {})
        self.semantics = semantics
        self.lined: bool = lined if lined is not None else before is not None and before.lined
        self.vocabulary: Vocabulary = before.vocabulary if before is not None else Vocabulary()
        kept = _kept(self.tools, before)
        new = [self.tools[position] for position in np.flatnonzero(kept == ABSENT).tolist()]
        documents = [read(tool, self.vocabulary) for tool in new]
        self.documents: Sequence[Document] = _carried(before.documents if before else (), kept, documents)
        with_static = semantics or before
        self.static: StaticEmbedder | None = static if with_static is None else with_static.static
        self.ids: Sequence[str] = _carried(before.ids if before else (), kept, [tool.id for tool in new])
        self.position: dict[str, int] = dict(zip(self.ids, range(len(self.ids)), strict=True))
        facts = np.zeros((len(_FACTS), len(kept)), np.int64)
        if before is not None and before.tools:
            facts = before._facts.take(kept, axis=1)
        facts[:, kept == ABSENT] = [[of(tool, self.vocabulary) for tool in new] for of in _FACTS]
        self._facts: NDArray[np.int64] = facts
        # The hash of each tool's name key, what its name says it does, whether it destroys or ends something.
        self.name_hashes, self.offered, self.destroys, servers = facts
        place = np.full(len(self.vocabulary), len(kept))
        # Of several at one place the last one stays: the first tool of each server.
        place[servers[::-1]] = np.arange(len(kept))[::-1]
        first = np.sort(place[place < len(kept)])
        self.servers = tuple(self.tools[position].server for position in first.tolist())
        place[servers[first]] = np.arange(len(first))
        # The position of each tool's server in `servers`.
        self.server_of: NDArray[np.intp] = place[servers]
        self._phrases: Phrases = phrases if phrases is not None else before._phrases if before else {}
        self.own_phrases = own_phrases(self._phrases, self.servers)
        self.vectors: VectorTable = before.vectors if before and semantics else VectorTable()
        self._openings: VectorTable = before._openings if before else VectorTable()
        self._rows = np.full((len(PASSAGES), len(kept)), ABSENT)
        self._opening_rows = np.full((1, len(kept)), ABSENT)
        if before is not None and before.tools:
            self._take_over(before, kept)
        self._openings = _without_stale(
            self._openings, self._opening_rows, lambda: (d.passages[OPENING] for d in self.documents)
        )
        if semantics is not None:
            self.vectors = _without_stale(self.vectors, self._rows, self.keys)
            self._add_vectors(semantics)

    def _take_over(self, before: "ToolIndex", kept: NDArray[np.intp]) -> None:
        """Take from the index before what was made of the tools that it has too, at these positions."""
        for name, fields in (("postings", FIELDS), ("word_postings", WORDS)):
            if name in before.__dict__:
                self.__dict__[name] = Postings(self.documents, fields, before.__dict__[name], kept)
        is_new = kept == ABSENT
        if self.semantics is not None:
            self._rows = np.where(is_new, ABSENT, before._rows.take(kept, axis=1))
        self._opening_rows = np.where(is_new, ABSENT, before._opening_rows.take(kept, axis=1))

    def _add_vectors(self, semantics: Semantics) -> None:
        self.vectors = semantics.extended(self.vectors)
        self._rows = _found(self._rows, self.vectors, self.documents, PASSAGES)

    def updated(
        self,
        tools: Sequence[Tool],
        summaries: Mapping[str, str] | None = None,
        instructions: Mapping[str, str] | None = None,
        phrases: Phrases | None = None,
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
            phrases=phrases,
        )

    def with_new_vectors(self) -> "ToolIndex":
        """The same index with vectors added since."""
        index = copy(self)
        for derived in ("_server_rows", "_line_rows", "absent", "coverage", "phrasebook"):
            index.__dict__.pop(derived, None)
        if self.semantics is not None:
            index._add_vectors(self.semantics)
        return index

    @cached_property
    def postings(self) -> Postings:
        return Postings(self.documents, FIELDS)

    @cached_property
    def word_postings(self) -> Postings:
        """The words as written."""
        return Postings(self.documents, WORDS)

    @cached_property
    def server_texts(self) -> Mapping[str, str]:
        """The aggregate description of each server."""
        return server_texts(self.tools, self.summaries, self.instructions)

    @cached_property
    def line_texts(self) -> tuple[str, ...]:
        """The summary line of each tool as it is embedded; empty unless the index is lined."""
        return tuple(map(line_text, self.tools)) if self.lined else ()

    def texts(self) -> Mapping[Key, str]:
        """All texts to embed by their keys, the tools' summaries first."""
        further = {key_of(text): text for text in self.further_texts}
        return {**texts_by_key(self.tools, lined=self.lined), **further}

    def keys(self) -> list[Key]:
        """The keys of all texts to embed, in an order that depends only on the tools."""
        return [*self._passage_keys(), *map(key_of, (*self.further_texts, *self.line_texts))]

    @property
    def further_texts(self) -> Sequence[str]:
        """The texts of servers, and both sides of the phrases of those that have tools here."""
        return (*self.server_texts.values(), *chain.from_iterable(self.own_phrases))

    @cached_property
    def coverage(self) -> float:
        """The share of tools whose summary is embedded (0 to 1)."""
        return float(np.mean(self._rows[SUMMARY] != ABSENT)) if self.tools and len(self.vectors) else 0.0

    def unembedded(self) -> Iterator[tuple[int, Document]]:
        """Each passage without a vector, by its number and the document, those of one kind together."""
        numbers, at = np.nonzero(self._rows == ABSENT)
        return zip(numbers.tolist(), map(self.documents.__getitem__, at.tolist()), strict=True)

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

    def static_similarities_of(
        self, vectors: NDArray[np.float32], *, read: bool = False
    ) -> NDArray[np.float64]:
        """The cosine of static vectors with each tool's opening, a row each; `read` by the phrasebook."""
        if not self.tools:
            return np.zeros((len(vectors), 0))
        rows = self.phrasebook.read_static(vectors) if read else vectors
        openings, at = self._static_vectors
        return openings.similarities(rows).take(at, axis=1).astype(np.float64)

    @cached_property
    def _static_vectors(self) -> tuple[VectorTable, NDArray[np.intp]]:
        """The static vectors of tools' names and first sentences, and the row of each tool's."""
        assert self.static is not None
        new = {
            document.passages[OPENING]: passage_texts(document.tool)[OPENING]
            for document in (self.documents[n] for n in np.flatnonzero(self._opening_rows == ABSENT).tolist())
            if document.passages[OPENING] not in self._openings
        }
        made = self.static.embed(list(new.values()))
        self._openings = self._openings.extended(dict(zip(new, made, strict=True)))
        self._opening_rows = _found(self._opening_rows, self._openings, self.documents, ("opening",))
        return self._openings, self._opening_rows[0]

    @cached_property
    def phrasebook(self) -> Phrasebook:
        model = self.semantics.model if self.semantics else ""
        return Phrasebook(model, self.static, self.own_phrases, self.vectors)

    def server_similarities(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each of `servers`, NaN for those not embedded yet."""
        return _gather(self.vectors.similarity(vector), self._server_rows)

    def line_similarities(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each tool's summary line in a lined index, NaN for those not embedded yet."""
        return _gather(self.vectors.similarity(vector), self._line_rows)

    @cached_property
    def _server_rows(self) -> NDArray[np.intp]:
        return self.vectors.rows(map(key_of, self.server_texts.values()))

    @cached_property
    def _line_rows(self) -> NDArray[np.intp]:
        return self.vectors.rows(map(key_of, self.line_texts))


def _kept(tools: Sequence[Tool], before: ToolIndex | None) -> NDArray[np.intp]:
    """The position in the index before of each tool, each position once; ABSENT for new and changed ones."""
    kept = np.full(len(tools), ABSENT)
    if before is None:
        return kept
    # Most tools keep their position; only the others are looked up by id.
    same = np.fromiter(map(is_, tools, before.tools), bool)
    kept[: len(same)][same] = np.flatnonzero(same)
    taken = set[int]()
    for position in np.flatnonzero(kept == ABSENT).tolist():
        tool, at = tools[position], before.position.get(tools[position].id, ABSENT)
        is_free = at != ABSENT and at not in taken and not (at < len(same) and same[at])
        if is_free and (before.tools[at] is tool or before.tools[at] == tool):
            kept[position] = at
            taken.add(at)
    return kept


def _carried(before: Sequence[T], kept: NDArray[np.intp], added: Sequence[T]) -> tuple[T, ...]:
    """The items of the index before at their new positions, and the added ones at the others."""
    old, new = np.flatnonzero(kept != ABSENT), np.flatnonzero(kept == ABSENT).tolist()
    if np.array_equal(kept[old], old):
        # Most changes move no tool.
        items = [*before[: len(kept)], *added[: max(len(kept) - len(before), 0)]]
    else:
        items = list(map(before.__getitem__, kept.tolist()))
    for position, item in zip(new, added, strict=True):
        items[position] = item
    return tuple(items)


def _without_stale(
    table: VectorTable, rows: NDArray[np.intp], keys: Callable[[], Iterable[Key]]
) -> VectorTable:
    """The table, or if most of it is of former texts a new one with these keys alone, and no row known."""
    if len(table) <= _STALE + 2 * rows.size:
        return table
    rows[:] = ABSENT
    return table.only(keys())


def _found(
    rows: NDArray[np.intp], table: VectorTable, documents: Sequence[Document], passages: Sequence[str]
) -> NDArray[np.intp]:
    """The rows in the table of these passages, of shape (passages, tools); only absent ones are looked up."""
    numbers, at = np.nonzero(rows == ABSENT)
    if not len(at) or not len(table):
        return rows
    of = [PASSAGES.index(passage) for passage in passages]
    keys = (documents[n].passages[of[p]] for p, n in zip(numbers.tolist(), at.tolist(), strict=True))
    found = rows.copy()
    found[numbers, at] = table.rows(keys)
    return found


def unembedded(index: ToolIndex) -> str:
    """Why no cosines can be compared, for people; "" if they can."""
    if index.semantics is None:
        return "no embedding model is in use"
    if index.is_semantic:
        return ""
    embedded = round(index.coverage * len(index.tools))
    return index.semantics.problem or f"{embedded:,} of {count(len(index.tools), 'tool')} embedded"


def words_alone(index: ToolIndex) -> str:
    """Says in a line that rankers have to do without cosines, and why; "" if they need not."""
    why = unembedded(index)
    return f"ranks by words alone: {why}" if why else ""


def _gather(cosines: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.where(rows == ABSENT, np.nan, cosines[rows])
