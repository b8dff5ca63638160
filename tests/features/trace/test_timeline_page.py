"""The timeline page: lanes over calls, and any moment of any session on every page."""

import threading

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from inspector.app.place import TracePage
from inspector.app.replay import Replay, ReplayRefusal
from inspector.app.stream import CHECKPOINT, Stream, View
from inspector.core.events.base import Record
from inspector.core.events.call import CallRejected
from inspector.core.events.discovery import CatalogBuilt, CatalogEntry, ToolEvicted, ToolLoaded
from inspector.core.events.session import UserSaid
from inspector.core.fold import fold
from inspector.features.chat.page import SessionScreen
from inspector.features.clients.request_page import ManifestScreen
from inspector.features.trace import lanes, timeline_page as content
from inspector.features.trace.events_page import EventsScreen
from inspector.features.trace.timeline_page import TimelineScreen
from inspector.session.timeline import Timeline
from tests.core.test_event import records
from tests.session.test_timeline import CATALOG, STORY, request
from tests.support.app import app_rig, arrives, goes, said, seen, toasts, until
from tests.support.fakes import Step, calls, says, searches
from tests.support.hostile import with_hostile_text
from tests.support.memory_servers import MemoryServer
from tests.support.office import office
from tests.support.workbench import READS, Rig
from widgets import RecordList, TextView

QUESTION = "Which orders are late? Mail the list to sales."
STEPS: tuple[Step, ...] = (
    searches(query="list the late orders of a customer"),
    calls(("shop__list_orders", {"customer": "acme", "status": "late"})),
    searches(query="send an e-mail message"),
    calls(("mail__send_message", {"recipient": "sales"})),
    calls(("shop__list_orders", {"customer": "acme"})),
    says("Three orders are late; sales has the list."),
)


def reading_office() -> dict[str, MemoryServer]:
    """The office with tools that claim to only read, so that no call counts as progress."""
    return {
        name: MemoryServer([replace(tool, annotations=READS) for tool in server.tools])
        for name, server in office().items()
    }


def _shown(pilot: Pilot[None]) -> Replay:
    return pilot.app.replay  # type: ignore[attr-defined, no-any-return]


def _view(pilot: Pilot[None]) -> Record:
    return pilot.app.view  # type: ignore[attr-defined, no-any-return]


async def _talked(pilot: Pilot[None], rig: Rig) -> None:
    """The conversation, then the timeline."""
    await rig.bench.chat(QUESTION)
    await goes(pilot, "timeline")
    await until(pilot, lambda: isinstance(pilot.app.screen, TimelineScreen) and "now, after 6" in seen(pilot))


async def _replay(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await until(pilot, lambda: _shown(pilot).is_replay)


async def test_the_turn_under_the_cursor_tells_its_moves_and_what_it_did() -> None:
    async with app_rig(*STEPS, yes=True, servers=reading_office()) as (pilot, rig):
        await _talked(pilot, rig)
        await pilot.press("home", "right")
        detail = said(pilot, "#detail")
        assert said(pilot, "#facts").startswith("call 2 of 6")
        assert "deferred → loaded" in detail
        assert "late orders of a customer" in detail
        assert "shop:list_orders  ok" in detail or "shop:list_orders  failed" in detail
        assert "tokens, " in detail.partition("What it cost")[2]
        await pilot.press("end")
        assert said(pilot, "#facts").startswith("now, after 6 model calls")
        assert "from the cache" in said(pilot, "#detail").partition("What the calls cost")[2]


async def test_enter_shows_that_moment_on_every_page() -> None:
    async with app_rig(*STEPS, yes=True, servers=reading_office(), at_home=True) as (pilot, rig):
        await _talked(pilot, rig)
        await _replay(pilot, "home", "enter")
        assert "REPLAY call 1 of 6" in seen(pilot)
        await goes(pilot, "events")
        await until(pilot, lambda: isinstance(pilot.app.screen, EventsScreen))
        events = pilot.app.screen.query_one("#events", RecordList)
        assert events.records[-1].cells[2] == "request"
        await goes(pilot, "manifest")
        await until(pilot, lambda: isinstance(pilot.app.screen, ManifestScreen))
        assert "shop__list_orders" not in pilot.app.screen.query_one("#manifest-array", TextView).text
        await goes(pilot, "session")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionScreen))
        assert "REPLAY call 1 of 6" in seen(pilot)
        assert "Three orders are late" not in seen(pilot)
        for key in ("f2", "f5"):
            await pilot.press(key)
            await until(pilot, lambda: "REPLAY call 1 of 6" in seen(pilot))


async def test_the_timeline_grows_with_the_session_but_neither_cursor_nor_replay_move() -> None:
    async with app_rig(*STEPS, yes=True, servers=reading_office()) as (pilot, rig):
        await _talked(pilot, rig)
        await pilot.press("home")
        await rig.bench.chat("And again?")
        await until(pilot, lambda: "call 1 of 7" in seen(pilot))
        await _replay(pilot, "enter")
        shown = _view(pilot)
        await rig.bench.chat("And again?")
        await pilot.pause()
        assert _view(pilot) is shown
        await pilot.press("n")
        await until(pilot, lambda: "now, after 8" in seen(pilot))
        assert "REPLAY" not in seen(pilot)
        rig.bench.load("calendar:list_events")
        await until(pilot, lambda: "calendar:list_events" in seen(pilot))
        assert pilot.app.view.state == rig.bench.state  # type: ignore[attr-defined]


