"""Unit vectors of many texts, in blocks that a change leaves alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from inspector.engine.retrieval.document import Key

Vector = NDArray[np.float32]
ABSENT = -1
# A change copies the blocks it falls into: 1/32 of all vectors for one text.
_BLOCKS = 32


@dataclass(frozen=True)
class _Block:
    """The vectors of some keys, rows in the order of the keys."""

    keys: tuple[Key, ...]
    matrix: NDArray[np.float32]


_NO_BLOCK = _Block((), np.zeros((0, 0), np.float32))


class VectorTable:
    """An immutable table from keys to unit vectors.

    A key's hash decides its block, and within a block rows are sorted by key. So what a table holds decides
    how it is laid out, however it came about, and a product with it is the same to the last bit for a table
    built anew and for one that was extended.
    """

    def __init__(
        self,
        keys: Iterable[Key] = (),
        known: Mapping[Key, Vector] | None = None,
        before: "VectorTable | None" = None,
    ) -> None:
        """Take what `known` or the table `before` have of the keys; the others stay absent."""
        known, old = known or {}, before._rows.keys() if before is not None else set[Key]()
        wanted = set(keys) & (old | known.keys())
        # Known vectors win over held ones, so a block is kept only where nothing of it is new or gone.
        touched = {key[0] % _BLOCKS for key in (wanted ^ old) | (wanted & known.keys())}
        grouped: dict[int, list[Key]] = {number: [] for number in touched}
        for key in wanted:
            if key[0] % _BLOCKS in grouped:
                grouped[key[0] % _BLOCKS].append(key)
        self._blocks: tuple[_Block, ...] = tuple(
            _block(tuple(sorted(grouped[number])), known, before, number)
            if number in grouped
            else (before._blocks[number] if before is not None else _NO_BLOCK)
            for number in range(_BLOCKS)
        )
        ordered = list(chain.from_iterable(block.keys for block in self._blocks))
        self._rows: dict[Key, int] = dict(zip(ordered, range(len(ordered)), strict=True))

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: Key) -> bool:
        return key in self._rows

    @property
    def bytes(self) -> int:
        return sum(block.matrix.nbytes for block in self._blocks)

    def get(self, key: Key) -> Vector | None:
        return self._held(key[0] % _BLOCKS).get(key)

    def _held(self, number: int) -> Mapping[Key, Vector]:
        block = self._blocks[number]
        return dict(zip(block.keys, block.matrix, strict=True))

    def rows(self, keys: Iterable[Key]) -> NDArray[np.intp]:
        """The row of each key, ABSENT where there is none."""
        return np.fromiter(map(self._rows.get, keys, repeat(ABSENT)), np.intp)

    def similarity(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each row with a unit vector."""
        parts = [block.matrix @ vector for block in self._blocks if block.keys]
        return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)


def _block(
    keys: tuple[Key, ...], known: Mapping[Key, Vector], before: VectorTable | None, number: int
) -> _Block:
    held = before._held(number) if before is not None else {}
    vectors = [known[key] if key in known else held[key] for key in keys]
    return _Block(keys, np.stack(vectors) if vectors else np.zeros((0, 0), np.float32))
