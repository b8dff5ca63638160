"""`toolsight sessions next`: what follows what in recorded sessions; an export is a seed."""

import time
from pathlib import Path

import pytest

from inspector.core.events import CallStarted, Record, UserSaid
from inspector.core.inertia import Aging
from inspector.loop.flow import load_seeds
from inspector.store.store import SqliteStore
from tests.support.commands import Toolsight

CALLS = ("shop:list", "shop:list", "mail:send")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    database = tmp_path / "toolsight.db"
    events = (UserSaid("go"), *(CallStarted(f"c{number}", tool, {}) for number, tool in enumerate(CALLS)))
    with SqliteStore(database) as store:
        store.append_all([Record("s", seq, time.time(), event) for seq, event in enumerate(events, start=1)])
    return database


def test_what_follows_what_is_told_with_its_share_and_how_sure_it_is(
    toolsight: Toolsight, recorded: Path
) -> None:
    done = toolsight("sessions", "next", "--db", str(recorded))
    assert done.exit_code == 0, done.stderr
    assert "1 of 100 tasks: still learning" in done.stdout
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("shop:list")]
    assert row.split()[1:6] == ["2", "mail:send", "50", "%", "9"]


def test_an_export_is_read_as_a_seed(toolsight: Toolsight, recorded: Path, tmp_path: Path) -> None:
    exported = toolsight("sessions", "next", "--json", "--db", str(recorded))
    file = tmp_path / "export.json"
    file.write_text(exported.stdout)
    ((persona, graph),) = load_seeds(file).items()
    assert (persona, graph.tasks) == ("toolsight", 1)
    after = graph.after("shop:list", Aging(0.0))
    assert [(one.tool, one.count) for one in after] == [("mail:send", 1), ("shop:list", 1)]
