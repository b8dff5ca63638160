"""A call that a model writes as text: read, and made in the loop."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.core.ports import Decision
from inspector.core.settings import GuardSettings, Settings
from inspector.loop.rejection import written_calls
from tests.core.test_event import texts
from tests.loop.test_chat import Bench
from tests.support.fakes import calls, says, searches

NAMES = ("shop__list_orders", "search_tools")
CALL = '{"name": "shop__list_orders", "arguments": {"status": "late"}}'
OTHER = '{"name": "search_tools", "parameters": {"query": "mail"}}'
LATE = ("shop__list_orders", {"status": "late"})

# JSON that a strict parser reads: no lone surrogates, no number that JSON lacks.
plain = st.text(st.characters(codec="utf-8"), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(plain, values, max_size=3)
written = st.lists(st.tuples(st.sampled_from(NAMES), arguments), min_size=1, max_size=3)


def entries(calls: list[tuple[str, dict[str, Any]]], field: str) -> list[dict[str, Any]]:
    return [{"name": name, field: given} for name, given in calls]


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"\n  {CALL}\n",
        f"[{CALL}]",
        f"```json\n{CALL}\n```",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<think>\nThe shop knows.\n</think>\n\n<tool_call>{CALL}</tool_call>",
        '{"type": "function", "name": "shop__list_orders", "parameters": {"status": "late"}}',
    ],
)
def test_an_answer_that_is_nothing_but_a_call_is_understood_as_it(text: str) -> None:
    assert written_calls(text, NAMES) == (LATE,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{" * 100_000,
        "[" * 100_000,
        '{"name": "shop__list_orders"}',
        '{"name": "shop__list_orders", "arguments": "late"}',
        '{"name": "shop__list_orders", "arguments": {}, "parameters": {}}',
        '{"name": "shop__list_orders", "arguments": {}, "price": 3}',
        '{"name": "shop__list", "arguments": {}}',
        f"[{CALL}, 1]",
        f"{CALL}\n{OTHER}",
        f"<tool_call>{CALL}",
        f"<tool_call>{CALL}</tool_call> and so on",
        f"<think>{CALL}</think>",
    ],
)
def test_what_only_looks_like_a_call_is_an_answer(text: str) -> None:
    assert written_calls(text, NAMES) == ()


@given(written, st.sampled_from(("arguments", "parameters")), st.sampled_from((None, 1)))
def test_whatever_the_arguments_are_they_arrive_unchanged(
    calls: list[tuple[str, dict[str, Any]]], field: str, indent: int | None
) -> None:
    ready = [json.dumps(entry, indent=indent, ensure_ascii=False) for entry in entries(calls, field)]
    tagged = "\n".join(f"<tool_call>{text}</tool_call>" for text in ready)
    for text in (f"[{','.join(ready)}]", f"```json\n[{','.join(ready)}]\n```", tagged):
        assert list(written_calls(text, NAMES)) == calls


@given(
    written,
    texts.filter(str.strip),
    st.booleans(),
    st.sampled_from(("{}", "```json\n{}\n```", "<tool_call>{}</tool_call>")),
)
def test_a_call_that_a_longer_answer_quotes_is_never_made(
    calls: list[tuple[str, dict[str, Any]]], beside: str, before: bool, form: str
) -> None:
    quoted = form.replace("{}", json.dumps(entries(calls, "arguments")[0]))
    said = f"So: {beside}"
    assert written_calls(f"{said}\n\n{quoted}" if before else f"{quoted}\n\n{said}", NAMES) == ()


SUM = json.dumps({"name": "calc__evaluate", "arguments": {"expression": "1+1"}})


async def test_a_call_written_as_text_is_made() -> None:
    bench = Bench(says(SUM), says("2"))
    ended = await bench.say()
    assert bench.servers.calls == [("calc", "evaluate", {"expression": "1+1"})]
    assert (ended.outcome, ended.text) == ("answered", "2")


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
