"""Settings for every test.

How many examples a property tries: `HYPOTHESIS_PROFILE` names the profile; without it, `ci` where `CI` is
set, and `default` for people. A property that costs more than others takes a share of them, see
`tests.support.examples`.
"""

import gc
import os
import sqlite3
from collections.abc import Iterator
from functools import cache
from threading import Lock
from typing import Any

import pytest
from _pytest.unraisableexception import gc_collect_iterations_key
from hypothesis import HealthCheck, settings

from inspector.core.redaction import SECRETS
from inspector.store import migrations
from inspector.store.database import SqliteDatabase
from inspector.tokens import break_even
from inspector.tokens.cost import Delivery
from tests.support import postgres

# A busy machine is no bug; and what CI tries is the same each time, so that a failure there can be repeated.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("default", PATIENT, max_examples=20)
settings.register_profile("ci", PATIENT, max_examples=12, derandomize=True)
settings.register_profile("nightly", PATIENT, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))

# Collecting garbage as often as Python does by default takes a tenth of the suite.
gc.set_threshold(100_000, 20, 50)


@pytest.fixture(autouse=True)
def _no_secrets_of_other_tests() -> None:
    """Know no secrets at first, as a new process does."""
    SECRETS.forget()


@pytest.fixture(scope="session", autouse=True)
def _break_evens_once() -> Iterator[None]:
    """Find the break-evens of the same plan once: a second for the demo's, which many reports ask for."""
    find = cache(break_even.break_evens)

    def found(*about: Any, **more: Any) -> dict[Delivery, int | None]:
        return find(*about, **more).copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(break_even, "break_evens", found)
        yield


@pytest.fixture(scope="session", autouse=True)
def _tables_once() -> Iterator[None]:
    """Copy the tables of a new database from the first one: making them takes six times as long."""
    migrate, copying = SqliteDatabase._migrate, Lock()
    first: dict[tuple[str, ...], sqlite3.Connection] = {}

    def migrated(database: SqliteDatabase, connection: sqlite3.Connection) -> None:
        with copying:
            if connection.execute("SELECT 1 FROM sqlite_master").fetchall():
                migrate(database, connection)
                return
            if (made := first.get(migrations._STEPS)) is None:
                made = first[migrations._STEPS] = sqlite3.connect(":memory:", check_same_thread=False)
                made.isolation_level = None
                migrate(database, made)
            made.backup(connection)
            connection.execute("PRAGMA journal_mode = WAL")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteDatabase, "_migrate", migrated)
        yield
    for made in first.values():
        made.close()


# Characters of a text in a test's name: parallel runs send every name around, and some texts have millions.
_LONGEST_NAME = 100


def pytest_configure(config: pytest.Config) -> None:
    """Look once for what was left behind, in place of five times: each takes a process over a second."""
    config.stash[gc_collect_iterations_key] = 1


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by the beginning and the size of a long text."""
    if not isinstance(val, str | bytes) or len(val) <= _LONGEST_NAME:
        return None
    return f"{val[:_LONGEST_NAME]!a}… of {len(val):,}"


# Whatever of these a file uses, it starts the app or servers, or makes an index for each of its tests.
_STARTING = (
    "tests.support.app",
    "tests.support.picture",
    "textual.app",
    "textual.pilot",
    "tests.support.lab",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of each file that starts the app, `make test` runs the first test: every other one is slow."""
    begun = set[object]()
    for item in items:
        module = getattr(item, "module", None)
        if module in begun:
            item.add_marker(pytest.mark.slow)
        elif _starts(module):
            begun.add(module)


@cache
def _starts(module: object) -> bool:
    return any(
        getattr(value, "__module__", "") in _STARTING for value in getattr(module, "__dict__", {}).values()
    )


def pytest_collection_finish() -> None:
    """Keep the garbage collector from looking at what was imported again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Leave no server running that tests have started."""
    postgres.stop()
