"""The file of requests in the app: in sight, ranked again at each save and key, changed by a person's key."""

import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Input

from fixtures.hostile import HOSTILE, HUGE
from inspector.app.place import EditPage, SearchPage, ToolPage, WorklistPage
from inspector.app.requests import MOST, Requests, WorkItem
from inspector.config.reader import REQUESTS
from inspector.core.error import ConnectError
from inspector.core.ranking import Answer, SearchRequest
from inspector.features.search.edit_pane import EditPane
from inspector.features.search.page import SearchScreen
from inspector.features.search.worklist import Worklist, title
from inspector.search.answer.expectation import ExpectationResult, parse
from inspector.search.answer.request_file import RequestLine
from tests.support.app import app_rig, arrives, goes, said, seen, toasts, until
from tests.support.fakes import calls, says, searches
from tests.support.workbench import Rig, configured, shop_and_weather
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines
from widgets import RecordList

LATE, FORECAST = SearchRequest("refund a late order"), SearchRequest("forecast for a city")
LISTS = "shop:list_orders"
TEXT = f"""# what people ask
{LATE.query} -> {LISTS}

{LATE.query} -> refund_order
{FORECAST.query} -> weather:get_forecast
sing me a song -> nothing
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / REQUESTS
    path.write_text(TEXT, encoding="utf-8")
    return path


def _beside(file: Path) -> dict[str, Any]:
    """The app's servers with this file of requests."""
    return {"configuration": replace(configured(shop_and_weather()), requests=str(file))}


def _empty(folder: Path) -> AbstractAsyncContextManager[tuple[Pilot[None], Rig]]:
    """The app beside a file that is not there yet."""
    return app_rig(**_beside(folder / REQUESTS))


def _requests(pilot: Pilot[None]) -> RecordList:
    return pilot.app.screen.query_one("#requests", RecordList)


def _cells(pilot: Pilot[None]) -> list[list[str]]:
    """Sign, tool, rank and change of each row."""
    rows = [[str(cell) for cell in record.cells] for record in _requests(pilot).records]
    return [[cells[0], cells[2], *cells[4:6]] for cells in rows]


def _save(file: Path, text: str | bytes) -> None:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


async def _ranked(pilot: Pilot[None], count: int) -> None:
    await until(
        pilot, lambda: len(_cells(pilot)) == count and "…" not in [cells[0] for cells in _cells(pilot)]
    )


async def _kept(pilot: Pilot[None], *wanted: tuple[SearchRequest, str]) -> None:
    await goes(pilot, "search")
    await arrives(pilot, SearchPage(wanted[0][0]))
    await arrives(pilot, WorklistPage(wanted))
    await _ranked(pilot, len(wanted))


async def test_a_keeps_the_request_in_sight_with_the_tool_it_should_find(tmp_path: Path) -> None:
    async with _empty(tmp_path) as (pilot, _):
        await goes(pilot, "search")
        await arrives(pilot, SearchPage(LATE))
        assert not _requests(pilot).region
        await pilot.press("a")
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await pilot.press(*"list_orders", "enter")
        await until(pilot, lambda: _cells(pilot) == [["✕", LISTS, "2", ""]])
        assert "toolsight.requests: 0 of 1 request as wanted" in seen(pilot)
        assert re.search(r"request +should find +answer +rank +since save", seen(pilot))
        await pilot.press("i", *" that is late", "enter")
        await until(pilot, lambda: _requests(pilot).display)
        await pilot.press("a", "a")
        await until(pilot, lambda: len(_cells(pilot)) == 2)


def test_the_title_counts_what_is_found_unsurely_beside_its_sign() -> None:
    expected = parse("q -> shop:t")
    sure, unsure = (
        ExpectationResult(expected, answer=one, place=1) for one in (Answer.FOUND, Answer.CLOSEST)
    )
    items = [WorkItem(RequestLine(1, "q", expected), "shop:t", now) for now in (sure, unsure)]
    assert [item.sign for item in items] == ["✓", "•"]
    said = "toolsight.requests: 2 of 2 requests as wanted, 1 of them unsure (•)"
    assert title(Requests(), items).plain == said
    assert "unsure" not in title(Requests(), items[:1]).plain


