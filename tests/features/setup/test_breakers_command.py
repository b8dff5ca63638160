"""Circuit breakers on the command line: what every session shares, listed and reset."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspector.core.error import BreakerState
from inspector.loop.breaker import Breaker, BreakerKey, SqliteBreakers
from tests.support.commands import Toolsight


@pytest.fixture(autouse=True)
def kept(database: Path) -> SqliteBreakers:
    """An open breaker of a server, and a closed one of its tool with a name that could harm a terminal."""
    store, now = SqliteBreakers(database), time.time()
    why = "3 of 4 calls failed, the last: rate limited for 2 min"
    calls = ((now, True), (now, False), (now, True), (now, True))
    opened = Breaker("shop", BreakerState.OPEN, now, now + 3000, why, calls)
    store.update(BreakerKey("f"), lambda _: opened)
    store.update(BreakerKey("f", "\x1b[2J"), lambda one: replace(one, name="shop:\x1b[2J"))
    return store


def test_they_are_listed_with_state_rate_reason_and_when_they_are_tried(toolsight: Toolsight) -> None:
    done = toolsight("doctor", "breakers")
    first = next(line for line in done.stdout.splitlines() if line.startswith("shop "))
    for part in ("open", "75 %", "50 min", "rate limited for 2 min"):
        assert part in first
    assert "\x1b" not in done.stdout
    assert "2 breakers, 1 not closed" in done.stdout


def test_one_is_reset_by_its_name(toolsight: Toolsight, kept: SqliteBreakers) -> None:
    assert toolsight("doctor", "breakers", "--reset", "shop").stdout == "shop: closed\n"
    assert kept.get(BreakerKey("f")).state is BreakerState.CLOSED
