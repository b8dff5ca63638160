"""The index over one catalog: documents, postings, vectors, names; a change of catalog updates it cheaply."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property, lru_cache
from itertools import chain
from operator import attrgetter

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from inspector.core.number import count
from inspector.core.ranking import SearchRequest
from inspector.core.text import closest
from inspector.core.tool import Tool
from inspector.search.index.document import (
    ABSENT,
    FIELDS,
    OPENING,
    PASSAGES,
    SUMMARY,
    WORDS,
    Document,
    Key,
    Postings,
    Vector,
    VectorTable,
    Vocabulary,
    key_of,
    line_text,
    passage_texts,
    read,
    server_texts,
    similarities,
    texts_by_key,
)
from inspector.search.index.phrasebook import Phrasebook, Phrases, own_phrases
from inspector.search.index.semantics import Semantics, StaticEmbedder
from inspector.search.index.vocabulary import split_words

# Below this share of embedded tools rankers use words alone: a mixture would favor the embedded tools.
ENOUGH_EMBEDDED = 0.9
_PASSAGES_OF = attrgetter("passages")


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
        self.vocabulary: Vocabulary = before.vocabulary if before is not None else {}
        self.documents = _documents(self.tools, self.vocabulary, before)
        # Of the openings of tools, by their keys: to make them again takes longest.
        self._static_vectors: dict[Key, Vector] = before._static_vectors if before is not None else {}
        with_static = semantics or before
        self.static: StaticEmbedder | None = static if with_static is None else with_static.static
        self.ids = tuple(tool.id for tool in self.tools)
        self.position = {tool_id: position for position, tool_id in enumerate(self.ids)}
        self.servers = tuple(dict.fromkeys(tool.server for tool in self.tools))
        self._phrases: Phrases = phrases if phrases is not None else before._phrases if before else {}
        self.own_phrases = own_phrases(self._phrases, self.servers)
        known: VectorTable | None = before.vectors if before is not None else None
        self.vectors: VectorTable = semantics.table(self.keys(), known) if semantics else VectorTable()

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
        for derived in ("_rows", "_server_rows", "_line_rows", "absent", "coverage", "phrasebook"):
            index.__dict__.pop(derived, None)
        if self.semantics is not None:
            index.vectors = self.semantics.table(self.keys(), self.vectors)
        return index

    @cached_property
    def postings(self) -> Postings:
        return Postings([d.terms for d in self.documents], len(FIELDS))

    @cached_property
    def word_postings(self) -> Postings:
        """The words as written."""
        return Postings([d.words for d in self.documents], len(WORDS))

    @cached_property
    def static_vectors(self) -> NDArray[np.float32]:
        """The static vector of each tool's name and first sentence, one a row; empty without `static`."""
        if self.static is None:
            return np.zeros((len(self.tools), 0), np.float32)
        keys = [document.passages[OPENING] for document in self.documents]
        new = {
            key: tool for key, tool in zip(keys, self.tools, strict=True) if key not in self._static_vectors
        }
        made = self.static.embed([passage_texts(tool)[OPENING] for tool in new.values()])
        self._static_vectors.update(zip(new, made, strict=True))
        return np.array([self._static_vectors[key] for key in keys]).reshape(-1, self.static.dimensions)

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
        self, queries: Sequence[str], *, read: bool = False
    ) -> NDArray[np.float64] | None:
        """By static vectors, with each tool's opening, a row a query; `read` by the phrasebook."""
        if self.static is None:
            return None
        rows = self.phrasebook.read_static(queries) if read else self.static.embed(queries)
        return similarities(self.static_vectors, rows).astype(np.float64)

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
    def _rows(self) -> NDArray[np.intp]:
        flat = self.vectors.rows(self._passage_keys())
        return flat.reshape(-1, len(PASSAGES)).T.copy()

    @cached_property
    def _server_rows(self) -> NDArray[np.intp]:
        return self.vectors.rows(map(key_of, self.server_texts.values()))

    @cached_property
    def _line_rows(self) -> NDArray[np.intp]:
        return self.vectors.rows(map(key_of, self.line_texts))


