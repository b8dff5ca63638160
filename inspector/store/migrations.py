"""The tables and views of the SQLite file, as ordered migrations. A released migration never changes."""

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.error import StoreError

if TYPE_CHECKING:
    from sqlite_utils.db import Database
    from sqlite_utils.migrations import Migrations

_SET = "toolsight"

_SESSIONS = """
CREATE TABLE session (
    id TEXT PRIMARY KEY,
    started_at REAL NOT NULL,  -- seconds since 1970, UTC
    ended_at REAL NOT NULL,    -- the newest event so far
    config TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT ''
);
CREATE INDEX session_by_start ON session(started_at);
CREATE TABLE event (
    session TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,      -- from 1 within a session
    at REAL NOT NULL,          -- seconds since 1970, UTC
    kind TEXT NOT NULL,
    server TEXT,               -- where the event is about one
    tool TEXT,                 -- server:tool, where the event is about one
    payload TEXT NOT NULL,     -- the event's fields as JSON
    PRIMARY KEY (session, seq)
);
CREATE INDEX event_by_kind ON event(session, kind);
"""

_MEMORY = """
CREATE TABLE server_memory (
    fingerprint TEXT PRIMARY KEY,  -- SHA-256 of what starts the server
    era TEXT NOT NULL              -- the protocol era that worked last
);
CREATE TABLE approval (
    fingerprint TEXT PRIMARY KEY,  -- SHA-256 of everything the configuration starts
    source TEXT NOT NULL,          -- the configuration file
    approved_at REAL NOT NULL      -- seconds since 1970, UTC
);
"""

_VIEWS = """
CREATE VIEW searches AS
SELECT session, seq, datetime(at, 'unixepoch') AS time,
    json_extract(payload, '$.by') AS by,
    json_extract(payload, '$.report.request.query') AS query,
    json_extract(payload, '$.report.request.server_name') AS server_name,
    json_extract(payload, '$.report.ranker') AS ranker,
    json_array_length(payload, '$.report.hits') AS scored,
    json_extract(payload, '$.report.hits[0].score.tool_id') AS best,
    json_extract(payload, '$.report.latency_ms') AS latency_ms,
    json_extract(payload, '$.report.error') AS error
FROM event WHERE kind = 'search';

CREATE VIEW calls AS
SELECT started.session, started.seq, datetime(started.at, 'unixepoch') AS time, started.server, started.tool,
    json_extract(started.payload, '$.by') AS by,
    json_extract(started.payload, '$.call_id') AS call_id,
    json_extract(started.payload, '$.arguments') AS arguments,
    json_extract(done.payload, '$.ok') AS ok,
    json_extract(done.payload, '$.milliseconds') AS milliseconds,
    json_extract(done.payload, '$.text') AS result
FROM event AS started
LEFT JOIN event AS done ON done.session = started.session AND done.seq = (
    SELECT min(result.seq) FROM event AS result
    WHERE result.session = started.session AND result.seq > started.seq AND result.kind = 'result'
        AND json_extract(result.payload, '$.call_id') = json_extract(started.payload, '$.call_id')
)
WHERE started.kind = 'call';

CREATE VIEW guards AS
SELECT session, seq, datetime(at, 'unixepoch') AS time, kind, tool,
    coalesce(json_extract(payload, '$.reason'), json_extract(payload, '$.guidance'),
        json_extract(payload, '$.note'), json_extract(payload, '$.decision')) AS why,
    payload
FROM event WHERE kind IN ('loop', 'redundant', 'reject', 'approval', 'evict');
"""

_VECTORS = """
CREATE TABLE vector (
    model TEXT NOT NULL,
    key BLOB NOT NULL,         -- the hash of the embedded text
    vector BLOB NOT NULL,      -- float32, little-endian
    PRIMARY KEY (model, key)
) WITHOUT ROWID;
"""

_SNAPSHOTS = """
CREATE TABLE snapshot (
    fingerprint TEXT PRIMARY KEY,  -- SHA-256 of what starts the server
    listed_at REAL NOT NULL,       -- seconds since 1970, UTC
    summary TEXT NOT NULL,         -- JSON: what the server said of itself
    tools TEXT NOT NULL            -- JSON: the tools as the server listed them
);
"""

_TOKEN_LENGTHS = """
CREATE TABLE token_lengths (
    tokenizer TEXT NOT NULL,
    text BLOB NOT NULL,        -- SHA-256 of the text
    lengths BLOB NOT NULL,     -- the bytes of each token, as 16 bit numbers of this machine
    UNIQUE (tokenizer, text)
);
"""

_AGENTS = """
ALTER TABLE session ADD COLUMN agent TEXT NOT NULL DEFAULT '';
"""

