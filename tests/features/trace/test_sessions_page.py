"""The sessions page, driven by keys: what is listed, imported, replayed and written."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from inspector.app import app
from inspector.app.draw.table import report_lines
from inspector.app.place import SearchPage, TracePage, WhyNotPage, WorklistPage
from inspector.core.budget import Prices
from inspector.core.events import (
    CallFinished,
    CallStarted,
    CatalogBuilt,
    CatalogEntry,
    Event,
    Origin,
    Record,
    SessionStarted,
)
from inspector.core.ports import SessionSummary
from inspector.core.ranking import SearchRequest
from inspector.features.agents.facts import session_report
from inspector.features.agents.feature import AGENTS
from inspector.features.agents.finding import Findings
from inspector.features.agents.importing import AgentLibrary
from inspector.features.trace import session_rows as sessions, sessions_page
from inspector.features.trace.sessions_page import SessionsScreen
from inspector.store.store import MemoryStore
from tests.support.app import app_rig, arrives, destinations, goes, seen, until
from tests.support.hostile import with_hostile_text
from tests.support.transcripts import MODEL, StoreLibrary, story, written
from tests.support.workbench import Rig
from widgets import RecordList
from widgets.record import layout, natural_widths


def _over_its_store(rig: Rig) -> AgentLibrary:
    return StoreLibrary(rig.store)


@asynccontextmanager
async def page(
    library: Callable[[Rig], AgentLibrary] | None = _over_its_store,
) -> AsyncGenerator[Pilot[None], None]:
    def beside(rig: Rig) -> dict[Any, object]:
        return {AGENTS: library(rig) if library else None}

    prices = (Prices(MODEL, 3e-6, 15e-6),)
    async with app_rig(prices=prices, size=(120, 36), beside=beside) as (pilot, _):
        await goes(pilot, "sessions")
        await until(pilot, lambda: "1 session, 0 of other agents" in seen(pilot))
        yield pilot


async def entered(pilot: Pilot[None], key: str, path: str) -> None:
    """Press a key that asks for a path, and give it."""
    await pilot.press(key)
    await until(pilot, lambda: bool(pilot.app.screen.query("#path")))
    await pilot.press("ctrl+u", *path, "enter")


async def imported(pilot: Pilot[None], tmp_path: Path) -> None:
    await entered(pilot, "i", str(written(tmp_path / "a.jsonl", story())))
    await until(
        pilot,
        lambda: (
            "1 transcript: 1 new" in seen(pilot)
            and "first question" in seen(pilot)
            and "claude-code" in seen(pilot)
        ),
    )


def _row(pilot: Pilot[None]) -> str:
    return next(line for line in seen(pilot).splitlines() if "claude-code" in line and "2026" in line)


async def test_an_imported_transcript_is_listed_with_its_findings_and_written_as_requests(
    tmp_path: Path,
) -> None:
    async with page() as pilot:
        await imported(pilot, tmp_path)
        row = _row(pilot)
        assert "Which orders" in row
        await until(pilot, lambda: "$" in _row(pilot))
        searches, missed, calls, tools, results, cost = _row(pilot).split()[-6:]
        assert (searches, missed, calls, tools, results, cost[0]) == ("2", "1", "1", "–", "88", "$")
        await pilot.press("home")
        await until(pilot, lambda: "overdue deliveries" in seen(pilot))
        shown = seen(pilot)
        assert "5 model calls, 2 searches, 1 missed" in shown
        assert "needs a login" in shown
        assert "at list prices" in " ".join(shown.split())


async def test_u_shows_what_clients_had_and_never_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions_page, "DAYS", 36_500)
    async with page() as pilot:
        await imported(pilot, tmp_path)
        await pilot.press("u")
        await until(pilot, lambda: "claude-code (1 session, 1 day, 5 requests)" in seen(pilot))
        assert "tools never called" in seen(pilot) or "tool never called" in seen(pilot)


async def test_equals_on_one_session_and_on_another_shows_what_differs(tmp_path: Path) -> None:
    async with page() as pilot:
        await imported(pilot, tmp_path)
        await pilot.press("home", "equals_sign")
        assert "This session is A." in seen(pilot)
        await pilot.press("equals_sign")
        assert "No session is marked." in seen(pilot)
        await pilot.press("equals_sign", "down", "equals_sign")
        await until(pilot, lambda: "only in A" in seen(pilot) and "calls of" in seen(pilot))
        # Both are marked, and named as their rows name them.
        rows = pilot.app.screen.query_one(RecordList).records
        assert [str(row.cells[0]) for row in rows[:2]] == ["A", "B"]
        for side, row in zip("AB", rows, strict=False):
            assert f"{side}  {row.cells[1]} {row.cells[2]}".rstrip(" –")[:50] in seen(pilot)
        await pilot.resize_terminal(100, 50)
        await until(pilot, lambda: pilot.app.size.width == 100)
        await pilot.pause()
        assert "only in A" in seen(pilot)


async def test_a_puts_the_missed_searches_whose_tool_is_here_on_the_worklist(tmp_path: Path) -> None:
    async with page() as pilot:
        await imported(pilot, tmp_path)
        await pilot.press("home")
        await until(pilot, lambda: "overdue deliveries" in seen(pilot))
        went = destinations(pilot)
        await pilot.press("a")
        assert "No missed search of this session led to a call" in seen(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, SessionsScreen)
        found = screen._findings
        assert found is not None
        called = replace(found.misses[0], called=("shop:list_orders",))
        screen._findings = replace(found, misses=(called, *found.misses))
        await pilot.press("a")
        assert went == [WorklistPage(((SearchRequest(called.query), "shop:list_orders"),))]


async def test_w_shows_why_the_newest_search_missed_also_of_a_server_with_another_name(
    tmp_path: Path,
) -> None:
    async with page() as pilot:
        await imported(pilot, tmp_path)
        went = destinations(pilot)
        await pilot.press("home")
        await until(pilot, lambda: "overdue deliveries" in seen(pilot))
        await pilot.press("w")
        screen = pilot.app.screen
        assert isinstance(screen, SessionsScreen)
        found = screen._findings
        assert found is not None
        request = SearchRequest(found.misses[0].query)
        assert went == [SearchPage(request)]
        called = replace(found.misses[0], called=("my-shop:list_orders",))
        screen._findings = replace(found, misses=(called, replace(found.misses[0], called=("x:y",))))
        await pilot.press("w")
        assert went[1:] == [WhyNotPage("shop:list_orders", request)]


async def test_what_other_programs_record_shows_by_itself_and_trace_opens_on_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "_FOLLOWED_EVERY", 0.02)
    async with app_rig(size=(120, 36)) as (pilot, rig):
        assert isinstance(rig.store, MemoryStore)
        tap = Origin("codex", "1", "tap-1", file="tap /home/ada")
        begun = SessionStarted("shop", ("shop",), "", "", "", 0, origin=tap)

        def record(number: int, event: Event) -> None:
            at = rig.bench.ports.clock.now()
            rig.store.append(Record("tap-1", number, at, event))
            rig.store.release("tap-1")

        record(1, begun)
        rig.store.written_elsewhere.add("tap-1")
        await until(pilot, lambda: getattr(pilot.app, "recorded", None) is not None)
        await until(pilot, lambda: getattr(pilot.app, "recorded").agent_at > 0)  # noqa: B009
        await pilot.press("5")
        await until(pilot, lambda: "1 of other agents" in seen(pilot))
        record(2, CallStarted("1", "shop:x", {}))
        record(3, CallFinished("1", "shop:x", True, "", 2.0))
        await until(pilot, lambda: _calls(pilot) == "1")
        await pilot.press("home")
        await goes(pilot, "events")
        seen_before = getattr(pilot.app, "recorded", None)
        newer = replace(begun, origin=replace(tap, agent="cursor"))
        rig.store.append(Record("tap-2", 1, rig.bench.ports.clock.now() + 9, newer))
        rig.store.release("tap-2")
        await until(pilot, lambda: getattr(pilot.app, "recorded", None) != seen_before)
        await goes(pilot, "sessions")
        await until(pilot, lambda: "cursor" in seen(pilot))
        screen = pilot.app.screen
        assert isinstance(screen, SessionsScreen)
        assert screen.key == "tap-2"


def _calls(pilot: Pilot[None]) -> str:
    row = next((line.split() for line in seen(pilot).splitlines() if "codex" in line), [])
    return row[-1] if row else ""


def test_what_agents_do_now_comes_before_what_began_later_here() -> None:
    own = SessionSummary("own", 3.0, 3.0, "", "", 1, 0, 0, is_running=True)
    ended = replace(own, id="ended", agent="codex", is_running=False)
    live = [replace(ended, id=id_, is_running=True) for id_ in ("b", "a")]
    assert [one.id for one in sessions.live_first([own, ended, *live])] == ["b", "a", "own", "ended"]


def test_at_120_columns_the_question_gives_way_and_short_words_stay_whole() -> None:
    asked = SessionSummary("a", 0.0, 1.0, "servers.json", "", 1, 1, 1, "claude-code", question="late " * 20)
    texts = sessions.rows([asked], {}, {})
    widths = layout(sessions.COLUMNS, natural_widths(sessions.COLUMNS, texts), 116)
    assert (widths[3], widths[4]) == (len("servers.json"), len("claude-code"))


@with_hostile_text
def test_no_text_of_a_session_breaks_its_row(text: str) -> None:
    summary = SessionSummary(text, 0.0, 1.0, text, text, 1, 1, 1, text)
    found = Findings(text, text, text)
    found.server(text).trouble = text
    assert sessions.rows([summary], {text: "✓"}, {text: sessions.outline(1, found)})
    assert not {"\x1b", "\u202e"} & set("".join(map(str, report_lines(session_report(found), 40))))


async def test_a_session_that_runs_elsewhere_is_followed_until_it_ends_and_no_other_is_mixed_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "_FOLLOWED_EVERY", 0.02)
    entry = CatalogEntry("calc:add", 40, deferred=False)

    def calls(number: int) -> list[Event]:
        id_ = f"c{number}"
        done = CallFinished(id_, "calc:add", True, "", 2.0)
        return [CallStarted(id_, "calc:add", {"n": number}), done]

    async with app_rig(size=(120, 36)) as (pilot, rig):
        assert isinstance(rig.store, MemoryStore)
        store, stored = rig.store, list[Event]()

        def record(*events: Event) -> None:
            for event in events:
                stored.append(event)
                store.append(Record("tap-1", len(stored), 1e9, event))

        record(SessionStarted("/home/ada", ("calc",), "", "", "", 0), CatalogBuilt("", (entry,), "", 0, 40))
        record(*calls(1))
        store.written_elsewhere.add("tap-1")
        await arrives(pilot, TracePage("tap-1"))
        await until(pilot, lambda: "LIVE  tap-1" in seen(pilot) and "live, after 1 tool call" in seen(pilot))
        record(*calls(2))
        await until(pilot, lambda: "live, after 2 tool calls" in seen(pilot))
        await pilot.press("left")
        await until(pilot, lambda: "REPLAY call 2 of 2" in seen(pilot))
        record(*calls(3))
        await until(pilot, lambda: "REPLAY call 2 of 3" in seen(pilot))
        await pilot.press("end")
        await goes(pilot, "events")
        record(*calls(4))
        await until(pilot, lambda: "n=4" in seen(pilot))
        assert "Events 10" in seen(pilot)
        store.written_elsewhere.clear()
        await until(pilot, lambda: "REPLAY end of 4 calls" in seen(pilot))
        await pilot.app.run_action("live")
        await until(pilot, lambda: "n=4" not in seen(pilot))
