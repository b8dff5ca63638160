"""The tool registry in the database that holds the sessions, with its vectors in the same file."""

import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from time import monotonic
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.core.access import Sight
from inspector.core.error import StoreError
from inspector.features.registry.acceptance import Neighbour, RegisteredTool, SyncReport
from inspector.features.registry.tool_registry import (
    IDS_A_STATEMENT,
    Condition,
    Dialect,
    ToolRegistry,
    one_of,
    seen_of,
)
from inspector.store.codec import as_column
from inspector.store.database import SqliteDatabase, opened_to_read
from inspector.store.migrations import is_current, require_own
from inspector.store.server_memory import SqliteVectors

_WILD = re.compile(r"[*?]")


def _any_of(patterns: Sequence[str], name: str) -> Condition:
    if "*" in patterns:
        return Condition("1")
    # GLOB matches what `Sight.permits` does, but that `[` is special to it.
    wild = [pattern.replace("[", "[[]") for pattern in patterns if _WILD.search(pattern)]
    globs = {f"{name}_glob{number}": pattern for number, pattern in enumerate(wild)}
    terms = [f"name GLOB :{one}" for one in globs]
    exact = [pattern.encode() for pattern in patterns if not _WILD.search(pattern)]
    ids = one_of("id", exact, name)
    return Condition(_either([*terms, *([ids.sql] if exact else [])]), {**globs, **ids.parameters})


def _either(terms: Sequence[str]) -> str:
    """One of the terms, as a balanced tree: SQLite refuses expressions that are 1,000 deep."""
    if len(terms) < 2:
        return terms[0] if terms else "0"
    half = len(terms) // 2
    return f"({_either(terms[:half])} OR {_either(terms[half:])})"


_NUMBER_BYTES = 4
_HAS_VECTOR = "EXISTS (SELECT 1 FROM vector INDEXED BY vector_by_key WHERE model = :model AND key = t.key)"


_VERSIONS = "registry_tool AS t JOIN tool_version AS v ON v.tool = t.number"
_DIALECT = Dialect(
    tools="registry_tool AS t",
    is_there="t.is_there",
    versions=_VERSIONS,
    now=f"{_VERSIONS} AND v.version = t.version",
    is_now="t.is_there AND t.version = v.version",
    has_part="instr(lower(t.name), lower(:part)) > 0",
    stored=str.encode,
    loaded=bytes.decode,
    seen=lambda sight: seen_of(sight, _any_of),
)


