"""The search for the nearest tools: by the index where many are permitted, one by one where few are.

Each search is one statement and sees one state of the registry. Which way is taken rests on what was known of
the state with the same number, its generation; if another one is found, what is known is read again.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.core.access import Sight
from inspector.core.registered_tool import Neighbour
from inspector.registry.postgres.database import PostgresDatabase
from inspector.registry.postgres.row import ONE_CHARACTER, registered, stored
from inspector.registry.postgres.vector_table import VectorTable

_WILD = re.compile(r"[*?]")
_STARS = re.compile(r"\*+")
_SPECIAL_IN_LIKE = re.compile(r"[\\%_]")


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL over a column of stored ids, with its parameters by name; "TRUE" keeps nothing out."""

    sql: str
    parameters: dict[str, list[str]] = field(default_factory=dict)


def condition(sight: Sight, column: str) -> Condition:
    """The condition that holds for the ids that may be seen."""
    granted = _any_of(sight.patterns, column, "granted")
    if sight.allowlist is None:
        return granted
    allowed = _any_of(sight.allowlist, column, "allowed")
    return Condition(f"({granted.sql}) AND ({allowed.sql})", granted.parameters | allowed.parameters)


def _any_of(patterns: Sequence[str], column: str, name: str) -> Condition:
    """The cheapest test for each: an id compared, LIKE, and a regular expression where `?` occurs."""
    patterns = [_STARS.sub("*", pattern) for pattern in patterns]
    if "*" in patterns:
        return Condition("TRUE")
    tests = (
        (f"{name}_ids", "=", [stored(one) for one in patterns if not _WILD.search(one)]),
        (f"{name}_likes", "LIKE", [_like(one) for one in patterns if "*" in one and "?" not in one]),
        (f"{name}_regexes", "~", [_regex(one) for one in patterns if "?" in one]),
    )
    used = [test for test in tests if test[2]]
    sql = " OR ".join(f"{column} {operator} ANY(%({key})s)" for key, operator, _values in used)
    return Condition(sql or "FALSE", {key: values for key, _operator, values in used})


def _like(pattern: str) -> str:
    return _SPECIAL_IN_LIKE.sub(r"\\\g<0>", stored(pattern)).replace("*", "%")


def _regex(pattern: str) -> str:
    wild = {"*": ".*", "?": ONE_CHARACTER}
    return f"^{''.join(wild.get(one) or _literal(one) for one in stored(pattern))}$"


def _literal(character: str) -> str:
    """A backslash before a letter or digit would mean something else, and nothing before any other."""
    return character if character.isalnum() or character == "_" else f"\\{character}"


# Measured with a million tools, see docs/registry.md.
EF_SEARCH = 400
# Permitted vectors are compared one by one if they are at most this many times the root of the number of all.
# The index has to leaf through all / permitted times as many vectors as are asked for, each of which costs
# some three comparisons. At a million and 1 % permitted, the index takes 50 ms and comparing all takes 80.
COMPARED = 8.0
# Plans that begin at the vector nearest to the query and look each one up among the tools. They are made
# once: planning and compiling each time would take longer than running them.
READER = f"""
SET hnsw.ef_search = {EF_SEARCH};
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_sort = off; SET jit = off;
SET plan_cache_mode = force_generic_plan; SET work_mem = '64MB'
"""
# The index goes on until enough permitted ones were found. `relaxed_order` finds at least what `strict_order`
# does, and the order is made from the similarities in any case. What this keeps in mind costs searches of
# everything a third of their time, so that these have a connection without it.
ITERATING = f"{READER}; SET hnsw.iterative_scan = relaxed_order; SET hnsw.max_scan_tuples = 40000"
# The index knows half-precision numbers only, so more are taken from it than are asked for.
_TAKEN_MORE = 10
_SIGHTS_KEPT = 32
_TRIES = 5

_STATE = """
SELECT state.generation, model.number, model.indexed, (
    SELECT greatest(reltuples, 0) FROM pg_class WHERE oid = to_regclass('toolsight.vector_' || model.number)
)
FROM toolsight.state LEFT JOIN toolsight.model ON name = %(model)s AND dimensions = %(dimensions)s
"""
_PERMITTED = """
SELECT DISTINCT vector.number FROM toolsight.tool t JOIN {table} AS vector USING (key)
WHERE {seen} LIMIT {limit}
"""
_SEARCH = """
SELECT (SELECT generation FROM toolsight.state), best.similarity, best.id,
    v.definition, v.origin, v.version, v.hash, v.at, true
FROM (
    SELECT * FROM (
        SELECT t.id, t.version, -(vector.embedding <#> %(vector)s::vector) AS similarity
        FROM {table} AS vector JOIN toolsight.tool t USING (key)
        WHERE {seen}
        ORDER BY {distance}
        FETCH FIRST %(taken)s ROWS WITH TIES
    ) AS near ORDER BY similarity DESC, id LIMIT %(count)s
) AS best JOIN toolsight.version v USING (id, version)
"""
_EXACTLY = "vector.embedding <#> %(vector)s::vector"
_BY_INDEX = "vector.embedding::halfvec({dimensions}) <=> %(vector)s::vector::halfvec({dimensions})"
_FEW = "vector.number = ANY(%(few)s) AND ({seen})"


