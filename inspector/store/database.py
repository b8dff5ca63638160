"""One SQLite file and its tables: opened and migrated on first use; every failure is a StoreError.

Locks beside it tell other programs what sessions are being written.

sqlite-utils is imported only for a file that is not up to date: importing it takes as long as the rest of a
start.
"""

import hashlib
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from inspector.core.error import StoreError
from inspector.core.redaction import private_folder
from inspector.store.migrations import is_current, migrations, require_own

BUSY_SECONDS = 5.0
"""How long to wait for another program's lock."""
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700

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


def opened_to_read(path: Path, timeout: float) -> sqlite3.Connection:
    """Open a file that stays as it is, to the byte. `timeout` is in seconds. Raises sqlite3.Error."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    if not path.with_name(f"{path.name}-wal").exists():
        # Nobody has it open. Otherwise SQLite would put two files beside it, and leave them there.
        address += "&immutable=1"
    return sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)


class SqliteDatabase:
    """A connection that any thread may use, one statement or transaction at a time."""

    def __init__(self, path: Path) -> None:
        """Nothing is opened yet."""
        self.path = path
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
        self._prepare()
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
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

    def _prepare(self) -> None:
        """Make the file, or see whose it is: to open it to write can already change it."""
        private_folder(self.path.parent)
        if not self.path.exists():
            # Sessions contain what people typed and servers answered: only the owner may read them.
            self.path.touch(mode=_PRIVATE_FILE)
        elif self.path.is_file():
            with closing(opened_to_read(self.path, BUSY_SECONDS)) as connection:
                require_own(connection, self.path)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        from sqlite_utils.db import Database

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


class InDatabase:
    """Part of the database that holds the sessions, opened on first use. Each method raises StoreError."""

    def __init__(self, path: Path) -> None:
        self._database = SqliteDatabase(path)

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()


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


def locked(handle: int, *, exclusive: bool, waits: bool = False) -> bool:
    """Lock an open file until it is closed; False if it is locked already or cannot be locked.

    With `waits`, what is locked already is waited for.
    """
    try:
        from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
    except ImportError:
        return False
    try:
        flock(handle, (0 if waits else LOCK_NB) | (LOCK_EX if exclusive else LOCK_SH))
    except OSError:
        return False
    return True


class WriterLocks:
    """The locks of one database, in a folder beside it. The locks that this object took end with `close`."""

    def __init__(self, database: Path) -> None:
        # Two names of one database have the same locks.
        self._folder = database.resolve().with_name(f".{database.resolve().name}-writers")
        self._held: dict[str, int] = {}

    def hold(self, session: str) -> None:
        """Mark a session as written until it is released, or this process ends. Raises OSError."""
        if session in self._held:
            return
        self._folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        handle = os.open(self._file(session), os.O_RDWR | os.O_CREAT, _PRIVATE_FILE)
        # Shared, as several writers do not exclude one another. Where files cannot be locked, nobody can tell
        # whether this session is being written either, see `is_held`.
        locked(handle, exclusive=False)
        self._held[session] = handle

    def is_held(self, session: str) -> bool:
        """Whether any program is writing the session, or that is unknown. Raises OSError."""
        return self._is_locked(self._file(session))

    @staticmethod
    def _is_locked(mark: Path) -> bool:
        try:
            handle = os.open(mark, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not locked(handle, exclusive=True)
        finally:
            os.close(handle)

    def running(self, sessions: Iterable[str]) -> frozenset[str]:
        """Those of the sessions that any program is writing, as far as is known."""
        try:
            marked = set(self._folder.iterdir())
            return frozenset(one for one in sessions if self._file(one) in marked and self.is_held(one))
        except OSError:
            return frozenset()

    def held(self) -> frozenset[str]:
        """The marks of all sessions that any program is writing, as far as is known."""
        try:
            return frozenset(mark.name for mark in self._folder.iterdir() if self._is_locked(mark))
        except OSError:
            return frozenset()

    def is_held_elsewhere(self, session: str) -> bool:
        """Whether anybody but this object is writing the session. Raises OSError."""
        return session not in self._held and self.is_held(session)

    def release(self, session: str) -> None:
        """Mark a session as no longer written by this object."""
        handle = self._held.pop(session, None)
        if handle is not None:
            os.close(handle)
            if not self.is_held(session):
                self.discard(session)

    def discard(self, session: str) -> None:
        """Remove the file of a session that nobody writes, such as one whose process was killed."""
        with suppress(OSError):
            self._file(session).unlink()

    def close(self) -> None:
        """Release every session."""
        for session in tuple(self._held):
            self.release(session)

    def _file(self, session: str) -> Path:
        # A session's id may contain anything, a file's name may not.
        return self._folder / hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()
