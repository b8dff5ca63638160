"""What crosses the wire: frames, the log of a session, and what is hidden in both."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from mcp_types import JSONRPCRequest, JSONRPCResponse

from inspector.config.configuration import Configuration
from inspector.core.error import ToolsightError
from inspector.core.redaction import Redactor
from inspector.core.server import ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.client.reader import Recorder
from inspector.mcp.frame import LONGEST_TEXT, Frame, FrameKind, FrameLog, WireLog, beginning
from inspector.mcp.port import Opening
from tests.support.fakes import ManualClock
from tests.support.hostile import with_hostile_text
from tests.support.mcp_case import PATIENCE, odd
from tests.support.workbench import connected, shop_and_weather

SECRET = "hunter2-and-more"


def wire(*texts: str) -> WireLog:
    servers = shop_and_weather()
    log = servers["shop"].log
    for text in texts:
        log.append(frame(log.total + 1, text=text))
    return WireLog(log, Redactor({"shop.PASSWORD": SECRET}))


def test_a_known_secret_is_nowhere_in_a_frame() -> None:
    nested = json.dumps({"result": {"content": [{"type": "text", "text": f"login {SECRET}"}], SECRET: 1}})
    (read,) = wire(nested).frames()
    assert SECRET not in read.text
    assert json.loads(read.text)["result"]["content"][0]["text"] == "login [redacted shop.PASSWORD]"


def test_the_value_of_a_secret_key_is_hidden() -> None:
    (read,) = wire('{"params":{"arguments":{"api_key":"a-b-c-d"}}}').frames()
    assert json.loads(read.text) == {"params": {"arguments": {"api_key": "[redacted]"}}}


def test_what_is_no_json_is_cleaned_as_text() -> None:
    (read,) = wire(f"starting with {SECRET}").frames()
    assert read.text == "starting with [redacted shop.PASSWORD]"
    log = FrameLog()
    log.note("noise", "dropped", f"starting with {SECRET}")
    (flaw,) = WireLog(log, Redactor({"shop.PASSWORD": SECRET})).flaws()
    assert flaw.first == "starting with [redacted shop.PASSWORD]"


def test_what_another_session_exchanged_is_not_kept_nor_what_answers_it() -> None:
    log = FrameLog()
    recorder = Recorder(log, ManualClock())
    recorder.message(JSONRPCRequest(jsonrpc="2.0", id=7, method="tools/list"), sent=True)
    log.note("invalid UTF-8", "repaired")
    log.clear()
    recorder.message(JSONRPCResponse(jsonrpc="2.0", id=7, result={}), sent=False)
    assert (log.total, log.frames(), log.flaws()) == (0, (), ())


@with_hostile_text
def test_hostile_frames_are_read_and_not_obeyed(text: str) -> None:
    for body in (text, json.dumps({"method": text}), '{"a":' * 5_000):
        (read,) = wire(body).frames()
        assert isinstance(read.text, str)


async def test_a_session_reads_its_servers_without_what_the_configuration_gives_them() -> None:
    servers = {"shop": shop_and_weather()["shop"]}
    spec = ServerSpec("shop", "shop", env={"PASSWORD": SECRET})
    async with connected(servers=servers, configuration=Configuration("own.json", (spec,))) as rig:
        servers["shop"].log.append(frame(kind=FrameKind.OTHER, text=f"hello {SECRET}"))
        log = rig.bench.wire("shop")
        assert log is not None
        assert (log.total, log.frames()[0].what) == (1, "not a message: hello [redacted shop.PASSWORD]")
        assert SECRET not in str(rig.bench.records())


def frame(
    number: int = 1,
    kind: FrameKind = FrameKind.REQUEST,
    method: str = "tools/list",
    *,
    text: str = "{}",
) -> Frame:
    return Frame(number, 0.0, True, kind, method, "1", len(text), text)


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 8), st.integers(1, 100))
def test_the_newest_frames_are_kept_within_both_bounds(
    sizes: list[int], most_frames: int, most_bytes: int
) -> None:
    log = FrameLog(most_frames, most_bytes)
    for size in sizes:
        log.append(frame(log.total + 1, text="x" * size))
    kept = log.frames()
    assert log.total == len(sizes)
    assert [one.number for one in kept] == list(range(len(sizes) - len(kept) + 1, len(sizes) + 1))
    assert len(kept) <= most_frames
    assert len(kept) <= 1 or sum(one.size for one in kept) <= most_bytes
    # Nothing is dropped that there is room for.
    if len(kept) < len(sizes):
        with_one_more = sizes[-len(kept) - 1 :]
        assert len(with_one_more) > most_frames or sum(with_one_more) > most_bytes


@pytest.mark.parametrize(
    ("kind", "method", "words"),
    [
        (FrameKind.REQUEST, "tools/list", "tools/list"),
        (FrameKind.RESULT, "tools/list", "result of tools/list"),
        (FrameKind.ERROR, "tools/call", "error from tools/call"),
        (FrameKind.INVALID, "tools/call", "invalid reply to tools/call"),
        (FrameKind.NOTIFICATION, "notifications/initialized", "notifications/initialized"),
        (FrameKind.RESULT, "", "result of an unknown request"),
        (FrameKind.OTHER, "", "not a message: Welcome!"),
    ],
)
def test_a_frame_is_told_in_a_few_words(kind: FrameKind, method: str, words: str) -> None:
    assert frame(kind=kind, method=method, text=" Welcome! ").what == words


@given(st.text(alphabet='ab"', max_size=40), st.integers(0, 40))
def test_a_text_is_cut_only_behind_a_quotation_mark(text: str, longest: int) -> None:
    cut = beginning(text, longest)
    assert text.startswith(cut)
    assert cut == text or (len(cut) <= longest and cut[-1:] in ("", '"'))


async def _exchanged(folder: Path, spec: ServerSpec, *calls: str) -> tuple[Frame, ...]:
    """List the tools and call some; return what crossed the wire until then, `grow`'s change included."""
    connector, changed = McpConnector(folder), asyncio.Event()
    async with (
        asyncio.timeout(PATIENCE),
        connector.connect(spec, Opening(on_tools_changed=changed.set)) as link,
    ):
        await link.list_tools()
        for call in calls:
            with suppress(ToolsightError):
                await link.call(call, {}, timeout=PATIENCE)
        if "grow" in calls:
            await changed.wait()  # it comes in a stream of its own, before or after the call's result
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


@pytest.mark.parametrize(("timeout", "reason"), [(0.05, "timed out"), (PATIENCE, "caller cancelled")])
async def test_the_wire_tells_a_call_that_took_too_long_from_one_that_was_stopped(
    tmp_path: Path, timeout: float, reason: str
) -> None:
    connector = McpConnector(tmp_path)
    async with connector.connect(odd(), Opening()) as link:
        call = asyncio.create_task(link.call("sleep", {}, timeout=timeout))
        while "tools/call" not in [frame.method for frame in connector.frames("odd").frames()]:
            await asyncio.wait({call}, timeout=0.01)
        if timeout == PATIENCE:
            call.cancel()
        await asyncio.wait({call})
        told = connector.frames("odd").frames()[-1]
    assert (told.method, json.loads(told.text)["params"]["reason"]) == ("notifications/cancelled", reason)


def _response(request_id: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": {}}).encode()


def test_a_reply_says_how_long_it_took_and_what_it_answers() -> None:
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