def _documents(tools: Sequence[Tool], words: Vocabulary, before: ToolIndex | None) -> tuple[Document, ...]:
    """The documents of the tools; those of unchanged tools are reused."""
    if before is None:
        return tuple(read(tool, words) for tool in tools)

    def document(tool: Tool) -> Document:
        position = before.position.get(tool.id)
        if position is not None and before.tools[position] == tool:
            return before.documents[position]
        return read(tool, words)

    # Most tools keep their position; only the others are looked up by id.
    same = [old if old.tool is t else None for old, t in zip(before.documents, tools, strict=False)]
    same += [None] * (len(tools) - len(same))
    return tuple(old or document(tool) for old, tool in zip(same, tools, strict=True))


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


_PREFIX = "mcp"


class NameIndex:
    """Exact and nearly exact lookups: case, separators and a server or `mcp__` prefix are ignored."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tuple(tools)

    def find(self, name: str, *, server: str = "") -> tuple[Tool, ...]:
        """The tools that `name` refers to, in catalog order; an exact id or wire name refers to one only."""
        exact = self._exact.get(name)
        positions = (exact,) if exact is not None else self.positions(name)
        return tuple(self._tools[p] for p in positions if server in ("", self._tools[p].server))

    def positions(self, name: str) -> tuple[int, ...]:
        """The positions of the tools with this name, with or without a server or `mcp` prefix."""
        key = name_key(name)
        matches = list(self._by_key.get(key, ()))
        for start in (key, key.removeprefix(_PREFIX)):
            for length, servers in self._servers_by_length.items():
                server = servers.get(start[:length], ())
                positions = self._by_key.get(start[length:], ()) if server else ()
                matches += [p for p in positions if self._tools[p].server in server]
        return tuple(sorted(set(matches)))

    def resolved(self, request: SearchRequest) -> SearchRequest:
        """The request with the server that its `server_name` refers to in any spelling, if there is one."""
        name, key = request.server_name, name_key(request.server_name)
        if not key or name in self._server_keys:
            return request
        keys = (key, key.removeprefix(_PREFIX))
        named = [server for server, known in self._server_keys.items() if known in keys]
        return replace(request, server_name=named[0]) if len(named) == 1 else request

    def closest(self, name: str, *, server: str = "") -> tuple[str, ...]:
        """Ids of the tools whose names are most similar to an unknown name, best first."""
        pool = [tool for tool in self._tools if server in ("", tool.server)]
        if ":" in name or "__" in name:
            return closest(name, [tool.id for tool in pool])
        plain = closest(name, list(dict.fromkeys(tool.name for tool in pool)))
        return tuple(tool.id for wanted in plain for tool in pool if tool.name == wanted)[:3]

    @cached_property
    def _exact(self) -> Mapping[str, int]:
        by_wire_name = {tool.wire_name: position for position, tool in enumerate(self._tools)}
        return by_wire_name | {tool.id: position for position, tool in enumerate(self._tools)}

    @cached_property
    def _server_keys(self) -> Mapping[str, str]:
        return {tool.server: name_key(tool.server) for tool in self._tools}

    @cached_property
    def _servers_by_length(self) -> Mapping[int, Mapping[str, Collection[str]]]:
        """The servers of each key, by its length: a query begins with few of all keys."""
        found: dict[int, dict[str, set[str]]] = {}
        for server, key in self._server_keys.items():
            if key:
                found.setdefault(len(key), {}).setdefault(key, set()).add(server)
        return found

    @cached_property
    def _by_key(self) -> Mapping[str, tuple[int, ...]]:
        by_key: dict[str, tuple[int, ...]] = {}
        for position, tool in enumerate(self._tools):
            key = name_key(tool.name)
            by_key[key] = (*by_key.get(key, ()), position)
        by_key.pop("", None)
        return by_key


@lru_cache(maxsize=16_384)
def name_key(name: str) -> str:
    """A name without case and separators: `mcp__Notes__createPage` equals `mcp notes create-page`."""
    return "".join(split_words(name)).casefold()
