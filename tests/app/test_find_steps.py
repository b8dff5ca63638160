"""The steps pane: one search for everything against one search a step."""

from hypothesis import given, strategies as st

from inspector.app.pages.find import steps as content
from inspector.app.pages.tools.catalog.screen import ToolsScreen
from inspector.app.place import StepsPage
from inspector.core.ranking import Answer, SearchRequest
from inspector.search.explanation.standing import Steps, StepSearch
from tests.support.app import app_rig, arrives, seen, until
from tests.support.hostile import with_hostile_text
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.widgets.hostile import dangerous
from widgets import RecordList

QUERY = "refund the order, then send a message and create an event"
ids = st.lists(st.sampled_from([f"s:t{n}" for n in range(8)]), max_size=5, unique=True)


def _steps(whole: list[str], steps: list[list[str]]) -> Steps:
    every = dict.fromkeys(tool_id for step in steps for tool_id in step)
    return Steps(
        StepSearch("all of it", tuple(whole), 0.9),
        tuple(StepSearch(f"step {n}", tuple(step), 0.5) for n, step in enumerate(steps)),
        tuple(tool_id for tool_id in every if tool_id not in whole),
        tuple(tool_id for tool_id in whole if tool_id not in every),
    )


@given(ids, st.lists(ids, min_size=1, max_size=5))
def test_every_tool_that_any_search_finds_has_one_row(whole: list[str], steps: list[list[str]]) -> None:
    rows = content.rows(_steps(whole, steps))
    keys = [row.key for row in rows]
    assert sorted(keys) == sorted({*whole, *(tool_id for step in steps for tool_id in step)})
    assert all(len(row.cells) == len(content.columns(len(steps))) for row in rows)


def test_a_row_says_where_the_tool_stands_and_who_finds_it() -> None:
    rows = content.rows(_steps(["s:a", "s:b"], [["s:a"], ["s:c", "s:a"]]))
    assert [tuple(map(str, row.cells)) for row in rows] == [
        ("s:a", "1", "1", "2", "both"),
        ("s:b", "2", "–", "–", "▼ whole"),
        ("s:c", "–", "–", "1", "▲ steps"),
    ]


def test_a_search_that_found_nothing_says_so() -> None:
    found = Steps(StepSearch("zebra", (), 0.1, Answer.NOTHING), (), (), ())
    assert "nothing   confidence 10 %, needs 30 %" in content.searches(found, "hybrid", 5, 0.3).plain


@with_hostile_text
def test_hostile_text_does_no_harm(text: str) -> None:
    search = StepSearch(text, (text,))
    found = Steps(search, (search, search), (), ())
    for drawn in (content.searches(found, "hybrid", 5, 0.3), content.waiting(text)):
        assert not dangerous(drawn.plain.replace("\n", ""))


async def test_the_pane_sets_the_steps_beside_the_whole() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, _):
        await arrives(pilot, StepsPage(SearchRequest(QUERY)))
        await until(pilot, lambda: "found only by steps" in seen(pilot))
        assert "step 1 refund the order" in seen(pilot)
        assert "step 3 create an event" in seen(pilot)
        results = pilot.app.screen.query_one("#step-results", RecordList)
        ranks = [str(row.cells[1]) for row in results.shown]
        assert ranks[:3] == ["1", "2", "3"]
        await until(pilot, lambda: results.has_focus_within)
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, ToolsScreen)
