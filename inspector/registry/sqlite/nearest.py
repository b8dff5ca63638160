"""Exact search over the registry's vectors, which are kept in memory until the registry changes."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.core.access import Sight
from inspector.registry.sqlite.sight import Condition, condition
from inspector.store.database import SqliteDatabase

# Gathering rows costs more than multiplying all of them where more than this share is permitted.
_GATHERED = 0.05
# More than rounding can change a sum of float32 products of unit vectors, whatever order it is made in.
_MARGIN = 1e-4
_ROWS_AT_ONCE = 4096
_SIGHTS_KEPT = 32
_CHANGE = "SELECT number FROM registry_change"
_TOOLS = "SELECT number, key FROM registry_tool WHERE is_there ORDER BY id"
_MOST = "SELECT count(DISTINCT key) FROM registry_tool WHERE is_there"
_VECTORS = """
SELECT key, vector FROM vector
WHERE model = ? AND length(vector) = ? AND key IN (SELECT key FROM registry_tool WHERE is_there)
"""

Positions = NDArray[np.intp]


@dataclass(frozen=True)
class _Table:
    """The tools in order of their ids: their numbers, and each one's row in `vectors`.

    Tools with the same text share a row.
    """

    state: tuple[int, str, int]
    numbers: NDArray[np.int64]
    rows: NDArray[np.int64]
    vectors: NDArray[np.float32]


class NearestTools:
    """Ranks tools by the cosine of their vectors with a query's. Thread-safe.

    A coarse pass in float32 finds who may be among the nearest; the similarities are sums of the exact
    products in float64, each made in the order of the dimensions' pairs, so that they do not depend on who
    else is searched.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._table: _Table | None = None
        self._permitted: OrderedDict[Condition, Positions] = OrderedDict()

    def nearest(
        self, model: str, vector: Sequence[float], count: int, sight: Sight, floor: float
    ) -> list[tuple[int, float]]:
        """The numbers of the nearest tools with their similarities. Raises StoreError."""
        unit = np.asarray(vector, np.float32)
        with self._lock, self._database.moment() as connection:
            table = self._current(connection, model, len(unit))
            permitted = self._of(connection, table, condition(sight))
        if count < 1 or not len(permitted):
            return []
        found, values = _best(table, unit, permitted, count, floor)
        return [(int(table.numbers[at]), float(value)) for at, value in zip(found, values, strict=True)]

    def _current(self, connection: Connection, model: str, dimensions: int) -> _Table:
        state = (int(connection.execute(_CHANGE).fetchone()[0]), model, dimensions)
        if self._table is None or self._table.state != state:
            # The old one goes first: two of them would be twice the memory.
            self._table = None
            self._permitted.clear()
            self._table = _read(connection, state)
        return self._table

    def _of(self, connection: Connection, table: _Table, seen: Condition) -> Positions:
        """The positions of the tools that may be seen."""
        if seen not in self._permitted:
            sql = f"SELECT number FROM registry_tool WHERE is_there AND {seen[0]}"
            numbers = np.fromiter((row[0] for row in connection.execute(sql, seen[1])), np.int64)
            self._permitted[seen] = np.flatnonzero(np.isin(table.numbers, numbers))
            if len(self._permitted) > _SIGHTS_KEPT:
                self._permitted.popitem(last=False)
        self._permitted.move_to_end(seen)
        return self._permitted[seen]


def _read(connection: Connection, state: tuple[int, str, int]) -> _Table:
    _change, model, dimensions = state
    vectors = np.empty((connection.execute(_MOST).fetchone()[0], dimensions), np.float32)
    row_of: dict[bytes, int] = {}
    cursor = connection.execute(_VECTORS, (model, dimensions * vectors.itemsize))
    while read := cursor.fetchmany(_ROWS_AT_ONCE):
        start = len(row_of)
        data = b"".join(vector for _, vector in read)
        vectors[start : start + len(read)] = np.frombuffer(data, "<f4").reshape(len(read), -1)
        row_of |= {key: start + at for at, (key, _) in enumerate(read)}
    listed = [(number, row_of[key]) for number, key in connection.execute(_TOOLS) if key in row_of]
    numbers, rows = np.array(listed, np.int64).reshape(-1, 2).T.copy()
    return _Table(state, numbers, rows, vectors[: len(row_of)])


def _best(
    table: _Table, unit: NDArray[np.float32], permitted: Positions, count: int, floor: float
) -> tuple[Positions, NDArray[np.float64]]:
    """The positions of the nearest, and their similarities."""
    rows = table.rows[permitted]
    if len(permitted) < _GATHERED * len(table.vectors):
        coarse = table.vectors[rows] @ unit
    else:
        coarse = (table.vectors @ unit)[rows]
    least = floor
    if count < len(coarse):
        least = max(floor, float(np.partition(coarse, -count)[-count]))
    near = permitted[coarse >= least - _MARGIN]
    values = _similarities(table, unit, near)
    order: Any = np.lexsort((near, -values))[:count]
    order = order[values[order] >= floor]
    return near[order], np.clip(values[order], -1.0, 1.0)


def _similarities(table: _Table, unit: NDArray[np.float32], positions: Positions) -> NDArray[np.float64]:
    distinct, back = np.unique(table.rows[positions], return_inverse=True)
    wide, values = unit.astype(np.float64), np.empty(len(distinct))
    for start in range(0, len(distinct), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        values[part] = (table.vectors[distinct[part]].astype(np.float64) * wide).sum(axis=1)
    found: NDArray[np.float64] = values[back]
    return found
