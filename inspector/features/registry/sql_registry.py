"""A tool registry in SQL: all that SQLite and PostgreSQL have in common. Each has its dialect in one file."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from inspector.core.access import EVERYTHING, Sight
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import (
    accepted,
    accepted_query,
    accepted_vectors,
    definition_of,
    embedded_text,
    tool_in,
    versions_of,
)
from inspector.search.index.document import key_of
from inspector.search.index.ports import Neighbour, RegisteredTool, SyncReport

# SQLite before 3.32 binds at most 999 values per statement.
IDS_A_STATEMENT = 500
_PAGE = 500
_NO_KEY = b""


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL with its parameters by name."""

    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def seen_of(sight: Sight, any_of: Callable[[Sequence[str], str], Condition]) -> Condition:
    """What holds for ids that may be seen; `any_of` tests patterns, its parameters named after a prefix."""
    granted = any_of(sight.patterns, "granted")
    if sight.allowlist is None:
        return granted
    allowed = any_of(sight.allowlist, "allowed")
    return Condition(f"({granted.sql}) AND ({allowed.sql})", {**granted.parameters, **allowed.parameters})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What a database calls the parts of the registry's statements, and how it keeps texts.

    In its clauses `t` is a tool that is known and `v` one of its versions; `id` alone is that of either.
    Parameters are written `:name`. `versions` has every version with its tool, `now` each tool with its
    newest version. `has_part` tells whether a tool's id contains `:part`, which is what `part` makes of it.
    Stored texts are in the order of the texts; `seen` is what `id` must be to be seen.
    """

    tools: str
    is_there: str
    versions: str
    now: str
    is_now: str
    has_part: str
    stored: Callable[[str], Any]
    loaded: Callable[[Any], str]
    part: Callable[[str], Any]
    seen: Callable[[Sight], Condition]

    @property
    def columns(self) -> str:
        """A version, as `SqlRegistry._registered` reads it."""
        return f"v.definition, v.origin, v.version, v.hash, v.at, {self.is_now}"


class SqlRegistry(ABC):
    """A `ToolRegistry` in a database."""

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
        """See `ToolRegistry`."""
        versions = map(self._row, versions_of(origin, tools, at))
        return self._merge(versions, self._sql.stored(origin) if whole else None)

    def restore(self, versions: Iterable[RegisteredTool]) -> SyncReport:
        """See `ToolRegistry`."""
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
        """See `ToolRegistry`."""
        return self._count(sight, Condition(self._sql.has_part, {"part": self._sql.part(part)}))

    def embedded(self, model: str, sight: Sight = EVERYTHING) -> int:
        """See `ToolRegistry`."""
        return self._count(sight, self._has_vector(model))

    def _count(self, sight: Sight, which: Condition) -> int:
        seen = self._sql.seen(sight)
        where = f"{self._sql.is_there} AND ({seen.sql}) AND ({which.sql})"
        counted = f"SELECT count(*) FROM {self._sql.tools} WHERE {where}"
        return int(self._rows(counted, {**seen.parameters, **which.parameters})[0][0])

    def tools(
        self, sight: Sight = EVERYTHING, *, part: str = "", after: str = "", limit: int | None = None
    ) -> Iterator[RegisteredTool]:
        """See `ToolRegistry`; they are read page by page."""
        seen = self._sql.seen(sight)
        where = f"{self._sql.is_there} AND ({seen.sql}) AND {self._sql.has_part} AND id > :after"
        sql = f"SELECT {self._sql.columns} FROM {self._sql.now} WHERE {where} ORDER BY id LIMIT :size"
        asked = {**seen.parameters, "part": self._sql.part(part)}
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(left, _PAGE)
            page = self._read(sql, {**asked, "after": self._sql.stored(after), "size": size})
            yield from page
            if len(page) < size:
                return
            after, left = page[-1].tool.id, None if left is None else left - size

    def get(self, ids: Sequence[str], sight: Sight = EVERYTHING) -> Mapping[str, RegisteredTool]:
        """See `ToolRegistry`."""
        seen = self._sql.seen(sight)
        found: dict[str, RegisteredTool] = {}
        for start in range(0, len(ids), IDS_A_STATEMENT):
            wanted = one_of("id", map(self._sql.stored, ids[start : start + IDS_A_STATEMENT]))
            where = f"{self._sql.is_there} AND ({seen.sql}) AND {wanted.sql}"
            sql = f"SELECT {self._sql.columns} FROM {self._sql.now} WHERE {where}"
            page = self._read(sql, {**seen.parameters, **wanted.parameters})
            found |= {one.tool.id: one for one in page}
        return found

    def versions(self, tool_id: str, sight: Sight = EVERYTHING) -> tuple[RegisteredTool, ...]:
        """See `ToolRegistry`."""
        seen = self._sql.seen(sight)
        where = f"({seen.sql}) AND id = :id ORDER BY v.version DESC"
        sql = f"SELECT {self._sql.columns} FROM {self._sql.versions} WHERE {where}"
        return tuple(self._read(sql, {**seen.parameters, "id": self._sql.stored(tool_id)}))

    def history(self, sight: Sight = EVERYTHING) -> Iterator[RegisteredTool]:
        """See `ToolRegistry`; they are read page by page."""
        seen = self._sql.seen(sight)
        where = f"({seen.sql}) AND (id, v.version) > (:id, :version) ORDER BY id, v.version LIMIT {_PAGE}"
        sql = f"SELECT {self._sql.columns} FROM {self._sql.versions} WHERE {where}"
        tool_id, version = "", 0
        while page := self._read(
            sql, {**seen.parameters, "id": self._sql.stored(tool_id), "version": version}
        ):
            yield from page
            tool_id, version = page[-1].tool.id, page[-1].version

    def origins(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """See `ToolRegistry`."""
        return self._counted("origin", sight)

    def servers(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """See `ToolRegistry`."""
        return self._counted("server", sight)

    def _counted(self, column: str, sight: Sight) -> Mapping[str, int]:
        seen = self._sql.seen(sight)
        where = f"{self._sql.is_there} AND ({seen.sql}) GROUP BY {column} ORDER BY {column}"
        sql = f"SELECT {column}, count(*) FROM {self._sql.tools} WHERE {where}"
        return {self._sql.loaded(name): count for name, count in self._rows(sql, seen.parameters)}

    def unembedded(self, model: str, limit: int) -> Mapping[bytes, str]:
        """See `ToolRegistry`."""
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
        """See `ToolRegistry`."""
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
        """See `ToolRegistry`."""
        accepted_query(vector)
        return self._compare(model, vector, count, sight, floor)

    def _read(self, sql: str, parameters: Mapping[str, Any]) -> list[RegisteredTool]:
        return [self._registered(row) for row in self._rows(sql, parameters)]

    @abstractmethod
    def close(self) -> None:
        """See `ToolRegistry`."""


def one_of(column: str, values: Iterable[Any], name: str = "one") -> Condition:
    """Whether the column is one of at least one value."""
    named = {f"{name}{number}": value for number, value in enumerate(values)}
    return Condition(f"{column} IN ({', '.join(f':{one}' for one in named)})", named)