class SqliteRegistry(ToolRegistry):
    """A ToolRegistry that one machine's file holds; `nearest` compares every permitted vector.

    For that it keeps the vectors of one model in memory, 4 bytes a dimension and tool. See `ToolRegistry`.
    """

    _sql = _DIALECT

    def __init__(self, path: Path, reader: SqliteDatabase | None = None) -> None:
        """Nothing is opened yet. Everything is read with the `reader` if there is one."""
        super().__init__()
        self._database = reader or SqliteDatabase(path)
        # What is written is prepared beside what is read, so that nobody waits for a long import.
        self._written = SqliteDatabase(path)
        self._vectors = SqliteVectors(path)
        self._writing = threading.Lock()
        self._nearest = _NearestTools(self._database)

    def _rows(self, sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._database.rows(sql, parameters)

    def _merge(self, versions: Iterator[tuple[Any, ...]], whole_of: bytes | None) -> SyncReport:
        with self._writing:
            return _merge(self._written, versions, whole_of)

    def _has_vector(self, model: str) -> Condition:
        return Condition(_HAS_VECTOR, {"model": as_column(model)})

    def _all_embedded(self, model: str) -> None:
        """There is no index to build."""

    def _keep(self, model: str, vectors: Mapping[bytes, bytes], dimensions: int) -> None:
        self._vectors.forget_others(model, dimensions * _NUMBER_BYTES)
        self._vectors.keep_vectors(model, vectors)

    def _compare(
        self, model: str, vector: Sequence[float], count: int, sight: Sight, floor: float
    ) -> tuple[Neighbour, ...]:
        """Exact, to the precision of the stored float32 vectors."""
        found = self._nearest.nearest(as_column(model), vector, count, sight, floor)
        tools: dict[int, RegisteredTool] = {}
        for start in range(0, len(found), IDS_A_STATEMENT):
            wanted = one_of("t.number", (number for number, _ in found[start : start + IDS_A_STATEMENT]))
            sql = f"SELECT t.number, {_DIALECT.columns} FROM {_DIALECT.now} WHERE {wanted.sql}"
            rows = self._database.rows(sql, wanted.parameters)
            tools |= {number: self._registered(row) for number, *row in rows}
        return tuple(Neighbour(tools[number], value) for number, value in found)

    def close(self) -> None:
        """See `ToolRegistry`."""
        for opened in (self._database, self._written, self._vectors):
            opened.close()


# Tools that are written are read and hashed first, and merged in one short transaction.
_ROWS_AT_ONCE = 1000

_STAGE = """
CREATE TEMP TABLE IF NOT EXISTS staged (
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    server BLOB NOT NULL,
    origin BLOB NOT NULL,
    hash TEXT NOT NULL,
    at REAL NOT NULL,
    is_there INTEGER NOT NULL,
    key BLOB NOT NULL,
    definition TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (id, version)
)
"""
_FILL = """
INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id, version) DO NOTHING
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


def _merge(
    database: SqliteDatabase, versions: Iterator[tuple[Any, ...]], whole_of: bytes | None
) -> SyncReport:
    """The connection is used for nothing else meanwhile. Raises StoreError and what `versions` raises."""
    with database.moment() as connection:
        connection.execute(_STAGE)
        connection.execute("DELETE FROM staged")
        while rows := list(islice(versions, _ROWS_AT_ONCE)):
            connection.executemany(_FILL, ((*row, row[0].decode()) for row in rows))
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


# Exact search over the registry's vectors, which are kept in memory until the registry changes.

_VECTORS_AT_ONCE = 4096
_CHANGE = "SELECT number FROM registry_change"
_TOOLS = "SELECT number, key FROM registry_tool WHERE is_there ORDER BY id"
_MOST = "SELECT count(DISTINCT key) FROM registry_tool WHERE is_there"
_VECTORS = """
SELECT key, vector FROM vector
WHERE model = ? AND length(vector) = ? AND key IN (SELECT key FROM registry_tool WHERE is_there)
"""


class _Table(Struct, frozen=True, dict=True):
    """The tools in order of their ids: their numbers, and each one's row in `vectors`.

    Tools with the same text share a row.
    """

    state: tuple[int, str, int]
    numbers: NDArray[np.int64]
    rows: NDArray[np.int64]
    vectors: NDArray[np.float32]


class _NearestTools:
    """Ranks tools by the cosine of their vectors with a query's. Thread-safe.

    Each similarity is a sum of its own, so that it does not depend on who else is searched.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._table: _Table | None = None

    def nearest(
        self, model: str, vector: Sequence[float], count: int, sight: Sight, floor: float
    ) -> list[tuple[int, float]]:
        """The numbers of the nearest tools with their similarities. Raises StoreError."""
        unit, seen = np.asarray(vector, np.float32), seen_of(sight, _any_of)
        with self._lock, self._database.moment() as connection:
            table = self._current(connection, model, len(unit))
            sql = f"SELECT number FROM registry_tool WHERE is_there AND ({seen.sql})"
            permitted = [row[0] for row in connection.execute(sql, seen.parameters)]
        here = np.flatnonzero(np.isin(table.numbers, permitted))
        values = np.einsum("ij,j->i", table.vectors, unit)[table.rows[here]].clip(-1.0, 1.0)
        order = np.lexsort((here, -values))[: max(count, 0)]
        return [(int(table.numbers[here[at]]), float(values[at])) for at in order if values[at] >= floor]

    def _current(self, connection: Connection, model: str, dimensions: int) -> _Table:
        state = (int(connection.execute(_CHANGE).fetchone()[0]), model, dimensions)
        if self._table is None or self._table.state != state:
            # The old one goes first: two of them would be twice the memory.
            self._table = None
            self._table = _read(connection, state)
        return self._table


def _read(connection: Connection, state: tuple[int, str, int]) -> _Table:
    _change, model, dimensions = state
    vectors = np.empty((connection.execute(_MOST).fetchone()[0], dimensions), np.float32)
    row_of: dict[bytes, int] = {}
    cursor = connection.execute(_VECTORS, (model, dimensions * vectors.itemsize))
    while read := cursor.fetchmany(_VECTORS_AT_ONCE):
        start = len(row_of)
        data = b"".join(vector for _, vector in read)
        vectors[start : start + len(read)] = np.frombuffer(data, "<f4").reshape(len(read), -1)
        row_of |= {key: start + at for at, (key, _) in enumerate(read)}
    listed = [(number, row_of[key]) for number, key in connection.execute(_TOOLS) if key in row_of]
    numbers, rows = np.array(listed, np.int64).reshape(-1, 2).T.copy()
    return _Table(state, numbers, rows, vectors[: len(row_of)])


# Somebody else's file.

# The file is another program's: no value may fill the memory, and no statement may run on.
_MAX_VALUE = 4 * 1024 * 1024
_STEPS_A_LOOK = 10_000


class ReadOnlyDatabase(SqliteDatabase):
    """An SQLite file that is only read. Each statement may take so many `seconds`."""

    def __init__(self, path: Path, *, seconds: float) -> None:
        super().__init__(path)
        self._seconds = seconds
        self._until = 0.0

    def _opened(self) -> sqlite3.Connection:
        self._until = monotonic() + self._seconds
        return super()._opened()

    def _connect(self) -> sqlite3.Connection:
        if not self.path.is_file():
            raise StoreError(
                f"{self.path} does not exist", hint="Use a database file that Toolsight wrote (--db)."
            )
        connection = opened_to_read(self.path, self._seconds)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
            connection.set_progress_handler(lambda: monotonic() > self._until, _STEPS_A_LOOK)
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            require_own(connection, self.path)
            if not is_current(connection):
                raise StoreError(
                    f"{self.path} was written by an older version of Toolsight, or is empty",
                    hint="Its owner can update it with `toolsight registry --db FILE`.",
                )
        except BaseException:
            connection.close()
            raise
        return connection
