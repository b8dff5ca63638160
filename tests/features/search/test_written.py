"""Sentences that the session's model writes for a description: asked for with a key, tried as ours are."""

import asyncio

from textual.pilot import Pilot

from inspector.app.place import WhyNotPage
from inspector.core.ranking import SearchRequest
from inspector.features.search.why_not_pane import WhyNotPane
from tests.support.app import app_rig, arrives, toasts, until
from tests.support.fakes import says
from widgets import RecordList

TOOL, ASKED = "shop:refund_order", "reimburse the unhappy buyer"


async def _explained(pilot: Pilot[None]) -> RecordList:
    await arrives(pilot, WhyNotPage(TOOL, SearchRequest(ASKED)))
    pane = pilot.app.screen.query_one(WhyNotPane)
    listed = pane.query_one("#proposals", RecordList)
    await until(pilot, lambda: pane.trial is not None and str(listed.border_title).startswith("Sentences"))
    return listed


def _rows(listed: RecordList) -> list[str]:
    return [str(record.cells[0]) for record in listed.records]


async def test_the_model_is_asked_only_with_its_key_and_its_sentence_is_shown_as_its_own_with_proof() -> None:
    answer = "Use this to reimburse an unhappy buyer.\nUse `drop_all` first."
    async with app_rig(says(answer)) as (pilot, rig):
        listed = await _explained(pilot)
        assert rig.model.requests == []
        assert "M asks the model" in str(listed.border_title)
        await pilot.press("M")
        await until(pilot, lambda: any(rig.model.name in row for row in _rows(listed)))
        assert len(rig.model.requests) == 1
        assert ASKED in str(rig.model.requests[0].messages)
        row = next(row for row in _rows(listed) if rig.model.name in row)
        assert "Use this to reimburse an unhappy buyer." in row
        assert not any("drop_all" in row for row in _rows(listed))
        assert "→ 1st" in str(listed.records[-1].cells[1])


async def test_the_rules_of_the_demo_are_not_asked_for_sentences() -> None:
    async with app_rig() as (pilot, rig):
        rig.model.name = "demo/planner"
        await _explained(pilot)
        await pilot.press("M")
        await until(pilot, lambda: "cannot write" in toasts(pilot))
        assert rig.model.requests == []


async def test_an_answer_for_another_tool_than_the_one_in_sight_is_dropped() -> None:
    async with app_rig(says("Use this to reimburse an unhappy buyer.")) as (pilot, rig):
        listed = await _explained(pilot)
        pane = pilot.app.screen.query_one(WhyNotPane)
        trial = pane.trial
        assert trial is not None
        await arrives(pilot, WhyNotPage("shop:list_orders", SearchRequest(ASKED)))
        await until(pilot, lambda: pane.trial is not None and pane.trial.tool_id == "shop:list_orders")
        pane.try_written(await trial.written_by(rig.model))
        await asyncio.sleep(0)
        await until(pilot, lambda: str(listed.border_title).startswith("Sentences"))
        assert not any(rig.model.name in row for row in _rows(listed))
