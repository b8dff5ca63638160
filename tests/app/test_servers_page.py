"""The servers: every state in words, and what to do about it."""

import pytest

from inspector.adapters.memory.fakes import MemoryServer
from inspector.app.pages.tools.servers.content import NO_SERVER, server_detail, server_rows
from inspector.domain.error import ConnectError
from inspector.domain.server import ServerInfo, ServerPhase, SkippedTool
from inspector.domain.session import ServerState, SessionState
from inspector.domain.tool import Tool
from tests.support.app import app_rig, goes, until
from tests.support.hostile import with_hostile_text
from tests.support.workbench import shop_and_weather
from tests.widgets.hostile import dangerous
from widgets import RecordList, TextView

WORDS = {
    ServerPhase.CONNECTING: "… connecting",
    ServerPhase.READY: "✓ ready",
    ServerPhase.FAILED: "✕ failed",
    ServerPhase.STOPPED: "■ stopped",
}


def down(*names: str) -> dict[str, MemoryServer]:
    fault = ConnectError("it is not there", stderr_tail="boom")
    return {**shop_and_weather(), **{name: MemoryServer([Tool(name, "x")], fault=fault) for name in names}}


@pytest.mark.parametrize("phase", ServerPhase)
def test_every_state_is_an_icon_and_a_word(phase: ServerPhase) -> None:
    (row,) = server_rows(SessionState(servers={"a": ServerState("a", phase)}))
    assert str(row.cells[1]) == WORDS[phase]
    assert WORDS[phase] in server_detail(ServerState("a", phase)).plain


def test_a_server_that_failed_without_a_hint_still_says_what_to_try() -> None:
    text = server_detail(ServerState("a", ServerPhase.FAILED, reason="gone")).plain
    assert "gone" in text
    assert "r reconnects." in text


def test_a_stopped_server_says_how_to_start_it() -> None:
    assert "r reconnects." in server_detail(ServerState("a", ServerPhase.STOPPED)).plain


def test_no_server_says_where_to_add_one() -> None:
    assert server_detail(None).plain == NO_SERVER


def test_a_skipped_tool_has_its_reason() -> None:
    state = ServerState("a", ServerPhase.READY, skipped=(SkippedTool("odd", "no schema"),))
    assert "odd: no schema" in server_detail(state).plain


@with_hostile_text
def test_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    evil = text[:2000]
    info = ServerInfo(evil, evil, evil, summary=evil)
    state = ServerState(evil, ServerPhase.FAILED, evil, info=info, reason=evil, hint=evil)
    assert not [letter for letter in dangerous(server_detail(state).plain) if letter not in "\n\t"]


async def test_capital_r_connects_every_failed_server_again() -> None:
    servers = down("one", "two")
    async with app_rig(servers=servers) as (pilot, rig):
        for name in ("one", "two"):
            servers[name].fault = None
        await goes(pilot, "servers")
        await pilot.press("R")
        await until(pilot, lambda: rig.bench.state.ready_servers == len(servers))


async def test_capital_r_says_so_where_nothing_failed() -> None:
    async with app_rig() as (pilot, _):
        await goes(pilot, "servers")
        await pilot.press("R")
        await until(pilot, lambda: "No server has failed." in told(pilot.app._notifications))


async def test_stderr_is_copied_and_that_is_said() -> None:
    async with app_rig(servers=down("one")) as (pilot, _):
        await goes(pilot, "servers")
        await pilot.press("end")
        stderr = pilot.app.screen.query_one("#server-stderr", TextView)
        await until(pilot, lambda: stderr.text == "boom")
        stderr.focus()
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard == "boom")
        assert len(pilot.app._notifications) == 1


async def test_the_list_keeps_its_place_when_a_server_changes() -> None:
    async with app_rig() as (pilot, rig):
        await goes(pilot, "servers")
        await pilot.press("end", "s")
        await until(pilot, lambda: rig.bench.state.ready_servers == 2)
        current = pilot.app.screen.query_one("#servers", RecordList).current
        assert current is not None
        assert current.key == "calc"


def told(notifications: object) -> list[str]:
    return [notification.message for notification in notifications]  # type: ignore[attr-defined]
