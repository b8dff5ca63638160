"""The headless demo, as `make demo` runs it without a terminal, and the folders that demos leave."""

from pathlib import Path

import pytest

from inspector.core.events import (
    CallFinished,
    Event,
    Record,
)
from inspector.store.store import SqliteStore
from tests.support.commands import Done, Toolsight


@pytest.fixture(scope="module")
def played(toolsight: Toolsight) -> Done:
    return toolsight("demo", "--headless")


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
