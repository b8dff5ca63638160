"""The registry's tables in PostgreSQL, as ordered steps. A released step never changes.

All are in the schema `toolsight`. Texts are in the collation "C": compared by their characters' numbers, as
Python does. Vectors are in a table a model, `vector_NUMBER`, since an index has one number of dimensions.
"""

from typing import TYPE_CHECKING, Any

from inspector.core.error import StoreError

if TYPE_CHECKING:
    from psycopg import Connection

# Iterative scans of an index, which filters need, are new in 0.8.
PGVECTOR = (0, 8)
# Whoever writes holds this advisory lock to the end of the transaction: "toolsight" in ASCII, cut to 8 bytes.
LOCK = "SELECT pg_advisory_xact_lock(x'746f6f6c73696768'::bigint)"

_REGISTRY = """
CREATE TABLE toolsight.version (
    id text COLLATE "C" NOT NULL,      -- server:tool; see stored_text.py for what PostgreSQL does not take
    version integer NOT NULL,          -- from 1 for each id
    origin text COLLATE "C" NOT NULL,
    hash text NOT NULL,                -- of the definition
    at double precision NOT NULL,      -- seconds since 1970, UTC
    definition text NOT NULL,          -- the tool as JSON in ASCII; jsonb takes no escaped NUL
    PRIMARY KEY (id, version)
);
CREATE TABLE toolsight.tool (          -- the tools there are now
    id text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL,
    server text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    key bytea NOT NULL,                -- the hash of the text that is embedded
    FOREIGN KEY (id, version) REFERENCES toolsight.version
);
CREATE INDEX tool_by_key ON toolsight.tool (key);
CREATE INDEX tool_by_origin ON toolsight.tool (origin);
CREATE TABLE toolsight.model (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    dimensions integer NOT NULL,
    indexed boolean NOT NULL DEFAULT false,
    UNIQUE (name, dimensions)
);
CREATE TABLE toolsight.state (
    generation bigint NOT NULL         -- counts changes of tools, vectors and indexes
);
INSERT INTO toolsight.state VALUES (0);
"""

_APPLIED_STEPS = """
CREATE TABLE IF NOT EXISTS toolsight.migration (
    name text PRIMARY KEY, position integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
)
"""

STEPS = (("registry", _REGISTRY),)


def migrate(connection: "Connection[Any]", name: str) -> None:
    """Bring a database up to date; of two programs that start at once, the second finds nothing to do.

    Raises StoreError if a newer Toolsight wrote it, or pgvector is missing; `name` is the database's.
    """
    if _is_current(connection, name):
        return
    with connection.transaction():
        connection.execute(LOCK.encode())
        if _is_current(connection, name):
            return
        _provide_pgvector(connection, name)
        connection.execute("CREATE SCHEMA IF NOT EXISTS toolsight")
        connection.execute(_APPLIED_STEPS.encode())
        done = len(_applied(connection))
        for position, (step, sql) in enumerate(STEPS[done:], start=done):
            connection.execute(sql.encode())
            connection.execute(
                "INSERT INTO toolsight.migration (name, position) VALUES (%s, %s)", (step, position)
            )


def require_current(connection: "Connection[Any]", name: str) -> None:
    """Raise StoreError unless the database is up to date: it is somebody else's."""
    if not _is_current(connection, name):
        raise StoreError(
            f"{name} was written by an older version of Toolsight, or by another program",
            hint="Its owner can update it with `toolsight registry`.",
        )


def _is_current(connection: "Connection[Any]", name: str) -> bool:
    known, applied = [step for step, _sql in STEPS], _applied(connection)
    if applied != known[: len(applied)]:
        newer = ", ".join(str(step) for step in applied if step not in known)
        raise StoreError(
            f"{name} was written by a newer version of Toolsight (unknown migrations: {newer})",
            hint="Update Toolsight, or use another database.",
        )
    return applied == known


def _applied(connection: "Connection[Any]") -> list[str]:
    found = connection.execute("SELECT to_regclass('toolsight.migration') IS NOT NULL").fetchone()
    if not found or not found[0]:
        return []
    rows = connection.execute("SELECT name FROM toolsight.migration ORDER BY position").fetchall()
    return [row[0] for row in rows]


def _provide_pgvector(connection: "Connection[Any]", name: str) -> None:
    """Use the extension that is there, or create it where it is installed."""
    found = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    if found is None:
        offered = connection.execute(
            "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
        ).fetchone()
        if offered is None:
            raise StoreError(
                f"{name} has no pgvector", hint="Install the extension pgvector 0.8 or newer on its server."
            )
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        found = offered
    if tuple(int(part) for part in str(found[0]).split(".")[:2] if part.isdigit()) < PGVECTOR:
        raise StoreError(
            f"{name} has pgvector {found[0]}; 0.8 or newer is needed",
            hint="Update it on the server, then run ALTER EXTENSION vector UPDATE in the database.",
        )
