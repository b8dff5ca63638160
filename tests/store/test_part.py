"""What a session lists is stored once, and a catalog as what differs from the one before."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from inspector.core.definition import ToolDefinition, definition_hash
from inspector.core.events import CatalogBuilt, CatalogEntry, Event, Record, SearchPerformed, ServerReady
from inspector.core.ports import Snapshot
from inspector.core.ranking import Hit, Outcome, Part, Score, SearchReport, SearchRequest, Signal
from inspector.core.tool import Tool
from inspector.store import migrations
from inspector.store.codec import encode
from inspector.store.part import shortened, whole
from inspector.store.server_memory import SqliteServerMemory
from inspector.store.store import SqliteStore

ENTRIES = st.lists(st.builds(CatalogEntry, st.sampled_from("abcdef"), st.integers(1, 2), st.booleans()))


def catalog(entries: Sequence[CatalogEntry]) -> CatalogBuilt:
    return CatalogBuilt("", tuple(entries), "", 0, 0)


def tools(server: int) -> tuple[Tool, ...]:
    return tuple(Tool(f"s{server}", f"tool_{n}", f"Does {n} of {server}. " * 20) for n in range(10))


def ready(server: int) -> ServerReady:
    found = tuple(ToolDefinition(tool.name, definition_hash(tool), tool) for tool in tools(server))
    return ServerReady(f"s{server}", len(found), 100, definitions=found)


def start(servers: int) -> Iterator[Event]:
    """Servers that get ready one after the other, each before those that were."""
    entries: tuple[CatalogEntry, ...] = ()
    for number in range(servers):
        yield ready(number)
        entries = (*(CatalogEntry(tool.id, 10, True) for tool in tools(number)), *entries)
        yield catalog(entries)


def records(events: Iterator[Event], session: str = "s") -> list[Record]:
    return [Record(session, seq, float(seq), event) for seq, event in enumerate(events, 1)]


def written(path: Path, told: Sequence[Record]) -> list[Record]:
    with SqliteStore(path) as store:
        for record in told:
            store.append(record)
    return list(told)


def size(path: Path) -> int:
    """The bytes that a database holds of events and definitions."""
    with sqlite3.connect(path) as connection:
        sql = "SELECT sum(length(payload) + coalesce(length(kept), 0)) FROM event"
        [(events,)] = connection.execute(sql)
        [(listed,)] = connection.execute("SELECT coalesce(sum(length(text) + 32), 0) FROM definitions")
    connection.close()
    return int(events + listed)


@given(ENTRIES, ENTRIES)
def test_a_catalog_is_made_whole_of_the_one_before(
    before: list[CatalogEntry], now: list[CatalogEntry]
) -> None:
    assert whole(*_shortened(catalog(now), before)) == catalog(now)


def _shortened(
    event: CatalogBuilt, before: Sequence[CatalogEntry]
) -> tuple[CatalogBuilt, Sequence[CatalogEntry], Sequence[Sequence[int]]]:
    short, pieces = shortened(event, before)
    return short, before, pieces


def test_every_way_to_read_a_session_gives_its_whole_catalogs(tmp_path: Path) -> None:
    told = written(tmp_path / "s.db", records(start(60)))
    with SqliteStore(tmp_path / "s.db") as store:
        assert store.read("s") == list(store.stream("s")) == told
        assert store.read("s", kinds=("catalog",), limit=1) == told[-1:]
        assert [store.between("s", seq - 1, seq) for seq in (2, 98, 100, 102, 119)] == [
            told[seq - 1 : seq] for seq in (2, 98, 100, 102, 119)
        ]


def test_a_start_of_twice_as_many_servers_writes_twice_as_much(tmp_path: Path) -> None:
    for servers in (20, 40):
        written(tmp_path / f"{servers}.db", records(start(servers)))
    assert size(tmp_path / "40.db") < 2.2 * size(tmp_path / "20.db")
    assert size(tmp_path / "40.db") < 40 * 2_500


def test_a_second_start_writes_no_definition_again(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    written(path, records(map(ready, range(20))))
    once = size(path)
    memory = SqliteServerMemory(path)
    for server in range(20):
        memory.remember_tools(f"f{server}", Snapshot(tools(server), 0.0))
    memory.close()
    assert size(path) == once
    written(path, records(map(ready, range(20)), "later"))
    assert size(path) - once < 20 * 400


def found(event: Event) -> list[tuple[str, tuple[Part, ...]]]:
    assert isinstance(event, SearchPerformed)
    return [(hit.tool_id, hit.score.parts) for hit in event.report.hits]


def test_the_parts_of_scores_are_stored_apart_from_what_statistics_read(tmp_path: Path) -> None:
    parts = tuple(Part(Signal.NAME, f"term {n}", 0.1, {"k1": 1.2}) for n in range(10))
    hits = tuple(Hit(n, Score(f"a:{n}", 1.0, parts), Outcome.LOADED) for n in range(1, 6))
    search = SearchPerformed(SearchReport(SearchRequest("one"), "bm25", hits, ("one",)), "c")
    told = written(tmp_path / "s.db", records(iter([search, search])))
    with SqliteStore(tmp_path / "s.db") as store:
        assert store.read("s") == list(store.stream("s")) == told
        events = [one.event for one in store.stream("s", outline=True)]
        assert [tool for event in events for tool in found(event)] == [
            (f"a:{n}", ()) for n in range(1, 6)
        ] * 2
        assert size(tmp_path / "s.db") < len(encode(search)) / 2
        store.forget(("s",))
    with sqlite3.connect(tmp_path / "s.db") as connection:
        assert connection.execute("SELECT * FROM definitions").fetchall() == []
    connection.close()


def test_what_follows_a_cut_has_nothing_of_what_is_gone(tmp_path: Path) -> None:
    told = records(start(3))
    with SqliteStore(tmp_path / "s.db") as store:
        store.append_all(told)
        store.cut("s", 4)
        store.append_all(told[5:])
        assert store.read("s") == [*told[:4], *told[5:]]


def test_definitions_stay_as_long_as_a_session_or_the_memory_has_them(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    memory = SqliteServerMemory(path)
    written(path, records(map(ready, range(3)), "first"))
    second = written(path, records(map(ready, range(1, 2)), "second"))
    memory.remember_tools("f", Snapshot(tools(2), 0.0))

    def stored() -> int:
        with sqlite3.connect(path) as connection:
            [(number,)] = connection.execute("SELECT count(*) FROM definitions")
        connection.close()
        return int(number)

    with SqliteStore(path) as store:
        assert (stored(), store.forget(("first",)), stored()) == (3, ("first",), 2)
        assert store.read("second") == second
        known = memory.snapshot("f")
        assert known is not None
        assert known.tools == tools(2)
        assert memory.remember_tools("f", Snapshot(tools(1), 1.0)) == known
        assert (stored(), store.forget(("second",)), stored()) == (1, ("second",), 1)
    memory.close()


def test_a_session_of_an_earlier_version_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, told = tmp_path / "s.db", records(start(3))
    with monkeypatch.context() as earlier:
        earlier.setattr(migrations, "_STEPS", migrations._STEPS[:-1])
        SqliteServerMemory(path).era("f")
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO session (id, started_at, ended_at) VALUES ('s', 1, 9)")
        sql = "INSERT INTO event (session, seq, at, kind, payload) VALUES (?, ?, ?, ?, ?)"
        rows = ((one.session, one.seq, one.at, one.kind, encode(one.event)) for one in told)
        connection.executemany(sql, rows)
        snapshot = ("f", 2.0, json.dumps(""), encode(tools(1)))
        connection.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?)", snapshot)
    connection.close()
    with SqliteStore(path) as store:
        assert store.read("s") == told
    memory = SqliteServerMemory(path)
    assert memory.snapshot("f") == Snapshot(tools(1), 2.0)
    assert memory.remember_tools("f", Snapshot(tools(1), 3.0)) is None
    assert memory.snapshot("f") == Snapshot(tools(1), 3.0)
    memory.close()
