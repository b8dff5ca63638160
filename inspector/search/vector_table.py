"""A table of unit vectors in blocks, so that a change copies only the blocks it touches."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, chain, repeat

import numpy as np
from numpy.typing import NDArray

from inspector.search.document import Key
from inspector.search.metric import processors, side_by_side

Vector = NDArray[np.float32]
ABSENT = -1
# Changing one text copies 1/32 of all vectors.
_BLOCKS = 32
# Below so many bytes, handing the work out takes longer than doing it.
_WORTH_SHARING = 8_000_000


@dataclass(frozen=True)
class _Block:
    """The vectors of some keys, with rows in key order."""

    keys: tuple[Key, ...]
    matrix: NDArray[np.float32]

    def changed(self, gone: Set[Key], fresh: Mapping[Key, Vector]) -> "_Block":
        """The block without the keys in `gone` and with the `fresh` vectors."""
        vectors = {k: v for k, v in zip(self.keys, self.matrix, strict=True) if k not in gone} | dict(fresh)
        keys = tuple(sorted(vectors))
        return _Block(keys, np.stack([vectors[k] for k in keys]) if keys else _NO_BLOCK.matrix)


_NO_BLOCK = _Block((), np.zeros((0, 0), np.float32))


class VectorTable:
    """An immutable table from keys to unit vectors.

    A key's hash decides its block, and rows are sorted by key within a block. The layout therefore depends
    only on the content, and a product with an extended table is the same to the last bit as with a rebuilt
    one.
    """

    def __init__(
        self,
        keys: Iterable[Key] = (),
        known: Mapping[Key, Vector] | None = None,
        before: "VectorTable | None" = None,
    ) -> None:
        """Take the vectors of the keys from `known` or the table `before`; other keys stay absent."""
        known, held = known or {}, before._rows if before is not None else {}
        wanted = set(keys)
        gone = held.keys() - wanted
        # Vectors in `known` override those in `before`.
        new = {key for key in wanted if key in known} if known else set[Key]()
        changes: dict[int, set[Key]] = {key[0] % _BLOCKS: set() for key in (*gone, *new)}
        for key in new:
            changes[key[0] % _BLOCKS].add(key)
        blocks = list(before._blocks) if before is not None else [_NO_BLOCK] * _BLOCKS
        for number, fresh in changes.items():
            blocks[number] = blocks[number].changed(gone, {key: known[key] for key in fresh})
        self._blocks: tuple[_Block, ...] = tuple(blocks)
        ordered = chain.from_iterable(block.keys for block in blocks)
        self._rows: dict[Key, int] = {key: row for row, key in enumerate(ordered)} if changes else dict(held)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    @property
    def bytes(self) -> int:
        return sum(block.matrix.nbytes for block in self._blocks)

    def get(self, key: Key) -> Vector | None:
        row = self._rows.get(key)
        if row is None:
            return None
        block = self._blocks[key[0] % _BLOCKS]
        vector: Vector = block.matrix[block.keys.index(key)]
        return vector

    def rows(self, keys: Iterable[Key]) -> NDArray[np.intp]:
        """The row of each key, or ABSENT."""
        return np.fromiter(map(self._rows.get, keys, repeat(ABSENT)), np.intp)

    def similarity(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each row with a unit vector."""
        cosines: NDArray[np.float64] = self.similarities(vector[None])[0].astype(np.float64)
        return cosines

    def similarities(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The cosine of each row with unit vectors, of shape (vectors, rows)."""
        return similarities([block.matrix for block in self._blocks if block.keys], vectors)


def similarities(
    matrices: Sequence[NDArray[np.float32]], vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """The cosine of each row of all matrices with unit vectors, of shape (vectors, rows)."""
    columns = np.ascontiguousarray(vectors.T)
    ends = list(accumulate(map(len, matrices), initial=0))
    cosines = np.empty((ends[-1], len(vectors)), np.float32)

    def compare(numbers: Iterable[int]) -> None:
        for number in numbers:
            np.matmul(matrices[number], columns, out=cosines[ends[number] : ends[number + 1]])

    worth_sharing = sum(matrix.nbytes for matrix in matrices) >= _WORTH_SHARING
    count = processors() if worth_sharing else 1
    side_by_side(compare, [range(first, len(matrices), count) for first in range(count)])
    return np.ascontiguousarray(cosines.T)
