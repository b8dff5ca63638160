"""The tables and views of the SQLite file, as ordered migrations: `steps/` has the SQL of each.

A released migration never changes.
"""

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.error import StoreError

if TYPE_CHECKING:
    from sqlite_utils.db import Database
    from sqlite_utils.migrations import Migrations

_SET = "toolsight"

_STEPS = (
    *("sessions", "server_memory", "views", "vectors", "snapshots", "token_lengths", "agents", "breakers"),
    *("registry", "viewers", "approved_files", "definitions"),
)
# The table of migrations itself is made before the first step, by sqlite-utils.
_OTHERS = "SELECT 1 FROM sqlite_master WHERE tbl_name <> '_sqlite_migrations' LIMIT 1"


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether exactly the steps that this program knows were applied."""
    return _applied(connection) == list(_STEPS)


def require_own(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse what another program or a newer version wrote. Raises StoreError and sqlite3.Error."""
    applied = _applied(connection)
    if newer := [name for name in applied if name not in _STEPS]:
        raise StoreError(
            f"{path} was written by a newer version of Toolsight (unknown migrations: {', '.join(newer)})",
            hint="Update Toolsight, or use another file.",
        )
    if not applied and connection.execute(_OTHERS).fetchall():
        raise StoreError(f"{path} is another program's database", hint="Use another file, or a new one.")


def _applied(connection: sqlite3.Connection) -> list[str]:
    """The names of the applied steps in their order, asked without sqlite-utils."""
    tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchall()
    if not tables:
        return []
    sql = "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY rowid"
    return [str(name) for (name,) in connection.execute(sql, (_SET,))]


def migrations() -> "Migrations":
    """The steps from an empty database to the current one."""
    from sqlite_utils.migrations import Migrations

    steps = Migrations(_SET)
    for name in _STEPS:
        _register(steps, name)
    return steps


def _sql(name: str) -> str:
    return Path(__file__).with_name("steps").joinpath(f"{name}.sql").read_text(encoding="utf-8")


def _register(steps: "Migrations", name: str) -> None:
    @steps(name=name)
    def step(database: "Database") -> None:
        _execute(name, database)


def _execute(name: str, database: "Database") -> None:
    """Execute statements one by one: executescript() would commit the transaction that a step runs in."""
    pending = ""
    for line in _sql(name).strip().splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            database.execute(pending)
            pending = ""
