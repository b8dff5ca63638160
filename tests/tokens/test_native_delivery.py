"""Delivery `native`: the provider loads what a search finds, and `tools` does not change."""

from dataclasses import replace

import pytest

from inspector.core.message import ModelRequest, ToolMessage
from inspector.core.settings import BindingSettings, Settings
from inspector.core.tool import definition
from inspector.loop.model.litellm import marked_messages, marked_tools
from inspector.schema.schema import Deferral, ModelFeatures
from inspector.tokens.delivery import effective_delivery
from inspector.tokens.manifest import text_with
from tests.loop.test_chat import TOOLS, Bench, bound_names
from tests.support.fakes import Step, ToldModel, calls, says, searches

LIST, REFUND, FORECAST, _ = TOOLS
STEADY = ["search_tools", "calc__evaluate"]
NATIVE = BindingSettings(delivery="native", capacity=1)
DEFERRALS: tuple[Deferral, ...] = ("tool_reference", "tool_search")


class Deferring(ToldModel):
    """A told model whose provider loads definitions."""

    def __init__(self, deferral: Deferral, *steps: Step) -> None:
        super().__init__(*steps)
        self.features = ModelFeatures(deferral=deferral)


def bench_on(deferral: Deferral, *steps: Step) -> tuple[Bench, Deferring]:
    model = Deferring(deferral, *steps)
    return Bench(settings=Settings(binding=NATIVE), model=model), model


def results(request: ModelRequest) -> list[ToolMessage]:
    return [message for message in request.messages if isinstance(message, ToolMessage)]


@pytest.mark.parametrize("deferral", DEFERRALS)
async def test_a_found_tool_comes_with_the_result_and_the_array_stays(deferral: Deferral) -> None:
    found = searches(tool_names=["list_orders"])
    bench, model = bench_on(deferral, found, calls(("shop__list_orders", {})), says("done"))
    await bench.say()
    assert [bound_names(request) for request in model.requests] == [STEADY] * 3
    assert results(model.requests[1])[0].definitions == (definition(LIST),)
    assert results(model.requests[1])[0].text == ""
    assert bench.servers.calls == [("shop", "list_orders", {})]
    assert [event.delivery for event in bench.events("request")] == [deferral] * 3


async def test_nothing_is_unloaded_to_make_room() -> None:
    bench, _ = bench_on(
        "tool_reference",
        searches(tool_names=["list_orders"]),
        searches(tool_names=["get_forecast"]),
        calls(("shop__list_orders", {})),
        says("done"),
    )
    await bench.say()
    assert bench.events("evict") == []
    assert bench.session.state.load_order == (LIST.id, FORECAST.id)
    assert bench.servers.calls == [("shop", "list_orders", {})]


@pytest.mark.parametrize("deferral", DEFERRALS)
def test_a_tool_that_no_result_brings_is_in_the_array(deferral: Deferral) -> None:
    bench, _ = bench_on(deferral)
    bench.binder.context.bind(LIST, "by hand")
    request = bench.binder.request(())
    assert bound_names(request) == [*STEADY, LIST.wire_name]
    assert LIST.wire_name not in [entry["function"]["name"] for entry in request.deferred]


@pytest.mark.parametrize("deferral", DEFERRALS)
async def test_a_tool_whose_result_is_gone_from_the_conversation_moves_to_the_array(
    deferral: Deferral,
) -> None:
    bench, model = bench_on(deferral, searches(tool_names=["list_orders"]), says("done"))
    await bench.say()
    kept = bench.binder.request(model.requests[1].messages)
    assert bound_names(kept) == STEADY
    assert bound_names(bench.binder.request(())) == [*STEADY, LIST.wire_name]


async def test_a_tool_that_changed_is_sent_anew_and_its_old_definition_as_text() -> None:
    bench, model = bench_on("tool_reference", searches(tool_names=["list_orders"]), says("done"))
    await bench.say()
    changed = replace(LIST, description="List orders, newest first.")
    bench.binder.rebuild((changed, *TOOLS[1:]), {})
    request = bench.binder.request(model.requests[1].messages)
    assert bound_names(request) == [*STEADY, LIST.wire_name]
    (result,) = (wire for wire in marked_messages(request) if wire["role"] == "tool")
    assert result["content"] == text_with("", [definition(LIST)])
    assert [tool["function"]["name"] for tool in marked_tools(request) if tool.get("defer_loading")] == [
        REFUND.wire_name,
        FORECAST.wire_name,
    ]


@pytest.mark.parametrize(
    ("binding", "deferral", "delivery"),
    [
        (NATIVE, "tool_reference", "tool_reference"),
        (NATIVE, "tool_search", "tool_search"),
        (NATIVE, "", "append"),
        (replace(NATIVE, policy="gate"), "tool_search", "rewrite"),
        (BindingSettings(delivery="text"), "tool_search", "text"),
    ],
)
def test_native_is_what_the_model_can_do(binding: BindingSettings, deferral: Deferral, delivery: str) -> None:
    assert effective_delivery(binding, ModelFeatures(deferral=deferral)) == delivery
