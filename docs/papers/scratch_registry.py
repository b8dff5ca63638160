"""An empty registry on a PostgreSQL server, for a measurement beside what is there."""

from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex

from inspector.core.error import StoreError
from inspector.features.registry.postgres import PostgresRegistry
from inspector.features.registry.postgres_database import parts_of


@contextmanager
def scratch_registry(url: str) -> Iterator[PostgresRegistry]:
    """An empty registry on the server of this address; its database is dropped in the end.

    Raises StoreError, also if the user may not create databases.
    """
    name = f"toolsight_scratch_{token_hex(4)}"
    parts_of(url)
    from psycopg import Error, connect

    try:
        with connect(url, autocommit=True) as server:
            server.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0".encode())
            registry = PostgresRegistry(address_of(url, database=name))
            try:
                yield registry
            finally:
                registry.close()
                server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
    except Error as error:
        raise StoreError("no database can be made on the server") from error


def address_of(url: str, *, database: str) -> str:
    """The address of another database of the same server. Raises StoreError."""
    parts = parts_of(url)
    from psycopg.conninfo import make_conninfo

    return make_conninfo("", **parts | {"dbname": database})
