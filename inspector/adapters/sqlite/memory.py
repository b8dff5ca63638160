"""What is remembered between sessions: servers' protocol eras and tools, and approved configurations."""

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.adapters.sqlite.codec import decode_value, encode_value
from inspector.adapters.sqlite.database import BUSY_TIMEOUT_MS, SqliteDatabase
from inspector.domain.server import Era
from inspector.domain.tool import Tool
from inspector.engine.sink import clean
from inspector.engine.store_ports import Snapshot

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_REMEMBER_ERA = "INSERT OR REPLACE INTO server_memory (fingerprint, era) VALUES (?, ?)"
_REMEMBER_TOOLS = (
    "INSERT OR REPLACE INTO snapshot (fingerprint, listed_at, summary, tools) VALUES (?, ?, ?, ?)"
)
_SNAPSHOT = "SELECT tools, listed_at, summary FROM snapshot WHERE fingerprint = ?"
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
        """The era that worked last; None for a server not seen before, or an unknown era."""
        rows = self._database.rows("SELECT era FROM server_memory WHERE fingerprint = ?", (fingerprint,))
        known = {str(era): era for era in Era}
        return known.get(rows[0][0]) if rows else None

    def remember_era(self, fingerprint: str, era: Era) -> None:
        """Keep the era that worked, in place of any earlier one."""
        with self._database.transaction() as connection:
            connection.execute(_REMEMBER_ERA, (fingerprint, str(era)))

    def is_approved(self, fingerprint: str) -> bool:
        """Whether a person has approved starting the servers of exactly this configuration."""
        return bool(self._database.rows("SELECT 1 FROM approval WHERE fingerprint = ?", (fingerprint,)))

    def approve(self, fingerprint: str, source: str) -> None:
        """Store a person's approval; `source` names the file, for people who read the database."""
        source = clean(source).encode("utf-8", "backslashreplace").decode("utf-8")
        with self._database.transaction() as connection:
            connection.execute(_APPROVE, (fingerprint, source, self._now()))

    def snapshot(self, fingerprint: str) -> Snapshot | None:
        """The tools kept last; None for a server not seen before, or a row that cannot be read."""
        rows = self._database.rows(_SNAPSHOT, (fingerprint,))
        if not rows:
            return None
        return _snapshot(*rows[0])

    def remember_tools(self, fingerprint: str, snapshot: Snapshot) -> Snapshot | None:
        """Keep the tools, in place of any earlier ones; return the earlier ones if they are others."""
        tools = encode_value(_tools().dump_python(snapshot.tools, warnings=False))
        row = (fingerprint, snapshot.at, encode_value(snapshot.summary), tools)
        before = self._database.rows(_SNAPSHOT, (fingerprint,))
        with self._database.transaction() as connection:
            connection.execute(_REMEMBER_TOOLS, row)
        # Mostly they are the same to the letter, and need not be read to know it.
        return _snapshot(*before[0]) if before and before[0][0] != tools else None

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()


def _snapshot(tools: str, at: float, summary: str) -> Snapshot | None:
    try:
        return Snapshot(_tools().validate_python(decode_value(tools)), at, str(decode_value(summary)))
    except (ValueError, RecursionError):
        return None


@cache
def _tools() -> "TypeAdapter[tuple[Tool, ...]]":
    from pydantic import TypeAdapter

    return TypeAdapter(tuple[Tool, ...])
