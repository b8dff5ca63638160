"""The why-not pane: a tool against the one it has to beat, or why no search can find it."""

import math
import re

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import TextArea

from inspector.app.draw.table import report_lines
from inspector.app.place import WhyNotPage
from inspector.core.ranking import Outcome, Part, Score, SearchRequest, Signal
from inspector.core.server import ServerPhase, SkippedTool
from inspector.core.session import ServerState, SessionState
from inspector.core.tool import Catalog, Tool
from inspector.features.check.finding import Effect, Proposal
from inspector.features.search import why_not_pane as content
from inspector.features.search.facts import reasons
from inspector.features.search.why_not_pane import missing_tool
from inspector.search.answer.standing import Standing
from inspector.search.answer.why_not import LOOKED_UP, Rival, WhyNot, ledger
from tests.support.app import app_rig, arrives, said, until
from tests.support.hostile import with_hostile_text
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.widgets.hostile import dangerous
from widgets import RecordList

QUERY = "send the customer of a late order a message"
TOOL = "shop:cancel_order"
# A request for which a sentence of its schema brings a tool among the first five.
HELPED, EVENTS = "list the appointments", "calendar:list_events"
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
        Standing(7, own.value, True),
        own,
        cut,
        Rival("shop:b", Standing(5, other.value, True), other),
        ("order",),
        ("late",),
        ledger(own, other),
        ("Say late.",),
        probability=0.8,
    )


@given(parts, parts)
def test_the_ledger_adds_up_and_begins_with_the_biggest_loss(mine: list[Part], rival: list[Part]) -> None:
    found = _found(mine, rival)
    total, *rows = content.ledger_rows(found)
    differences = [float(str(row.cells[-1])) for row in rows]
    assert differences == sorted(differences)
    assert math.isclose(sum(differences), float(str(total.cells[-1])), abs_tol=0.0006 * (len(rows) + 1))
    assert "✓ adds up" in str(total.cells[1])


def test_a_ledger_that_does_not_add_up_says_so() -> None:
    found = replace(_found([Part(Signal.NAME, "a", 1.0)], [Part(Signal.NAME, "a", 2.0)]), ledger=())
    assert "✕ does not add up" in str(content.ledger_rows(found)[0].cells[1])


@pytest.mark.parametrize(
    ("cut", "says"),
    [
        (Outcome.OVER_LIMIT, "only 5 tools are returned; the last one is shop:b"),
        (Outcome.BELOW_FLOOR, "its score is too low"),
        (Outcome.UNLIKELY, "too unlikely"),
        (Outcome.OTHER_SERVER, "limited to one server"),
        (Outcome.OTHER_TAG, "asks for tags"),
        (Outcome.WITHHELD, "the request does not clearly ask for that"),
        (Outcome.PINNED_FITS, "nothing is loaded beside it"),
        (None, "✓ it is a result"),
    ],
)
def test_what_cut_a_tool_is_said_in_words(cut: Outcome | None, says: str) -> None:
    assert says in content.verdict(_found([], [], cut), limit=5, closest=0.3, tools=84).plain


def test_a_lookup_has_no_ledger_and_says_why() -> None:
    found = replace(_found([], [], Outcome.BELOW_FLOOR), rival=None, note=LOOKED_UP)
    assert content.ledger_rows(found) == ()
    assert "Nothing was ranked" in content.no_ledger(found)
    assert "other tools by name" in content.verdict(found, limit=5, closest=0.3, tools=84).plain


def _proposal(text: str, rank: int, description: str = "") -> Proposal:
    effect = Effect("hybrid", {"late orders": (9, rank)}, 4)
    return Proposal("shop:a", text, description or f"Does it. {text}", effect)


def test_a_proposal_says_its_rank_its_tokens_and_whether_it_comes_first() -> None:
    row = content.proposal(_proposal("Use this for late orders.", 1))
    assert [str(cell) for cell in row.cells] == ["+ Use this for late orders.", "→ 1st", "+4"]
    first = content.proposal(_proposal("Finds it.", 2, "Finds it. Does it."))
    assert str(first.cells[0]) == "+ Finds it. as the first sentence"
    assert first.copy == "Finds it."