async def test_each_save_ranks_all_of_them_again_and_says_what_each_gained_or_lost(tmp_path: Path) -> None:
    async with _empty(tmp_path) as (pilot, rig):
        wanted = (LATE, LISTS), (LATE, "shop:refund_order"), (FORECAST, "weather:get_forecast")
        await _kept(pilot, *wanted, (LATE, "shop:void_order"))
        lists, refunds = rig.servers["shop"].tools
        better = replace(lists, description="Refund a late order. Refund orders that are late.")
        rig.servers["shop"].change([better, refunds])
        await until(pilot, lambda: [cells[3] for cells in _cells(pilot)] == ["▲ 1", "▼ 1", "=", ""])
        assert [cells[0] for cells in _cells(pilot)] == ["✓", "✕", "✓", "✕"]
        assert "saved: 2 of 3 changed" in seen(pilot)
        rig.servers["shop"].change([better, refunds, replace(refunds, name="void_order")])
        await until(pilot, lambda: [cells[3] for cells in _cells(pilot)] == ["=", "=", "=", ""])
        assert "saved: 0 of 3 changed" in seen(pilot), "the fourth was not there before"


async def test_while_their_server_is_away_the_requests_wait_greyed_and_a_save_without_a_change_counts(
    tmp_path: Path,
) -> None:
    async with _empty(tmp_path) as (pilot, rig):
        await _kept(pilot, (LATE, LISTS), (FORECAST, "weather:get_forecast"))
        rig.servers["shop"].fault = ConnectError("The process ended with exit code 1")
        await rig.bench.reconnect("shop")
        await until(pilot, lambda: _cells(pilot)[0][2] == "‖")
        assert [record.tone for record in _requests(pilot).records] == ["muted", ""]
        rig.servers["shop"].fault = None
        await rig.bench.reconnect("shop")
        await until(pilot, lambda: _cells(pilot)[0] == ["✕", LISTS, "2", "="])


async def test_a_server_that_never_was_there_keeps_no_line_of_others_waiting(file: Path) -> None:
    servers = shop_and_weather()
    servers["shop"].fault = ConnectError("The process ended with exit code 1")
    async with app_rig(servers=servers, **_beside(file)) as (pilot, rig):
        await goes(pilot, "search")
        await _ranked(pilot, 4)
        [forecast] = rig.servers["weather"].tools
        rig.servers["weather"].change([replace(forecast, description="Weather. Forecast for a city.")])
        await until(pilot, lambda: [cells[3] for cells in _cells(pilot)] == ["", "", "=", ""])
        assert [cells[2] for cells in _cells(pilot)] == ["–", "–", "1", "–"]


async def test_enter_shows_a_kept_request_and_the_delete_key_takes_it_off(tmp_path: Path) -> None:
    async with _empty(tmp_path) as (pilot, _):
        await _kept(pilot, (LATE, LISTS), (FORECAST, "weather:get_forecast"))
        _requests(pilot).focus()
        await pilot.press("down", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, SearchScreen)
        await until(pilot, lambda: screen.request == FORECAST)
        assert (screen.own_tool, screen.tool_id) == ("weather:get_forecast", "weather:get_forecast")
        await until(pilot, lambda: "D remove" in seen(pilot))
        await pilot.press("D")
        await until(pilot, lambda: [cells[1] for cells in _cells(pilot)] == [LISTS])
        await pilot.press("D")
        await until(pilot, lambda: not screen.query_one(Worklist).display)


async def test_capital_a_collects_the_searches_that_missed(tmp_path: Path) -> None:
    steps = (
        searches(query="sums"),
        searches(query="forecast"),
        calls(("weather__get_forecast", {})),
        says("Sunny."),
    )
    async with app_rig(*steps, yes=True, **_beside(tmp_path / REQUESTS)) as (pilot, rig):
        await goes(pilot, "search")
        await pilot.press("escape", "A")
        await until(pilot, lambda: "Every labelled request finds its tool" in toasts(pilot))
        await rig.bench.chat("What is the weather?")
        await pilot.press("A")
        await until(pilot, lambda: [cells[1] for cells in _cells(pilot)] == ["weather:get_forecast"])
        assert "“sums”" in seen(pilot)


