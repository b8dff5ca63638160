"""One SQLite file and its tables: opened and migrated on first use; every failure is a StoreError.

sqlite-utils is imported only for a file that is not up to date: importing it takes as long as the rest of a
start.
"""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.core.error import StoreError
from inspector.core.redaction import private_folder

if TYPE_CHECKING:
    from sqlite_utils.db import Database
    from sqlite_utils.migrations import Migrations

# The tables and views, as ordered migrations. A released migration never changes.

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


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether exactly the steps that this program knows were applied."""
    return _applied(connection) == [name for name, _sql in _STEPS]


def newer_steps(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The applied steps that this program does not know: a newer version wrote the database."""
    known = {name for name, _sql in _STEPS}
    return tuple(name for name in _applied(connection) if name not in known)


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


BUSY_TIMEOUT_MS = 5000
_PRIVATE_FILE = 0o600

_HINTS: tuple[tuple[int, str], ...] = (
    (sqlite3.SQLITE_NOTADB, "It is not an SQLite database. Move it, or use another file."),
    (sqlite3.SQLITE_CORRUPT, "The file is damaged. Move it; `sqlite3 FILE .recover` may save its rows."),
    (sqlite3.SQLITE_FULL, "The disk is full. Free some space, or use a file on another disk."),
    (sqlite3.SQLITE_IOERR, "The disk is full, over its quota, or failing. Use a file on another disk."),
    (sqlite3.SQLITE_BUSY, "Another program has locked the database. Close it and try again."),
    (sqlite3.SQLITE_LOCKED, "Another program has locked the database. Close it and try again."),
    (sqlite3.SQLITE_READONLY, "The file or its folder is read-only. Use a file in a writable folder."),
    (sqlite3.SQLITE_CANTOPEN, "Check that the folder exists and that you can write to it."),
    (sqlite3.SQLITE_CONSTRAINT, "Two programs may be writing the same session; start a new one."),
)


class SqliteDatabase:
    """A connection that any thread may use, one statement or transaction at a time."""

    def __init__(self, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        """Nothing is opened yet. `busy_timeout_ms` is how long to wait for another program's lock."""
        self.path = path
        self._busy_timeout_ms = busy_timeout_ms
        self._lock = threading.RLock()
        self._open: sqlite3.Connection | None = None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write: all changes are committed together at the end, or none are. Raises StoreError."""
        with self._begun("BEGIN IMMEDIATE", "written") as connection:
            yield connection

    @contextmanager
    def moment(self) -> Iterator[sqlite3.Connection]:
        """Read several times what belongs together, or fill temporary tables. Raises StoreError.

        Other programs can write meanwhile; what they write is not seen before the end.
        """
        with self._begun("BEGIN", "read") as connection:
            yield connection

    @contextmanager
    def _begun(self, begin: str, verb: str) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translated(verb):
            connection = self._opened()
            with _committed(connection, begin):
                yield connection

    def rows(
        self, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()
    ) -> list[tuple[Any, ...]]:
        """Read every row that the statement selects. Raises StoreError."""
        with self._lock, self._translated("read"):
            return self._opened().execute(sql, parameters).fetchall()

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _opened(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = self._connect()
        return self._open

    def _connect(self) -> sqlite3.Connection:
        private_folder(self.path.parent)
        # Sessions contain what people typed and servers answered: only the owner may read them.
        if not self.path.exists():
            self.path.touch(mode=_PRIVATE_FILE)
        connection = sqlite3.connect(
            self.path, timeout=self._busy_timeout_ms / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = NORMAL")
            if not is_current(connection):
                self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        from sqlite_utils.db import Database

        if newer := newer_steps(connection):
            raise StoreError(
                f"{self.path} was written by a newer version of Toolsight "
                f"(unknown migrations: {', '.join(newer)})",
                hint="Update Toolsight, or use another file.",
            )
        database, steps = Database(connection, execute_plugins=False), migrations()
        if not steps.pending(database):
            return
        # The write lock comes first: if two programs start at once, the second finds nothing to do.
        # WAL is a permanent property of the file and cannot be enabled within a transaction.
        connection.execute("PRAGMA journal_mode = WAL")
        with _committed(connection, "BEGIN IMMEDIATE"):
            steps.apply(database)

    @contextmanager
    def _translated(self, verb: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be {verb}: {error}", hint=_hint(error)) from error
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "Check that the folder exists and that you can write to it."
            raise StoreError(f"{self.path} cannot be opened: {reason}", hint=hint) from error
        except (UnicodeError, OverflowError) as error:
            hint = "This is a bug in Toolsight; the session continues without this entry."
            raise StoreError(f"a value cannot be stored in {self.path}: {error}", hint=hint) from error


@contextmanager
def _committed(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    """Commit at the end, or roll back on any error."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _hint(error: sqlite3.Error) -> str:
    # The low byte is the kind of error; the rest of the code is its details.
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return next((hint for code, hint in _HINTS if code == kind), "Use another file, or move this one.")
