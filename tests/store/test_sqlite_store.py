"""Events in SQLite: stored, read and told apart."""

import json
import math
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st
from msgspec.structs import replace

from inspector.core.error import StoreError
from inspector.core.events import (
    EVENT_TYPES,
    CallFinished,
    CallRejected,
    CallStarted,
    Event,
    LoopDetected,
    Origin,
    Record,
    SearchPerformed,
    SessionStarted,
    ToolLoaded,
    UserSaid,
)
from inspector.core.ports import EventStore
from inspector.core.ranking import Hit, Outcome, Part, Score, SearchReport, SearchRequest, Signal
from inspector.store.codec import UnreadableEvent, decode, encode
from inspector.store.store import MemoryStore, SqliteStore
from tests.core.test_event import events_by_kind
from tests.support.examples import examples

STARTED = SessionStarted("demo.json", ("a",), "", "openai/x", "x", 1000)
SCORE = Score("a:one", 1.5, (Part(Signal.NAME, "one", 1.5),))
SEARCH = SearchPerformed(
    SearchReport(SearchRequest("one"), "bm25", (Hit(1, SCORE, Outcome.LOADED),)), "found a:one"
)
CALL = CallStarted("c1", "a:one", {"city": "Bonn"})
RESULT = CallFinished("c1", "a:one", True, "sunny", 12.5)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "toolsight.db"


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, path: Path) -> Iterator[EventStore]:
    if request.param == "memory":
        yield MemoryStore()
        return
    with SqliteStore(path) as opened:
        yield opened


def fill(store: EventStore, *events: Event, session: str = "s", at: float = 100.0) -> list[Record]:
    stream = [Record(session, seq, at + seq, event) for seq, event in enumerate(events, start=1)]
    for record in stream:
        store.append(record)
    return stream


def test_records_are_read_in_order_of_their_number(store: EventStore) -> None:
    second, first = Record("s", 2, 1.0, RESULT), Record("s", 1, 2.0, CALL)
    store.append(second)
    store.append(first)
    assert store.read("s") == [first, second]


@pytest.mark.parametrize("length", [0, 249, 250, 251, 600])
def test_a_session_read_in_parts_has_every_record_once_and_in_order(store: EventStore, length: int) -> None:
    stream = [Record("s", seq, 1.0, CALL) for seq in range(1, length + 1)]
    store.append_all(stream)
    other = fill(store, STARTED, SEARCH, CALL, RESULT, session="another")
    assert list(store.stream("s")) == list(store.stream("s", [CALL.kind])) == store.read("s") == stream
    assert list(store.stream("s", [RESULT.kind])) == []
    assert store.read("another") == other


def test_a_range_is_read_from_above_one_number_up_to_another(store: EventStore) -> None:
    stream = fill(store, STARTED, SEARCH, CALL, RESULT)
    assert store.between("s", 1, 3) == stream[1:3]
    assert store.between("s", -1, 10**9) == stream
    assert store.between("elsewhere", 0, 9) == []


def test_the_newest_session_comes_first(store: EventStore) -> None:
    for name, at in (("old", 100.0), ("new", 300.0), ("middle", 200.0)):
        fill(store, STARTED, session=name, at=at)
    assert [summary.id for summary in store.sessions()] == ["new", "middle", "old"]


def test_a_second_record_with_the_same_number_is_refused(store: EventStore) -> None:
    stream = fill(store, CALL)
    with pytest.raises(StoreError) as refused:
        store.append(Record("s", 1, 5.0, RESULT))
    assert refused.value.hint
    assert store.read("s") == stream


def test_of_records_that_are_stored_together_none_is_kept_if_one_is_refused(store: EventStore) -> None:
    [first] = fill(store, STARTED)
    for records in ([Record("s", 2, 1.0, CALL), Record("s", 3, 1.0, CALL), first], [replace(first, at=5.0)]):
        with pytest.raises(StoreError) as refused:
            store.append_all(records)
        assert refused.value.hint
        assert store.read("s") == [first]


def test_a_cut_takes_the_newest_records_and_leaves_room_for_others(store: EventStore) -> None:
    stream = fill(store, STARTED, CALL, RESULT, SEARCH)
    other = fill(store, STARTED, CALL, session="other")
    store.cut("s", 2)
    assert store.read("s") == stream[:2]
    store.append_all([replace(stream[3], seq=3)])
    assert [record.seq for record in store.read("s")] == [1, 2, 3]
    assert store.read("other") == other
    for session in ("s", "other", "nobody"):
        store.cut(session, 0)
    assert (store.sessions(), store.read("s")) == ([], [])


