"""What the database survives, and how it says that it cannot go on."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from inspector.core.error import StoreError
from inspector.core.events import Record, UserSaid
from inspector.core.server import Era
from inspector.store import migrations
from inspector.store.server_memory import SqliteServerMemory
from inspector.store.store import SqliteStore

ROOT = Path(__file__).resolve().parents[2]
WRITER = """
import sys
from itertools import count
from pathlib import Path
from inspector.store.store import SqliteStore
from inspector.core.events import Record, UserSaid
store = SqliteStore(Path(sys.argv[1]))
for seq in count(1):
    if seq > int(sys.argv[3]):
        break
    store.append(Record(sys.argv[2], seq, float(seq), UserSaid("word " * 50)))
    print(seq, flush=True)
"""
FULL_DISK = """
import resource, sys
from pathlib import Path
from inspector.store.store import SqliteStore
from inspector.core.error import StoreError
from inspector.core.events import Record, UserSaid
store = SqliteStore(Path(sys.argv[1]))
store.append(Record("s", 1, 1.0, UserSaid("small")))
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    store.append(Record("s", 2, 2.0, UserSaid("x" * 2_000_000)))
except StoreError as error:
    print(error.hint)
store.append(Record("s", 2, 2.0, UserSaid("still small")))
print(len(store.read("s")))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "toolsight.db"


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def said(seq: int, session: str = "s") -> Record:
    return Record(session, seq, float(seq), UserSaid("hello"))


def refusal(path: Path) -> StoreError:
    with pytest.MonkeyPatch.context() as patch, SqliteStore(path) as store:
        patch.setattr("inspector.store.database.BUSY_SECONDS", 0.02)
        with pytest.raises(StoreError) as raised:
            store.append(said(1))
    assert str(path) in raised.value.message
    assert raised.value.hint
    return raised.value


def test_a_killed_writer_has_lost_nothing_that_append_returned_for_and_can_be_forgotten_only_then(
    path: Path,
) -> None:
    with SqliteStore(path) as store, start(WRITER, path, "s", 10**9) as writer:
        assert writer.stdout is not None
        for _line in range(60):
            writer.stdout.readline()
        assert store.forget(["s"]) == ()
        writer.kill()
        acknowledged = 60 + len(writer.stdout.read().split("\n")[:-1])
        writer.wait()
        kept = [record.seq for record in store.read("s")]
        assert kept[:acknowledged] == list(range(1, acknowledged + 1))
        assert store.forget(["s"]) == ("s",)


def test_a_full_disk_is_told_and_what_was_there_stays(path: Path) -> None:
    with start(FULL_DISK, path) as writer:
        output, _nothing = writer.communicate()
    assert "disk" in output.splitlines()[0]
    assert output.splitlines()[-1] == "2"


def test_a_file_that_is_no_database_is_refused_and_kept(path: Path) -> None:
    path.write_text("groceries: milk, eggs, " * 50, encoding="utf-8")
    assert "not an SQLite database" in refusal(path).hint
    assert path.read_text(encoding="utf-8").startswith("groceries")


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("table", ["places", "_sqlite_migrations", "session"])
def test_the_database_of_another_program_is_refused_untouched_to_the_byte(
    path: Path, journal: str, is_open: bool, table: str
) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(f"PRAGMA journal_mode = {journal}")
    other.execute("CREATE TABLE of_another (name TEXT)")
    other.execute(f"CREATE TABLE {table} (migration_set TEXT, name TEXT)")
    other.execute(f"INSERT INTO {table} VALUES ('another', 'sessions')")
    if not is_open:
        other.close()
    before = {
        file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")
    }
    assert "another program's database" in refusal(path).message
    after = {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}
    other.close()
    assert after == before


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.touch()
    with SqliteStore(path) as store:
        store.append(said(1))
        assert len(store.read("s")) == 1


def test_only_the_store_opens_sqlite_files() -> None:
    """So that no other room can forget to see first whose file it is."""
    opening = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "inspector").rglob("*.py")
        if "sqlite3.connect(" in file.read_text(encoding="utf-8")
    }
    assert opening == {"inspector/store/database.py"}


def test_a_damaged_database_is_told_as_damaged(path: Path) -> None:
    with SqliteStore(path) as store:
        for seq in range(1, 200):
            store.append(said(seq))
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    with SqliteStore(path) as store, pytest.raises(StoreError) as raised:
        store.read("s")
    assert raised.value.hint


def test_a_database_held_by_another_program_is_told_as_held(path: Path) -> None:
    with SqliteStore(path) as store:
        store.append(said(1, session="first"))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert "Another program" in refusal(path).hint
    finally:
        other.close()


def test_a_read_only_folder_is_refused() -> None:
    # File modes do not hold for root.
    is_root, nobody = os.geteuid() == 0, 65534
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o500)
        if is_root:
            os.chown(folder, nobody, nobody)
            os.seteuid(nobody)
        try:
            refusal(Path(folder) / "toolsight.db")
        finally:
            if is_root:
                os.seteuid(0)
            Path(folder).chmod(0o700)


def test_a_read_only_database_is_told_as_read_only(path: Path) -> None:
    with SqliteStore(path) as store:
        store.append(said(1))
        store._database._opened().execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="cannot be written") as raised:
            store.append(said(2))
    assert "read-only" in raised.value.hint


def test_a_database_of_a_newer_program_is_refused_and_left_alone(path: Path) -> None:
    with SqliteStore(path) as store:
        store.append(said(1))
    with sqlite3.connect(path) as other:
        other.execute("INSERT INTO _sqlite_migrations VALUES (99, 'toolsight', 'telepathy', 'later')")
    other.close()
    before = path.read_bytes()
    assert "newer version of Toolsight" in refusal(path).message
    assert path.read_bytes() == before


@pytest.mark.parametrize("stop_before", ["server_memory", "views"])
def test_a_database_of_an_older_program_is_brought_up_to_date(path: Path, stop_before: str) -> None:
    from sqlite_utils.db import Database

    old = Database(path)
    migrations.migrations().apply(old, stop_before=stop_before)
    old.execute("INSERT INTO session (id, started_at, ended_at) VALUES ('s', 1, 1)")
    old.execute("INSERT INTO event VALUES ('s', 1, 1.0, 'user', NULL, NULL, '{\"text\": \"hello\"}')")
    old.close()
    with SqliteStore(path) as store:
        store.append(said(2))
        assert [record.event for record in store.read("s")] == [UserSaid("hello")] * 2
    memory = SqliteServerMemory(path)
    memory.remember_era("f", Era.LEGACY)
    assert memory.era("f") is Era.LEGACY
    memory.close()
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT count(*) FROM calls").fetchone() == (0,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()


def test_a_migration_that_fails_leaves_the_database_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, sql = {"broken": "CREATE TABLE half (id);\nCREATE NONSENSE;\n"}, migrations._sql
    with monkeypatch.context() as broken:
        broken.setattr(migrations, "_STEPS", (*migrations._STEPS, "broken"))
        broken.setattr(migrations, "_sql", lambda name: told.get(name) or sql(name))
        refusal(path)
    with SqliteStore(path) as store:
        store.append(said(1))
        assert len(store.read("s")) == 1
