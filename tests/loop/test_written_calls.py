"""A model that writes its calls as text: the loop makes them, and says so."""

import json

import pytest

from inspector.core.ports import Decision
from inspector.core.settings import ChatSettings, GuardSettings, Settings
from tests.loop.test_chat import Bench
from tests.support.fakes import calls, says, searches

SUM = json.dumps({"name": "calc__evaluate", "arguments": {"expression": "1+1"}})
ORDERS = json.dumps({"name": "shop__list_orders", "arguments": {}})


async def test_a_call_written_as_text_is_made() -> None:
    bench = Bench(says(SUM), says("2"))
    ended = await bench.say()
    assert bench.servers.calls == [("calc", "evaluate", {"expression": "1+1"})]
    assert (ended.outcome, ended.text) == ("answered", "2")


async def test_the_record_keeps_the_text_and_labels_the_call() -> None:
    bench = Bench(says(SUM), says("2"))
    await bench.say()
    first, last = bench.events("response")
    assert (first.written, first.text) == (SUM, "")
    assert "written as text, understood as a call" in first.summary()
    assert (last.written, last.text) == ("", "2")


async def test_with_the_setting_off_the_text_is_the_answer() -> None:
    bench = Bench(says(SUM), settings=Settings(chat=ChatSettings(written_calls=False)))
    ended = await bench.say()
    assert (ended.outcome, ended.text) == ("answered", SUM)
    assert bench.servers.calls == []


async def test_a_written_call_that_changes_something_asks_first() -> None:
    refund = json.dumps({"name": "shop__refund_order", "arguments": {}})
    bench = Bench(searches(tool_names=["refund_order"]), says(refund), says("ok"), decision=Decision.NO)
    await bench.say()
    assert len(bench.approver.asked) == 1
    assert bench.servers.calls == []


async def test_a_model_that_has_to_think_makes_no_call_by_writing_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.support.fakes.says", lambda _text: says(SUM))
    again = calls(("calc__evaluate", {}))
    settings = Settings(guard=GuardSettings(max_repeats=1))
    bench = Bench(again, again, says("done"), settings=settings)
    await bench.say()
    thoughts = [event for event in bench.events("response") if event.thought]
    assert [(thought.text, thought.tool_calls) for thought in thoughts] == [(SUM, ())]