async def test_what_a_running_session_records_meanwhile_does_not_take_a_replays_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, may_go, moment = threading.Event(), threading.Event(), Replay.moment

    def held_up(replay: Replay, stream: Stream, column: int) -> View:
        asked.set()
        may_go.wait()
        return moment(replay, stream, column)

    monkeypatch.setattr(Replay, "moment", held_up)
    async with app_rig(servers=reading_office()) as (pilot, rig):
        for record in records(STORY, "earlier"):
            rig.store.append(record)
        await arrives(pilot, TracePage("earlier"))
        await until(pilot, asked.is_set)
        rig.bench.load("calendar:list_events")
        await until(pilot, lambda: pilot.app.view.state == rig.bench.state)  # type: ignore[attr-defined]
        may_go.set()
        await until(pilot, lambda: "REPLAY call 1 of 3  earlier" in seen(pilot))
        assert "call 1 of 3" in said(pilot, "#facts")


async def test_a_recorded_session_is_read_in_a_thread_and_shown_from_its_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads, read = list[threading.Thread](), Replay.read

    def noted(replay: Replay, session_id: str) -> Stream:
        threads.append(threading.current_thread())
        return read(replay, session_id)

    monkeypatch.setattr(Replay, "read", noted)
    async with app_rig(yes=True, servers=reading_office(), at_home=True) as (pilot, rig):
        for record in records(STORY, "earlier"):
            rig.store.append(record)
        await goes(pilot, "timeline")
        await pilot.press("o")
        await until(pilot, lambda: "2 sessions" in seen(pilot))
        await pilot.press("down", "enter")
        await until(pilot, lambda: _shown(pilot).is_replay)
        assert threading.main_thread() not in threads
        assert "REPLAY call 1 of 3  earlier" in seen(pilot)
        assert "which orders are late?" in seen(pilot)
        await pilot.press("right")
        await until(pilot, lambda: "REPLAY call 2 of 3" in seen(pilot))
        entries = {entry["function"]["name"]: entry for entry in _shown(pilot).session.next_request().tools}
        assert "definition not recorded" in str(entries["shop__list"])
        await pilot.press("end")
        await until(pilot, lambda: "REPLAY end of 3 calls" in seen(pilot))
        await goes(pilot, "session")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionScreen))
        assert "shop:list" in seen(pilot)
        await goes(pilot, "timeline")
        await pilot.press("n")
        await until(pilot, lambda: "REPLAY" not in seen(pilot))


async def test_a_replay_changes_nothing_and_names_the_way_out() -> None:
    async with app_rig(*STEPS, yes=True, servers=reading_office(), at_home=True) as (pilot, rig):
        await _talked(pilot, rig)
        await _replay(pilot, "home", "enter")
        count = len(rig.bench.records())
        with pytest.raises(ReplayRefusal, match="replay"):
            _shown(pilot).commands.load("shop:list_orders")
        await goes(pilot, "session")
        await until(pilot, lambda: isinstance(pilot.app.screen, SessionScreen))
        pilot.app.screen.query_one("#prompt").focus()
        await pilot.press(*"hello", "enter")
        await until(pilot, lambda: "a replay is read-only" in toasts(pilot))
        assert "back to now" in toasts(pilot)
        assert len(rig.bench.records()) == count


def stream_of(kept: list[Record]) -> Stream:
    return Stream("s", lambda after, until: [one for one in kept if after < one.seq <= until], kept)


@pytest.mark.parametrize("seq", [0, 1, CHECKPOINT - 1, CHECKPOINT, CHECKPOINT + 1, 601, 9999])
def test_a_state_from_a_checkpoint_is_the_state_from_the_start_also_with_gaps(seq: int) -> None:
    everything = records([CATALOG, *STORY * 60])
    for kept in (everything, [record for record in everything if record.seq % 3]):
        stream, before = stream_of(kept), [record for record in kept if record.seq <= seq]
        assert list(stream.until(seq)) == before
        assert stream.state(seq) == fold(before)


@with_hostile_text
def test_no_text_breaks_the_page(text: str) -> None:
    stream = [
        CatalogBuilt(text, (CatalogEntry(text, 1, True), CatalogEntry("b", 1, False)), text, 0, 0),
        UserSaid(text),
        ToolLoaded(text, 1, text),
        request(1, text, change=text),
        CallRejected("c", text, text, text),
        ToolEvicted(text, text),
    ]
    timeline = Timeline.of(records(stream))
    for column in (1, 2):
        frame = lanes.frame(timeline, column, 1, 60)
        assert lanes.rows(timeline, frame, only_moved=False)
        shown = [
            lanes.ruler(timeline, frame, "now"),
            content.facts(timeline, column, "now", 80),
            content.detail(timeline, column, text, "now", 40),
        ]
        assert not any("\x1b" in content.plain or "\u202e" in content.plain for content in shown)


@pytest.mark.parametrize("now", [1, 9, 99, 1234])
@pytest.mark.parametrize("width", [8, 40, 200])
def test_the_column_of_the_cursor_is_always_on_screen(now: int, width: int) -> None:
    timeline = Timeline.of(records([CATALOG, *(request(call) for call in range(1, now))]))
    first = 1
    for cursor in (1, now // 2 + 1, now, now // 3 + 1, 1):
        frame = lanes.frame(timeline, cursor, first, width)
        assert cursor in frame.columns
        assert 1 <= frame.first <= frame.columns[-1] <= timeline.now
        first = frame.first
