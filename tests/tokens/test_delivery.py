"""How definitions reach a model: appended, rewritten, by a proxy, or natively."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.message import ModelRequest, ToolMessage
from inspector.core.ports import Decision
from inspector.core.session import SessionState
from inspector.core.settings import BindingSettings, Settings, ToolDelivery
from inspector.core.tool import Catalog, Tool, definition, function_definition
from inspector.loop.model.litellm import marked_messages, marked_tools
from inspector.schema.json_value import compact
from inspector.schema.schema import Deferral, ModelFeatures
from inspector.tokens.delivery import (
    DefinitionLoader,
    SentTools,
    effective_delivery,
    system_text,
)
from inspector.tokens.manifest import text_with
from tests.loop.test_chat import TOOLS, Bench, bound_names
from tests.support.fakes import Step, ToldModel, calls, find, says, searches

MODES = ("rewrite", "append", "call_tool", "text")
PROXIES: tuple[ToolDelivery, ...] = ("call_tool", "text")
LATE = {"status": "late"}


def bench_with(
    *steps: Step, delivery: ToolDelivery, capacity: int = 12, decision: Decision = Decision.ONCE
) -> Bench:
    binding = BindingSettings(delivery=delivery, capacity=capacity)
    return Bench(*steps, settings=Settings(binding=binding), decision=decision)


def proxied(name: Any, arguments: Any = None) -> tuple[str, Mapping[str, Any]]:
    return ("call_tool", {"name": name} | ({} if arguments is None else {"arguments": arguments}))


def sent(request: ModelRequest) -> list[str]:
    return [compact(entry) for entry in request.tools]


@pytest.mark.parametrize("delivery", MODES)
async def test_the_array_is_byte_for_byte_the_same_while_nothing_changes(delivery: ToolDelivery) -> None:
    bench = bench_with(
        searches(tool_names=["list_orders", "get_forecast"]),
        calls(("calc__evaluate", {})),
        calls(("shop__list_orders", {})),
        says("done"),
        delivery=delivery,
    )
    await bench.say()
    _, *after = (sent(request) for request in bench.model.requests)
    assert after == [after[0]] * 3
    told = [(event.same, event.resent, event.change) for event in bench.events("request")]
    assert told[2:] == [(sum(map(len, after[0])), 0, "unchanged")] * 2


@given(st.lists(st.lists(st.integers(0, len(TOOLS) - 1), max_size=3), max_size=6))
def test_appending_keeps_everything_before_a_new_tool(found: list[list[int]]) -> None:
    bench = bench_with(delivery="append", capacity=0)
    before: list[str] = []
    for positions in found:
        find(bench.session, bench.binder.context, [TOOLS[position].id for position in positions])
        after = sent(bench.binder.request(()))
        assert after[: len(before)] == before
        before = after


@given(st.permutations([tool.id for tool in TOOLS]), st.integers(0, len(TOOLS)))
def test_rewriting_is_in_catalog_order_whatever_was_found_first(order: list[str], count: int) -> None:
    bench = bench_with(delivery="rewrite")
    find(bench.session, bench.binder.context, order[:count])
    bound = [tool.wire_name for tool in TOOLS if tool.id in (*order[:count], "calc:evaluate")]
    assert bound_names(bench.binder.request(())) == ["search_tools", *bound]


@given(st.lists(st.sampled_from([tool.id for tool in TOOLS]), max_size=6), st.sampled_from(PROXIES))
def test_behind_the_proxy_no_search_and_no_eviction_changes_the_array(
    found: list[str], delivery: ToolDelivery
) -> None:
    bench = bench_with(delivery=delivery, capacity=1)
    before = sent(bench.binder.request(()))
    assert bound_names(bench.binder.request(())) == ["search_tools", "call_tool", "calc__evaluate"]
    for tool_id in found:
        find(bench.session, bench.binder.context, [tool_id])
        assert sent(bench.binder.request(())) == before


@pytest.mark.parametrize("delivery", PROXIES)
@pytest.mark.parametrize("name", ["shop__list_orders", "shop:list_orders", "list_orders"])
async def test_a_found_tool_is_called_through_the_proxy_by_any_of_its_names(
    delivery: ToolDelivery, name: str
) -> None:
    bench = bench_with(
        searches(tool_names=["list_orders"]), calls(proxied(name, LATE)), says("done"), delivery=delivery
    )
    await bench.say()
    assert bench.servers.calls == [("shop", "list_orders", LATE)]
    assert bench.tool_messages()[-1] == "shop:list_orders did it"


@pytest.mark.parametrize(
    "call",
    [
        proxied(""),
        proxied("\ud800\x00" * 50),
        proxied("call_tool", {"name": "shop__list_orders", "arguments": {}}),
    ],
)
async def test_a_proxied_call_that_names_no_tool_is_rejected(call: tuple[str, Mapping[str, Any]]) -> None:
    bench = bench_with(searches(tool_names=["list_orders"]), calls(call), says("ok"), delivery="call_tool")
    assert (await bench.say()).outcome == "answered"
    assert bench.servers.calls == []
    assert len(bench.events("reject")) == 1


NAMES = st.sampled_from("abcde")
ARRAYS = st.lists(
    st.dictionaries(NAMES, st.text(max_size=6), max_size=5).flatmap(
        lambda entries: st.permutations(list(entries.items()))
    ),
    max_size=5,
)


def entries(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    return [function_definition(name, about, {}) for name, about in pairs]


@given(ARRAYS)
def test_what_stays_and_what_is_sent_anew_is_the_whole_array(arrays: list[list[tuple[str, str]]]) -> None:
    tools = SentTools(len)
    before: list[str] | None = None
    for pairs in arrays:
        after = [compact(entry) for entry in entries(pairs)]
        told = tools.send(entries(pairs))
        assert told.same + told.resent == sum(map(len, after))
        assert (told.change == "unchanged") == (after == before)
        assert (told.change == "first call") == (before is None)
        assert not (told.change == "unchanged" and told.resent)
        kept = next(n for n in range(len(after), -1, -1) if after[:n] == (before or [])[:n])
        assert told.same == sum(map(len, after[:kept]))
        before = after


@pytest.mark.parametrize(
    ("after", "change"),
    [
        ([("a", "x"), ("b", "y")], "unchanged"),
        ([("a", "x"), ("b", "y"), ("c", "z")], "+c"),
        ([("b", "y"), ("a", "x")], "order"),
        ([("c", "z"), ("b", "new")], "+c -a ~b"),
        ([], "-a -b"),
    ],
)
def test_a_change_is_told_in_a_line(after: list[tuple[str, str]], change: str) -> None:
    tools = SentTools(len)
    tools.send(entries([("a", "x"), ("b", "y")]))
    assert tools.send(entries(after)).change == change


def test_the_model_is_told_of_searches_only_where_a_tool_waits_for_one() -> None:
    waiting, bound = SessionState(manifest="shop: list_orders"), SessionState(advisory=True)
    assert "search_tools" in system_text("Be brief.", waiting)
    assert system_text("Be brief.", bound) == "Be brief."
    every = SessionState(instructions="Ask first.", pool="- shop:list_orders: Lists.")
    assert system_text("Be brief.", every) == "Be brief.\n\nAsk first.\n\n- shop:list_orders: Lists."


SHELVED = tuple(Tool("s", name, f"Does {name}.") for name in "abcdef")


def test_a_stale_id_resolves_to_the_only_tool_of_its_name() -> None:
    loader = DefinitionLoader(Catalog(SHELVED))
    assert loader.resolve("s:a") is SHELVED[0]
    assert loader.resolve("before:a") is SHELVED[0]
    loader.use(Catalog((*SHELVED, Tool("other", "a"))))
    assert loader.resolve("before:a") is None
    assert loader.resolve("s:a") is SHELVED[0]


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


@pytest.mark.parametrize("deferral", DEFERRALS)
async def test_a_tool_whose_result_is_gone_from_the_conversation_moves_to_the_array(
    deferral: Deferral,
) -> None:
    bench, model = bench_on(deferral, searches(tool_names=["list_orders"]), says("done"))
    await bench.say()
    kept = bench.binder.request(model.requests[1].messages)
    assert bound_names(kept) == STEADY
    alone = bench.binder.request(())
    assert bound_names(alone) == [*STEADY, LIST.wire_name]
    assert LIST.wire_name not in [entry["function"]["name"] for entry in alone.deferred]


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
