"""The tool registry in the database that holds the sessions, with its vectors in the same file."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any

from inspector.core.access import EVERYTHING, Sight
from inspector.core.registered_tool import Neighbour, RegisteredTool, SyncReport
from inspector.core.tool import Tool
from inspector.registry.acceptance import (
    accepted,
    accepted_query,
    accepted_vectors,
    definition_of,
    tool_in,
    versions_of,
)
from inspector.registry.embedding import embedded_text
from inspector.registry.sqlite.sight import condition, globbed, loaded, stored
from inspector.search.document import key_of
from inspector.search.memory.sqlite import SqliteVectors, storable
from inspector.store.database import BUSY_TIMEOUT_MS, SqliteDatabase

if TYPE_CHECKING:
    from inspector.registry.sqlite.nearest import NearestTools

# A version of a tool as the registry's tables have it.

Staged = tuple[bytes, int, bytes, bytes, bytes, str, float, bool, bytes, str]
"""Id, version, name, server, origin, hash, time, whether it is there, key and definition."""
COLUMNS = """
    version.definition, version.origin, version.version, version.hash, version.at,
    tool.is_there AND tool.version = version.version
"""


def staged(found: RegisteredTool) -> Staged:
    """The row of a version to be merged."""
    tool = found.tool
    named = stored(tool.id), found.version, globbed(tool.id), stored(tool.server), stored(found.origin)
    return *named, found.hash, found.at, found.is_there, key_of(embedded_text(tool)), definition_of(tool)


def registered(row: Sequence[Any]) -> RegisteredTool:
    """The version in a row of `COLUMNS`. Raises StoreError if it is damaged, or another program's."""
    definition, origin, version, hash_, at, is_there = row
    return RegisteredTool(tool_in(definition), loaded(origin), version, hash_, at, bool(is_there))


# Writes tools into the registry: they are read and hashed first, and merged in one short transaction.

_ROWS_AT_ONCE = 1000

_STAGE = """
CREATE TEMP TABLE IF NOT EXISTS staged (
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    server BLOB NOT NULL,
    origin BLOB NOT NULL,
    hash TEXT NOT NULL,
    at REAL NOT NULL,
    is_there INTEGER NOT NULL,
    key BLOB NOT NULL,
    definition TEXT NOT NULL,
    UNIQUE (id, version)
)
"""
_FILL = """
INSERT INTO staged VALUES (?, ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id, version) DO NOTHING
"""

# The last staged version of each tool. A tool that is gone in its source stays where it is here.
_LAST = """
CREATE TEMP TABLE last AS
SELECT staged.* FROM staged
LEFT JOIN registry_tool AS tool ON tool.id = staged.id
WHERE staged.version = (SELECT max(version) FROM staged AS other WHERE other.id = staged.id)
    AND (staged.is_there OR coalesce(tool.is_there, 0) = 0)
"""
_COUNT = """
SELECT coalesce(sum(coalesce(tool.is_there, 0) = 0), 0),
    coalesce(sum(tool.is_there AND tool.hash <> last.hash), 0),
    coalesce(sum(tool.is_there AND tool.hash = last.hash), 0)
FROM temp.last AS last LEFT JOIN registry_tool AS tool ON tool.id = last.id
WHERE last.is_there
"""
_ADD = """
INSERT INTO registry_tool (id, name, server, is_there, version, origin, hash, key)
SELECT id, name, server, 0, 0, origin, '', key FROM temp.last
WHERE id NOT IN (SELECT id FROM registry_tool)
ORDER BY id
"""
# Of a known tool, what is behind the version that is its newest here, or else only the last one.
_ADD_VERSIONS = """
INSERT INTO tool_version (tool, version, origin, hash, at, definition)
SELECT tool.number, tool.version + row_number() OVER (PARTITION BY staged.id ORDER BY staged.version),
    staged.origin, staged.hash, staged.at, staged.definition
FROM temp.last AS last
JOIN registry_tool AS tool ON tool.id = last.id
JOIN staged ON staged.id = last.id
WHERE staged.version > CASE WHEN tool.version = 0 THEN 0 ELSE coalesce(
    (SELECT max(version) FROM staged AS same WHERE same.id = last.id AND same.hash = tool.hash),
    last.version - 1
) END
"""
_RENEW = """
UPDATE registry_tool SET is_there = last.is_there, server = last.server, origin = last.origin,
    hash = last.hash, key = last.key,
    version = (SELECT max(version) FROM tool_version WHERE tool = registry_tool.number)
FROM temp.last AS last
WHERE last.id = registry_tool.id AND (registry_tool.is_there, registry_tool.origin, registry_tool.hash)
    <> (last.is_there, last.origin, last.hash)
"""
_RENEW_ORIGIN = """
UPDATE tool_version SET origin = tool.origin
FROM temp.last AS last, registry_tool AS tool
WHERE tool.id = last.id AND tool_version.tool = tool.number AND tool_version.version = tool.version
    AND tool_version.origin <> tool.origin
"""
_REMOVE = """
UPDATE registry_tool SET is_there = 0
WHERE is_there AND origin = ? AND id NOT IN (SELECT id FROM staged)
"""
_TELL = "UPDATE registry_change SET number = number + 1"


