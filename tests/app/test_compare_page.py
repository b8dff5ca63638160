"""The compare page: rankers as columns."""

import pytest
from hypothesis import given, strategies as st
from textual.pilot import Pilot
from textual.widgets import Static

from inspector.adapters.memory.vectors import MemoryEmbedder
from inspector.app.pages.find.compare import content
from inspector.app.pages.find.compare.screen import CompareScreen
from inspector.app.pages.find.why_not.screen import WhyNotScreen
from inspector.domain.ranking import SearchRequest
from inspector.engine.discovery.explanation.ranker_comparison import ComparedTool, RankerComparison
from inspector.engine.discovery.explanation.standing import Standing
from inspector.engine.discovery.rankers.ranker_list import RANKERS
from tests.support.app import app_rig, seen, until
from tests.support.hostile import with_hostile_text
from tests.support.office import office
from tests.widgets.hostile import dangerous
from widgets import RecordList

QUERY = "send the customer of a late order a message"
TWO = RankerComparison(
    "q",
    ("hybrid", "dense"),
    (
        ComparedTool("shop:a", (Standing(1, 2.0, True), Standing(4, 0.1, False))),
        ComparedTool("shop:b", (Standing(2, 1.0, True), Standing(1, 0.9, True))),
    ),
    ("", "words only"),
    (0.8, None),
)


def test_the_most_telling_rankers_come_first_and_none_is_missing() -> None:
    assert content.order("fuzzy")[:3] == ("fuzzy", "hybrid", "bm25")
    assert set(content.order("fuzzy")) == set(RANKERS)


@given(st.integers(1, 300), st.integers(-5, 30))
def test_the_ranker_in_use_is_always_in_sight(width: int, offset: int) -> None:
    names = content.order("dense")
    shown = content.window(names, offset, content.room(width))
    assert shown[0] == "dense"
    assert len(shown) == content.room(width)
    assert len(set(shown)) == len(shown)


def test_every_ranker_can_be_brought_into_sight() -> None:
    count = content.room(80)
    furthest = content.furthest(RANKERS, count)
    seen = {name for offset in range(furthest + 1) for name in content.window(RANKERS, offset, count)}
    assert seen == set(RANKERS)


def test_a_cell_is_a_rank_and_the_best_of_a_row_is_bold() -> None:
    first, second = content.rows(TWO, ("hybrid", "dense", "fuzzy"), "shop:b")
    assert [str(cell) for cell in first.cells] == ["shop:a", "", "1", "–", "…"]
    assert [str(cell) for cell in second.cells] == ["shop:b", "◆", "2", "1", "…"]
    bold = [[span.style for span in cell.spans] for cell in second.cells[2:4] if not isinstance(cell, str)]
    assert [("bold" in styles) for styles in bold] == [False, True]
    assert first.copy == "shop:a  hybrid 1  dense –"


def test_notes_name_the_rankers_in_sight_that_did_without() -> None:
    assert "dense: words only" in content.legend(TWO, ("hybrid", "dense"), "").plain
    assert "words only" not in content.legend(TWO, ("hybrid",), "").plain


@with_hostile_text
def test_hostile_text_does_no_harm(text: str) -> None:
    for drawn in (
        content.facts(text, TWO, RANKERS, ("hybrid",)),
        content.legend(RankerComparison(text, ("hybrid",), (), (text,), (None,)), ("hybrid",), text),
    ):
        assert not dangerous(drawn.plain.replace("\n", ""))


def _is_complete(pilot: Pilot[None]) -> bool:
    return "to come" not in str(pilot.app.screen.query_one("#facts", Static).visual) and bool(
        pilot.app.screen.query_one("#ranks", RecordList).records
    )


async def test_every_tool_has_its_rank_under_each_ranker_and_arrows_bring_the_rest() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder(), size=(80, 24)) as (pilot, _):
        await pilot.app.push_screen(CompareScreen(SearchRequest(QUERY), "shop:cancel_order"))
        await until(pilot, lambda: _is_complete(pilot))
        ranks = pilot.app.screen.query_one("#ranks", RecordList)
        assert len(ranks.records) == 11
        assert ranks.current is not None
        assert ranks.current.key == "shop:cancel_order"
        assert "fuzzy" not in seen(pilot)
        await pilot.press(*["right"] * 20)
        assert "hybrid" in seen(pilot)
        assert "fuzzy" in seen(pilot)
        await pilot.press(*["left"] * 20)
        assert "bm25" in seen(pilot)
        await pilot.press("w")
        assert isinstance(pilot.app.screen, WhyNotScreen)


async def test_a_tool_that_no_ranker_has_among_its_first_is_there_when_it_is_pinned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("inspector.app.pages.find.compare.screen._ROWS", 1)
    async with app_rig(servers=office()) as (pilot, _):
        await pilot.app.push_screen(CompareScreen(SearchRequest("refund"), "calendar:list_events"))
        await until(pilot, lambda: _is_complete(pilot))
        keys = [row.key for row in pilot.app.screen.query_one("#ranks", RecordList).records]
        assert keys[-1] == "calendar:list_events"
