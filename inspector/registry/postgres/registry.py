"""The tool registry in PostgreSQL with pgvector, for many programs and more tools than a file is good for."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import ceil
from secrets import token_hex
from typing import Any

from inspector.core.access import EVERYTHING, Sight
from inspector.core.registered_tool import Neighbour, RegisteredTool, SyncReport
from inspector.core.tool import Tool
from inspector.registry.acceptance import accepted, accepted_query, accepted_vectors, tool_in, versions_of
from inspector.registry.embedding import embedded_text
from inspector.registry.postgres.database import TIMEOUT_S, PostgresDatabase, address_of
from inspector.registry.postgres.merge import merge
from inspector.registry.postgres.nearest import ITERATING, READER, NearestTools, condition
from inspector.registry.postgres.row import COLUMNS, NOW, VERSIONS, original, registered, staged, stored
from inspector.registry.postgres.vector_table import VectorTable, build_index, keep, tables_of
from inspector.search.registry_port import SearchableRegistry

_PAGE = 500
# In the collation "C" only a to z have another case.
_PART = """strpos(lower(t.id), lower(%(part)s COLLATE "C")) > 0"""
_NO_KEY = b""


class PostgresRegistry:
    """A ToolRegistry in a database of PostgreSQL, with an HNSW index over the vectors. See `ToolRegistry`.

    A role that may only read can search. The index is built when many vectors are there and none is missing.
    """

    def __init__(
        self, url: str, *, timeout: int = TIMEOUT_S, read_only: bool = False, settings: str = ""
    ) -> None:
        """Nothing is connected yet. `timeout` is how long connecting may take, in seconds.

        One that is `read_only` is not migrated; `settings` are more of what it is read with, as SQL.
        """
        self._database, self._iterating = (
            PostgresDatabase(url, reader=f"{reader}; {settings}", timeout=timeout, read_only=read_only)
            for reader in (READER, ITERATING)
        )
        self._nearest = NearestTools(self._database, self._iterating)
        self._lock = threading.Lock()
        self._last_key: dict[str, bytes] = {}

    def sync(self, origin: str, tools: Iterable[Tool], *, at: float, whole: bool = True) -> SyncReport:
        """See `ToolRegistry`."""
        versions = map(staged, versions_of(origin, tools, at))
        return merge(self._database, versions, stored(origin) if whole else None)

    def restore(self, versions: Iterable[RegisteredTool]) -> SyncReport:
        """See `ToolRegistry`."""
        return merge(self._database, map(staged, accepted(versions)), None)

    def count(self, sight: Sight = EVERYTHING, *, part: str = "") -> int:
        """See `ToolRegistry`."""
        seen = condition(sight, "t.id")
        sql = f"SELECT count(*) FROM toolsight.tool t WHERE ({seen.sql}) AND {_PART}"
        return int(self._database.rows(sql, {**seen.parameters, "part": stored(part)})[0][0])

    def tools(
        self, sight: Sight = EVERYTHING, *, part: str = "", after: str = "", limit: int | None = None
    ) -> Iterator[RegisteredTool]:
        """See `ToolRegistry`; they are read page by page."""
        seen = condition(sight, "t.id")
        where = f"({seen.sql}) AND {_PART} AND t.id > %(after)s"
        sql = f"SELECT {COLUMNS} FROM {NOW} WHERE {where} ORDER BY t.id LIMIT %(size)s"
        asked = {**seen.parameters, "part": stored(part)}
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(left, _PAGE)
            page = self._read(sql, {**asked, "after": stored(after), "size": size})
            yield from page
            if len(page) < size:
                return
            after, left = page[-1].tool.id, None if left is None else left - size

    def get(self, ids: Sequence[str], sight: Sight = EVERYTHING) -> Mapping[str, RegisteredTool]:
        """See `ToolRegistry`."""
        seen = condition(sight, "t.id")
        sql = f"SELECT {COLUMNS} FROM {NOW} WHERE ({seen.sql}) AND t.id = ANY(%(ids)s)"
        found = self._read(sql, {**seen.parameters, "ids": list(map(stored, ids))})
        return {one.tool.id: one for one in found}

    def versions(self, tool_id: str, sight: Sight = EVERYTHING) -> tuple[RegisteredTool, ...]:
        """See `ToolRegistry`."""
        seen = condition(sight, "v.id")
        where = f"({seen.sql}) AND v.id = %(id)s"
        sql = f"SELECT {COLUMNS} FROM {VERSIONS} WHERE {where} ORDER BY v.version DESC"
        return tuple(self._read(sql, {**seen.parameters, "id": stored(tool_id)}))

    def history(self, sight: Sight = EVERYTHING) -> Iterator[RegisteredTool]:
        """See `ToolRegistry`; they are read page by page."""
        seen = condition(sight, "v.id")
        where = f"({seen.sql}) AND (v.id, v.version) > (%(id)s, %(version)s)"
        sql = f"SELECT {COLUMNS} FROM {VERSIONS} WHERE {where} ORDER BY v.id, v.version LIMIT {_PAGE}"
        tool_id, version = "", 0
        while page := self._read(sql, {**seen.parameters, "id": stored(tool_id), "version": version}):
            yield from page
            tool_id, version = page[-1].tool.id, page[-1].version

    def origins(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """See `ToolRegistry`."""
        return self._counted("origin", sight)

    def servers(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """See `ToolRegistry`."""
        return self._counted("server", sight)

    def _counted(self, column: str, sight: Sight) -> Mapping[str, int]:
        seen = condition(sight, "t.id")
        counted = f"SELECT {column}, count(*) FROM toolsight.tool t WHERE {seen.sql}"
        rows = self._database.rows(f"{counted} GROUP BY {column} ORDER BY {column}", seen.parameters)
        return {original(name): count for name, count in rows}

    def embedded(self, model: str, sight: Sight = EVERYTHING) -> int:
        """See `ToolRegistry`."""
        seen = condition(sight, "t.id")
        has = _has_vector(tables_of(self._database, model))
        sql = f"SELECT count(*) FROM toolsight.tool t WHERE ({seen.sql}) AND ({has})"
        return int(self._database.rows(sql, seen.parameters)[0][0])

    def unembedded(self, model: str, limit: int) -> Mapping[bytes, str]:
        """See `ToolRegistry`; if nothing is missing, the index of the vectors is built if it is due."""
        tables = tables_of(self._database, model)
        with self._lock:
            last = self._last_key.get(model, _NO_KEY)
        # On from where the last call ended, so that a long embedding does not look at its beginning again.
        missing = self._missing(tables, last, limit) or (
            self._missing(tables, _NO_KEY, limit) if last else {}
        )
        with self._lock:
            self._last_key[model] = max(missing, default=_NO_KEY)
        if not missing and limit > 0:
            for table in tables:
                build_index(self._database, table)
        return missing

    def _missing(self, tables: Sequence[VectorTable], after: bytes, limit: int) -> dict[bytes, str]:
        where = f"t.key > %(after)s AND NOT ({_has_vector(tables)})"
        found = f"SELECT DISTINCT ON (t.key) t.key, v.definition FROM {NOW} WHERE {where} ORDER BY t.key"
        rows = self._database.rows(f"{found} LIMIT %(limit)s", {"after": after, "limit": limit})
        return {bytes(key): embedded_text(tool_in(definition)) for key, definition in rows}

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """See `ToolRegistry`."""
        if vectors:
            keep(self._database, model, vectors, accepted_vectors(vectors))

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
        return self._nearest.nearest(model, vector, count, sight, floor)

    def close(self) -> None:
        """See `ToolRegistry`."""
        self._database.close()
        self._iterating.close()

    def _read(self, sql: str, parameters: Mapping[str, Any]) -> list[RegisteredTool]:
        return [registered(row) for row in self._database.rows(sql, parameters)]


def _has_vector(tables: Sequence[VectorTable]) -> str:
    """The condition that a tool has a vector in one of the tables."""
    tests = (f"EXISTS (SELECT FROM {one.name} AS vector WHERE vector.key = t.key)" for one in tables)
    return " OR ".join(tests) or "FALSE"


@contextmanager
def scratch_registry(url: str) -> Iterator[PostgresRegistry]:
    """An empty registry on the server of this address; its database is dropped in the end.

    Raises StoreError, also if the user may not create databases.
    """
    name = f"toolsight_scratch_{token_hex(4)}"
    server = PostgresDatabase(url, migrated=False)
    try:
        server.command(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
        registry = PostgresRegistry(address_of(url, database=name))
        try:
            yield registry
        finally:
            registry.close()
            server.command(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        server.close()


def open_peer(url: str, *, seconds: float) -> SearchableRegistry:
    """The registry at an address, in read-only transactions. Nothing is connected yet.

    Connecting and each statement may take so many `seconds`.
    """
    limit = f"SET statement_timeout = {max(1, round(seconds * 1000))}"
    # libpq takes whole seconds, and at least two.
    return PostgresRegistry(url, timeout=max(2, ceil(seconds)), read_only=True, settings=limit)
