"""Vectors kept between sessions, so that a model embeds each text once."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from inspector.store.database import BUSY_TIMEOUT_MS, SqliteDatabase

# SQLite before 3.32 binds at most 999 values per statement.
_KEYS_A_STATEMENT = 500
_KEEP = "INSERT OR REPLACE INTO vector (model, key, vector) VALUES (?, ?, ?)"

_LENGTH = "SELECT length(vector) FROM vector WHERE model = ? LIMIT 1"


class SqliteVectors:
    """A VectorStore in the database that holds the sessions. Each method raises StoreError."""

    def __init__(self, path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> None:
        """Nothing is opened yet. `busy_timeout_ms` is how long to wait for another program's lock."""
        self._database = SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)

    def vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors kept for this model, by key; keys without one are left out."""
        kept: dict[bytes, bytes] = {}
        for start in range(0, len(keys), _KEYS_A_STATEMENT):
            chunk = keys[start : start + _KEYS_A_STATEMENT]
            marks = ", ".join("?" * len(chunk))
            sql = f"SELECT key, vector FROM vector WHERE model = ? AND key IN ({marks})"
            kept.update(self._database.rows(sql, (storable(model), *chunk)))
        return kept

    def keep_vectors(self, model: str, vectors: Mapping[bytes, bytes]) -> None:
        """Keep the vectors, replacing those with the same keys; if that fails, none are kept."""
        if not vectors:
            return
        name = storable(model)
        with self._database.transaction() as connection:
            connection.executemany(_KEEP, [(name, key, vector) for key, vector in vectors.items()])

    def forget_others(self, model: str, size: int) -> None:
        """Forget the model's vectors if they do not have this many bytes; one stands for all of them."""
        name = storable(model)
        if self._database.rows(_LENGTH, (name,)) in ([], [(size,)]):
            return
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM vector WHERE model = ? AND length(vector) <> ?", (name, size))

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._database.close()


def storable(model: str) -> str:
    """A model's name without what the database cannot store."""
    return model.encode("utf-8", "backslashreplace").decode("utf-8")
