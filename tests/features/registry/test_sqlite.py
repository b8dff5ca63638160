"""What the registry in SQLite shares with the sessions of the same file, and with other programs."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from inspector.core.error import StoreError
from inspector.core.server import ConsentItem
from inspector.core.tool import Tool
from inspector.features.registry.acceptance import SyncReport, embedded_text
from inspector.features.registry.sqlite import SqliteRegistry
from inspector.search.index.embedded_text import key_of
from inspector.store.database import SqliteDatabase
from inspector.store.server_memory import SqliteServerMemory, SqliteVectors
from tests.support.registry import MODEL, keep_vector, tool, unit

ONE, OTHER = tool("s", "one", "One."), tool("s", "other", "Other.")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolsight.db"


@pytest.fixture
def registry(path: Path) -> Iterator[SqliteRegistry]:
    opened = SqliteRegistry(path)
    yield opened
    opened.close()


def found(registry: SqliteRegistry) -> list[str]:
    return [one.found.tool.id for one in registry.nearest(MODEL, unit(1, 0), 9)]


def test_what_another_program_changes_is_searched_at_once(registry: SqliteRegistry, path: Path) -> None:
    other = SqliteRegistry(path)
    registry.sync("o", [ONE], at=1.0)
    keep_vector(registry, ONE, 1, 0)
    assert found(registry) == ["s:one"]
    other.sync("o", [ONE, OTHER], at=2.0)
    keep_vector(other, OTHER, 0, 1)
    assert found(registry) == ["s:one", "s:other"]
    other.sync("o", [OTHER], at=3.0)
    assert found(registry) == ["s:other"]
    other.close()


def test_a_vector_that_a_session_made_counts_for_a_tool_of_that_text(
    registry: SqliteRegistry, path: Path
) -> None:
    registry.sync("o", [ONE], at=1.0)
    assert found(registry) == []
    vectors = SqliteVectors(path)
    vectors.keep_vectors(MODEL, {key_of(embedded_text(ONE)): np.array([1, 0], "<f4").tobytes()})
    vectors.close()
    assert found(registry) == ["s:one"]
    assert registry.unembedded(MODEL, 9) == {}


def test_a_long_import_keeps_no_session_from_writing_and_is_not_seen_before_its_end(
    registry: SqliteRegistry, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.store.database.BUSY_SECONDS", 0.05)
    session = SqliteServerMemory(path)

    def slow() -> Iterator[Tool]:
        for number in range(3000):
            if number % 1000 == 0:
                session.approve([ConsentItem(f"item {number}")], "file")
                assert registry.count() == 0
            yield tool("s", f"t{number}")

    assert registry.sync("o", slow(), at=1.0) == SyncReport(added=3000)
    assert session.approved(["item 2000"])
    session.close()


def test_a_damaged_definition_is_an_error_of_the_store_with_a_hint(
    registry: SqliteRegistry, path: Path
) -> None:
    registry.sync("o", [ONE], at=1.0)
    database = SqliteDatabase(path)
    with database.transaction() as connection:
        connection.execute("UPDATE tool_version SET definition = '[1]'")
    database.close()
    with pytest.raises(StoreError) as failure:
        list(registry.tools())
    assert failure.value.hint
