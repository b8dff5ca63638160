"""One PostgreSQL database: connected and migrated on first use; every failure is a StoreError.

psycopg is imported on first use: only who names a database of PostgreSQL needs it.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from inspector.core.error import StoreError
from inspector.core.secret_value import MARKER
from inspector.registry.postgres import migration

if TYPE_CHECKING:
    from psycopg import Connection, Error

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
        self,
        url: str,
        *,
        reader: str = "",
        timeout: int = TIMEOUT_S,
        migrated: bool = True,
        read_only: bool = False,
    ) -> None:
        """Nothing is connected yet. `reader` are settings of the connection to read with, as SQL.

        `timeout` is how long connecting may take, in seconds. Unless it is to be `migrated`, the database is
        taken as it is. One that is `read_only` has to be up to date.
        """
        self._migrated = migrated
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

    def command(self, sql: str) -> None:
        """Execute what cannot be part of a transaction. Raises StoreError."""
        with self._writing, self._translated("written"):
            self._writable().execute(sql.encode())

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
        asked |= _parts(self._url) | {"client_encoding": "utf8"}
        connection = connect(make_conninfo("", **asked), autocommit=True)
        try:
            if not self._migrated:
                return connection
            if connection.execute("SHOW server_encoding").fetchone() != ("UTF8",):
                raise StoreError(
                    f"{self._name()} does not use UTF-8", hint="Create a database with the encoding UTF8."
                )
            if self._is_read_only:
                migration.require_current(connection, self._name())
            else:
                migration.migrate(connection, self._name())
        except BaseException:
            connection.close()
            raise
        return connection

    def _name(self) -> str:
        """The database as an error names it: where, and as whom; never with a password."""
        parts = _parts(self._url)
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
        for name, value in _parts(self._url).items():
            if "password" in name and value:
                line = line.replace(str(value), MARKER)
        return line

    @staticmethod
    def _lost() -> type["Error"]:
        from psycopg import OperationalError

        return OperationalError


def address_of(url: str, *, database: str) -> str:
    """The address of another database of the same server. Raises StoreError."""
    parts = _parts(url)
    from psycopg.conninfo import make_conninfo

    return make_conninfo("", **parts | {"dbname": database})


def _parts(url: str) -> dict[str, Any]:
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
