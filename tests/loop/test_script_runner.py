"""Scripts in the chat: their calls are calls like any other, and only what they return reaches the model."""

from typing import Any

import pytest
from msgspec.structs import replace

from inspector.core.conversation import Conversation, ItemKind
from inspector.core.error import ProtocolError
from inspector.core.message import NoteMessage, ToolMessage
from inspector.core.ports import Decision
from inspector.core.settings import BindingSettings, Settings
from inspector.loop.script_runner import NOT_RUN
from inspector.schema.schema import PLAIN, SCRIPTED
from tests.loop.test_chat import Bench, bound_names
from tests.loop.test_gate import GATE
from tests.support.fakes import Step, calls, says, searches

CODE = Settings(binding=BindingSettings(delivery="code"))
FIND = searches(tool_names=["list_orders", "get_forecast", "refund_order"])
TWO = """const a = await shop__list_orders({"status":"late"});
const b = await weather__get_forecast({"city":a});
return b;"""


def bench_of(code: object, *steps: Step, decision: Decision = Decision.ONCE, live: bool = False) -> Bench:
    bench = Bench(FIND, calls(("run_script", {"code": code})), *steps, settings=CODE, decision=decision)
    bench.model.features = PLAIN if live else SCRIPTED
    return bench


def events(bench: Bench, kind: str) -> list[Any]:
    return [record.event for record in bench.store.read("s") if record.event.kind == kind]


async def test_declarations_are_found_and_a_script_hands_results_on_without_the_model() -> None:
    bench = bench_of(TWO, says("done"))
    await bench.say()
    found, result = bench.tool_messages()
    assert "declare function shop__list_orders(input: {}): Promise<unknown>;" in found
    assert bench.servers.calls == [
        ("shop", "list_orders", {"status": "late"}),
        ("weather", "get_forecast", {"city": "shop:list_orders did it"}),
    ]
    assert result == "weather:get_forecast did it"
    assert bound_names(bench.model.requests[-1]) == ["search_tools", "run_script", "calc__evaluate"]
    (ran,) = events(bench, "script")
    first = bench.binder.size(ToolMessage("call_1.1", "shop__list_orders", "shop:list_orders did it"))
    assert (ran.calls, ran.failed) == (2, "")
    assert abs(ran.withheld - first) <= len("call_00.1")
    shown = Conversation()
    for record in bench.store.read("s"):
        shown = shown.after(record)
    assert [item.title for item in shown.items if item.kind is ItemKind.CALL] == [
        "shop:list_orders",
        "weather:get_forecast",
    ]
    assert any(item.text == TWO and item.title.startswith("script: 2 calls") for item in shown.items)


async def test_a_live_models_script_is_shown_and_refused_and_no_call_is_made() -> None:
    bench = bench_of(TWO, says("ok"), live=True)
    await bench.say()
    assert bench.servers.calls == []
    (refused,) = events(bench, "reject")
    assert (refused.reason, refused.arguments) == (NOT_RUN, {"code": TWO})
    assert "the client executes scripts" in bench.tool_messages()[-1]


@pytest.mark.parametrize(
    "code", ["eval('1')", "", None, "const a = await shop__list_orders({});\nwhile (1);"]
)
async def test_what_is_no_script_of_the_few_forms_is_refused_with_the_reason(code: object) -> None:
    bench = bench_of(code, says("ok"))
    await bench.say()
    assert bench.servers.calls == []
    assert [event.reason for event in events(bench, "reject")] == ["unreadable script"]


async def test_a_call_that_fails_or_is_refused_stops_the_script() -> None:
    failing = bench_of(TWO, says("ok"))
    failing.servers.fails = ProtocolError("no luck")
    await failing.say()
    assert len(failing.servers.calls) == 1
    assert "call 1 of 2 failed" in failing.tool_messages()[-1]

    paying = "const a = await shop__refund_order({});\nconst b = await weather__get_forecast({});\nreturn b;"
    refused = bench_of(paying, says("ok"), decision=Decision.NO)
    await refused.say()
    assert refused.servers.calls == []
    assert len(events(refused, "reject")) == 1
    assert "refused the call" in refused.tool_messages()[-1]


async def test_a_tool_that_was_not_found_cannot_be_called_from_a_script_either() -> None:
    code = "const a = await shop__list_orders({});\nreturn a;"
    bench = Bench(calls(("run_script", {"code": code})), says("ok"), settings=CODE)
    bench.model.features = SCRIPTED
    await bench.say()
    assert bench.servers.calls == []
    assert "not loaded" in bench.tool_messages()[-1]


async def test_a_part_that_is_not_there_stops_the_script_in_words() -> None:
    bench = bench_of("const a = await shop__list_orders({});\nreturn a.rows[0];", says("ok"))
    await bench.say()
    assert bench.tool_messages()[-1] == "Error: the script stopped: a.rows[0] is undefined."
    (ran,) = events(bench, "script")
    assert (ran.calls, ran.failed) == (1, "a.rows[0] is undefined")
    assert ran.withheld > len("shop:list_orders did it")


async def test_a_search_says_nothing_beside_declarations_but_lists_what_was_declared_before() -> None:
    bench = Bench(FIND, FIND, says("ok"), settings=CODE)
    await bench.say()
    first, again = bench.tool_messages()
    assert all("declare function" in line for line in first.splitlines())
    assert "declare function" not in again
    assert "shop:list_orders" in again


async def test_the_guard_counts_calls_of_scripts() -> None:
    again = calls(("run_script", {"code": "const a = await shop__list_orders({});\nreturn a;"}))
    bench = Bench(FIND, *[again] * 3, says("ok"), settings=CODE)
    bench.model.features = SCRIPTED
    await bench.say()
    assert [event.tool for event in events(bench, "loop")] == ["shop:list_orders"]


async def test_a_gate_offers_declarations_before_the_message() -> None:
    gated = replace(GATE, binding=replace(GATE.binding, delivery="code"))
    bench = Bench(says("ok"), settings=gated)
    await bench.say("list orders by status")
    notes = [one.text for one in bench.model.requests[0].messages if isinstance(one, NoteMessage)]
    assert "declare function shop__list_orders" in notes[0]