Row = tuple[Any, ...]
"""A generation, a similarity, a stored id, and a row as `registered` reads it."""


def written(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it, with as many digits as float32 has."""
    return f"[{','.join(['%.9g'] * len(vector))}]" % tuple(vector)


@dataclass(frozen=True, slots=True)
class _Known:
    """What searches rest on: the table of the vectors if there is one, and who may be found.

    `few` are the numbers of the permitted vectors, if they are indexed and few.
    """

    generation: int
    table: VectorTable | None
    seen: Condition
    few: list[int] | None = None


class NearestTools:
    """Finds the tools nearest to a vector. Thread-safe."""

    def __init__(self, database: PostgresDatabase, iterating: PostgresDatabase) -> None:
        """The same database twice, to read with READER and with ITERATING."""
        self._database = database
        self._iterating = iterating
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, int, Sight], _Known] = OrderedDict()

    def nearest(
        self, model: str, vector: Sequence[float], count: int, sight: Sight, floor: float
    ) -> tuple[Neighbour, ...]:
        """See `ToolRegistry`."""
        if count < 1:
            return ()
        asked = written(vector)
        for attempt in range(_TRIES):
            known = self._of((model, len(vector), sight), anew=attempt > 0)
            rows = self._searched(known, asked, count)
            # That nothing is found is believed if what is known has just been read.
            if rows[0][0] == known.generation if rows else attempt > 0 or known.table is None:
                break
        else:
            # Others write all the time: what is found without knowing anything is right in any case.
            rows = self._compared(known, known.seen.sql, asked, count)
        rows = sorted((row for row in rows if row[1] >= floor), key=lambda row: (-row[1], row[2]))
        return tuple(Neighbour(registered(row[3:]), max(-1.0, min(1.0, row[1]))) for row in rows)

    def _of(self, key: tuple[str, int, Sight], *, anew: bool) -> _Known:
        """What is known of a model's vectors and a sight, read again if it is to be `anew`."""
        with self._lock:
            known = None if anew else self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        known = self._read(*key)
        if known.table is not None:
            with self._lock:
                self._known[key] = known
                if len(self._known) > _SIGHTS_KEPT:
                    self._known.popitem(last=False)
        return known

    def _read(self, model: str, dimensions: int, sight: Sight) -> _Known:
        asked = {"model": stored(model), "dimensions": dimensions}
        generation, number, indexed, size = self._database.rows(_STATE, asked)[0]
        seen = condition(sight, "t.id")
        if number is None:
            return _Known(generation, None, seen)
        table = VectorTable(number, dimensions, indexed)
        if not indexed:
            return _Known(generation, table, seen)
        most = int(COMPARED * size**0.5)
        sql = _PERMITTED.format(table=table.name, seen=seen.sql, limit=most + 1)
        numbers = [row[0] for row in self._database.rows(sql, seen.parameters)]
        return _Known(generation, table, seen, numbers if len(numbers) <= most else None)

    def _searched(self, known: _Known, asked: str, count: int) -> list[Row]:
        """The nearest, with the generation in which they are."""
        if known.table is None:
            return []
        if not known.table.indexed:
            return self._compared(known, known.seen.sql, asked, count)
        if known.few is not None:
            return self._compared(known, _FEW.format(seen=known.seen.sql), asked, count, few=known.few)
        database = self._iterating if known.seen.parameters else self._database
        distance = _BY_INDEX.format(dimensions=known.table.dimensions)
        taken = count + _TAKEN_MORE
        rows = self._rows(database, known, known.seen.sql, distance, vector=asked, count=count, taken=taken)
        if len(rows) < count:
            # The index gave up among those that are not permitted.
            return self._compared(known, known.seen.sql, asked, count)
        return rows

    def _compared(self, known: _Known, seen: str, asked: str, count: int, **more: list[int]) -> list[Row]:
        named = {"vector": asked, "count": count, "taken": count, **more}
        return self._rows(self._database, known, seen, _EXACTLY, **named)

    def _rows(
        self, database: PostgresDatabase, known: _Known, seen: str, distance: str, **named: object
    ) -> list[Row]:
        assert known.table is not None
        sql = _SEARCH.format(table=known.table.name, seen=seen, distance=distance)
        return database.rows(sql, {**named, **known.seen.parameters})
