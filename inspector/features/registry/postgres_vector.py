"""The vectors of each model in PostgreSQL: a table for each number of dimensions, its index, and searches.

The vectors are kept as they came, in float32. The index holds them in half the bytes (`halfvec`), which is
enough to find the candidates; their similarities are computed from the vectors themselves.
"""

import re
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from inspector.core.access import Sight
from inspector.features.registry.postgres_database import LOCK, PostgresDatabase
from inspector.features.registry.tool_registry import Condition, seen_of

if TYPE_CHECKING:
    from psycopg import Connection


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
        (f"{name}_ids", "=", [one for one in patterns if not _WILD.search(one)]),
        (f"{name}_likes", "LIKE", [_like(one) for one in patterns if "*" in one and "?" not in one]),
        (f"{name}_regexes", "~", [_regex(one) for one in patterns if "?" in one]),
    )
    used = [test for test in tests if test[2]]
    sql = " OR ".join(f"id {operator} ANY(%({key})s)" for key, operator, _values in used)
    return Condition(sql or "FALSE", {key: values for key, _operator, values in used})


def _like(pattern: str) -> str:
    return _SPECIAL_IN_LIKE.sub(r"\\\g<0>", pattern).replace("*", "%")


def _regex(pattern: str) -> str:
    wild = {"*": ".*", "?": "."}
    return f"^{''.join(wild.get(one) or _literal(one) for one in pattern)}$"


def _literal(character: str) -> str:
    """A backslash before a letter or digit would mean something else, and nothing before any other."""
    return character if character.isalnum() or character == "_" else f"\\{character}"


# Fewer vectors are compared one by one, which is as fast and exact.
INDEXED_FROM = 10_000
# Measured with a million tools, see docs/papers/registry.md.
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


class VectorTable(Struct, frozen=True):
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
    return [VectorTable(*row) for row in database.rows(sql, {"model": model})]


def keep(database: PostgresDatabase, model: str, vectors: Mapping[bytes, bytes], dimensions: int) -> None:
    """Keep vectors with this many dimensions; if that fails, none are kept. Raises StoreError.

    They replace those with the same keys, and all of the model that have another number of dimensions.
    """
    with database.transaction() as connection:
        connection.execute(LOCK.encode())
        _keep(connection, model, dimensions, vectors)


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


# Measured with a million tools, see docs/papers/registry.md.
EF_SEARCH = 400
# Plans that begin at the vector nearest to the query and look each one up among the tools; the index goes on
# until enough permitted ones were found.
READER = f"""
SET hnsw.ef_search = {EF_SEARCH};
SET hnsw.iterative_scan = relaxed_order; SET hnsw.max_scan_tuples = 40000;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_sort = off; SET jit = off;
SET plan_cache_mode = force_generic_plan; SET work_mem = '64MB'
"""
# The index knows half-precision numbers only, so more are taken from it than are asked for.
_TAKEN_MORE = 10
_SEARCH = """
SELECT best.similarity, best.id, v.definition, v.origin, v.version, v.hash, v.at, true
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

Row = tuple[Any, ...]
"""A similarity, a stored id, and a row as `registered` reads it."""


def written(vector: Sequence[float]) -> str:
    """A vector as pgvector reads it, with as many digits as float32 has."""
    return f"[{','.join(['%.9g'] * len(vector))}]" % tuple(vector)


def nearest_rows(
    database: PostgresDatabase, model: str, vector: Sequence[float], count: int, sight: Sight
) -> list[Row]:
    """The rows of the tools nearest to a vector, the nearest first. Raises StoreError."""
    table = next((one for one in tables_of(database, model) if one.dimensions == len(vector)), None)
    if count < 1 or table is None:
        return []
    seen, asked = seen_by(sight), {"vector": written(vector), "count": count}

    def searched(distance: str, taken: int) -> list[Row]:
        sql = _SEARCH.format(table=table.name, seen=seen.sql, distance=distance)
        return database.rows(sql, {**asked, "taken": taken, **seen.parameters})

    rows: list[Row] = []
    if table.indexed:
        rows = searched(_BY_INDEX.format(dimensions=table.dimensions), count + _TAKEN_MORE)
    if len(rows) < count:
        # There is no index, or it gave up among those that are not permitted.
        rows = searched(_EXACTLY, count)
    return sorted(rows, key=lambda row: (-row[0], row[1]))
