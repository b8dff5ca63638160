"""Writes tools into the registry: they are read and hashed first, and merged in one short transaction."""

from collections.abc import Iterable
from itertools import islice
from sqlite3 import Connection

from inspector.adapters.sqlite.database import SqliteDatabase
from inspector.adapters.sqlite.registry_row import Staged
from inspector.domain.registered_tool import SyncReport

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
