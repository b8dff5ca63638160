"""A tap that cannot record says so in a place that later commands look at, until it can."""

import os
from pathlib import Path

import pytest

from inspector.core.redaction import SECRETS
from inspector.features.agents.tap.pump import HEADER, TO_SERVER
from inspector.features.agents.tap.recorder import record
from inspector.store.server_memory import TapNotes
from tests.support.commands import Toolsight, in_process

GARBAGE = b"no database at all, " * 300


@pytest.fixture
def toolsight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolsight:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return in_process({"TOOLSIGHT_DB": str(tmp_path / "other.db"), "XDG_STATE_HOME": str(tmp_path / "state")})


def tapped(database: Path) -> None:
    """Record one message."""
    source, ours = os.pipe()
    data = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    os.write(ours, HEADER.pack(TO_SERVER, 0, 1.0, 0, len(data)) + data)
    os.close(ours)
    record(source, ["serve"], name="shop", database=str(database))
    os.close(source)


@pytest.mark.parametrize("is_garbage", [True, False], ids=["garbage", "no folder"])
def test_a_tap_that_cannot_record_is_shown_until_it_can(
    toolsight: Toolsight, tmp_path: Path, *, is_garbage: bool
) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(GARBAGE)
    database = wrong if is_garbage else wrong / "x.db"
    tapped(database)
    told = "shop has not been recorded since"
    assert told in toolsight("sessions").stderr
    if is_garbage:
        done = toolsight("doctor", "--json")
        assert done.exit_code == 1
        assert told in done.stdout
    assert wrong.read_bytes() == GARBAGE
    wrong.unlink()
    tapped(database)
    assert told not in toolsight("sessions").stderr


def test_notes_have_no_secrets_and_what_is_no_note_is_left_out(tmp_path: Path) -> None:
    SECRETS.learn({"key": "k3y-0a1b2c-plant"})
    notes = TapNotes(tmp_path)
    for number, text in enumerate(("", "[]", "{}", '{"server": 1, "since": "x", "why": 2}')):
        (tmp_path / f"{number}.json").write_text(text)
    notes.put("shop", "x.db", "k3y-0a1b2c-plant is wrong")
    assert [one.why for one in notes.all()] == ["[redacted] is wrong"]


def test_a_folder_that_cannot_be_written_keeps_no_tap_from_its_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    notes = TapNotes(tmp_path / "file" / "taps")
    notes.put("shop", "x.db", "full")
    assert notes.all() == []