def test_text_that_no_terminal_could_show_survives(store: EventStore) -> None:
    texts = ("a\0b", "\ud800", "\x1b]52;c;x\a", "x" * 1_000_000, "'); --")
    stream = fill(store, *map(UserSaid, texts), ToolLoaded("a:\ud800", 1, "\udfff"), session="s\ud800")
    assert store.read("s\ud800") == stream


def test_a_store_opens_its_owners_file_when_it_is_used_and_again_after_it_is_closed(path: Path) -> None:
    store = SqliteStore(path)
    assert not path.exists()
    stream = fill(store, CALL)
    assert path.stat().st_mode & 0o777 == 0o600
    store.close()
    assert store.read("s") == stream
    store.close()


def test_threads_share_a_store(path: Path) -> None:
    with SqliteStore(path) as store:
        names = [f"s{i}" for i in range(4)]
        workers = [
            threading.Thread(target=fill, args=(store, *[CALL] * 20), kwargs={"session": n}) for n in names
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert [len(store.read(name)) for name in names] == [20] * 4


def test_events_of_a_newer_version_are_left_out_and_counted(path: Path) -> None:
    with SqliteStore(path) as store:
        stream = fill(store, CALL, RESULT)
        with sqlite3.connect(path) as other:
            other.execute("INSERT INTO event VALUES ('s', 3, 9.0, 'telepathy', NULL, NULL, '{}', NULL, NULL)")
            other.execute(
                """INSERT INTO event VALUES ('s', 4, 9.0, 'user', NULL, NULL, '{"words": 1}', NULL, NULL)"""
            )
            other.execute("INSERT INTO event VALUES ('s', 5, 9.0, 'user', NULL, NULL, 'no json', NULL, NULL)")
        other.close()
        assert store.read("s") == stream
        assert store.skipped == 3
        assert store.read("s", limit=5, kinds=["call"]) == stream[:1]
        assert store.skipped == 0


def test_fields_that_an_older_version_did_not_write_get_their_defaults(path: Path) -> None:
    with SqliteStore(path) as store:
        fill(store, CALL)
        with sqlite3.connect(path) as other:
            payload = '{"call_id": "c", "tool": "a:one", "ok": true, "text": "t", "from_the_future": 1}'
            other.execute(
                "INSERT INTO event VALUES ('s', 2, 9.0, 'result', NULL, NULL, ?, NULL, NULL)", [payload]
            )
        other.close()
        assert store.read("s")[-1].event == CallFinished("c", "a:one", True, "t")


@pytest.fixture
def opened_by_hand(path: Path) -> Iterator[sqlite3.Connection]:
    """The database as someone sees it who opens it with `sqlite3`."""
    rejected = CallRejected("c2", "nope", "not loaded", "search first")
    looped = LoopDetected("a:one", 3, 120.0, "hash", "stop repeating")
    endless = CallFinished("c3", "a:one", True, "slow", float("inf"))
    with SqliteStore(path) as store:
        fill(store, STARTED, SEARCH, CALL, RESULT, rejected, looped, CALL, endless)
        connection = sqlite3.connect(path)
        yield connection
        connection.close()


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (
            "SELECT query, ranker, scored, best, by, time FROM searches",
            [("one", "bm25", 1, "a:one", "model", "1970-01-01 00:01:42")],
        ),
        (
            "SELECT tool, arguments, ok, milliseconds, result FROM calls",
            [("a:one", '{"city":"Bonn"}', 1, 12.5, "sunny"), ("a:one", '{"city":"Bonn"}', None, None, None)],
        ),
        ("SELECT kind, why FROM guards ORDER BY seq", [("reject", "not loaded"), ("loop", "stop repeating")]),
        (
            "SELECT kind, tool FROM event WHERE server = 'a' ORDER BY seq",
            [(kind, "a:one") for kind in ("call", "result", "loop", "call", "result")],
        ),
        ("SELECT count(*) FROM event WHERE json_valid(payload)", [(8,)]),
    ],
)
def test_what_happened_can_be_read_with_plain_sql(
    opened_by_hand: sqlite3.Connection, sql: str, told: list[tuple[object, ...]]
) -> None:
    assert opened_by_hand.execute(sql).fetchall() == told


