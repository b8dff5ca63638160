"""What servers report of running calls: the call goes on, and the report is shown."""

import asyncio
from pathlib import Path

import pytest

from inspector.cli.launch import say_news
from inspector.core.error import CallTimeout
from inspector.core.events import CallFinished, CallProgress, CallStarted, Event, Record, UserSaid
from inspector.core.fold import apply
from inspector.core.session import SessionState
from inspector.features.chat.conversation import block
from inspector.mcp.client.server_request import ProgressReport, ServerRequests
from tests.support.mcp_case import Listener, odd, opened


async def test_a_call_that_stopped_reporting_says_so_when_its_time_is_over(tmp_path: Path) -> None:
    async with opened(tmp_path, odd()) as link:
        with pytest.raises(CallTimeout, match=r"within 0.5 s of its last progress, or 5 s in all"):
            await link.call("report_once", {}, timeout=0.5)


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


async def test_every_report_gives_time_and_one_a_second_is_recorded_in_short() -> None:
    listener, heard = Listener(), list[int]()
    requests = ServerRequests("shop", listener, asyncio.get_running_loop())
    report = ProgressReport("shop:export", requests, lambda: heard.append(1))
    for number in range(3):
        await report(number, None, "x" * 10_000)
    await asyncio.sleep(0)
    (noted,) = listener.events
    assert isinstance(noted, CallProgress)
    assert (len(heard), len(noted.message) <= 200) == (3, True)
