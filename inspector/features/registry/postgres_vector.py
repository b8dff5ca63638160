"""The vectors of each model in PostgreSQL: a table for each number of dimensions, its index, and searches.

The vectors are kept as they came, in float32. The index holds them in half the bytes (`halfvec`), which is
enough to find the candidates; their similarities are computed from the vectors themselves.
"""

import re
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector.core.access import Sight
from inspector.features.registry.acceptance import Neighbour, RegisteredTool
from inspector.features.registry.postgres_database import CHANGED, LOCK, PostgresDatabase
from inspector.features.registry.tool_registry import Condition, seen_of

if TYPE_CHECKING:
    from psycopg import Connection


# PostgreSQL takes neither of the two, and servers may declare tools with names of them. They are written as a
# lead and digits: NUL and the characters that serve as marks themselves as a lead with two digits, surrogates
# and the other lead with twelve. No mark is a character of a stored text otherwise, so that a pattern finds
# in stored texts exactly what it finds in the original ones. Any other text is stored as it is.

_LOW, _ZERO, _ONE, _HIGH = "\x01", "\x02", "\x03", "\ud7ff"
_LOW_DIGITS, _HIGH_DIGITS = 2, 12
_ODD = re.compile("[\0-\x03\ud7ff-\udfff]")
_WRITTEN = re.compile(f"{_LOW}[{_ZERO}{_ONE}]{{{_LOW_DIGITS}}}|{_HIGH}[{_ZERO}{_ONE}]{{{_HIGH_DIGITS}}}")
_DIGITS = str.maketrans("01", f"{_ZERO}{_ONE}")
_BITS = str.maketrans(f"{_ZERO}{_ONE}", "01")

# One character of the original text, as a regular expression of PostgreSQL over the stored one.
ONE_CHARACTER = f"(?:[^{_LOW}-{_ONE}{_HIGH}]|{_LOW}.{{{_LOW_DIGITS}}}|{_HIGH}.{{{_HIGH_DIGITS}}})"


def stored(text: str) -> str:
    """The text as it is stored; stored texts are in the order of their originals."""
    return _ODD.sub(_marked, text)


def original(text: str) -> str:
    """The text that was stored."""
    return _WRITTEN.sub(_read, text) if _LOW in text or _HIGH in text else text