def merge(database: SqliteDatabase, versions: Iterable[Staged], whole_of: bytes | None) -> SyncReport:
    """Keep the versions, all or none; of the origin `whole_of` they are all that there is.

    The connection must be used for nothing else meanwhile. Raises StoreError and what `versions` raises.
    """
    coming = iter(versions)
    with database.moment() as connection:
        connection.execute(_STAGE)
        connection.execute("DELETE FROM staged")
        while rows := list(islice(coming, _ROWS_AT_ONCE)):
            connection.executemany(_FILL, rows)
    with database.transaction() as connection:
        try:
            return _merged(connection, whole_of)
        finally:
            connection.execute("DROP TABLE IF EXISTS temp.last")
            connection.execute("DELETE FROM staged")


def _merged(connection: Connection, whole_of: bytes | None) -> SyncReport:
    connection.execute(_LAST)
    connection.execute("CREATE UNIQUE INDEX temp.last_by_id ON last(id)")
    added, changed, unchanged = connection.execute(_COUNT).fetchone()
    before = connection.total_changes
    for statement in (_ADD, _ADD_VERSIONS, _RENEW, _RENEW_ORIGIN):
        connection.execute(statement)
    removed = connection.execute(_REMOVE, (whole_of,)).rowcount if whole_of is not None else 0
    if connection.total_changes > before:
        connection.execute(_TELL)
    return SyncReport(added, changed, unchanged, removed)


# SQLite before 3.32 binds at most 999 values per statement.
_IDS_A_STATEMENT = 500
_PAGE = 500
_NUMBER_BYTES = 4
_FROM = "registry_tool AS tool JOIN tool_version AS version ON version.tool = tool.number"
_NOW = f"SELECT {COLUMNS} FROM {_FROM} AND version.version = tool.version"
_NUMBERED = _NOW.replace("SELECT", "SELECT tool.number,", 1)
_PART = "instr(lower(tool.name), lower(CAST(? AS TEXT))) > 0"
_HAS_VECTOR = "EXISTS (SELECT 1 FROM vector INDEXED BY vector_by_key WHERE model = ? AND key = tool.key)"


