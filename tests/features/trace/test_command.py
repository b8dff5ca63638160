"""`toolsight sessions show`: what the page shows, as text and as JSON."""

from pathlib import Path

import pytest

from inspector.core.events import AnswerStreamed, Event
from inspector.store.codec import decode
from inspector.store.store import SqliteStore
from tests.core.test_event import records
from tests.session.test_timeline import STORY
from tests.support.commands import Toolsight, in_process


@pytest.fixture(scope="module")
def recorded(database: Path) -> None:
    with SqliteStore(database) as store:
        for record in (*records(STORY, "20260101-a"), *records(STORY[:1], "20250101-b")):
            store.append(record)


@pytest.mark.usefixtures("recorded")
def test_calls_and_moves_are_printed_with_every_reason(toolsight: Toolsight) -> None:
    printed = toolsight("sessions", "show", "20260101-a")
    assert printed.exit_code == 0, printed.stderr
    assert "search: orders" in printed.stdout
    assert "shop:list  ok  12 ms  city=Oslo days=3 why=a b" in printed.stdout
    assert "called 3x with equal arguments" in printed.stdout
    assert "2 tools were deferred throughout" in printed.stdout
    assert "loads 1, evictions 1" in printed.stdout
    assert "accuracy 100 %" in printed.stdout


def test_a_session_is_shown_without_decoding_what_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many answers arrived in pieces, and in one pass."""
    database = tmp_path / "long.db"
    toolsight = in_process({"TOOLSIGHT_DB": str(database), "XDG_STATE_HOME": str(tmp_path)})
    decoded: list[str] = []

    def counted(kind: str, payload: str, *, outline: bool) -> Event:
        decoded.append(kind)
        assert outline, "the parts of scores are not shown"
        return decode(kind, payload, outline=outline)

    with SqliteStore(database) as store:
        store.append_all(records([*STORY, *[AnswerStreamed("word ")] * 600], "20260101-c"))
    monkeypatch.setattr("inspector.store.store.decode", counted)
    for form in ([], ["--json"]):
        decoded.clear()
        assert toolsight("sessions", "show", "20260101-c", *form).exit_code == 0
        assert len(decoded) == len(STORY)
