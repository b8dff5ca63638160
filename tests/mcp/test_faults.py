"""What servers may do wrong, and what Toolsight promises all the same: see docs/papers/composition.md.

Every case is a session with the faulty server and a healthy one, over real processes and SQLite: the healthy
one answers meanwhile, an event says what happened, nothing is lost, and no process is left.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from inspector.core.error import ProtocolError, ToolsightError
from inspector.core.events import (
    CallFinished,
    DefinitionChanged,
    Event,
    ServerFailed,
    ServerReady,
    ToolsChanged,
)
from inspector.core.fold import fold
from inspector.core.server import ServerSpec
from inspector.core.session import Binding
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import Opening
from inspector.store.store import SqliteStore
from tests.fixtures.test_faulty_server import served
from tests.support.mcp_case import PATIENCE, SESSION, FaultCase, running, session

pytestmark = pytest.mark.slow
# Seconds in which the healthy server answers whatever the other one does; it takes a few milliseconds alone.
SOON = 2.0
HEALTHY = "healthy:echo"


@dataclass(frozen=True)
class Promise:
    """What a fault does: when it starts, and the event that says so with these words."""

    event: type[Event]
    says: str
    at_start: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict)
    ok: bool | None = None


MATRIX: dict[str, Promise] = {
    "hang": Promise(CallFinished, "did not return within 0.5 s", ok=False, seconds={"call_timeout": 0.5}),
    "die_on_call": Promise(ServerFailed, "The process ended with exit code 4"),
    "giant_result:21": Promise(CallFinished, "The answer is too large: it has 21 MB", ok=False),
    "wrong_output": Promise(
        CallFinished, "output schema says: $.count: 'many' is not of type 'integer'", ok=True, at_start=True
    ),
    "grandchildren": Promise(CallFinished, "", ok=True),
    "crash_on_start": Promise(ServerFailed, "The process ended with exit code 3", at_start=True),
    "hang_on_start": Promise(
        ServerFailed, "handshake did not finish within 0.5 s", at_start=True, seconds={"connect_timeout": 0.5}
    ),
    "giant_schema:2": Promise(ServerReady, "2 tools, 1 skipped", at_start=True),
    "never_closes": Promise(ServerReady, "3 tools", at_start=True),
    "breaking": Promise(DefinitionChanged, "breaking: parameter times is new and required"),
}


@pytest.mark.parametrize("fault", MATRIX)
async def test_a_fault_is_told_and_hurts_nobody_else(tmp_path: Path, fault: str) -> None:
    promise = MATRIX[fault]
    async with session(tmp_path, fault if promise.at_start else "", **promise.seconds) as case:
        if not promise.at_start:
            case.turn(fault)
        acting = asyncio.create_task(act(case))
        took = await healthy_answers(case)
        await acting
        await case.until(lambda: said(case, promise))
        await healthy_answers(case)
        assert took < SOON
        assert running(str(tmp_path)) or promise.event is ServerFailed
    assert_nothing_is_lost(tmp_path)
    assert running(str(tmp_path)) == set()


async def act(case: FaultCase) -> None:
    """Call the faulty server, if it can be called."""
    if "faulty:echo" in case.bench.state.tools:
        with suppress(ToolsightError):
            await case.bench.call("faulty:echo", {"text": "hello"})


async def healthy_answers(case: FaultCase) -> float:
    """Call the healthy server, and return how many seconds that took."""
    began = time.monotonic()
    result = await case.bench.call(HEALTHY, {"text": "I am well"})
    assert result.text == "I am well"
    return time.monotonic() - began


def said(case: FaultCase, promise: Promise) -> bool:
    """Whether an event of the faulty server says what is promised."""
    for record in case.events(promise.event.kind):
        event = record.event
        text = f"{event.summary()} {getattr(event, 'text', '')} {getattr(event, 'structured', '')}"
        if "faulty" in text and promise.says in text and promise.ok in (None, getattr(event, "ok", None)):
            return True
    return False


def assert_nothing_is_lost(folder: Path) -> None:
    """The stream is whole and readable; what was said and loaded before the fault is in it."""
    with SqliteStore(folder / "t.db") as store:
        records = store.read(SESSION)
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    state = fold(records)
    held = state.known(HEALTHY)
    assert held is not None
    assert (held.binding, held.uses) == (Binding.LOADED, 2)
    assert {"Hello", "Hello."} <= {item.text for item in state.conversation.items}


async def test_a_storm_of_changes_is_listed_a_few_times(tmp_path: Path) -> None:
    async with session(tmp_path, "storm:100") as case:
        await case.until(lambda: len(case.events(ToolsChanged.kind)) >= 4)
        began = time.monotonic()
        wire = case.bench.wire("faulty")
        assert wire is not None
        told = sum("list_changed" in frame.method for frame in wire.frames())
        listed = len(case.events(ToolsChanged.kind))
        # The fourth listing is most of a second after the first; the tenth would be minutes later.
        assert told > 5 * listed
        assert await healthy_answers(case) < SOON
        assert time.monotonic() - began < SOON


async def test_a_giant_answer_over_http_is_an_error_and_the_connection_stays(tmp_path: Path) -> None:
    with served("giant_result:21") as url:
        spec = ServerSpec("giant", url=url)
        connector = McpConnector(tmp_path)
        async with connector.connect(spec, Opening()) as link:
            with pytest.raises(ProtocolError, match="The answer is too large: Toolsight reads at most 20 MB"):
                await link.call("echo", {}, timeout=PATIENCE)
            assert len((await link.list_tools()).tools) == 3
