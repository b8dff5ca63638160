"""Adds versions of tools to the registry: what differs is found out by PostgreSQL, in one transaction."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from inspector.core.registered_tool import SyncReport
from inspector.registry.postgres.database import LOCK, PostgresDatabase
from inspector.registry.postgres.row import Staged

if TYPE_CHECKING:
    from psycopg import Connection

# From so many rows on the planner's statistics are brought up to date at once.
_MANY = 1000
CHANGED = "UPDATE toolsight.state SET generation = generation + 1"

_STAGE = """
CREATE TEMP TABLE staged (
    position bigint GENERATED ALWAYS AS IDENTITY,
    id text COLLATE "C", version integer, server text COLLATE "C", origin text COLLATE "C", hash text,
    at double precision, is_there boolean, key bytea, definition text
) ON COMMIT DROP
"""
_COPY = "COPY staged (id, version, server, origin, hash, at, is_there, key, definition) FROM STDIN"
_FIRST_COUNTS = """
DELETE FROM staged USING staged AS before
WHERE before.id = staged.id AND before.version = staged.version AND before.position < staged.position
"""
# The last staged version of each tool, with  what is known of it here: its newest version, and whether it is
# there. A tool that is gone in its source stays where it is here.
_LAST = """
CREATE TEMP TABLE last ON COMMIT DROP AS
SELECT final.*, newest.version AS known, newest.hash AS known_hash, tool.id IS NOT NULL AS was_there
FROM (SELECT DISTINCT ON (id) * FROM staged ORDER BY id, version DESC) AS final
LEFT JOIN toolsight.tool AS tool ON tool.id = final.id
LEFT JOIN LATERAL (
    SELECT version, hash FROM toolsight.version WHERE id = final.id ORDER BY version DESC LIMIT 1
) AS newest ON true
WHERE final.is_there OR tool.id IS NULL
"""
_COUNT = """
SELECT count(*) FILTER (WHERE NOT was_there), count(*) FILTER (WHERE was_there AND hash <> known_hash),
    count(*) FILTER (WHERE was_there AND hash = known_hash)
FROM last WHERE is_there
"""
# Of a known tool, what is behind the version that is its newest here, or else only the last one.
_ADD_VERSIONS = """
INSERT INTO toolsight.version (id, version, origin, hash, at, definition)
SELECT id, coalesce(last.known, 0) + row_number() OVER (PARTITION BY id ORDER BY staged.version),
    staged.origin, staged.hash, staged.at, staged.definition
FROM last JOIN staged USING (id)
LEFT JOIN (
    SELECT id, max(staged.version) AS version FROM staged JOIN last USING (id)
    WHERE staged.hash = last.known_hash GROUP BY id
) AS same USING (id)
WHERE staged.version > CASE WHEN last.known IS NULL THEN 0 ELSE coalesce(same.version, last.version - 1) END
"""
_RENEW_ORIGIN = """
UPDATE toolsight.version AS version SET origin = last.origin FROM last
WHERE version.id = last.id AND version.version = last.known AND last.known_hash = last.hash
    AND version.origin <> last.origin
"""
_RENEW = """
INSERT INTO toolsight.tool AS tool (id, version, server, origin, key)
SELECT last.id, newest.version, last.server, last.origin, last.key FROM last, LATERAL (
    SELECT max(version) AS version FROM toolsight.version WHERE version.id = last.id
) AS newest WHERE last.is_there ORDER BY last.id
ON CONFLICT (id) DO UPDATE
SET version = excluded.version, server = excluded.server, origin = excluded.origin, key = excluded.key
WHERE (tool.version, tool.server, tool.origin, tool.key)
    <> (excluded.version, excluded.server, excluded.origin, excluded.key)
"""
_REMOVE = """
DELETE FROM toolsight.tool
WHERE origin = %s AND NOT EXISTS (SELECT FROM staged WHERE staged.id = tool.id)
"""


def merge(database: PostgresDatabase, versions: Iterable[Staged], whole_of: str | None) -> SyncReport:
    """Keep the versions, all or none; of the origin `whole_of` they are all that there is.

    Raises StoreError and what `versions` raises.
    """
    with database.transaction() as connection:
        connection.execute(_STAGE)
        with connection.cursor() as cursor:
            with cursor.copy(_COPY) as copy:
                for row in versions:
                    copy.write_row(row)
            is_large = cursor.rowcount >= _MANY
        connection.execute("ANALYZE staged")
        connection.execute(LOCK.encode())
        return _merged(connection, whole_of, is_large)


def _merged(connection: "Connection[Any]", whole_of: str | None, is_large: bool) -> SyncReport:
    connection.execute(_FIRST_COUNTS)
    connection.execute(_LAST)
    connection.execute("ANALYZE last")
    added, changed, unchanged = connection.execute(_COUNT).fetchone() or (0, 0, 0)
    touched = sum(connection.execute(one).rowcount for one in (_ADD_VERSIONS, _RENEW_ORIGIN, _RENEW))
    removed = connection.execute(_REMOVE, (whole_of,)).rowcount if whole_of is not None else 0
    if touched or removed:
        connection.execute(CHANGED)
        if is_large:
            connection.execute("ANALYZE toolsight.version, toolsight.tool")
    return SyncReport(added, changed, unchanged, removed)
