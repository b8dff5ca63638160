"""What is remembered of servers and configurations, by the database and by the fake alike."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.core.events import Record, UserSaid
from inspector.core.ports import ServerMemory, Snapshot
from inspector.core.server import ConsentItem, Era, RunFile
from inspector.core.tool import Annotations, Tool
from inspector.store.memory import MemoryServerMemory
from inspector.store.server_memory import SqliteServerMemory
from inspector.store.store import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolsight.db"


@pytest.fixture(params=["sqlite", "memory"])
def memory(request: pytest.FixtureRequest, path: Path) -> Iterator[ServerMemory]:
    if request.param == "memory":
        yield MemoryServerMemory()
        return
    opened = SqliteServerMemory(path)
    yield opened
    opened.close()


@pytest.mark.parametrize("era", list(Era))
def test_the_era_that_worked_last_is_remembered(memory: ServerMemory, era: Era) -> None:
    memory.remember_era("f", Era.LEGACY)
    memory.remember_era("f", era)
    assert memory.era("f") is era
    assert memory.era("g") is None


FILES = (RunFile("/srv/a.py", "d", (1, 4_294_967_295)), RunFile("/srv/b", "e"))


def test_an_approval_covers_its_items_with_their_files(memory: ServerMemory) -> None:
    assert memory.approved(["f", "g"]) == {}
    memory.approve([ConsentItem("f", "shop", (RunFile("/srv/old.py", "x"),)), ConsentItem("h")], "demo.json")
    memory.approve([ConsentItem("f", "shop", FILES)], "demo.json")
    assert memory.approved(["f", "g"]) == {"f": FILES}
    assert memory.approved(["h", "f"]) == {"h": (), "f": FILES}


def test_the_version_at_the_first_connection_stays_until_the_next_approval(memory: ServerMemory) -> None:
    assert memory.first_version("f", "1.0") == "1.0"
    assert memory.first_version("f", "1.1") == "1.1"
    memory.approve([ConsentItem("f")], "demo.json")
    assert [memory.first_version("f", version) for version in ("", "1.1", "1.2", "1.1")] == [
        *("", "1.1", "1.1", "1.1")
    ]
    memory.approve([ConsentItem("f")], "demo.json")
    assert memory.first_version("f", "1.2") == "1.2"


def test_the_tools_of_the_last_connection_are_remembered(memory: ServerMemory) -> None:
    schema = {"type": "object", "properties": {"n": {"maximum": float("inf")}, "$number": {}}}
    tool = Tool("s", "t", "Does it.", schema, Annotations(read_only=True), {"type": "object"}, "A title")
    memory.remember_tools("f", Snapshot((Tool("s", "old"),), 1.0))
    memory.remember_tools("f", Snapshot((tool, Tool("s", "u")), 2.5, "Serves."))
    assert memory.snapshot("f") == Snapshot((tool, Tool("s", "u")), 2.5, "Serves.")
    assert memory.snapshot("g") is None


def test_a_memory_outlives_the_program_beside_the_sessions(path: Path) -> None:
    store, first = SqliteStore(path), SqliteServerMemory(path, now=lambda: 12.0)
    store.append(Record("s", 1, 1.0, UserSaid("hello")))
    first.approve([ConsentItem("f")], "caf\ud800.json")
    first.remember_era("f", Era.MODERN)
    first.close()
    store.close()
    second = SqliteServerMemory(path)
    assert (second.approved(["f"]), second.era("f")) == ({"f": ()}, Era.MODERN)
    second.close()
    with sqlite3.connect(path) as other:
        rows = other.execute("SELECT * FROM approval").fetchall()
    other.close()
    assert rows == [("f", "caf\\ud800.json", 12.0, "")]


@pytest.mark.parametrize("tools", ["[[", "{}", '[{"server": 1}]', "[" * 100_000])
def test_a_snapshot_that_cannot_be_read_is_none(path: Path, tools: str) -> None:
    memory = SqliteServerMemory(path)
    memory.remember_tools("f", Snapshot((), 0.0))
    with sqlite3.connect(path) as other:
        other.execute("UPDATE snapshot SET tools = ?", (tools,))
    other.close()
    assert memory.snapshot("f") is None
    memory.close()
