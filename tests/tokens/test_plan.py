"""What a conversation needs: assumed, of a catalog, and out of a record."""

from itertools import pairwise

import pytest
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.config.setting import with_values
from inspector.core.budget import TokenParts
from inspector.core.events import (
    CallFinished,
    CallStarted,
    CatalogBuilt,
    CatalogEntry,
    ContextReduced,
    Event,
    GateApplied,
    ModelRequested,
    ModelResponded,
    Record,
    ToolLoaded,
    UserSaid,
)
from inspector.core.message import Usage
from inspector.core.prompt_cache import CacheTerms
from inspector.core.server import ServerSpec
from inspector.core.settings import SentDelivery, Settings
from inspector.core.tool import Tool
from inspector.core.turns import turns
from inspector.schema.schema import Deferral, ModelFeatures
from inspector.session.setup import Setup, catalog_planner
from inspector.session.verdict import own_delivery
from inspector.tokens.cost import Delivery, compare, planned_requests
from inspector.tokens.plan import Assumptions, Overhead, Plan, PlannedTool, plan_of, solved_steps, usual_plan
from tests.support.fakes import calls, character_meter, says, searches
from tests.support.workbench import connected

TOOLS = [PlannedTool(f"s:t{number}", 100 + number) for number in range(50)]


def recorded(*events: Event) -> list[Record]:
    """One event a second."""
    return [Record("s", seq, 1000.0 + seq, event) for seq, event in enumerate(events, start=1)]


def request(turn: int, delivery: SentDelivery = "append", **parts: int) -> ModelRequested:
    return ModelRequested(turn, (), TokenParts(**parts), turn, delivery)


def catalog(*waiting: str, pinned: str = "") -> CatalogBuilt:
    entries = [CatalogEntry(id_, 100, deferred=True) for id_ in waiting]
    entries += [CatalogEntry(pinned, 40, deferred=False)] if pinned else []
    return CatalogBuilt("", tuple(entries), "", 0, 0)


def planned(*events: Event, assumed: Assumptions | None = None) -> Plan:
    plan = plan_of(recorded(*events), assumed)
    assert plan is not None
    return plan


def test_the_usual_plan_is_what_it_says() -> None:
    plan = usual_plan(TOOLS, Overhead(system=10))
    answered = [call for call in plan.calls if not call.only_searched]
    found = [id_ for call in plan.calls for id_ in call.discovered]
    assert len(answered) == 30
    assert len(plan.calls) == 35
    assert plan.steps == 20
    assert [bool(call.discovered) for call in plan.calls] == [call.only_searched for call in plan.calls]
    assert len(set(found)) == 15
    assert {call.growth for call in answered} == {1200}
    gates = [call.gated for call in answered]
    assert {len(set(gate)) for gate in gates} == {10}
    assert [one == other for one, other in pairwise(gates)] == [place % 3 != 0 for place in range(1, 30)]
    assert set(plan.assumed) >= {"growth", "searches_per_call", "seed"}
    assert "meta_tokens" not in plan.assumed


