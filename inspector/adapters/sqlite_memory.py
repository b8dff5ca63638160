"""What is remembered between sessions: the protocol era of each server, and the configurations approved."""

import time
from collections.abc import Callable
from pathlib import Path

from inspector.adapters.sqlite_database import BUSY_TIMEOUT_MS, SqliteDatabase
from inspector.domain.server import Era

_REMEMBER_ERA = "INSERT OR REPLACE INTO server_memory (fingerprint, era) VALUES (?, ?)"
_APPROVE = "INSERT OR REPLACE INTO approval (fingerprint, source, approved_at) VALUES (?, ?, ?)"


class SqliteServerMemory:
    """A ServerMemory in the database that holds the sessions. Each method raises StoreError."""

    def __init__(
        self, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS, now: Callable[[], float] = time.time
    ) -> None:
        """`now` gives the time of an approval, in seconds since 1970, UTC."""
        self._database = SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)
        self._now = now

    def era(self, fingerprint: str) -> Era | None:
        """The era that worked last time; None for a server not seen before, or one a newer version knows."""
        rows = self._database.rows("SELECT era FROM server_memory WHERE fingerprint = ?", (fingerprint,))
        known = {str(era): era for era in Era}
        return known.get(rows[0][0]) if rows else None

    def remember_era(self, fingerprint: str, era: Era) -> None:
        """Keep the era that worked, in place of any before."""
        with self._database.transaction() as database:
            database.conn.execute(_REMEMBER_ERA, (fingerprint, str(era)))

    def is_approved(self, fingerprint: str) -> bool:
        """Whether a person allowed exactly this configuration to start its servers."""
        return bool(self._database.rows("SELECT 1 FROM approval WHERE fingerprint = ?", (fingerprint,)))

    def approve(self, fingerprint: str, source: str) -> None:
        """Remember a person's yes; `source` names the file, for whoever looks into the database."""
        source = source.encode("utf-8", "backslashreplace").decode("utf-8")
        with self._database.transaction() as database:
            database.conn.execute(_APPROVE, (fingerprint, source, self._now()))

    def close(self) -> None:
        """Close the file; another call opens it again."""
        self._database.close()
