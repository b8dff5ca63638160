"""Vectors kept between sessions, so that a text is embedded once by a model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from inspector.adapters.sqlite.database import BUSY_TIMEOUT_MS, SqliteDatabase

# SQLite builds before 3.32 bind at most 999 values to a statement.
_KEYS_A_STATEMENT = 500
_KEEP = "INSERT OR REPLACE INTO vector (model, key, vector) VALUES (?, ?, ?)"


class SqliteVectors:
    """A VectorStore in the database that holds the sessions. Each method raises StoreError."""

    def __init__(self, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        """Nothing is opened yet. `busy_timeout_ms` is how long another program's lock is waited for."""
        self._database = SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)

    def vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Those of the keys that are kept for this model."""
        found: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _KEYS_A_STATEMENT):
            chunk = keys[start : start + _KEYS_A_STATEMENT]
            marks = ", ".join("?" * len(chunk))
            sql = f"SELECT key, vector FROM vector WHERE model = ? AND key IN ({marks})"
            found.update(self._database.rows(sql, (_storable(model), *chunk)))
        return found

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep all of them or, where that fails, none; in place of those kept under the same keys."""
        if not vectors:
            return
        name = _storable(model)
        with self._database.transaction() as connection:
            connection.executemany(_KEEP, [(name, key, vector) for key, vector in vectors.items()])

    def close(self) -> None:
        """Close the file; another call opens it again."""
        self._database.close()


def _storable(model: str) -> str:
    return model.encode("utf-8", "backslashreplace").decode("utf-8")