CALC = Tool("calc", "evaluate", "Evaluate.")
SESSION = SessionState(
    servers={
        "calc": ServerState("calc", ServerPhase.READY),
        "shop": ServerState("shop", ServerPhase.READY, skipped=(SkippedTool("odd", "no schema"),)),
        "down": ServerState("down", ServerPhase.FAILED, reason="exit code 1"),
        "slow": ServerState("slow", ServerPhase.CONNECTING),
        "idle": ServerState("idle"),
    },
    toolset="sums",
)


@pytest.mark.parametrize(
    ("tool_id", "says"),
    [
        ("down:anything", "failed: exit code 1"),
        ("slow:anything", "is connecting"),
        ("idle:anything", "is stopped"),
        ("shop:odd", "is invalid: no schema"),
        ("shop:refund", "No connected server has this tool, or the toolset 'sums' hides it."),
    ],
)
def test_a_tool_outside_the_index_has_its_reason(tool_id: str, says: str) -> None:
    assert says in missing_tool(tool_id, Catalog((CALC,)), SESSION)[0]


@with_hostile_text
def test_hostile_text_does_no_harm(text: str) -> None:
    found = replace(
        _found([Part(Signal.NAME, text, 1.0)], []),
        tool_id=text,
        request=SearchRequest(text),
        lacking=(text,),
        advice=(text,),
        note=text,
    )
    proposal = _proposal(text, 1)
    reason = missing_tool(text, Catalog((CALC,)), SESSION)
    for drawn in (
        content.verdict(found, limit=5, closest=0.3, tools=1),
        *report_lines(reasons(found), 80),
        Content("").join(cell for cell in content.proposal(proposal).cells if isinstance(cell, Content)),
        content.missing(text, text, *reason),
        content.waiting(text, text),
    ):
        assert not dangerous(drawn.plain.replace("\n", "").replace("\t", ""))


async def _opened(pilot: Pilot[None], tool_id: str = TOOL, query: str = QUERY) -> None:
    await arrives(pilot, WhyNotPage(tool_id, SearchRequest(query)))
    await until(pilot, lambda: "tried" in str(_proposals(pilot).border_title))


def _proposals(pilot: Pilot[None]) -> RecordList:
    return pilot.app.screen.query_one("#proposals", RecordList)


async def test_a_proposal_is_taken_as_a_draft_that_reaches_the_promised_rank() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, rig):
        await _opened(pilot, EVENTS, HELPED)
        await until(pilot, lambda: _proposals(pilot).has_focus_within)
        await pilot.press("end")
        proposal = _proposals(pilot).current
        assert proposal is not None
        promised = str(proposal.cells[1]).strip("→ stndrh")
        await pilot.press("enter")
        await until(pilot, lambda: said(pilot, "#mark") == "✓ ranks are current")
        assert pilot.app.screen.query_one("#description", TextArea).text == proposal.key
        assert re.search(rf" → {promised}(st|nd|rd|th)$", said(pilot, "#answer").splitlines()[0])
        assert rig.bench.catalog.require(EVENTS).description != proposal.key


async def test_e_goes_from_a_proposal_to_the_editor_with_it_unless_something_was_drafted() -> None:
    async with app_rig(servers=office(), embedder=MemoryEmbedder()) as (pilot, _):
        await _opened(pilot, EVENTS, HELPED)
        await until(pilot, lambda: _proposals(pilot).current is not None)
        proposal = _proposals(pilot).current
        assert proposal is not None
        await pilot.press("e")
        await until(pilot, lambda: said(pilot, "#mark") == "✓ ranks are current")
        text = pilot.app.screen.query_one("#description", TextArea)
        assert text.text == proposal.key
        text.text = "mine"
        await until(pilot, lambda: said(pilot, "#mark") == "✓ ranks are current")
        await _opened(pilot, EVENTS, HELPED)
        await pilot.press("e")
        await until(pilot, lambda: said(pilot, "#mark") == "✓ ranks are current")
        assert text.text == "mine"