async def test_the_file_is_there_at_the_start_with_what_a_search_says_of_each_line(file: Path) -> None:
    async with app_rig(**_beside(file)) as (pilot, _):
        await goes(pilot, "search")
        await _ranked(pilot, 4)
        assert [cells[:3] for cells in _cells(pilot)] == [
            ["✕", LISTS, "2"],
            ["✓", "shop:refund_order", "1"],
            ["✓", "weather:get_forecast", "1"],
            ["✓", "nothing", "–"],
        ]
        assert "toolsight.requests: 3 of 4 requests as wanted" in seen(pilot)
        await arrives(pilot, ToolPage("shop:refund_order"))
        await until(pilot, lambda: f"✓ “{LATE.query}”   found, 1st" in said(pilot, "#tool-record"))


async def test_a_line_that_is_saved_in_an_editor_is_ranked_and_a_broken_one_is_told_with_its_number(
    file: Path,
) -> None:
    async with app_rig(**_beside(file), size=(200, 60)) as (pilot, _):
        await goes(pilot, "search")
        await _ranked(pilot, 4)
        _save(file, f"{TEXT}forecast -> get_forecast\nno arrow\n")
        await _ranked(pilot, 6)
        assert _cells(pilot)[4][:3] == ["✓", "weather:get_forecast", "1"]
        assert _cells(pilot)[5][:2] == ["!", "cannot be read"]
        assert "8: the expectation 'no arrow' has no arrow" in seen(pilot)
        _save(file, b"\xff")
        await until(pilot, lambda: "is not UTF-8" in seen(pilot))
        assert len(_cells(pilot)) == 6, "what was read last stays in sight"


async def test_only_a_persons_key_writes_the_file_and_comments_and_order_stay(file: Path) -> None:
    async with app_rig(**_beside(file)) as (pilot, _):
        await goes(pilot, "search")
        await _ranked(pilot, 4)
        await arrives(pilot, WorklistPage(((FORECAST, "weather:get_forecast"), (FORECAST, LISTS))))
        await _ranked(pilot, 5)
        assert _text(file) == f"{TEXT}{FORECAST.query} -> {LISTS}\n", "what is there stays as it is"
        _requests(pilot).focus()
        await pilot.press("down", "D")
        await _ranked(pilot, 4)
        assert _text(file) == f"{TEXT}{FORECAST.query} -> {LISTS}\n".replace(
            f"{LATE.query} -> refund_order\n", ""
        )


async def test_a_file_that_cannot_be_written_is_told_with_a_hint_and_nothing_is_lost(tmp_path: Path) -> None:
    async with app_rig(**_beside(tmp_path / "none" / REQUESTS)) as (pilot, _):
        await goes(pilot, "search")
        await arrives(pilot, SearchPage(LATE))
        await arrives(pilot, WorklistPage(((LATE, LISTS),)))
        await until(pilot, lambda: "cannot be written" in toasts(pilot))
        assert "writable" in toasts(pilot)


async def test_a_draft_marks_what_it_changes_and_the_marks_stay_until_it_is_given_up(file: Path) -> None:
    async with app_rig(**_beside(file), size=(120, 50)) as (pilot, _):
        await arrives(pilot, EditPage(LISTS, LATE.query))
        await until(pilot, lambda: getattr(pilot.app.focused, "id", "") == "description")
        await _ranked(pilot, 4)
        await pilot.press(*"refund", "space", *"late", "space", *"order", "space")
        await until(pilot, lambda: [cells[3] for cells in _cells(pilot)] == ["▲ 1", "▼ 1", "=", ""])
        assert "your draft: 2 of 4 changed" in seen(pilot)
        await until(pilot, lambda: "0 of 2 other requests change" in said(pilot, "#answer"))
        assert _text(file) == TEXT
        await pilot.press("escape")
        assert [cells[3] for cells in _cells(pilot)][:2] == ["▲ 1", "▼ 1"]
        pilot.app.screen.query_one(EditPane).action_reset()
        await until(pilot, lambda: [cells[3] for cells in _cells(pilot)] == [""] * 4)


async def test_of_a_long_file_the_first_lines_are_in_sight_and_hostile_text_does_no_harm(file: Path) -> None:
    hostile = [text for name, text in HOSTILE.items() if name not in HUGE]
    texts = [text.encode("utf-8", "replace").decode() for text in hostile]
    every = "\n".join(f"{text} -> {text}" for text in texts) + "\nlist -> list_orders" * 400
    _save(file, every)
    async with app_rig(**_beside(file)) as (pilot, _):
        await goes(pilot, "search")
        await _ranked(pilot, MOST)
        assert f"the first {MOST} of " in seen(pilot)
        assert not dangerous("".join(lines(pilot.app)))
