"""What earlier sessions counted: a command that only lists need not load an encoding for half a second."""

from array import array
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from inspector.core.budget import Tokenizer
from inspector.core.error import StoreError
from inspector.core.ports import TokenCounter
from inspector.store.database import BUSY_TIMEOUT_MS, SqliteDatabase

_KEPT = 10_000
_FIND = "SELECT lengths FROM token_lengths WHERE tokenizer = ? AND text = ?"
_KEEP = "INSERT OR REPLACE INTO token_lengths (tokenizer, text, lengths) VALUES (?, ?, ?)"
_FORGET = "DELETE FROM token_lengths WHERE rowid <= (SELECT max(rowid) FROM token_lengths) - ?"
_UNSIGNED_SHORT = "H"


class RememberedLengths:
    """A TokenCounter that asks another one for texts that were never counted with its tokenizer.

    A database that fails is as good as an empty one. It keeps the `kept` newest texts, as hashes.
    """

    def __init__(
        self, counter: TokenCounter, path: Path, *, kept: int = _KEPT, busy_timeout_ms: int = BUSY_TIMEOUT_MS
    ) -> None:
        self._counter = counter
        self._kept = kept
        self._database = SqliteDatabase(path, busy_timeout_ms=busy_timeout_ms)

    @property
    def tokenizer(self) -> Tokenizer:
        return self._counter.tokenizer

    def count(self, text: str) -> int:
        """The number of tokens of a text."""
        return len(self.lengths(text))

    def lengths(self, text: str) -> Sequence[int]:
        """See `TokenCounter`."""
        key = sha256(text.encode("utf-8", "surrogatepass")).digest()
        found = self._find(key)
        if found is None:
            found = self._counter.lengths(text)
            self._keep(key, found)
        return found

    def _find(self, key: bytes) -> Sequence[int] | None:
        with suppress(StoreError):
            for (stored,) in self._database.rows(_FIND, (self.tokenizer.name, key)):
                return array(_UNSIGNED_SHORT, stored).tolist()
        return None

    def _keep(self, key: bytes, lengths: Sequence[int]) -> None:
        with suppress(StoreError, OverflowError), self._database.transaction() as connection:
            stored = array(_UNSIGNED_SHORT, lengths).tobytes()
            connection.execute(_KEEP, (self.tokenizer.name, key, stored))
            connection.execute(_FORGET, (self._kept,))
