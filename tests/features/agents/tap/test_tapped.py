"""What crosses a tap becomes a session: its tools, its calls, its messages, and what was lost."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.core.error import StoreError
from inspector.core.events import (
    CallFinished,
    CallStarted,
    Event,
    Failed,
    MessagePassed,
    Record,
    SearchPerformed,
    ServerReady,
    SessionStarted,
    ToolsChanged,
)
from inspector.core.fold import fold
from inspector.features.agents.tap import recorder as tap_recorder
from inspector.features.agents.tap.pump import END, SECRET, TO_CLIENT, TO_SERVER
from inspector.features.agents.tap.recorder import Piece, Tapped, TapRecorder, record_pieces
from inspector.session.miss import misses
from inspector.store.store import SqliteStore
from inspector.tokens.counter import TiktokenCounter

TAPPED = Tapped("s1", "shop", "npx shop", "/home/ada/project")
CLIENT = {"name": "claude-code", "version": "2.1"}
HELLO: dict[str, object] = {"method": "initialize", "params": {"clientInfo": CLIENT}}


def piece(side: int, at: float, *messages: dict[str, object], lost: int = 0) -> Piece:
    lines = (json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)
    return Piece(side, at, lost, b"".join(lines))


def tool(name: str) -> dict[str, object]:
    return {"name": name, "description": f"To {name}.", "inputSchema": {"type": "object"}}


def exchange(number: int, method: str, result: object, **params: object) -> list[Piece]:
    asked = {"id": number, "method": method, "params": params}
    return [
        piece(TO_SERVER, number, asked),
        piece(TO_CLIENT, number + 0.25, {"id": number, "result": result}),
    ]


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "toolsight.db")


def recorded(store: SqliteStore, pieces: Iterable[Piece], recorder: TapRecorder | None = None) -> list[Event]:
    record_pieces(
        ([one] for one in pieces), lambda _: recorder or TapRecorder(TAPPED, store, TiktokenCounter)
    )
    return [record.event for record in store.read("s1")]


def some(events: Sequence[Event], *kinds: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kinds)]


@pytest.mark.parametrize(
    ("says", "label"),
    [("claude-code", "claude-code 2.1"), ("codex-mcp-client", "codex 2.1"), ("own", "own 2.1")],
)
def test_a_session_is_of_the_client_that_says_hello_by_the_name_it_has_elsewhere(
    store: SqliteStore, says: str, label: str
) -> None:
    hello = {**HELLO, "params": {"clientInfo": {**CLIENT, "name": says}}}
    first = recorded(store, [piece(TO_SERVER, 1.0, {"id": 0, **hello})])[0]
    assert isinstance(first, SessionStarted)
    assert first.origin is not None
    assert (first.origin.label, first.config, first.servers) == (label, "shop", ("shop",))
    assert [one.config for one in store.sessions()] == ["shop"]


def test_a_call_has_its_arguments_result_latency_and_tokens(store: SqliteStore) -> None:
    result = {"content": [{"type": "text", "text": "two hats"}], "structuredContent": {"hats": 2}}
    events = recorded(store, exchange(1, "tools/call", result, name="list", arguments={"what": "hats"}))
    started, done = some(events, CallStarted, CallFinished)
    assert isinstance(started, CallStarted)
    assert isinstance(done, CallFinished)
    assert (started.tool, started.arguments) == ("shop:list", {"what": "hats"})
    assert (done.ok, done.text, done.milliseconds, done.structured) == (True, "two hats", 250.0, {"hats": 2})
    assert done.tokens == sum(map(TiktokenCounter("").count, ('{"what":"hats"}', "two hats")))


@pytest.mark.parametrize(
    "answer", [{"result": {"isError": True, "content": []}}, {"error": {"code": 1, "message": "no"}}]
)
def test_a_call_that_failed_is_no_success(store: SqliteStore, answer: dict[str, object]) -> None:
    asked = piece(TO_SERVER, 1.0, {"id": "a", "method": "tools/call", "params": {"name": "list"}})
    (done,) = some(recorded(store, [asked, piece(TO_CLIENT, 2.0, {"id": "a", **answer})]), CallFinished)
    assert isinstance(done, CallFinished)
    assert not done.ok


def test_the_tools_of_all_pages_are_counted_and_a_new_list_is_a_change(store: SqliteStore) -> None:
    pages = [
        *exchange(1, "tools/list", {"tools": [tool("list")], "nextCursor": "2"}),
        *exchange(2, "tools/list", {"tools": [tool("buy")]}, cursor="2"),
        *exchange(3, "tools/list", {"tools": [tool("buy"), tool("sell")]}),
    ]
    ready, changed = some(recorded(store, pages), ServerReady, ToolsChanged)
    assert isinstance(ready, ServerReady)
    assert isinstance(changed, ToolsChanged)
    assert ready.tools == 2
    assert ready.tokens > 0
    assert (changed.added, changed.removed, changed.tools) == (("sell",), ("list",), 2)
    assert set(fold(store.read("s1")).tools) == {"shop:buy", "shop:sell"}


def test_a_message_in_many_pieces_is_one_and_what_is_no_message_is_kept(store: SqliteStore) -> None:
    data = piece(TO_SERVER, 1.0, {"id": 0, **HELLO}).data
    pieces = [Piece(TO_SERVER, 1.0, 0, data[at : at + 1]) for at in range(len(data))]
    messages = some(recorded(store, [*pieces, Piece(TO_CLIENT, 2.0, 0, b"\xff Listening\n")]), MessagePassed)
    assert [(one.method, one.size) for one in messages if isinstance(one, MessagePassed)] == [
        ("initialize", len(data) - 1),
        ("", 11),
    ]


def test_after_bytes_that_were_not_copied_the_next_whole_message_is_read(store: SqliteStore) -> None:
    torn = piece(TO_SERVER, 2.0, {"method": "torn"}, {"method": "whole"})
    pieces = [piece(TO_SERVER, 1.0, HELLO), Piece(TO_SERVER, 2.0, 5_000, torn.data[9:])]
    events = recorded(store, pieces)
    assert [one.method for one in events if isinstance(one, MessagePassed)] == ["initialize", "whole"]
    (lost,) = some(events, Failed)
    assert lost.summary() == "shop: 5 kB passed unrecorded: the recording lagged"


class FailingStore(SqliteStore):
    """Fails until it is told otherwise."""

    fails = True

    def append_all(self, records: Sequence[Record]) -> None:
        if self.fails:
            raise StoreError("the disk is full")
        super().append_all(records)


def test_a_store_that_fails_for_a_while_gets_the_events_later_and_counts_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = 200
    monkeypatch.setattr(tap_recorder, "_PAUSE", 0.0)
    monkeypatch.setattr(tap_recorder, "MOST_WAITING", most)
    store = FailingStore(tmp_path / "toolsight.db")
    recorder = TapRecorder(TAPPED, store, TiktokenCounter)

    def pieces() -> Iterable[Piece]:
        for number in range(most + 98):
            yield piece(TO_SERVER, float(number), {"method": "x"})
        store.fails = False
        yield piece(TO_SERVER, 1e6, {"method": "last"})

    events = recorded(store, pieces(), recorder)
    (lost,) = some(events, Failed)
    assert lost.summary() == "shop: 100 events not stored: the database failed"
    assert len(events) == most + 3
    assert [one.seq for one in store.read("s1")] == list(range(1, len(events) + 1))


def test_sessions_of_one_tap_are_stored_apart_and_end_one_by_one(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first ends as its client says so, the second as too many run; the fourth never says anything."""
    monkeypatch.setattr(tap_recorder, "MOST_SESSIONS", 1)
    taps = (TapRecorder(replace(TAPPED, session=f"s{number}"), store, TiktokenCounter) for number in range(4))
    ends = list[list[bool]]()

    def pieces() -> Iterator[list[Piece]]:
        for number, kind in enumerate((TO_SERVER, END, TO_SERVER, TO_SERVER, END)):
            session = (1, 1, 2, 3, 4)[number]
            yield [replace(piece(TO_SERVER, 1.0, {"id": 0, **HELLO}), side=kind, session=session)]
            ends.append(
                [record.kind == "stopped" for one in range(3) for record in store.read(f"s{one}")[-1:]]
            )

    record_pieces(pieces(), lambda _: next(taps))
    assert ends == [[False], [True], [True, False], [True, True, False], [True, True, False]]
    assert len(store.sessions()) == 3


