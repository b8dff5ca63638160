"""An event is redacted, stored, applied and told, in this order."""

from collections.abc import Callable

import pytest

from inspector.core.error import StoreError
from inspector.core.events import MilestoneReached, Record, UserSaid
from inspector.core.fold import apply
from inspector.core.redaction import Redactor
from inspector.core.stream import Session
from inspector.store.memory import MemoryStore
from tests.support.fakes import ManualClock


class FullStore(MemoryStore):
    """Has no room."""

    def append(self, record: Record) -> None:
        raise StoreError(f"no room for {record.kind}")


def session_on(store: MemoryStore) -> Session:
    return Session("s", store, ManualClock(), Redactor({"shop.TOKEN": "tiger-42"}))


def test_a_listener_is_told_only_after_the_event_is_stored_and_applied() -> None:
    store = MemoryStore()
    session = session_on(store)
    seen: list[tuple[bool, bool]] = []
    before = session.state

    def listen(record: Record) -> None:
        seen.append((store.read("s")[-1:] == [record], session.state == apply(before, record)))

    session.subscribe(listen)
    session.emit(MilestoneReached("paid"))
    assert session.state != before
    assert seen == [(True, True)]


def test_an_event_that_cannot_be_stored_changes_nothing_and_is_told_to_nobody() -> None:
    session = session_on(FullStore())
    told: list[Record] = []
    session.subscribe(told.append)
    before = session.state
    with pytest.raises(StoreError):
        session.emit(MilestoneReached("paid"))
    assert session.state is before
    assert told == []


def test_what_is_stored_and_told_is_redacted() -> None:
    store = MemoryStore()
    session = session_on(store)
    told: list[Record] = []
    session.subscribe(told.append)
    session.emit(UserSaid("my token is tiger-42"))
    assert told == store.read("s")
    assert told[0].event == UserSaid("my token is [redacted shop.TOKEN]")


def test_whoever_stops_listening_is_told_nothing_more() -> None:
    session = session_on(MemoryStore())
    told: list[Record] = []
    stop: Callable[[], None] = session.subscribe(told.append)
    session.emit(UserSaid("one"))
    stop()
    stop()
    session.emit(UserSaid("two"))
    assert [record.event for record in told] == [UserSaid("one")]
