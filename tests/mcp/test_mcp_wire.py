"""What crosses the wire is logged as it was, over stdio and over HTTP."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from inspector.core.error import ToolsightError
from inspector.core.server import Era, ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.client.message import Recorder
from inspector.mcp.frame import LONGEST_TEXT, Frame, FrameKind, FrameLog
from tests.mcp.test_mcp_http import mcp_server
from tests.support.fakes import ManualClock
from tests.support.mcp_case import PATIENCE, odd


async def _exchanged(folder: Path, spec: ServerSpec, *calls: str) -> tuple[Frame, ...]:
    """List the tools and call some; return what crossed the wire until then."""
    connector = McpConnector(folder)
    async with (
        asyncio.timeout(PATIENCE),
        connector.connect(spec, era=None, on_tools_changed=lambda: None) as link,
    ):
        await link.list_tools()
        for call in calls:
            with suppress(ToolsightError):
                await link.call(call, {}, timeout=PATIENCE)
        return connector.frames(spec.name).frames()


def _whats(frames: Sequence[Frame]) -> list[str]:
    return [f"{frame.arrow} {frame.what}" for frame in frames]


async def test_connecting_and_listing_over_stdio_is_logged_from_the_first_message_on(tmp_path: Path) -> None:
    frames = await _exchanged(tmp_path, odd())
    assert _whats(frames) == [
        "→ initialize",
        "← result of initialize",
        "→ notifications/initialized",
        "→ tools/list",
        "← result of tools/list",
    ]
    assert [frame.number for frame in frames] == [1, 2, 3, 4, 5]
    assert all(json.loads(frame.text)["jsonrpc"] == "2.0" for frame in frames)
    assert [frame.milliseconds is not None for frame in frames] == [False, True, False, False, True]
    assert frames[3].id == frames[4].id != ""


@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
async def test_http_is_logged_like_stdio(tmp_path: Path, era: Era) -> None:
    async with mcp_server() as url:
        frames = await _exchanged(tmp_path, ServerSpec("http", url=url, era=era), "grow")
    whats = _whats(frames)
    first = "initialize" if era is Era.LEGACY else "server/discover"
    assert whats[:2] == [f"→ {first}", f"← result of {first}"]
    assert "← result of tools/list" in whats
    assert "← result of tools/call" in whats
    assert "← notifications/tools/list_changed" in whats or era is Era.LEGACY
    assert all(json.loads(frame.text)["jsonrpc"] == "2.0" for frame in frames)


async def test_credentials_in_headers_are_not_part_of_a_frame(tmp_path: Path) -> None:
    async with mcp_server() as url:
        spec = ServerSpec("http", url=url, headers={"Authorization": "Bearer s3cret-s3cret"})
        frames = await _exchanged(tmp_path, spec)
    assert frames
    assert not any("s3cret" in frame.text for frame in frames)


def _response(request_id: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": {}}).encode()


def test_a_reply_says_how_long_it_took_and_what_it_answers() -> None:
    from mcp_types import JSONRPCRequest, JSONRPCResponse

    log, clock = FrameLog(), ManualClock()
    recorder = Recorder(log, clock)
    recorder.message(JSONRPCRequest(jsonrpc="2.0", id=7, method="tools/list"), sent=True)
    # A request of the server may have the same id: the two are told apart by their direction.
    recorder.message(JSONRPCRequest(jsonrpc="2.0", id=7, method="roots/list"), sent=False)
    clock.advance(0.25)
    recorder.message(JSONRPCResponse(jsonrpc="2.0", id=7, result={}), sent=True)
    clock.advance(0.25)
    recorder.message(JSONRPCResponse(jsonrpc="2.0", id=7, result={}), _response(7), sent=False)
    recorder.message(JSONRPCResponse(jsonrpc="2.0", id=8, result={}), _response(8), sent=False)
    assert [(frame.what, frame.milliseconds) for frame in log.frames()[2:]] == [
        ("result of roots/list", 250.0),
        ("result of tools/list", 500.0),
        ("result of an unknown request", None),
    ]


def test_requests_that_are_never_answered_do_not_pile_up() -> None:
    from mcp_types import JSONRPCRequest

    recorder = Recorder(FrameLog(), ManualClock())
    for number in range(3_000):
        recorder.message(JSONRPCRequest(jsonrpc="2.0", id=number, method="ping"), sent=True)
    assert len(recorder._pending) <= 1_000


def test_a_frame_that_is_too_long_is_cut_and_keeps_its_size() -> None:
    log = FrameLog()
    line = b'{"a":"short","b":"' + b"x" * LONGEST_TEXT + b'"}\n'
    Recorder(log, ManualClock()).stray(line)
    (frame,) = log.frames()
    assert frame.text == '{"a":"short","b":"'
    assert frame.size == len(line) - 1
    assert frame.is_cut
    assert frame.kind is FrameKind.OTHER
