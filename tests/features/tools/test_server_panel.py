"""A server: every state in words, what to do about it, its stderr and its wire."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from inspector.app.dialogs.detail import DetailScreen
from inspector.app.draw.table import fact_lines
from inspector.app.replay import Replay
from inspector.core.error import ConnectError
from inspector.core.server import ServerInfo, ServerPhase, SkippedTool
from inspector.core.session import ServerState, SessionState
from inspector.core.tool import Catalog, Tool
from inspector.features.tools.catalog_rows import CatalogRows
from inspector.features.tools.facts import server_facts
from inspector.features.tools.panel import server_title
from inspector.features.tools.wire_panel import (
    NO_ANSWER,
    NO_REQUEST,
    NO_WIRE,
    Exchange,
    exchange,
    exchange_text,
    exported,
    frame_row,
    log_row,
)
from inspector.mcp.frame import Flaw, Frame, FrameKind
from tests.support.app import seen, toasts, until
from tests.support.hostile import with_hostile_text
from tests.support.memory_servers import MemoryServer
from tests.support.tools_page import choose, crossed, opened, says, tools_page
from tests.support.workbench import shop_and_weather
from tests.widgets.hostile import dangerous
from widgets import JsonTree, RecordList, TextView, visible

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
    rows = CatalogRows()
    rows.update(SessionState(servers={"a": ServerState("a", phase)}), Catalog(()))
    (row,) = rows.shown()
    assert str(row.cells[2]) == WORDS[phase]
    assert WORDS[phase] in server_title(ServerState("a", phase), 80).plain


def said(server: ServerState, **more: Any) -> dict[str, str]:
    return {fact.label: fact.text for fact in server_facts(server, **more) if fact.text}


def test_a_server_says_what_happened_to_it_and_what_to_try() -> None:
    assert said(ServerState("a", ServerPhase.FAILED, reason="gone")) == {
        "reason": "gone",
        "try": "r reconnects.",
    }
    assert said(ServerState("a", ServerPhase.STOPPED)) == {"try": "r reconnects."}
    ready = ServerState("a", ServerPhase.READY, skipped=(SkippedTool("odd", "no schema"),))
    assert said(ready)["skipped"] == "odd: no schema"
    assert said(ready)["declared"] == "nothing (settings: client)"
    told = replace(ready, declared=("roots", "sampling"))
    assert said(told)["declared"] == "roots, sampling (settings: client)"


async def test_the_doctor_walks_from_the_entry_to_the_step_that_loses_the_tools() -> None:
    async with tools_page("shop", servers=down("away")) as (pilot, _):
        await pilot.press("D")
        await says(pilot, "✓ list_changed")
        await opened(pilot, "away")
        await pilot.press("D")
        await says(pilot, "lost: it is not there")


async def test_servers_are_reconnected_and_stopped() -> None:
    servers = down("one", "two")
    async with tools_page("one", servers=servers) as (pilot, rig):
        await says(pilot, "it is not there")
        for name in ("one", "two"):
            servers[name].fault = None
        await pilot.press("r")
        await until(pilot, lambda: rig.bench.state.servers["one"].phase is ServerPhase.READY)
        await pilot.press("R")
        await until(pilot, lambda: rig.bench.state.ready_servers == len(servers))
        await pilot.press("S")
        await says(pilot, "Stop one?")
        await pilot.press("escape", "S")
        await says(pilot, "Stop one?")
        assert rig.bench.state.ready_servers == len(servers)
        await pilot.press("left", "enter", "R")
        await until(pilot, lambda: rig.bench.state.servers["one"].phase is ServerPhase.STOPPED)
        await until(pilot, lambda: "No failed servers." in toasts(pilot))


@with_hostile_text
def test_hostile_text_is_shown_and_not_obeyed(text: str) -> None:
    evil = text[:2000]
    info = ServerInfo(evil, evil, evil, summary=evil)
    state = ServerState(evil, ServerPhase.FAILED, evil, info=info, reason=evil, hint=evil)
    flaws = (Flaw(evil, "dropped"),)
    facts = fact_lines(server_facts(state, flaws=flaws), 14, 60)
    for content in (facts, server_title(state, 60)):
        assert not [letter for letter in dangerous(content.plain) if letter not in "\n\t"]


async def test_what_a_server_writes_is_shown_while_it_runs_and_copied() -> None:
    servers = shop_and_weather()
    servers["weather"].stderr = "listening"
    async with tools_page("weather", "stderr", servers=servers) as (pilot, _):
        await says(pilot, "listening")
        servers["weather"].stderr = "listening\nGET /forecast"
        await says(pilot, "GET /forecast")
        await pilot.press("y")
        await until(pilot, lambda: pilot.app.clipboard == "listening\nGET /forecast")
        assert len(pilot.app._notifications) == 1


async def test_a_frame_is_found_by_what_is_in_it_and_opened_whole() -> None:
    servers = shop_and_weather()
    crossed(servers["weather"], '{"method":"tools/call","params":{"city":"Oslo"}}', "tools/call")
    crossed(servers["weather"], '{"result":{}}', "tools/call", FrameKind.RESULT)
    async with tools_page("weather", "wire", servers=servers) as (pilot, _):
        frames = pilot.app.screen.query_one("#frames", RecordList)
        await until(pilot, lambda: len(frames.shown) == 2)
        await says(pilot, "2 messages; not stored in any session")
        await pilot.press("slash", *"oslo", "enter", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DetailScreen))
        await says(pilot, "→ tools/call   id 7   answered after 3 ms   48 + 13 bytes")
        text = pilot.app.screen.query_one("#detail-text", TextView).text
        assert text.index('"city": "Oslo"') < text.index("← result of tools/call")
        assert pilot.app.screen.query_one("#detail-data", JsonTree).value == {
            "request": {"method": "tools/call", "params": {"city": "Oslo"}},
            "answer": {"result": {}},
        }


def _frame(number: int, kind: FrameKind, id_: str = "7", *, sent: bool = True, **more: Any) -> Frame:
    took = 3.0 if kind is FrameKind.RESULT else None
    return replace(Frame(number, 0.0, sent, kind, "tools/call", id_, 2, "{}", took), **more)


ASKED, ANSWER = _frame(1, FrameKind.REQUEST), _frame(2, FrameKind.RESULT, sent=False)


@pytest.mark.parametrize("way", [True, False])
def test_a_request_and_its_answer_lead_to_the_same_pair_whoever_asked(way: bool) -> None:
    asked, answer = replace(ASKED, sent=way), replace(ANSWER, sent=not way)
    noise = _frame(3, FrameKind.REQUEST, sent=not way), _frame(4, FrameKind.RESULT, sent=way)
    frames = (asked, replace(noise[0], number=2), replace(answer, number=3), noise[1])
    for chosen in (frames[0], frames[2]):
        assert exchange(frames, chosen) == Exchange((frames[0], frames[2]))
    for chosen in (frames[1], frames[3]):
        assert exchange(frames, chosen) == Exchange((frames[1], frames[3]))


def test_an_answer_without_its_request_and_a_request_without_an_answer_say_so() -> None:
    orphan = replace(ANSWER, milliseconds=None)
    assert exchange((ASKED, orphan), orphan) == Exchange((orphan,), NO_REQUEST)
    assert exchange((ANSWER,), ANSWER) == Exchange((ANSWER,), NO_REQUEST)
    assert exchange((ASKED, orphan), ASKED) == Exchange((ASKED,), NO_ANSWER)
    again = replace(ASKED, number=2)
    assert exchange((ASKED, again, replace(ANSWER, number=3)), ASKED) == Exchange((ASKED,), NO_ANSWER)


async def test_a_replay_has_no_wire_and_says_so() -> None:
    servers = shop_and_weather()
    crossed(servers["weather"], '{"method":"tools/list"}')
    async with tools_page("weather", servers=servers) as (pilot, _):
        replay: Replay = pilot.app.replay  # type: ignore[attr-defined]
        stream = replay.catch_up()
        replay.show(stream, 1, replay.moment(stream, 1))
        await choose(pilot, "wire")
        await until(pilot, lambda: pilot.app.screen.query_one("#frames", RecordList).empty == NO_WIRE)
        assert "tools/list" not in seen(pilot)


@with_hostile_text
def test_a_hostile_frame_is_shown_and_not_obeyed(text: str) -> None:
    frame = Frame(1, 0.0, False, FrameKind.OTHER, text, text, len(text), text)
    row = frame_row(frame)
    assert not dangerous("".join(visible(str(cell), newlines=False) for cell in row.cells))
    assert not dangerous(row.copy_text().replace("\n", "").replace("\t", ""))
    told, data = exchange_text(Exchange((frame,)))
    assert told.endswith(text) or data is not None
    assert json.loads(exported([frame]))["text"] == text


# Ping, and what a server logs to its client.


async def test_the_log_lists_the_servers_log_messages_with_level_and_logger() -> None:
    servers = shop_and_weather()
    crossed(servers["weather"], '{"method":"tools/list"}')
    text = '{"params":{"level":"error","logger":"db","data":{"rows":3}}}'
    crossed(servers["weather"], text, "notifications/message", FrameKind.NOTIFICATION)
    async with tools_page("weather", "log", servers=servers) as (pilot, _):
        log = pilot.app.screen.query_one("#log", RecordList)
        await until(pilot, lambda: len(log.shown) == 1)
        assert log.shown[0].cells[1:] == ("error", "db", '{"rows":3}')
        await says(pilot, "1 log message")


@with_hostile_text
def test_a_hostile_log_message_is_cut_and_shown_and_not_obeyed(text: str) -> None:
    params = {"level": [text] * 99, "logger": {text: 1}, "data": text * 999}
    for sent in (json.dumps({"params": params}), json.dumps({"params": text}), text):
        row = log_row(Frame(1, 0.0, False, FrameKind.NOTIFICATION, "notifications/message", "", 9, sent))
        assert max(map(len, row.cells)) <= 300
        assert not dangerous("".join(visible(str(cell), newlines=False) for cell in row.cells))


def test_it_says_how_long_its_list_may_be_kept_and_what_a_change_costs() -> None:
    info = ServerInfo(list_kept=300.0, list_scope="public")
    told = said(ServerState("a", phase=ServerPhase.READY, tokens=25, info=info))["its list"]
    assert told == "may be kept for 5 min by anybody; a change sends 25 tokens anew"
    assert "its list" not in said(ServerState("a", info=ServerInfo(list_kept=0.0)))
