"""The vectors of each model: a table for each number of dimensions, and its HNSW index.

The vectors are kept as they came, in float32. The index holds them in half the bytes (`halfvec`), which is
enough to find the candidates; their similarities are computed from the vectors themselves.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector.registry.postgres.database import LOCK, PostgresDatabase
from inspector.registry.postgres.merge import CHANGED
from inspector.registry.postgres.row import stored

if TYPE_CHECKING:
    from psycopg import Connection

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