def test_a_session_is_forgotten_unless_it_is_being_written_and_the_others_stay(store: EventStore) -> None:
    for session in ("written", "over", "kept"):
        fill(store, UserSaid("hi"), session=session)
    store.release("over")
    assert store.forget(["written", "over", "never there"]) == ("over",)
    assert {one.id for one in store.sessions()} == {"written", "kept"}
    assert [len(store.read(session)) for session in ("written", "over", "kept")] == [1, 0, 1]
    store.release("written")
    assert store.forget(["written"]) == ("written",)


def test_a_store_that_is_closed_writes_no_session(path: Path) -> None:
    with SqliteStore(path) as writing, SqliteStore(path) as other:
        fill(writing, UserSaid("hi"))
        assert other.forget(["s"]) == ()
        writing.close()
        assert other.forget(["s"]) == ("s",)
        assert list(path.with_name(f".{path.name}-writers").iterdir()) == []


def test_a_session_counts_as_running_to_everybody_until_it_is_released(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "a.db") as store, SqliteStore(tmp_path / "a.db") as other:
        for session in ("s", "t"):
            store.append(Record(session, 1, 1.0, UserSaid("hi")))
        store.release("t")
        assert {one.id: one.is_running for one in other.sessions()} == {"s": True, "t": False}
        store.release("s")
        assert not any(one.is_running for one in other.sessions())


@pytest.mark.parametrize("kind", EVENT_TYPES)
@examples(share=0.5)
@given(data=st.data())
def test_every_kind_of_event_comes_back_equal(kind: str, data: st.DataObject) -> None:
    event = data.draw(events_by_kind[kind])
    text = encode(event)
    assert text.isascii()
    assert decode(kind, text) == event
    assert encode(decode(kind, text)) == text


@pytest.mark.parametrize("kind", ["request", "response"])
@examples(share=0.5)
@given(data=st.data())
def test_a_model_call_that_was_stored_as_a_turn_is_read(kind: str, data: st.DataObject) -> None:
    event = data.draw(events_by_kind[kind])
    payload = {
        ("turn" if name == "call" else name): value for name, value in json.loads(encode(event)).items()
    }
    assert "call" not in payload
    assert decode(kind, json.dumps(payload)) == event


def test_a_number_that_json_lacks_comes_back() -> None:
    event = CallFinished("c", "a:b", True, "", math.inf, {"low": [-math.inf], "$number": "inf"})
    assert decode("result", encode(event)) == event
    undefined = decode("call", encode(CallStarted("c", "a:b", {"x": math.nan})))
    assert isinstance(undefined, CallStarted)
    assert math.isnan(undefined.arguments["x"])


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("telepathy", "{}"),
        ("user", "{}"),
        ("user", "[]"),
        ("user", "{"),
        ("user", '{"text": 1}'),
        ("user", "[" * 9999),
        ("user", '{"text": {"$number": "much"}}'),
    ],
)
def test_what_cannot_be_read_is_told_apart(kind: str, payload: str) -> None:
    with pytest.raises(UnreadableEvent):
        decode(kind, payload)


def test_a_store_learns_what_another_one_began_wrote_and_ended_and_is_not_misled_by_itself(
    path: Path,
) -> None:
    with SqliteStore(path) as store, SqliteStore(path) as other:
        fill(store, STARTED, session="own")
        quiet = store.version()
        store.append(Record("own", 2, 3.0, CALL))
        assert store.version() == quiet
        assert quiet.agent_at == 0
        fill(other, replace(STARTED, origin=Origin("codex", "1", "x")), session="tap", at=200.0)
        begun = store.version()
        assert begun != quiet
        assert begun.agent_at == 201.0
        other.append(Record("tap", 2, 200.0, CALL))
        written = store.version()
        assert written != begun
        other.release("tap")
        assert written != store.version() == store.version()


BY_NAME = Score("a:one", 1.0, (Part(Signal.EXACT, "one", 1.0),))


@example(SEARCH)
@example(
    SearchPerformed(
        SearchReport(SearchRequest("one", tool_names=("one",)), "", (Hit(1, BY_NAME, Outcome.FOUND),)), ""
    )
)
@given(events_by_kind["search"])
def test_the_outline_of_a_search_says_the_same_without_the_parts_of_its_scores(event: Event) -> None:
    text = encode(event)
    whole, outline = (decode("search", text, outline=given) for given in (False, True))
    assert type(outline) is type(whole) is SearchPerformed
    assert [hit.score.value for hit in outline.report.hits] == [hit.score.value for hit in whole.report.hits]
    assert (outline.summary(), outline.report.is_lookup) == (whole.summary(), whole.report.is_lookup)
    if outline.report.terms or not outline.report.request.tool_names:
        assert not any(hit.score.parts for hit in outline.report.hits)
