"""The why-not page: a tool against the one it has to beat, or why no search can find it."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st
from textual.pilot import Pilot
from textual.widgets import Static

from fixtures.hostile import HOSTILE
from inspector.adapters.memory.fakes import MemoryServer
from inspector.adapters.memory.vectors import MemoryEmbedder
from inspector.app.pages.find.compare.content import ORDER
from inspector.app.pages.find.what_if.screen import WhatIfScreen
from inspector.app.pages.find.why_not import content as present
from inspector.app.pages.find.why_not.absence import absence
from inspector.app.pages.find.why_not.screen import WhyNotScreen
from inspector.app.pages.tools.tool.screen import ToolScreen
from inspector.domain.catalog import Catalog
from inspector.domain.ranking import Outcome, Part, Score, SearchRequest, Signal
from inspector.domain.server import ServerPhase, SkippedTool
from inspector.domain.session import ServerState, SessionState
from inspector.domain.tool import Tool
from inspector.domain.toolset import ServerRule, Toolset
from inspector.engine.discovery.explanation.ledger import ledger
from inspector.engine.discovery.explanation.place import Place
from inspector.engine.discovery.explanation.why_not import LOOKED_UP, Rival, WhyNot
from tests.support.app import app_rig, until
from tests.support.office import office
from tests.support.picture import Shown, SnapCompare, after, still
from tests.widgets.hostile import dangerous
from tests.widgets.screen import lines
from widgets import RecordList

__all__ = ["still"]

QUERY = "send the customer of a late order a message"
TOOL = "shop:cancel_order"
values = st.floats(-10, 10).filter(lambda value: abs(value) > 1e-3)
parts = st.lists(
    st.builds(Part, st.sampled_from(Signal), st.sampled_from(["order", "late", "summary"]), values),
    max_size=6,
)


def _score(tool_id: str, of: list[Part]) -> Score:
    return Score(tool_id, math.fsum(part.value for part in of), tuple(of))


def _found(mine: list[Part], rival: list[Part], cut: Outcome | None = Outcome.OVER_LIMIT) -> WhyNot:
    own, other = _score("shop:a", mine), _score("shop:b", rival)
    return WhyNot(
        "shop:a",
        "hybrid",
        SearchRequest("late order"),
        Place(7, own.value, True),
        own,
        cut,
        Rival("shop:b", Place(5, other.value, True), other),
        ("late",),
        ledger(own, other),
        ("Say late.",),
        0.8,
    )


def _seen(pilot: Pilot[None]) -> str:
    return "\n".join(lines(pilot.app))


@given(parts, parts)
def test_the_ledger_adds_up_and_begins_with_the_biggest_loss(mine: list[Part], rival: list[Part]) -> None:
    found = _found(mine, rival)
    *rows, total = present.ledger_rows(found)
    differences = [float(str(row.cells[-1])) for row in rows]
    assert differences == sorted(differences)
    assert math.isclose(sum(differences), float(str(total.cells[-1])), abs_tol=0.0006 * (len(rows) + 1))
    assert "✓ adds up" in str(total.cells[1])


def test_a_ledger_that_does_not_add_up_says_so() -> None:
    found = replace(_found([Part(Signal.NAME, "a", 1.0)], [Part(Signal.NAME, "a", 2.0)]), ledger=())
    assert "✕ does not add up" in str(present.ledger_rows(found)[-1].cells[1])


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        (Outcome.OVER_LIMIT, "only 5 tools are returned, the last of them is shop:b"),
        (Outcome.BELOW_FLOOR, "its score is too low"),
        (Outcome.UNLIKELY, "too unlikely"),
        (Outcome.OTHER_SERVER, "limited to one server"),
        (Outcome.OTHER_TAG, "asks for tags"),
        (None, "✓ it is a result"),
    ],
)
def test_what_cut_a_tool_is_said_in_words(cut: Outcome | None, says: str) -> None:
    assert says in present.verdict(_found([], [], cut), limit=5, threshold=0.3, tools=84).plain


def test_an_abstained_search_says_what_it_lacked() -> None:
    found = replace(_found([], [], Outcome.ABSTAINED), probability=0.12)
    assert "p .12 < .30" in present.verdict(found, limit=5, threshold=0.3, tools=84).plain


def test_a_lookup_has_no_ledger_and_says_why() -> None:
    found = replace(_found([], [], Outcome.BELOW_FLOOR), rival=None, note=LOOKED_UP)
    assert present.ledger_rows(found) == ()
    assert "Nothing was ranked" in present.no_ledger(found)
    assert "other tools by name" in present.verdict(found, limit=5, threshold=0.3, tools=84).plain


def test_ranks_that_are_still_to_come_have_a_place() -> None:
    places = {"hybrid": Place(7, 1.0, True), "bm25": Place(3, 1.0, True), "dense": Place(9, 0.1, False)}
    text = present.ranks(places, ORDER, "hybrid", 50).plain
    assert "▸hybrid              7" in text
    assert "dense               –" in text
    assert text.count("…") == len(ORDER) - 3
    assert max(map(len, text.splitlines())) <= 50


CALC = Tool("calc", "evaluate", "Evaluate.")
SESSION = SessionState(
    servers={
        "calc": ServerState("calc", ServerPhase.READY),
        "shop": ServerState("shop", ServerPhase.READY, skipped=(SkippedTool("odd", "no schema"),)),
        "down": ServerState("down", ServerPhase.FAILED, reason="exit code 1"),
        "slow": ServerState("slow", ServerPhase.CONNECTING),
        "idle": ServerState("idle"),
    }
)


@pytest.mark.parametrize(
    ("tool_id", "says"),
    [
        ("calc:evaluate", "It is pinned"),
        ("down:anything", "failed: exit code 1"),
        ("slow:anything", "still connecting"),
        ("idle:anything", "not connected"),
        ("shop:odd", "is invalid: no schema"),
        ("shop:refund", "The toolset 'sums' hides every tool of the server 'shop'"),
        ("calc:evaluat", "No connected server has a tool of this name"),
        ("evaluate_it", "No connected server has a tool of this name"),
    ],
)
def test_a_tool_outside_the_index_has_its_reason(tool_id: str, says: str) -> None:
    sums = Toolset("sums", servers={"calc": ServerRule()})
    assert says in absence(tool_id, Catalog((CALC,)), SESSION, sums).reason


def test_a_name_that_nothing_has_brings_the_closest() -> None:
    assert "calc:evaluate" in absence("calc:evaluat", Catalog((CALC,)), SESSION, None).hint


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_does_no_harm(name: str) -> None:
    text = HOSTILE[name]
    found = replace(
        _found([Part(Signal.NAME, text, 1.0)], []),
        tool_id=text,
        request=SearchRequest(text),
        lacking=(text,),
        advice=(text,),
        note=text,
    )
    reason = absence(text, Catalog((CALC,)), SESSION, None)
    for content in (
        present.verdict(found, limit=5, threshold=0.3, tools=1),
        present.reasons(found),
        present.missing(text, text, reason),
        present.waiting(text, text),
    ):
        assert not dangerous(content.plain.replace("\n", "").replace("\t", ""))


async def _opened(pilot: Pilot[None], tool_id: str = TOOL) -> None:
    await pilot.app.push_screen(WhyNotScreen(tool_id, SearchRequest(QUERY)))
    await until(pilot, lambda: "…" not in str(pilot.app.screen.query_one("#ranks", Static).visual))


async def test_a_tool_is_set_against_the_last_result_and_ranked_by_every_ranker() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, _):
        await _opened(pilot)
        await until(pilot, lambda: "fuzzy-repaired" in _seen(pilot))
        seen = _seen(pilot)
        assert "✕ unlikely to fit" in seen
        assert "✓ adds up" in seen
        assert "not in this tool  " in seen
        assert "What would help" in seen
        await pilot.press("enter")
        assert isinstance(pilot.app.screen, ToolScreen)
        await pilot.press("escape", "e")
        assert isinstance(pilot.app.screen, WhatIfScreen)


async def test_p_pins_another_tool_also_one_that_no_search_finds() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, _):
        await _opened(pilot)
        await pilot.press("p", *"evaluate", "enter")
        await until(pilot, lambda: "It is pinned" in _seen(pilot))
        assert pilot.app.screen.query_one("#ledger", RecordList).records == ()
        await pilot.press("e")
        assert isinstance(pilot.app.screen, WhyNotScreen)
        await pilot.press("p", *"no_such_tool", "enter")
        await until(pilot, lambda: "No connected server has a tool of this name" in _seen(pilot))


async def test_a_tool_that_a_toolset_hides_is_told_of() -> None:
    async with app_rig(servers={**office(), "calc": MemoryServer([CALC])}) as (pilot, rig):
        rig.bench.switch_toolset("sums")
        await pilot.app.push_screen(WhyNotScreen("mail:send_message", SearchRequest(QUERY)))
        await until(pilot, lambda: "The toolset 'sums' hides every tool" in _seen(pilot))


async def _ready(pilot: Pilot[None]) -> None:
    await after(screen=lambda: WhyNotScreen(TOOL, SearchRequest(QUERY)))(pilot)
    await until(pilot, lambda: "fuzzy" in str(pilot.app.screen.query_one("#ranks", Static).visual))
    await until(pilot, lambda: "…" not in str(pilot.app.screen.query_one("#ranks", Static).visual))


@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
def test_why_not_looks_the_same(snap_compare: SnapCompare, size: tuple[int, int]) -> None:
    shown = Shown(servers=office(), embedder=MemoryEmbedder())
    assert snap_compare(shown, terminal_size=size, run_before=_ready)