_BREAKERS = """
CREATE TABLE breaker (
    server TEXT NOT NULL,      -- SHA-256 of what starts the server
    tool TEXT NOT NULL,        -- JSON: the tool's name, "" for the server's own
    state TEXT NOT NULL,       -- JSON: the circuit breaker
    UNIQUE (server, tool)
);
"""

_REGISTRY = """
CREATE TABLE registry_tool (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,   -- server:tool as UTF-8; a lone surrogate takes three bytes
    name TEXT NOT NULL,        -- the id as GLOB can match it, see registry_sight.py
    server BLOB NOT NULL,      -- as UTF-8
    is_there INTEGER NOT NULL, -- 0 for a tool that is gone; its versions stay
    version INTEGER NOT NULL,  -- the newest one
    origin BLOB NOT NULL,      -- where it came from, as UTF-8
    hash TEXT NOT NULL,        -- SHA-256 of the newest version's definition
    key BLOB NOT NULL          -- of the text whose vector is searched, as in the table vector
);
CREATE INDEX registry_tool_by_origin ON registry_tool(origin);
CREATE INDEX registry_tool_by_key ON registry_tool(key);
CREATE TABLE tool_version (
    tool INTEGER NOT NULL REFERENCES registry_tool(number),
    version INTEGER NOT NULL,  -- from 1
    origin BLOB NOT NULL,
    hash TEXT NOT NULL,
    at REAL NOT NULL,          -- when it was first seen, seconds since 1970, UTC
    definition TEXT NOT NULL,  -- JSON
    UNIQUE (tool, version)
);
-- Whether a text is embedded is asked more often than what its vector is.
CREATE INDEX vector_by_key ON vector(model, key);
CREATE TABLE registry_change (number INTEGER NOT NULL);
INSERT INTO registry_change VALUES (0);
CREATE TRIGGER registry_vector AFTER INSERT ON vector
WHEN EXISTS (SELECT 1 FROM registry_tool WHERE key = NEW.key)
BEGIN
    UPDATE registry_change SET number = number + 1;
END;
"""

_VIEWERS = """
ALTER TABLE session ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN expert TEXT NOT NULL DEFAULT '';
"""

_APPROVED_FILES = """
ALTER TABLE approval ADD COLUMN version TEXT NOT NULL DEFAULT '';
CREATE TABLE approved_file (
    fingerprint TEXT NOT NULL, -- of what runs it, as in the table approval
    path BLOB NOT NULL,        -- as the file system has it
    digest TEXT NOT NULL,      -- SHA-256 of its content
    lines BLOB NOT NULL,       -- a script's: the CRC-32 of each line, as 32 bit numbers of this machine
    UNIQUE (fingerprint, path)
);
"""

_STEPS = (
    ("sessions", _SESSIONS),
    ("server_memory", _MEMORY),
    ("views", _VIEWS),
    ("vectors", _VECTORS),
    ("snapshots", _SNAPSHOTS),
    ("token_lengths", _TOKEN_LENGTHS),
    ("agents", _AGENTS),
    ("breakers", _BREAKERS),
    ("registry", _REGISTRY),
    ("viewers", _VIEWERS),
    ("approved_files", _APPROVED_FILES),
)
# The table of migrations itself is made before the first step, by sqlite-utils.
_OTHERS = "SELECT 1 FROM sqlite_master WHERE tbl_name <> '_sqlite_migrations' LIMIT 1"


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether exactly the steps that this program knows were applied."""
    return _applied(connection) == [name for name, _sql in _STEPS]


def require_own(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what another program or a newer version wrote. Raises StoreError and sqlite3.Error."""
    applied, known = _applied(connection), {name for name, _sql in _STEPS}
    if newer := [name for name in applied if name not in known]:
        raise StoreError(
            f"{path} was written by a newer version of Toolsight (unknown migrations: {', '.join(newer)})",
            hint="Update Toolsight, or use another file.",
        )
    if not applied and connection.execute(_OTHERS).fetchall():
        raise StoreError(f"{path} is another program's database", hint="Use another file, or a new one.")


def _applied(connection: sqlite3.Connection) -> list[str]:
    """The names of the applied steps in their order, asked without sqlite-utils."""
    tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchall()
    if not tables:
        return []
    sql = "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY rowid"
    return [str(name) for (name,) in connection.execute(sql, (_SET,))]


def migrations() -> "Migrations":
    """The steps from an empty database to the current one."""
    from sqlite_utils.migrations import Migrations

    steps = Migrations(_SET)
    for name, sql in _STEPS:
        _register(steps, name, sql)
    return steps


def _register(steps: "Migrations", name: str, sql: str) -> None:
    @steps(name=name)
    def step(database: "Database") -> None:
        _execute(sql, database)


def _execute(sql: str, database: "Database") -> None:
    """Execute statements one by one: executescript() would commit the transaction that a step runs in."""
    pending = ""
    for line in sql.strip().splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            database.execute(pending)
            pending = ""
