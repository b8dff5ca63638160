"""Unit vectors of many texts, in blocks that a change leaves alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

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
        known, old = known or {}, before._rows if before is not None else {}
        grouped: list[list[Key]] = [[] for _ in range(_BLOCKS)]
        for key in set(keys):
            if key in old or key in known:
                grouped[key[0] % _BLOCKS].append(key)
        self._blocks = tuple(
            _block(tuple(sorted(group)), known, before, number) for number, group in enumerate(grouped)
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
        get = self._rows.get
        return np.array([get(key, ABSENT) for key in keys], np.intp)

    def similarity(self, vector: Vector) -> NDArray[np.float64]:
        """The cosine of each row with a unit vector."""
        parts = [block.matrix @ vector for block in self._blocks if block.keys]
        return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)


def _block(
    keys: tuple[Key, ...], known: Mapping[Key, Vector], before: VectorTable | None, number: int
) -> _Block:
    if before is not None and before._blocks[number].keys == keys and known.keys().isdisjoint(keys):
        return before._blocks[number]
    held = before._held(number) if before is not None else {}
    vectors = [known[key] if key in known else held[key] for key in keys]
    return _Block(keys, np.stack(vectors) if vectors else np.zeros((0, 0), np.float32))
