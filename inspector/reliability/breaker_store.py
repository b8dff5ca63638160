"""Keeps breakers in the database; apart from them, as sqlite3 takes its time to import."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.reliability.breaker import Breaker, BreakerKey
from inspector.store.codec import decode_value, encode_value
from inspector.store.database import BUSY_TIMEOUT_MS, SqliteDatabase

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_ONE = "SELECT state FROM breaker WHERE server = ? AND tool = ?"
_EVERY = "SELECT server, tool, state FROM breaker ORDER BY rowid"
_KEEP = """
INSERT INTO breaker (server, tool, state) VALUES (?, ?, ?)
ON CONFLICT (server, tool) DO UPDATE SET state = excluded.state
"""


class SqliteBreakers:
    """See `BreakerStore`. Every call reads what is in the file, so that two processes agree at once."""

    def __init__(self, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        """Nothing is opened yet. `busy_timeout_ms` is how long to wait for another program's lock."""
        self._database = SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)

    def get(self, key: BreakerKey) -> Breaker:
        """The breaker as it is now, whoever changed it last."""
        rows = self._database.rows(_ONE, _columns(key))
        return _decoded(rows[0][0]) if rows else Breaker()

    def update(self, key: BreakerKey, change: Callable[[Breaker], Breaker]) -> tuple[Breaker, Breaker]:
        """Change it in one transaction; return it as it was and as it is."""
        with self._database.transaction() as connection:
            row = connection.execute(_ONE, _columns(key)).fetchone()
            before = _decoded(row[0]) if row else Breaker()
            after = change(before)
            if row is None or after != before:
                state = encode_value(_adapter().dump_python(after, mode="json"))
                connection.execute(_KEEP, (*_columns(key), state))
        return before, after

    def every(self) -> Mapping[BreakerKey, Breaker]:
        """All breakers that were ever updated."""
        rows = self._database.rows(_EVERY)
        return {BreakerKey(server, decode_value(tool)): _decoded(state) for server, tool, state in rows}

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()


def _columns(key: BreakerKey) -> tuple[str, str]:
    """The key's columns; a tool's name may hold what SQLite cannot store as text."""
    return key.server, encode_value(key.tool)


def _decoded(state: str) -> Breaker:
    """The breaker of a row; one that cannot be read is closed, as it says nothing."""
    try:
        return _adapter().validate_python(decode_value(state))
    except (ValueError, RecursionError):
        return Breaker()


@cache
def _adapter() -> "TypeAdapter[Breaker]":
    from pydantic import TypeAdapter

    return TypeAdapter(Breaker)
