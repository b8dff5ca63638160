"""Unit vectors of many texts as one matrix."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from inspector.engine.retrieval.document import Key

Vector = NDArray[np.float32]
ABSENT = -1


class VectorTable:
    """An immutable table from keys to unit vectors.

    Rows stand in the order the keys are given in, however the table came about, so that a product with it
    is the same to the last bit for a table built anew and for one that was extended.
    """

    def __init__(
        self,
        keys: Iterable[Key] = (),
        known: Mapping[Key, Vector] | None = None,
        before: "VectorTable | None" = None,
    ) -> None:
        """Take what `known` or the table `before` have of the keys; the others stay absent."""
        known = known or {}
        self._rows: dict[Key, int] = {}
        sources: list[Vector] = []
        for key in dict.fromkeys(keys):
            vector = known[key] if key in known else before.get(key) if before is not None else None
            if vector is not None:
                self._rows[key] = len(sources)
                sources.append(vector)
        self._matrix = np.stack(sources) if sources else np.zeros((0, 0), np.float32)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    @property
    def bytes(self) -> int:
        return self._matrix.nbytes

    def get(self, key: Key) -> Vector | None:
        row = self._rows.get(key)
        return None if row is None else self._matrix[row]

    def rows(self, keys: Iterable[Key]) -> NDArray[np.intp]:
        """The row of each key, ABSENT where there is none."""
        return np.fromiter((self._rows.get(key, ABSENT) for key in keys), np.intp)

    def similarity(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each row with a unit vector."""
        if not len(self._matrix):
            return np.zeros(0)
        return (self._matrix @ vector).astype(np.float64)
