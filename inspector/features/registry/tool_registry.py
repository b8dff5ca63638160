"""The tool registry: all that SQLite and PostgreSQL have in common. Each has its dialect in its own file."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import Struct, field

from inspector.core.access import EVERYTHING, Sight
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import (
    Neighbour,
    RegisteredTool,
    SyncReport,
    accepted,
    accepted_query,
    accepted_vectors,
    comparable,
    definition_of,
    embedded_text,
    seen_patterns,
    tool_in,
    versions_of,
)
from inspector.search.index.embedded_text import key_of

# SQLite before 3.32 binds at most 999 values per statement.
IDS_A_STATEMENT = 500
_PAGE = 500
_NO_KEY = b""


class Condition(Struct, frozen=True):
    """SQL with its parameters by name."""

    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def seen_of(sight: Sight, any_of: Callable[[Sequence[str], str], Condition]) -> Condition:
    """What holds for ids that may be seen; `any_of` tests patterns, its parameters named after a prefix."""
    granted = any_of(seen_patterns(sight.patterns), "granted")
    if sight.allowlist is None:
        return granted
    allowed = any_of(seen_patterns(sight.allowlist), "allowed")
    return Condition(f"({granted.sql}) AND ({allowed.sql})", {**granted.parameters, **allowed.parameters})


class Dialect(Struct, frozen=True, kw_only=True):
    """What a database calls the parts of the registry's statements, and how it keeps texts.

    In its clauses `t` is a tool that is known and `v` one of its versions; `id` alone is that of either.
    Parameters are written `:name`. `versions` has every version with its tool, `now` each tool with its
    newest version. `has_part` tells whether a tool's id contains `:part`. Stored texts are in the order of
    the texts; `seen` is what `id` must be to be seen.
    """

    tools: str
    is_there: str
    versions: str
    now: str
    is_now: str
    has_part: str
    stored: Callable[[str], Any]
    loaded: Callable[[Any], str]
    seen: Callable[[Sight], Condition]

    @property
    def columns(self) -> str:
        """A version, as `ToolRegistry._registered` reads it."""
        return f"v.definition, v.origin, v.version, v.hash, v.at, {self.is_now}"


# Long because it says what a registry does, and does what no database does in its own way.
class ToolRegistry(ABC):
    """Keeps tools and searches their vectors. Thread-safe.

    Whatever is asked with a `sight` answers as if the other tools were not there: the filter is part of the
    query, so that a count is one of permitted tools and the nearest k are k permitted ones.

    Ids are ordered by code point. What cannot be kept or searched for is a StoreError: see `acceptance`.
    """

    _sql: ClassVar[Dialect]

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_key: dict[str, bytes] = {}

    @abstractmethod
    def _rows(self, sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Read every row that the statement selects. Raises StoreError."""

    @abstractmethod
    def _merge(self, versions: Iterator[tuple[Any, ...]], whole_of: Any) -> SyncReport:
        """Keep the versions, all or none; of the origin `whole_of` they are all that there is.

        A version has its id, number, server, origin, hash, time, whether it is there, key and definition.
        """

    @abstractmethod
    def _has_vector(self, model: str) -> Condition:
        """Whether the model has a vector of the text of `t`."""

    @abstractmethod
    def _keep(self, model: str, vectors: Mapping[bytes, bytes], dimensions: int) -> None:
        """Keep vectors that have so many dimensions, and forget all of the model that have others."""

    @abstractmethod
    def _compare(
        self, model: str, vector: Sequence[float], count: int, sight: Sight, floor: float
    ) -> tuple[Neighbour, ...]:
        """See `nearest`."""

    @abstractmethod
    def _all_embedded(self, model: str) -> None:
        """Called when every tool has a vector of the model."""

    def _registered(self, row: Sequence[Any]) -> RegisteredTool:
        """The version in such a row. Raises StoreError if it is damaged, or another program's."""
        definition, origin, version, hash_, at, is_there = row
        return RegisteredTool(
            tool_in(definition), self._sql.loaded(origin), version, hash_, at, bool(is_there)
        )

    def sync(self, origin: str, tools: Iterable[Tool], *, at: float, whole: bool = True) -> SyncReport:
        """Keep these tools of an origin, all or none; a tool with another definition gets a new version.

        With `whole` they are all that the origin has: its other tools are gone, their versions stay. A tool
        that is back with its last definition keeps its version. Of two tools with the same id the first
        counts; of two origins that have it the last one synchronised has it, and its newest version.

        `tools` is read before anything is locked; an exception that it raises is passed on, and nothing is
        kept.
        """
        versions = map(self._row, versions_of(origin, tools, at))
        return self._merge(versions, self._stored(origin) if whole else None)

    def restore(self, versions: Iterable[RegisteredTool]) -> SyncReport:
        """Keep versions that `history` gave, all or none, as `sync` without `whole` does; count tools.

        The versions of a tool come in their order. One that is not known here gets all of them with their
        origins, numbers and times. One that is gets those behind the last that equals its newest, or only
        the last if none does. Versions of a tool that is gone there and there here change nothing.
        """
        return self._merge(map(self._row, accepted(versions)), None)

    def _row(self, found: RegisteredTool) -> tuple[Any, ...]:
        tool = found.tool
        named = (
            self._sql.stored(tool.id),
            found.version,
            self._sql.stored(tool.server),
            self._sql.stored(found.origin),
        )
        key = key_of(embedded_text(tool))
        return *named, found.hash, found.at, found.is_there, key, definition_of(tool)

    def count(self, sight: Sight = EVERYTHING, *, part: str = "") -> int:
        """How many tools there are now whose id contains `part`; a to z match in either case."""
        return self._count(sight, Condition(self._sql.has_part, {"part": comparable(part)}))

    def embedded(self, model: str, sight: Sight = EVERYTHING) -> int:
        """How many of the tools there are now have a vector of this model."""
        return self._count(sight, self._has_vector(model))

    def _count(self, sight: Sight, which: Condition) -> int:
        seen = self._sql.seen(sight)
        where = f"{self._sql.is_there} AND ({seen.sql}) AND ({which.sql})"
        counted = f"SELECT count(*) FROM {self._sql.tools} WHERE {where}"
        return int(self._rows(counted, {**seen.parameters, **which.parameters})[0][0])

    def tools(
        self, sight: Sight = EVERYTHING, *, part: str = "", limit: int | None = None
    ) -> Iterator[RegisteredTool]:
        """The tools there are now whose id contains `part`, in order of their ids."""
        seen = self._sql.seen(sight)
        where = f"{self._sql.is_there} AND ({seen.sql}) AND {self._sql.has_part} AND id > :after"
        sql = f"SELECT {self._sql.columns} FROM {self._sql.now} WHERE {where} ORDER BY id LIMIT :size"
        asked = {**seen.parameters, "part": comparable(part)}
        after, left = "", limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(left, _PAGE)
            page = self._read(sql, {**asked, "after": self._stored(after), "size": size})
            yield from page
            if len(page) < size:
                return
            after, left = page[-1].tool.id, None if left is None else left - size

    def versions(self, tool_id: str, sight: Sight = EVERYTHING) -> tuple[RegisteredTool, ...]:
        """Every version of a tool, the newest first, also of one that is gone."""
        seen = self._sql.seen(sight)
        where = f"({seen.sql}) AND id = :id ORDER BY v.version DESC"
        sql = f"SELECT {self._sql.columns} FROM {self._sql.versions} WHERE {where}"
        return tuple(self._read(sql, {**seen.parameters, "id": self._stored(tool_id)}))

    def history(self, sight: Sight = EVERYTHING) -> Iterator[RegisteredTool]:
        """Every version of every tool, also of those that are gone: by id, the oldest first."""
        seen = self._sql.seen(sight)
        where = f"({seen.sql}) AND (id, v.version) > (:id, :version) ORDER BY id, v.version LIMIT {_PAGE}"
        sql = f"SELECT {self._sql.columns} FROM {self._sql.versions} WHERE {where}"
        tool_id, version = "", 0
        while page := self._read(sql, {**seen.parameters, "id": self._stored(tool_id), "version": version}):
            yield from page
            tool_id, version = page[-1].tool.id, page[-1].version

    def origins(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """How many tools there are now of each origin that has any, in order of their names."""
        return self._counted("origin", sight)

    def servers(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """How many tools there are now of each server that has any, in order of their names."""
        return self._counted("server", sight)

    def _counted(self, column: str, sight: Sight) -> Mapping[str, int]:
        seen = self._sql.seen(sight)
        where = f"{self._sql.is_there} AND ({seen.sql}) GROUP BY {column} ORDER BY {column}"
        sql = f"SELECT {column}, count(*) FROM {self._sql.tools} WHERE {where}"
        return {self._sql.loaded(name): count for name, count in self._rows(sql, seen.parameters)}

    def unembedded(self, model: str, limit: int) -> Mapping[bytes, str]:
        """Texts of tools there are now that have no vector of this model yet, by their key; {} if none.

        The text is `embedded_text` of a tool: what it is called and what it does. Its key is
        `document.key_of` the text, so that equal texts are embedded once.
        """
        with self._lock:
            last = self._last_key.get(model, _NO_KEY)
        # On from where the last call ended, so that a long embedding does not look at its beginning again.
        missing = self._missing(model, last, limit) or (self._missing(model, _NO_KEY, limit) if last else {})
        with self._lock:
            self._last_key[model] = max(missing, default=_NO_KEY)
        if not missing and limit > 0:
            self._all_embedded(model)
        return missing

    def _missing(self, model: str, after: bytes, limit: int) -> dict[bytes, str]:
        has = self._has_vector(model)
        where = f"{self._sql.is_there} AND t.key > :after AND NOT ({has.sql})"
        found = f"SELECT t.key, min(v.definition) FROM {self._sql.now} WHERE {where}"
        page = "GROUP BY t.key ORDER BY t.key LIMIT :limit"
        rows = self._rows(f"{found} {page}", {**has.parameters, "after": after, "limit": limit})
        return {bytes(key): embedded_text(tool_in(definition)) for key, definition in rows}

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors by the key of their text: unit vectors as float32, little-endian.

        All vectors of a model have the same number of dimensions: those that have another one are forgotten.
        """
        if vectors:
            self._keep(model, vectors, accepted_vectors(vectors))

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        count: int,
        sight: Sight = EVERYTHING,
        *,
        floor: float = -1.0,
    ) -> tuple[Neighbour, ...]:
        """The `count` tools nearest to a unit vector by cosine, nearest first, none below `floor`.

        Equal ones come in order of their ids. A similarity depends on both vectors alone, whatever else is
        searched. An approximate index may miss some tools, but returns fewer only if fewer are permitted,
        embedded and above the floor.
        """
        accepted_query(vector)
        return self._compare(model, vector, count, sight, floor)

    def _stored(self, text: str) -> Any:
        """What a stored text is compared with."""
        return self._sql.stored(comparable(text))

    def _read(self, sql: str, parameters: Mapping[str, Any]) -> list[RegisteredTool]:
        return [self._registered(row) for row in self._rows(sql, parameters)]

    @abstractmethod
    def close(self) -> None:
        """Close what is open; the next call opens it again."""


def one_of(column: str, values: Iterable[Any], name: str = "one") -> Condition:
    """Whether the column is one of at least one value."""
    named = {f"{name}{number}": value for number, value in enumerate(values)}
    return Condition(f"{column} IN ({', '.join(f':{one}' for one in named)})", named)