def test_a_plan_knows_the_manifest_that_its_limit_shortened() -> None:
    tools = tuple(Tool(f"server_{n}", "tool", f"Does thing {n}. And more.") for n in range(20))
    setup = Setup(
        tools, Configuration("test.json", tuple(ServerSpec(tool.server) for tool in tools)), Settings()
    )
    in_full = catalog_planner(setup, character_meter())(Assumptions()).overhead.manifest
    limited = with_values(Settings(), {"manifest.max_tokens": in_full // 2})
    overhead = catalog_planner(replace(setup, settings=limited), character_meter())(Assumptions()).overhead
    assert overhead.manifest == overhead.manifest_limit < in_full == overhead.manifest_in_full


@pytest.mark.parametrize(
    ("deferral", "way"), [("", "append"), ("tool_reference", "call_tool"), ("tool_search", "call_tool")]
)
def test_native_delivery_is_priced_as_what_the_model_gets(deferral: Deferral, way: str) -> None:
    native = with_values(Settings(), {"binding.delivery": "native"})
    assert own_delivery(native, ModelFeatures(deferral=deferral)) == way
    gate = with_values(native, {"binding.policy": "gate"})
    assert own_delivery(gate, ModelFeatures(deferral=deferral)) == "gate"


def test_a_recorded_search_session_by_hand() -> None:
    plan = planned(
        catalog("s:a", "s:b", pinned="s:p"),
        UserSaid("hi"),
        request(1, system=20, history=10, meta=30, manifest=5),
        ModelResponded(1, "", usage=Usage(output_tokens=7)),
        ToolLoaded("s:b", 100, "search: x"),
        request(2, system=20, history=10, meta=30, manifest=5, tools=100, searches=12),
        ModelResponded(2, "a" * 40),
        CallStarted("c", "s:b", {}),
        request(3, system=20, history=60, meta=30, manifest=5, tools=100, searches=12),
    )
    assert plan.tools == (
        PlannedTool("s:a", 100),
        PlannedTool("s:b", 100),
        PlannedTool("s:p", 40, pinned=True),
    )
    assert plan.overhead == Overhead(20, 30, 5, 80, 40 * 3, run_script=120, declared=0.7)
    first, second, third = plan.calls
    assert (first.growth, first.search, first.discovered, first.output) == (10, 0, (), 7)
    assert (second.growth, second.search, second.discovered, second.output) == (0, 12, ("s:b",), 10)
    assert (third.growth, third.search, third.seconds) == (50, 0, 3.0)
    assert second.only_searched
    assert set(first.gated) == {"s:a", "s:b"}
    assert set(plan.assumed) == {
        *("gate_tools", "seed", "call_tool_tokens", "summary_tokens"),
        *("run_script_tokens", "declared_share", "calls_per_script"),
    }


def test_a_session_without_searches_is_given_those_that_it_would_have_needed() -> None:
    plan = planned(
        CatalogBuilt("", tuple(CatalogEntry(id_, 50, deferred=False) for id_ in ("s:a", "s:b")), "", 0, 0),
        UserSaid("hi"),
        request(1, system=20, history=10, tools=100),
        ModelResponded(1, "", usage=Usage(output_tokens=9)),
        CallStarted("c", "s:a", {}),
        request(2, system=20, history=40, tools=100),
        ModelResponded(2, "", usage=Usage(output_tokens=3)),
        CallStarted("c", "s:a", {}),
    )
    assert [(call.growth, call.search, call.discovered, call.output) for call in plan.calls] == [
        (10, 0, (), 40),
        (0, 200, ("s:a",), 9),
        (30, 0, (), 3),
    ]
    assert not any(tool.pinned for tool in plan.tools)
    assert "its searches are assumed" in plan.basis
    static = compare(plan, CacheTerms())[0].uncached
    assert [row.charge.tokens for row in static.requests] == [130, 160]
    assert [row.output for row in static.requests] == [9, 3]


def test_what_a_gate_bound_is_not_drawn() -> None:
    gate = GateApplied("q", ("s:b",), (), 0.2, 1, 100, 1.0)
    plan = planned(catalog("s:a", "s:b"), UserSaid("hi"), gate, request(1, history=5, pool=60))
    assert plan.calls[0].gated == ("s:b",)
    assert plan.overhead.pool == 60
    assert "gate_tools" not in plan.assumed


def test_history_that_was_reduced_is_taken_anew() -> None:
    reduced = ContextReduced("compress", 900, 100, 4, "gone")
    plan = planned(catalog("s:a"), request(1, history=900, searches=30), reduced, request(2, history=100))
    assert (plan.calls[1].growth, plan.calls[1].search, plan.calls[1].anew) == (100, 0, True)


def test_schemas_in_search_results_are_not_counted_twice() -> None:
    plan = planned(
        catalog("s:a"),
        request(1, "text", history=5, meta=200),
        ToolLoaded("s:a", 100, "search: x"),
        request(2, "text", history=5, meta=200, searches=130),
    )
    assert plan.calls[1].search == 30
    assert plan.overhead.meta == 120


@pytest.mark.parametrize("events", [(), (catalog("s:a"), UserSaid("hi"))])
def test_a_session_without_a_model_call_has_no_plan(events: tuple[Event, ...]) -> None:
    assert plan_of(recorded(*events)) is None


@pytest.mark.parametrize("delivery", [Delivery.REWRITE, Delivery.APPEND])
async def test_a_session_is_planned_token_for_token_as_it_was_sent(delivery: Delivery) -> None:
    steps = (
        searches(query="refund an order"),
        calls(("shop__list_orders", {})),
        says("done"),
        searches(query="forecast for a city"),
        calls(("weather__get_forecast", {"city": "Oslo"})),
        says("rain"),
    )
    async with connected(*steps, values={"binding.delivery": delivery.value}) as rig:
        await rig.bench.chat("orders?")
        await rig.bench.chat("rain?")
        records, costs = rig.bench.records(), rig.bench.state.costs
    plan = plan_of(records)
    assert plan is not None
    sent = [sum(block.tokens for block in row.blocks) for row in planned_requests(plan, delivery)]
    assert sent == [cost.parts.input for cost in costs]


# Counting the steps that a session solved.


def called(
    tool: str, call_id: str = "1", *, ok: bool = True, by: str = "model", **arguments: int
) -> list[Event]:
    return [
        CallStarted(call_id, tool, arguments, by),  # type: ignore[arg-type]
        CallFinished(call_id, tool, ok, ""),
    ]


def solved(*calls: list[Event]) -> int:
    events = [event for call in calls for event in call]
    told = turns(Record("s", seq, 0.0, event) for seq, event in enumerate(events, start=1))
    return sum(len(solved_steps(turn)) for turn in told)


def test_a_successful_call_solves_a_step_and_a_failed_one_none() -> None:
    assert solved(called("a"), called("b", ok=False), called("c")) == 2
    assert solved([CallStarted("1", "a", {})]) == 0
    assert solved(called("a", by="user")) == solved() == 0
    one, other = called("a", "1"), called("b", "2", ok=False)
    assert solved([one[0], other[0], other[1], one[1]]) == 1