def _marked(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < ord(_HIGH):
        return f"{_LOW}{code:0{_LOW_DIGITS}b}".translate(_DIGITS)
    return f"{_HIGH}{code - ord(_HIGH):0{_HIGH_DIGITS}b}".translate(_DIGITS)


def _read(found: re.Match[str]) -> str:
    lead, digits = found[0][0], found[0][1:]
    return chr((0 if lead == _LOW else ord(_HIGH)) + int(digits.translate(_BITS), 2))


_WILD = re.compile(r"[*?]")
_STARS = re.compile(r"\*+")
_SPECIAL_IN_LIKE = re.compile(r"[\\%_]")


def seen_by(sight: Sight) -> Condition:
    """The condition that holds for the stored ids that may be seen; "TRUE" keeps nothing out."""
    return seen_of(sight, _any_of)


def _any_of(patterns: Sequence[str], name: str) -> Condition:
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
    sql = " OR ".join(f"id {operator} ANY(%({key})s)" for key, operator, _values in used)
    return Condition(sql or "FALSE", {key: values for key, _operator, values in used})


def _like(pattern: str) -> str:
    return _SPECIAL_IN_LIKE.sub(r"\\\g<0>", stored(pattern)).replace("*", "%")


def _regex(pattern: str) -> str:
    wild = {"*": ".*", "?": ONE_CHARACTER}
    return f"^{''.join(wild.get(one) or _literal(one) for one in stored(pattern))}$"


def _literal(character: str) -> str:
    """A backslash before a letter or digit would mean something else, and nothing before any other."""
    return character if character.isalnum() or character == "_" else f"\\{character}"


# Fewer vectors are compared one by one, which is as fast and exact.
INDEXED_FROM = 10_000
# Measured with a million tools, see docs/registry.md.
M, EF_CONSTRUCTION = 24, 128
# What an index of half-precision vectors takes.
_MOST_INDEXED = 4_000
# What building an index takes a vector, beyond its half-precision numbers; and what it may take at most.
_GRAPH_BYTES, _MOST_BUILD_BYTES = 1_500, 4 << 30
_NUMBER_BYTES = 4

_TABLE = """
CREATE TABLE toolsight.vector_{number} (
    number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    key bytea PRIMARY KEY,
    embedding vector({dimensions}) NOT NULL
)
"""
_COMING = "CREATE TEMP TABLE coming (key bytea, embedding vector) ON COMMIT DROP"
_KEEP = """
INSERT INTO toolsight.vector_{number} (key, embedding) SELECT key, embedding FROM coming
ON CONFLICT (key) DO UPDATE SET embedding = excluded.embedding
"""
_INDEX = """
CREATE INDEX vector_{number}_near ON toolsight.vector_{number}
USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops)
WITH (m = {m}, ef_construction = {ef_construction})
"""
# The format of PostgreSQL's binary COPY: a signature, rows with the length of each field, and an end.
_HEADER, _END = b"PGCOPY\n\xff\r\n\0" + bytes(8), struct.pack(">h", -1)


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The table of a model's vectors with this many dimensions."""

    number: int
    dimensions: int
    indexed: bool

    @property
    def name(self) -> str:
        return f"toolsight.vector_{self.number}"


def tables_of(database: PostgresDatabase, model: str) -> list[VectorTable]:
    """The tables of a model's vectors. Raises StoreError."""
    sql = "SELECT number, dimensions, indexed FROM toolsight.model WHERE name = %(model)s ORDER BY number"
    return [VectorTable(*row) for row in database.rows(sql, {"model": stored(model)})]


def keep(database: PostgresDatabase, model: str, vectors: Mapping[bytes, bytes], dimensions: int) -> None:
    """Keep vectors with this many dimensions; if that fails, none are kept. Raises StoreError.

    They replace those with the same keys, and all of the model that have another number of dimensions.
    """
    with database.transaction() as connection:
        connection.execute(LOCK.encode())
        _keep(connection, stored(model), dimensions, vectors)
        connection.execute(CHANGED)


def build_index(database: PostgresDatabase, table: VectorTable) -> None:
    """Index a table's vectors if they are many; who searches meanwhile compares all. Raises StoreError."""
    if table.indexed or table.dimensions > _MOST_INDEXED:
        return
    count = database.rows(f"SELECT count(*) FROM {table.name}")[0][0]
    if count < INDEXED_FROM:
        return
    with database.transaction() as connection:
        connection.execute(LOCK.encode())
        sql = "SELECT indexed FROM toolsight.model WHERE number = %s FOR UPDATE"
        if connection.execute(sql, (table.number,)).fetchone() != (False,):
            return
        # The build takes several times as long where the graph does not fit in this.
        size = min(count * (2 * table.dimensions + _GRAPH_BYTES), _MOST_BUILD_BYTES) >> 10
        connection.execute("SELECT set_config('maintenance_work_mem', %s, true)", (f"{max(size, 65536)}kB",))
        parts = {"number": table.number, "dimensions": table.dimensions}
        connection.execute(_INDEX.format(**parts, m=M, ef_construction=EF_CONSTRUCTION).encode())
        connection.execute("UPDATE toolsight.model SET indexed = true WHERE number = %s", (table.number,))
        connection.execute(f"ANALYZE {table.name}".encode())
        connection.execute(CHANGED)


def _keep(connection: "Connection[Any]", model: str, dimensions: int, vectors: Mapping[bytes, bytes]) -> None:
    number = _number(connection, model, dimensions)
    connection.execute(_COMING)
    with connection.cursor() as cursor, cursor.copy("COPY coming FROM STDIN (FORMAT BINARY)") as copy:
        copy.write(_HEADER)
        for key, vector in vectors.items():
            copy.write(_binary_row(key, vector, dimensions))
        copy.write(_END)
    connection.execute(_KEEP.format(number=number).encode())
    others = connection.execute(
        "SELECT number FROM toolsight.model WHERE name = %s AND number <> %s", (model, number)
    ).fetchall()
    for (other,) in others:
        connection.execute(f"DELETE FROM toolsight.vector_{other}".encode())
    connection.execute("DROP TABLE coming")


def _number(connection: "Connection[Any]", model: str, dimensions: int) -> int:
    """The number of the model's table, which is made if there is none."""
    known = (model, dimensions)
    sql = "SELECT number FROM toolsight.model WHERE name = %s AND dimensions = %s"
    found = connection.execute(sql, known).fetchone()
    if found is None:
        sql = "INSERT INTO toolsight.model (name, dimensions) VALUES (%s, %s) RETURNING number"
        found = connection.execute(sql, known).fetchone()
        assert found is not None
        connection.execute(_TABLE.format(number=found[0], dimensions=dimensions).encode())
    return int(found[0])


def _binary_row(key: bytes, vector: bytes, dimensions: int) -> bytes:
    """One row of the binary COPY: the key, and the vector as pgvector receives it, big-endian."""
    numbers = struct.pack(f">{dimensions}f", *struct.unpack(f"<{dimensions}f", vector))
    sizes = struct.pack(">hi", 2, len(key)), struct.pack(">ihh", _NUMBER_BYTES + len(vector), dimensions, 0)
    return b"".join((sizes[0], key, sizes[1], numbers))


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

    def __init__(
        self,
        database: PostgresDatabase,
        iterating: PostgresDatabase,
        registered: Callable[[Row], RegisteredTool],
    ) -> None:
        """The same database twice, to read with READER and with ITERATING."""
        self._registered = registered
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
        return tuple(Neighbour(self._registered(row[3:]), max(-1.0, min(1.0, row[1]))) for row in rows)

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
        seen = seen_by(sight)
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
