"""One PostgreSQL database: its migrations, and a connection on first use; every failure is a StoreError.

psycopg is imported on first use: only who names a database of PostgreSQL needs it.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from inspector.core.error import StoreError
from inspector.core.secret_value import MARKER

if TYPE_CHECKING:
    from psycopg import Connection, Error

# All are in the schema `toolsight`. Texts are in the collation "C": compared by their characters' numbers, as
# Python does. Vectors are in a table a model, `vector_NUMBER`, since an index has one number of dimensions.

# Iterative scans of an index, which filters need, are new in 0.8.
PGVECTOR = (0, 8)
# Whoever writes holds this advisory lock to the end of the transaction: "toolsight" in ASCII, cut to 8 bytes.
LOCK = "SELECT pg_advisory_xact_lock(x'746f6f6c73696768'::bigint)"

_APPLIED_STEPS = """
CREATE TABLE IF NOT EXISTS toolsight.migration (
    name text PRIMARY KEY, position integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
)
"""

STEPS = ("registry",)
"""The steps to the newest database, in order: `steps/` has the SQL of each."""


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
        for position, step in enumerate(STEPS[done:], start=done):
            connection.execute(files(__package__).joinpath("steps", f"{step}.sql").read_bytes())
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
    known, applied = list(STEPS), _applied(connection)
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


TIMEOUT_S = 10
_INSTALL = "Install it with `pip install 'toolsight[postgres]'`."
_ADDRESS = "Write it as postgresql://USER:PASSWORD@HOST:5432/DATABASE."
_UNREACHABLE = "Is the server running, and is TOOLSIGHT_DATABASE_URL correct?"

# By the beginning of an SQLSTATE code, the longest first.
_HINTS: tuple[tuple[str, str], ...] = (
    ("3D000", "There is no such database. Create it with createdb, or use another one."),
    ("42501", "Grant the user the rights to create and use the schema toolsight, or use another user."),
    ("25006", "The database is read-only. Use the primary server."),
    ("53100", "The server's disk is full. Free some space there."),
    ("53200", "The server is out of memory. Give it more, or reduce its load."),
    ("53300", "The server has no free connections. Close one, or raise its max_connections."),
    ("57P", "The server is starting or stopping. Try again in a moment."),
    ("28", "Check the user and the password in TOOLSIGHT_DATABASE_URL."),
    ("40", "Another program is writing at the same time. Try again."),
    ("08", _UNREACHABLE),
)


class PostgresDatabase:
    """A connection to read with and one to write with, so that no search waits for a synchronisation."""

    def __init__(
        self, url: str, *, reader: str = "", timeout: int = TIMEOUT_S, read_only: bool = False
    ) -> None:
        """Nothing is connected yet. `reader` are settings of the connection to read with, as SQL.

        `timeout` is how long connecting may take, in seconds. A database that is `read_only` has to be up to
        date.
        """
        self._is_read_only = read_only
        self._url = url
        self._settings = f"SET default_transaction_read_only = on; {reader}"
        self._timeout = timeout
        self._reading, self._writing = threading.RLock(), threading.RLock()
        self._reader: Connection[Any] | None = None
        self._writer: Connection[Any] | None = None

    @contextmanager
    def transaction(self) -> Iterator["Connection[Any]"]:
        """Write: all changes are committed together at the end, or none are. Raises StoreError.

        What changes the registry executes `migration.LOCK` first.
        """
        with self._writing, self._translated("written"):
            connection = self._writable()
            with connection.transaction():
                yield connection

    def rows(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]:
        """Read every row that the statement selects. Raises StoreError."""
        with self._reading, self._translated("read"):
            if self._reader is None or self._reader.closed:
                return self._read_anew(sql, parameters)
            try:
                return self._reader.execute(sql.encode(), parameters).fetchall()
            except self._lost():
                # The server was started again, or ended a connection that was idle: once more, on a new one.
                if not self._reader.closed:
                    raise
                return self._read_anew(sql, parameters)

    def close(self) -> None:
        """Disconnect; the next use connects again."""
        with self._writing, self._reading:
            for connection in (self._reader, self._writer):
                if connection is not None:
                    connection.close()
            self._reader = self._writer = None

    def _writable(self) -> "Connection[Any]":
        if self._writer is None or self._writer.closed:
            self._writer = self._connect()
        return self._writer

    def _read_anew(self, sql: str, parameters: Mapping[str, object] | None) -> list[tuple[Any, ...]]:
        self._reader = self._connect()
        self._reader.execute(self._settings.encode())
        return self._reader.execute(sql.encode(), parameters).fetchall()

    def _connect(self) -> "Connection[Any]":
        from psycopg import connect
        from psycopg.conninfo import make_conninfo

        asked: dict[str, Any] = {"connect_timeout": self._timeout, "application_name": "toolsight"}
        asked |= parts_of(self._url) | {"client_encoding": "utf8"}
        connection = connect(make_conninfo("", **asked), autocommit=True)
        try:
            if connection.execute("SHOW server_encoding").fetchone() != ("UTF8",):
                raise StoreError(
                    f"{self._name()} does not use UTF-8", hint="Create a database with the encoding UTF8."
                )
            if self._is_read_only:
                require_current(connection, self._name())
            else:
                migrate(connection, self._name())
        except BaseException:
            connection.close()
            raise
        return connection

    def _name(self) -> str:
        """The database as an error names it: where, and as whom; never with a password."""
        parts = parts_of(self._url)
        host, user = parts.get("host") or "the local server", parts.get("user")
        return f"the database {parts.get('dbname') or user or ''} on {host}".replace("  ", " ")

    @contextmanager
    def _translated(self, verb: str) -> Iterator[None]:
        try:
            from psycopg import Error
        except ImportError as error:
            raise StoreError(
                "psycopg is not installed; Toolsight needs it for PostgreSQL", hint=_INSTALL
            ) from error
        try:
            yield
        except Error as error:
            message = f"{self._name()} cannot be {verb}: {self._reason(error)}"
            # Without its cause: a traceback of psycopg may show the address with its password.
            raise StoreError(message, hint=_hint(error)) from None

    def _reason(self, error: "Error") -> str:
        text = error.diag.message_primary or str(error) or type(error).__name__
        line = next((line for line in text.splitlines() if line.strip()), "")
        for name, value in parts_of(self._url).items():
            if "password" in name and value:
                line = line.replace(str(value), MARKER)
        return line

    @staticmethod
    def _lost() -> type["Error"]:
        from psycopg import OperationalError

        return OperationalError


def parts_of(url: str) -> dict[str, Any]:
    """The parts of an address. Raises StoreError, without the address, as it may hold a password."""
    from psycopg import Error
    from psycopg.conninfo import conninfo_to_dict

    try:
        return dict(conninfo_to_dict(url))
    except (Error, UnicodeError, ValueError):
        raise StoreError("the address of the registry's database is not valid", hint=_ADDRESS) from None


def _hint(error: "Error") -> str:
    code = error.sqlstate or "08"
    return next(
        (hint for start, hint in _HINTS if code.startswith(start)), "See the server's log for details."
    )