def test_what_a_header_says_as_a_secret_is_not_stored_where_a_message_repeats_it(store: SqliteStore) -> None:
    said = exchange(1, "tools/call", {}, name="list", arguments={"text": "as pW-39-words-x it is"})
    recorded(store, [Piece(SECRET, 0.0, 0, b"authorization:Bearer pW-39-words-x"), *said])
    assert "as [redacted] it is" in repr(store.read("s1"))


def test_a_search_of_the_servers_own_is_a_search_and_one_that_led_nowhere_a_miss(store: SqliteStore) -> None:
    """Its answer names tools that the server may not list; a tool that only looks like a search is called."""

    def answer(*names: str) -> dict[str, object]:
        return {"content": [{"type": "text", "text": json.dumps([{"name": name} for name in names])}]}

    late = exchange(2, "tools/call", answer("customers"), name="search_tools", arguments={"query": "late"})
    again = exchange(3, "tools/call", answer("orders"), name="search_tools", arguments={"query": "orders"})
    call = exchange(4, "tools/call", {"content": []}, name="orders", arguments={})
    other = exchange(5, "tools/call", {"content": []}, name="search_orders", arguments={"query": "x"})
    tools = exchange(1, "tools/list", {"tools": [tool("orders"), tool("search_tools")]})
    events = recorded(store, [*tools, *late, *again, *call, *other])
    searched = [one.report for one in some(events, SearchPerformed) if isinstance(one, SearchPerformed)]
    assert [[hit.score.tool_id for hit in one.results] for one in searched] == [
        ["shop:customers"],
        ["shop:orders"],
    ]
    called = [one.tool for one in some(events, CallStarted) if isinstance(one, CallStarted)]
    assert called == ["shop:orders", "shop:search_orders"]
    (missed,) = misses(store.read("s1"))
    assert (missed.query, missed.then, missed.called[0]) == ("late", "orders", "shop:orders")
