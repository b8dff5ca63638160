"""The headless demo, as `make demo` runs it without a terminal, and the folders that demos leave."""

import atexit
import os
import tempfile
from pathlib import Path

import pytest

from inspector.cli.location import demo_folder, sweep, use
from inspector.core.events import (
    CallFinished,
    Event,
    Record,
)
from inspector.store.store import SqliteStore
from tests.support.commands import Done, Toolsight


@pytest.fixture(scope="module")
def played(process: Toolsight) -> Done:
    """The one real run of the quick tests: a process, nine servers, and the packaged embedding model."""
    return process("demo", "--headless")


@pytest.fixture(scope="module")
def records(played: Done, database: Path) -> list[Record]:
    assert played.exit_code == 0, played.stderr
    with SqliteStore(database) as store:
        (session,) = store.sessions()
        return store.read(session.id)


def of(records: list[Record], kind: type[Event]) -> list[Event]:
    return [record.event for record in records if isinstance(record.event, kind)]


@pytest.mark.slow
def test_the_late_orders_in_the_transcript_come_from_the_shop_database(
    played: Done, records: list[Record]
) -> None:
    orders = [
        event
        for event in of(records, CallFinished)
        if isinstance(event, CallFinished) and event.tool == "shop:list_orders"
    ]
    assert orders
    assert orders[0].ok
    first_line = orders[0].text.splitlines()[0].strip()
    assert first_line in played.stdout


def left_by_a_killed_demo(parent: Path) -> Path:
    """A folder whose process holds no lock any more."""
    folder = parent / "toolsight-demo-left"
    folder.mkdir()
    (folder / "orders.json").write_text("[]")
    os.close(use(folder))
    return folder


def test_what_a_killed_demo_left_is_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = left_by_a_killed_demo(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(atexit, "register", lambda *_args, **_keywords: None)
    made = demo_folder.__wrapped__()
    assert not left.exists()
    assert made.is_dir()
    sweep(tmp_path)
    assert made.is_dir()


def test_the_folder_of_a_demo_that_runs_stays(tmp_path: Path) -> None:
    folder = tmp_path / "toolsight-demo-runs"
    folder.mkdir()
    handle = use(folder)
    sweep(tmp_path)
    assert folder.is_dir()
    os.close(handle)
    sweep(tmp_path)
    assert not folder.exists()


def test_what_is_not_known_to_be_left_stays(tmp_path: Path) -> None:
    unlocked, other = tmp_path / "toolsight-demo-new", tmp_path / "somebody-elses"
    unlocked.mkdir()
    other.mkdir()
    (other / ".used").touch()
    linked = tmp_path / "toolsight-demo-link"
    linked.symlink_to(other)
    sweep(tmp_path)
    assert unlocked.is_dir()
    assert linked.is_symlink()
    assert (other / ".used").exists()


def test_a_folder_of_another_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = left_by_a_killed_demo(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: left.stat().st_uid + 1)
    sweep(tmp_path)
    assert left.is_dir()
