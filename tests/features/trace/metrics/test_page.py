"""The telemetry page: live and over all sessions; what it says without any."""

from threading import Event

import pytest
from hypothesis import given, settings, strategies as st

from inspector.app.context import Job
from inspector.app.draw.table import table_lines
from inspector.core.error import BreakerState, BreakerStatus
from inspector.core.report import Table
from inspector.core.turns import turns
from inspector.features.trace.metrics import page as content
from inspector.features.trace.metrics.gathering import Telemetry, telemetry
from inspector.session.miss import BacklogGroups, Miss, MissCause
from inspector.session.view import SessionView
from tests.support.app import app_rig, goes, seen, until
from tests.support.fakes import calls, says, searches
from tests.support.hostile import with_hostile_text
from tests.support.transcripts import records_of, story_store

STEPS = (
    searches(query="forecast for a city"),
    calls(("weather__get_forecast", {"city": "Oslo"})),
    says("Sunny."),
)
OPEN = BreakerStatus("shop", "", BreakerState.OPEN, 3600.0, 3660.0, "5 of 6 calls failed", 0.83, 6, 2)


def drawn(shown: content.Shown, group: str, width: int = 76) -> str:
    return content.page(shown, group, width).plain


def shown_with(*breakers: BreakerStatus, missed: tuple[Miss, ...] = ()) -> content.Shown:
    gathered = telemetry(turns(records_of(story_store())))
    gathered.reliability.breakers = {one.name: one for one in breakers}
    gathered.backlog = BacklogGroups()
    for miss in missed:
        gathered.backlog.add(miss)
    return content.Shown.of(gathered, is_all=False)


async def test_the_page_counts_the_session_as_it_goes_on_and_all_of_them_when_asked() -> None:
    async with app_rig(*STEPS, yes=True) as (pilot, rig):
        rig.store.append_all(records_of(story_store()))
        await goes(pilot, "telemetry")
        await until(pilot, lambda: "Press 1 and ask" in seen(pilot))
        await rig.bench.chat("What is the forecast for Oslo?")
        await until(pilot, lambda: "turns with a search" in seen(pilot) and "hybrid" in seen(pilot))
        await pilot.press("a")
        await until(pilot, lambda: "2 sessions" in seen(pilot))
        await pilot.press("t", "t", "t", "t", "t")
        await until(pilot, lambda: "overdue deliveries" in seen(pilot))
        await pilot.press("a")
        await until(pilot, lambda: content.EMPTY["backlog"][:30] in seen(pilot))


async def test_a_session_is_counted_once_at_a_time_and_once_more_for_what_came_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, begun, ended, at_once, go_on = content._of_one, list[Job](), list[Job](), list[int](), Event()

    def slow(session: SessionView, job: Job) -> content.Shown:
        begun.append(job)
        at_once.append(len(begun) - len(ended))
        go_on.wait(10)
        try:
            return real(session, job)
        finally:
            ended.append(job)

    monkeypatch.setattr(content, "_of_one", slow)
    monkeypatch.setattr(content, "_REST", 0.001)
    async with app_rig(*STEPS, yes=True) as (pilot, rig):
        await goes(pilot, "telemetry")
        await until(pilot, lambda: len(begun) == 1)
        await rig.bench.chat("What is the forecast for Oslo?")
        await pilot.pause()
        assert len(begun) == 1
        go_on.set()
        await until(pilot, lambda: "turns with a search" in seen(pilot) and "hybrid" in seen(pilot))
        await until(pilot, lambda: len(begun) >= 2)
    assert set(at_once) == {1}


def test_a_breaker_and_the_backlog_are_told() -> None:
    told = " ".join(drawn(shown_with(OPEN), "failures", 200).split())
    assert "shop open 1970-01-01 01:00:00 01:01:00 83 % 6 2 5 of 6 calls failed" in told
    miss = Miss("s", 1, "overdue", ("shop:all",), "late", MissCause.AGAIN, ("shop:late",), 86_400.0)
    told = " ".join(drawn(shown_with(missed=(miss, miss)), "backlog", 200).split())
    assert "2 1 1970-01-02 overdue searched again shop:all shop:late" in told


@pytest.mark.parametrize(("is_all", "told"), [(False, content.NOTHING), (True, content.NO_SESSIONS)])
def test_without_anything_to_count_it_is_said_what_to_do(is_all: bool, told: str) -> None:
    shown = content.Shown.of(Telemetry().end(), is_all=is_all)
    assert {drawn(shown, group) for group in content.GROUPS} == {told}


@with_hostile_text
def test_hostile_names_do_not_reach_the_terminal(text: str) -> None:
    shown = shown_with(
        BreakerStatus(text, "", BreakerState.OPEN, 1.0, 2.0, text, 0.5, 2),
        missed=(Miss("s", 1, text, (text,)),),
    )
    told = drawn(shown, "failures") + drawn(shown, "backlog")
    assert not set(told) & {"\x1b", "\x07", "\x00", "\u202e", "\r"}


_cell = st.text(alphabet="ab1 ", max_size=30)


@given(st.lists(st.tuples(_cell, _cell, _cell), max_size=6), st.integers(1, 100), st.sets(st.integers(0, 2)))
@settings(deadline=None)
def test_numbers_are_never_cut_and_columns_never_too_wide(
    rows: list[tuple[str, str, str]], width: int, right: set[int]
) -> None:
    table = Table("", ("a first", "b", "third one"), tuple(rows), frozenset(right))
    lines = [str(line) for line in table_lines(table, width)]
    for row in rows:
        for number in (row[column] for column in right):
            assert all(word in "\n".join(lines) for word in number.split())
    if lines and not lines[-1].startswith("  "):
        assert max(map(len, lines)) <= max(width, 34)
