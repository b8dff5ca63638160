"""The headless demo, as `make demo` runs it without a terminal."""

import json
from pathlib import Path

import pytest

from inspector.core.events import (
    CallFinished,
    CatalogBuilt,
    Event,
    ModelRequested,
    Record,
    SearchPerformed,
    ToolLoaded,
)
from inspector.core.fold import fold
from inspector.store.store import SqliteStore
from tests.cli.conftest import Done, Toolsight


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


def test_the_demo_succeeds_and_prints_its_transcript(played: Done) -> None:
    assert played.exit_code == 0, played.stderr
    assert "9 of 9 servers ready" in played.stdout
    assert "scripted, no LLM" in played.stdout


def test_more_than_seventy_tools_are_connected(records: list[Record]) -> None:
    assert len(fold(records).tools) >= 70


def test_the_conversation_searches_loads_and_calls(records: list[Record]) -> None:
    searches = of(records, SearchPerformed)
    loads = {event.tool for event in of(records, ToolLoaded) if isinstance(event, ToolLoaded)}
    results = [e for e in of(records, CallFinished) if isinstance(e, CallFinished)]
    assert searches
    assert results
    assert all(result.ok for result in results)
    assert {result.tool for result in results} <= loads | {"calc:evaluate"}


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


def test_the_first_call_saves_more_than_half_of_the_tool_tokens(records: list[Record]) -> None:
    first = next(event for event in of(records, ModelRequested) if isinstance(event, ModelRequested))
    static = [e.static_tokens for e in of(records, CatalogBuilt) if isinstance(e, CatalogBuilt)][-1]
    assert 0 < first.tokens.tool_tokens < static / 2


def test_the_events_command_prints_what_is_in_the_database(
    records: list[Record], toolsight: Toolsight
) -> None:
    printed = json.loads(toolsight("sessions", "show", "--as", "events", "--json").stdout)
    assert [(row["seq"], row["kind"]) for row in printed] == [(r.seq, r.kind) for r in records]


def test_the_sessions_command_lists_it(records: list[Record], toolsight: Toolsight) -> None:
    (session,) = json.loads(toolsight("sessions", "--json").stdout)
    assert (session["id"], session["events"]) == (records[0].session, len(records))