class SqliteRegistry:
    """A ToolRegistry that one machine's file holds; `nearest` compares every permitted vector.

    For that it keeps the vectors of one model in memory, 4 bytes a dimension and tool. See `ToolRegistry`.
    """

    def __init__(
        self, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS, reader: SqliteDatabase | None = None
    ) -> None:
        """Nothing is opened yet. `busy_timeout_ms` is how long to wait for another program's lock.

        Everything is read with the `reader` if there is one.
        """
        self._database = reader or SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)
        # What is written is prepared beside what is read, so that nobody waits for a long import.
        self._written = SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)
        self._vectors = SqliteVectors(path, busy_timeout_ms=busy_timeout_ms)
        self._writing = threading.Lock()
        self._nearest: NearestTools | None = None

    def sync(self, origin: str, tools: Iterable[Tool], *, at: float, whole: bool = True) -> SyncReport:
        """See `ToolRegistry`."""
        return self._merge(versions_of(origin, tools, at), stored(origin) if whole else None)

    def restore(self, versions: Iterable[RegisteredTool]) -> SyncReport:
        """See `ToolRegistry`."""
        return self._merge(accepted(versions), None)

    def _merge(self, versions: Iterable[RegisteredTool], whole_of: bytes | None) -> SyncReport:
        with self._writing:
            return merge(self._written, map(staged, versions), whole_of)

    def count(self, sight: Sight = EVERYTHING, *, part: str = "") -> int:
        """See `ToolRegistry`."""
        seen, parameters = condition(sight)
        sql = f"SELECT count(*) FROM registry_tool AS tool WHERE is_there AND {seen} AND {_PART}"
        return int(self._database.rows(sql, (*parameters, globbed(part)))[0][0])

    def tools(
        self, sight: Sight = EVERYTHING, *, part: str = "", after: str = "", limit: int | None = None
    ) -> Iterator[RegisteredTool]:
        """See `ToolRegistry`; they are read page by page."""
        seen, parameters = condition(sight)
        where = f"tool.is_there AND {seen} AND {_PART} AND tool.id > ?"
        sql = f"{_NOW} WHERE {where} ORDER BY tool.id LIMIT ?"
        left = limit
        while left is None or left > 0:
            size = _PAGE if left is None else min(left, _PAGE)
            page = self._read(sql, (*parameters, globbed(part), stored(after), size))
            yield from page
            if len(page) < size:
                return
            after, left = page[-1].tool.id, None if left is None else left - size

    def get(self, ids: Sequence[str], sight: Sight = EVERYTHING) -> Mapping[str, RegisteredTool]:
        """See `ToolRegistry`."""
        seen, parameters = condition(sight)
        found: dict[str, RegisteredTool] = {}
        for start in range(0, len(ids), _IDS_A_STATEMENT):
            chunk = [stored(one) for one in ids[start : start + _IDS_A_STATEMENT]]
            sql = f"{_NOW} WHERE tool.is_there AND {seen} AND tool.id IN ({', '.join('?' * len(chunk))})"
            found |= {one.tool.id: one for one in self._read(sql, (*parameters, *chunk))}
        return found

    def versions(self, tool_id: str, sight: Sight = EVERYTHING) -> tuple[RegisteredTool, ...]:
        """See `ToolRegistry`."""
        seen, parameters = condition(sight)
        sql = f"SELECT {COLUMNS} FROM {_FROM} WHERE {seen} AND tool.id = ? ORDER BY version.version DESC"
        return tuple(self._read(sql, (*parameters, stored(tool_id))))

    def history(self, sight: Sight = EVERYTHING) -> Iterator[RegisteredTool]:
        """See `ToolRegistry`; they are read page by page."""
        seen, parameters = condition(sight)
        behind = "(tool.id, version.version) > (?, ?)"
        order = "ORDER BY tool.id, version.version LIMIT ?"
        sql = f"SELECT {COLUMNS} FROM {_FROM} WHERE {seen} AND {behind} {order}"
        last = (b"", 0)
        while page := self._read(sql, (*parameters, *last, _PAGE)):
            yield from page
            last = (stored(page[-1].tool.id), page[-1].version)

    def origins(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """See `ToolRegistry`."""
        return self._counted("origin", sight)

    def servers(self, sight: Sight = EVERYTHING) -> Mapping[str, int]:
        """See `ToolRegistry`."""
        return self._counted("server", sight)

    def _counted(self, column: str, sight: Sight) -> Mapping[str, int]:
        seen, parameters = condition(sight)
        counted = f"SELECT {column}, count(*) FROM registry_tool AS tool"
        sql = f"{counted} WHERE is_there AND {seen} GROUP BY {column} ORDER BY {column}"
        return {loaded(name): count for name, count in self._database.rows(sql, parameters)}

    def embedded(self, model: str, sight: Sight = EVERYTHING) -> int:
        """See `ToolRegistry`."""
        seen, parameters = condition(sight)
        sql = f"SELECT count(*) FROM registry_tool AS tool WHERE is_there AND {seen} AND {_HAS_VECTOR}"
        return int(self._database.rows(sql, (*parameters, storable(model)))[0][0])

    def unembedded(self, model: str, limit: int) -> Mapping[bytes, str]:
        """See `ToolRegistry`."""
        latest = f"SELECT version.definition FROM {_FROM} AND version.version = tool.version"
        sql = f"{latest} WHERE tool.is_there AND NOT {_HAS_VECTOR} GROUP BY tool.key LIMIT ?"
        rows = self._database.rows(sql, (storable(model), limit))
        texts = (embedded_text(tool_in(definition)) for (definition,) in rows)
        return {key_of(text): text for text in texts}

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """See `ToolRegistry`."""
        if vectors:
            size = accepted_vectors(vectors) * _NUMBER_BYTES
            self._vectors.forget_others(model, size)
            self._vectors.keep_vectors(model, vectors)

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        count: int,
        sight: Sight = EVERYTHING,
        *,
        floor: float = -1.0,
    ) -> tuple[Neighbour, ...]:
        """See `ToolRegistry`: exact, to the precision of the stored float32 vectors."""
        accepted_query(vector)
        found = self._ranking().nearest(storable(model), vector, count, sight, floor)
        tools = self._numbered([number for number, _ in found])
        return tuple(Neighbour(tools[number], value) for number, value in found)

    def _ranking(self) -> "NearestTools":
        if self._nearest is None:
            from inspector.registry.sqlite.nearest import NearestTools

            self._nearest = NearestTools(self._database)
        return self._nearest

    def _numbered(self, numbers: Sequence[int]) -> Mapping[int, RegisteredTool]:
        found: dict[int, RegisteredTool] = {}
        for start in range(0, len(numbers), _IDS_A_STATEMENT):
            chunk = numbers[start : start + _IDS_A_STATEMENT]
            sql = f"{_NUMBERED} WHERE tool.number IN ({', '.join('?' * len(chunk))})"
            found |= {number: registered(row) for number, *row in self._database.rows(sql, chunk)}
        return found

    def _read(self, sql: str, parameters: Sequence[object]) -> list[RegisteredTool]:
        return [registered(row) for row in self._database.rows(sql, parameters)]

    def close(self) -> None:
        """See `ToolRegistry`."""
        for opened in (self._database, self._written, self._vectors):
            opened.close()
