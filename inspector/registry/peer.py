"""The registry in somebody else's database file: read as it is, never migrated, and left without a trace."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic

from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import StoreError
from inspector.registry.sqlite import SqliteRegistry
from inspector.search.ports import Neighbour
from inspector.store.database import SqliteDatabase, is_current, newer_steps

# The file is another program's: no value may fill the memory, and no statement may run on.
_MAX_VALUE = 4 * 1024 * 1024
_STEPS_A_LOOK = 10_000


class ReadOnlyDatabase(SqliteDatabase):
    """An SQLite file that is only read. Each statement may take so many `seconds`."""

    def __init__(self, path: Path, *, seconds: float) -> None:
        super().__init__(path, busy_timeout_ms=round(seconds * 1000))
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
        address = f"{self.path.absolute().as_uri()}?mode=ro"
        if not self.path.with_name(f"{self.path.name}-wal").exists():
            # Nobody has it open. Otherwise SQLite would put two files beside it, and leave them there.
            address += "&immutable=1"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=self._busy_timeout_ms / 1000,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
            connection.set_progress_handler(lambda: monotonic() > self._until, _STEPS_A_LOOK)
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            self._require_current(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_current(self, connection: sqlite3.Connection) -> None:
        if is_current(connection):
            return
        if newer := newer_steps(connection):
            raise StoreError(
                f"{self.path} was written by a newer version of Toolsight "
                f"(unknown migrations: {', '.join(newer)})",
                hint="Update Toolsight.",
            )
        raise StoreError(
            f"{self.path} was written by an older version of Toolsight, or is not a Toolsight database",
            hint="Its owner can update it with `toolsight registry --db FILE`.",
        )


class SqlitePeer:
    """A `SearchableRegistry` in a file, open while it is asked, so that others can replace or move it."""

    def __init__(self, path: Path, *, seconds: float) -> None:
        self._database = ReadOnlyDatabase(path, seconds=seconds)
        self._file: tuple[int, ...] = ()
        self._registry: SqliteRegistry | None = None

    def count(self, sight: Sight = EVERYTHING) -> int:
        """See `SearchableRegistry`."""
        with self._asked() as registry:
            return registry.count(sight)

    def embedded(self, model: str, sight: Sight = EVERYTHING) -> int:
        """See `SearchableRegistry`."""
        with self._asked() as registry:
            return registry.embedded(model, sight)

    def nearest(
        self,
        model: str,
        vector: Sequence[float],
        count: int,
        sight: Sight = EVERYTHING,
        *,
        floor: float = -1.0,
    ) -> tuple[Neighbour, ...]:
        """See `SearchableRegistry`."""
        with self._asked() as registry:
            return registry.nearest(model, vector, count, sight, floor=floor)

    @contextmanager
    def _asked(self) -> Iterator[SqliteRegistry]:
        """The registry, which remembers the vectors of this very file."""
        path = self._database.path
        with suppress(OSError):
            about = path.stat()
            found = (about.st_dev, about.st_ino, about.st_mtime_ns, about.st_size)
            if found != self._file:
                self._file, self._registry = found, None
        if self._registry is None:
            self._registry = SqliteRegistry(path, reader=self._database)
        try:
            yield self._registry
        finally:
            self._database.close()
