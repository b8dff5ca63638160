"""What servers report of running calls: the call goes on, and the report is shown."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.launch import say_news
from inspector.core.error import CallTimeout
from inspector.core.events import CallFinished, CallProgress, CallStarted, Event, Record, UserSaid
from inspector.core.fold import apply
from inspector.core.server import Era, ServerSpec
from inspector.core.session import SessionState
from inspector.features.chat.conversation import block
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.client.server_request import ProgressReport, ServerRequests
from tests.support.mcp_case import PATIENCE, Listener, serving


class Reporting:
    """A server whose tool reports these values of progress if the call has a token; a call is never answered
    that asks for it."""

    def __init__(self, reports: Sequence[tuple[float, str]]) -> None:
        self.reports = reports
        self.params: list[dict[str, Any]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        message = json.loads((await receive()).get("body") or b"{}")
        if scope["method"] != "POST" or "id" not in message:
            await send({"type": "http.response.start", "status": 202, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        params = message.get("params") or {}
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "reporting", "version": "1"},
            },
            "tools/call": {"content": [{"type": "text", "text": "done"}]},
        }
        kind = (b"content-type", b"text/event-stream")
        await send({"type": "http.response.start", "status": 200, "headers": [kind]})
        if message["method"] == "tools/call":
            self.params.append(params)
            for progress, said in self.reports:
                report = {"progressToken": params["_meta"]["progressToken"], "progress": progress, "total": 3}
                await _event(send, method="notifications/progress", params={**report, "message": said})
            if "hangs" in params.get("arguments", {}):
                await asyncio.Event().wait()
        await _event(send, id=message["id"], result=results[message["method"]])
        await send({"type": "http.response.body", "body": b""})


async def _event(send: Any, **message: Any) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    await send({"type": "http.response.body", "body": b"data: " + data + b"\n\n", "more_body": True})


async def called(folder: Path, server: Reporting, timeout: float = PATIENCE, **arguments: Any) -> list[Event]:
    listener = Listener()
    async with serving(server) as origin:
        spec = ServerSpec("shop", url=f"{origin}/mcp", era=Era.LEGACY)
        connecting = McpConnector(folder).connect(
            spec, era=None, on_tools_changed=lambda: None, client=listener
        )
        async with asyncio.timeout(PATIENCE), connecting as link:
            await link.call("export", arguments, timeout=timeout)
    return listener.events


async def test_a_storm_of_reports_is_one_a_second_and_cut(tmp_path: Path) -> None:
    events = await called(tmp_path, Reporting([(n, "x" * 10_000) for n in range(100)]))
    assert 1 <= len(events) < 10
    assert all(isinstance(one, CallProgress) and len(one.message) <= 200 for one in events)


async def test_a_call_that_stopped_reporting_says_so_when_its_time_is_over(tmp_path: Path) -> None:
    with pytest.raises(CallTimeout, match=r"within 0.5 s of its last progress, or 5 s in all"):
        await called(tmp_path, Reporting([(1, "")]), 0.5, hangs=True)


def test_progress_is_shown_while_a_call_runs_and_gone_with_its_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    state, report = SessionState(), CallProgress("shop:export", 1_500_000.0, None, "\x1b[2Jreading")
    events: list[Event] = [UserSaid("Export it"), CallStarted("1", "shop:export", {}), report]
    for number, event in enumerate(events, 1):
        state = apply(state, Record("s", number, 0.0, event))
    assert "1,500,000  " in block(state.conversation.items[-1]).plain
    assert "\x1b" not in block(state.conversation.items[-1]).plain
    assert state.reports == {"shop:export": report.words}
    say_news(Record("s", 3, 0.0, report))
    told = capsys.readouterr()
    assert "shop:export  1,500,000" in told.err
    assert (told.out, "\x1b" in told.err) == ("", False)
    state = apply(state, Record("s", 4, 0.0, CallFinished("1", "shop:export", True, "done")))
    assert (state.reports, "1,500,000" in block(state.conversation.items[-1]).plain) == ({}, False)


async def test_every_report_gives_time_and_one_a_second_is_recorded() -> None:
    listener, heard = Listener(), list[int]()
    requests = ServerRequests("shop", listener, asyncio.get_running_loop())
    report = ProgressReport("shop:export", requests, lambda: heard.append(1))
    for number in range(3):
        await report(number, None, None)
    await asyncio.sleep(0)
    assert (len(heard), len(listener.events)) == (3, 1)
