"""The tool registry in PostgreSQL with pgvector, for many programs and more tools than a file is good for."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from inspector.core.access import Sight
from inspector.features.registry.acceptance import Neighbour, SyncReport
from inspector.features.registry.postgres_database import LOCK, TIMEOUT_S, PostgresDatabase
from inspector.features.registry.postgres_vector import (
    READER,
    build_index,
    keep,
    nearest_rows,
    seen_by,
    tables_of,
)
from inspector.features.registry.tool_registry import Condition, Dialect, ToolRegistry

if TYPE_CHECKING:
    from psycopg import Connection

_NAMED = re.compile(r"(?<![:\w]):(\w+)")


_DIALECT = Dialect(
    tools="toolsight.tool AS t",
    is_there="TRUE",
    versions="toolsight.version AS v LEFT JOIN toolsight.tool AS t USING (id, version)",
    now="toolsight.tool AS t JOIN toolsight.version AS v USING (id, version)",
    is_now="t.id IS NOT NULL",
    # In the collation "C" only a to z have another case.
    has_part="""strpos(lower(id), lower(:part COLLATE "C")) > 0""",
    stored=str,
    loaded=str,
    seen=seen_by,
)


class PostgresRegistry(ToolRegistry):
    """A ToolRegistry in a database of PostgreSQL, with an HNSW index over the vectors. See `ToolRegistry`.

    A role that may only read can search. The index is built when many vectors are there and none is missing.
    """

    _sql = _DIALECT

    def __init__(
        self, url: str, *, timeout: int = TIMEOUT_S, read_only: bool = False, settings: str = ""
    ) -> None:
        """Nothing is connected yet. `timeout` is how long connecting may take, in seconds.

        One that is `read_only` is not migrated; `settings` are more of what it is read with, as SQL.
        """
        super().__init__()
        reader = f"{READER}; {settings}"
        self._database = PostgresDatabase(url, reader=reader, timeout=timeout, read_only=read_only)

    def _rows(self, sql: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._database.rows(_NAMED.sub(r"%(\1)s", sql), parameters)

    def _merge(self, versions: Iterator[tuple[Any, ...]], whole_of: str | None) -> SyncReport:
        return _merge(self._database, versions, whole_of)

    def _has_vector(self, model: str) -> Condition:
        tests = (
            f"EXISTS (SELECT FROM {one.name} AS vector WHERE vector.key = t.key)"
            for one in tables_of(self._database, model)
        )
        return Condition(" OR ".join(tests) or "FALSE")

    def _all_embedded(self, model: str) -> None:
        for table in tables_of(self._database, model):
            build_index(self._database, table)

    def _keep(self, model: str, vectors: Mapping[bytes, bytes], dimensions: int) -> None:
        keep(self._database, model, vectors, dimensions)

    def _compare(
        self, model: str, vector: Sequence[float], count: int, sight: Sight, floor: float
    ) -> tuple[Neighbour, ...]:
        rows = nearest_rows(self._database, model, vector, count, sight)
        found = ((min(row[0], 1.0), row[2:]) for row in rows if row[0] >= floor)
        return tuple(Neighbour(self._registered(row), max(value, -1.0)) for value, row in found)

    def close(self) -> None:
        """See `ToolRegistry`."""
        self._database.close()


def open_peer(url: str, *, seconds: float) -> ToolRegistry:
    """The registry at an address, in read-only transactions. Nothing is connected yet.

    Connecting and each statement may take so many `seconds`.
    """
    limit = f"SET statement_timeout = {max(1, round(seconds * 1000))}"
    # libpq takes whole seconds, and at least two.
    return PostgresRegistry(url, timeout=max(2, ceil(seconds)), read_only=True, settings=limit)


# Versions of tools are added in one transaction: what differs is found out by PostgreSQL.
# From so many rows on the planner's statistics are brought up to date at once.
_MANY = 1000

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


def _merge(
    database: PostgresDatabase, versions: Iterator[tuple[Any, ...]], whole_of: str | None
) -> SyncReport:
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
    for statement in (_ADD_VERSIONS, _RENEW_ORIGIN, _RENEW):
        connection.execute(statement)
    removed = connection.execute(_REMOVE, (whole_of,)).rowcount if whole_of is not None else 0
    if is_large:
        connection.execute("ANALYZE toolsight.version, toolsight.tool")
    return SyncReport(added, changed, unchanged, removed)
