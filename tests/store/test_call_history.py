"""What was called in the recorded sessions, for whom, and how it ended."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from inspector.core.events import (
    CallFinished,
    CallStarted,
    Event,
    Origin,
    Record,
    SessionStarted,
    SettingsChanged,
    UserSaid,
)
from inspector.core.events.base import Actor
from inspector.core.ports import CallHistory, EventStore, PastCall, TaskCalls, ToolOutcomes, Viewer
from inspector.store.call_history import RecordedCalls
from inspector.store.store import SqliteStore

MESSAGE = "What is going on in the shop?"


@dataclass(frozen=True)
class Recorded:
    """A store, and the history over it."""

    store: EventStore
    history: CallHistory

    def session(self, *events: Event, name: str = "s", at: float = 100.0) -> None:
        for seq, event in enumerate(events, start=1):
            self.store.append(Record(name, seq, at + seq, event))

    @property
    def tools(self) -> list[str]:
        return [call.tool for call in self.history.successful_calls()]


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Recorded]:
    with SqliteStore(tmp_path / "toolsight.db") as store:
        yield Recorded(store, RecordedCalls(store))


def called(tool: str, *, ok: bool = True, by: Actor = "model") -> tuple[Event, Event]:
    return CallStarted(f"call {tool}", tool, {}, by), CallFinished(f"call {tool}", tool, ok, "done")


def started(**fields: Any) -> SessionStarted:
    given = {"config": "c", "servers": (), "toolset": "", "model": "m", "model_label": "m", "window": 1}
    return SessionStarted(**{**given, **fields})


def test_only_calls_that_succeeded_count_whoever_made_them(recorded: Recorded) -> None:
    by_hand, unfinished = called("shop:refund", by="user"), called("mail:send")[0]
    recorded.session(*called("shop:list"), *called("shop:get", ok=False), *by_hand, unfinished)
    assert list(recorded.history.successful_calls()) == [
        PastCall("shop:list", 102.0),
        PastCall("shop:refund", 106.0),
    ]


def test_the_newest_session_comes_first_and_the_one_to_leave_out_not_at_all(recorded: Recorded) -> None:
    for name, at in (("old", 100.0), ("own", 300.0), ("new", 200.0)):
        recorded.session(*called(f"shop:{name}"), name=name, at=at)
    calls = recorded.history.successful_calls(but="own")
    assert [call.tool for call in calls] == ["shop:new", "shop:old"]


def test_reading_neither_waits_for_a_session_that_is_written_nor_holds_it_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.store.database.BUSY_SECONDS", 0)
    path = tmp_path / "toolsight.db"
    with SqliteStore(path) as store:
        recorded = Recorded(store, RecordedCalls(store))
        recorded.session(UserSaid(MESSAGE), *called("shop:list"))
        recorded.session(UserSaid(MESSAGE), *called("shop:list"), name="older", at=50.0)
        calls = recorded.history.successful_calls()
        assert next(calls).at == 103.0
        with sqlite3.connect(path, timeout=0) as writing:
            writing.execute("UPDATE session SET model = 'x'")
            assert next(calls).at == 53.0


def test_a_task_is_what_a_model_called_for_one_message(recorded: Recorded) -> None:
    failed, by_hand = called("shop:get", ok=False), called("shop:refund", by="user")
    recorded.session(UserSaid(MESSAGE), *called("shop:list"), *by_hand, *failed, UserSaid("and?"), name="one")
    recorded.session(UserSaid(MESSAGE), *called("mail:send"), name="two", at=200.0)
    assert list(recorded.history.tasks()) == [
        TaskCalls("toolsight", (("mail:send", 202.0),)),
        TaskCalls("toolsight", (("shop:list", 102.0), ("shop:get", 106.0))),
    ]
    assert [task.calls[0][0] for task in recorded.history.tasks(but="two")] == ["shop:list"]


def test_a_successful_call_has_the_persona_of_its_session(recorded: Recorded) -> None:
    first = (started(toolset="reports"), UserSaid(MESSAGE), *called("shop:list"))
    renamed = SettingsChanged("toolsight", {"inertia": {"persona": "ada"}})
    recorded.session(*first, renamed, *called("shop:get"))
    recorded.session(
        started(origin=Origin("codex")), UserSaid(MESSAGE), *called("shop:list"), name="b", at=50
    )
    personas = [call.persona for call in recorded.history.successful_calls()]
    assert personas == ["reports", "ada", "codex"]


def test_a_viewers_calls_are_those_of_the_same_expert_or_of_none(recorded: Recorded) -> None:
    viewers = (("ada", ""), ("ada", "billing"), ("ada", "alarm"), ("bob", ""), ("bob", "billing"), ("", ""))
    for at, (user, expert) in enumerate(viewers):
        first = started(user=user, expert=expert, restricted=bool(user))
        name = f"{user}-{expert}"
        recorded.session(first, *called(name), name=name, at=100.0 * at)

    def asked(viewer: Viewer | None, but: str = "") -> list[str]:
        return [call.tool for call in recorded.history.successful_calls(but=but, viewer=viewer)]

    assert asked(Viewer("ada")) == ["ada-"]
    assert asked(Viewer("ada", "billing")) == ["ada-billing", "ada-"]
    assert asked(Viewer("ada", "billing"), but="ada-") == ["ada-billing"]
    assert asked(Viewer("bob", "other")) == ["bob-"]
    assert asked(Viewer("eve")) == []
    assert asked(Viewer("")) == [], "a session of nobody in particular is no user's"
    assert len(asked(None)) == len(viewers)


def test_a_session_that_a_user_sees_shows_the_habits_of_that_user(recorded: Recorded) -> None:
    named = {"inertia": {"persona": "sales"}}
    firsts = (started(user="ada"), started(user="ada", toolset="sums"), started(user="ada", settings=named))
    for at, first in enumerate(firsts):
        recorded.session(first, UserSaid(MESSAGE), *called("shop:list"), name=f"s{at}", at=100.0 * at)
    personas = [call.persona for call in recorded.history.successful_calls(viewer=Viewer("ada"))]
    assert personas == ["sales", "ada", "ada"]


def test_the_outcomes_of_a_tool_are_counted_over_all_sessions_and_damaged_ones_passed_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / "toolsight.db"
    with SqliteStore(path) as store:
        recorded = Recorded(store, RecordedCalls(store))
        recorded.session(
            *called("shop:list"), *called("shop:list", ok=False, by="user"), *called("mail:send")
        )
        recorded.session(*called("shop:list"), *called("shop:get"), name="other", at=200.0)
        with sqlite3.connect(path) as direct:
            direct.execute("UPDATE event SET payload = '{' WHERE session = 'other' AND seq = 4")
        assert store.outcomes() == {
            "shop:list": ToolOutcomes(3, 1, 202.0),
            "mail:send": ToolOutcomes(1, 0, 106.0),
        }
