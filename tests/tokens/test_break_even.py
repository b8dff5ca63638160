"""From how many tools on a delivery pays."""

import math

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.prompt_cache import CacheTerms
from inspector.tokens.break_even import break_even_range, break_evens, ranges, scaled
from inspector.tokens.cost import Delivery, session_cost
from inspector.tokens.plan import Assumptions, Overhead, Plan, PlannedCall, PlannedTool, usual_plan

TERMS = CacheTerms(minimum=1)
DISCOVERY = (Delivery.REWRITE, Delivery.APPEND, Delivery.CALL_TOOL)
PLAN = usual_plan(
    [PlannedTool(f"s:t{n}", 394) for n in range(120)],
    Overhead(system=2000, meta=143, manifest=480, call_tool=80, pool=4800),
)


LIMITED = replace(PLAN, overhead=replace(PLAN.overhead, manifest_limit=500))


def costs_less(plan: Plan, delivery: Delivery, tools: int) -> bool:
    own, static = (session_cost(scaled(plan, tools), one, TERMS) for one in (delivery, Delivery.STATIC))
    return own.billed < static.billed


def test_one_call_by_hand() -> None:
    """n tools of 10 against search_tools of 45, without a prompt: 5 tools are more than 45."""
    plan = Plan((PlannedTool("a", 10), PlannedTool("b", 10)), Overhead(meta=45), (PlannedCall(7),))
    assert break_evens(plan, TERMS)[Delivery.APPEND] == 5
    assert break_evens(plan, TERMS)[Delivery.GATE] == 1


@pytest.mark.parametrize("plan", [PLAN, LIMITED], ids=["without a limit", "limited"])
@pytest.mark.parametrize("delivery", DISCOVERY)
def test_from_there_on_it_costs_less_and_before_it_does_not(plan: Plan, delivery: Delivery) -> None:
    found = break_evens(plan, TERMS)[delivery]
    assert found is not None
    assert not costs_less(plan, delivery, found - 1)
    beyond = (*range(found, found + 60, 10), 200, 1000, 5000)
    assert all(costs_less(plan, delivery, tools) for tools in beyond)


def test_a_manifest_at_its_limit_grows_no_further() -> None:
    manifests = [scaled(plan, 1000).overhead.manifest for plan in (PLAN, LIMITED)]
    assert manifests == [4000, 500]


def test_more_tools_than_the_most_and_no_tools_have_no_break_even() -> None:
    empty = Plan((), Overhead(), (PlannedCall(5),))
    assert break_evens(PLAN, TERMS, most=10)[Delivery.REWRITE] is None
    assert scaled(empty, 100).tools == ()
    assert break_evens(empty, TERMS)[Delivery.APPEND] is None


def test_a_break_even_is_a_range_over_the_assumptions() -> None:
    usual = Assumptions(calls=8)

    def plans(assumed: Assumptions) -> Plan:
        return usual_plan(PLAN.tools, PLAN.overhead, assumed)

    found = break_even_range(plans, usual, TERMS)
    spread = ranges(plans(usual), usual)
    assert set(spread) == {"calls", "growth", "searches_per_call", "pause"}
    for delivery, point in found.items():
        assert at_most(point.low) <= at_most(point.usual) <= at_most(point.high)
        assert point.low != point.high, delivery
    for ends in (
        {name: low for name, (low, _) in spread.items()},
        {n: high for n, (_, high) in spread.items()},
    ):
        other = break_evens(plans(replace(usual, **ends)), TERMS)
        for delivery, tools in other.items():
            assert at_most(found[delivery].low) <= at_most(tools) <= at_most(found[delivery].high)


def at_most(tools: int | None) -> float:
    """A break-even point as a number; never is beyond all others."""
    return math.inf if tools is None else tools


def test_an_assumption_that_a_record_replaces_is_not_varied() -> None:
    recorded = replace(PLAN, assumed=("gate_tools",))
    found = break_even_range(lambda _: recorded, Assumptions(), TERMS)
    assert all(point.low == point.usual == point.high for point in found.values())


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6), st.integers(1, 30))
def test_any_sizes_can_be_scaled(sizes: list[int], tools: int) -> None:
    listed = [PlannedTool(f"t{place}", size, place == 0) for place, size in enumerate(sizes)]
    other = scaled(usual_plan(listed, Overhead()), tools)
    assert abs(other.tool_tokens - sum(sizes) / len(sizes) * tools) <= 1 + len(other.tools)
    assert sum(tool.pinned for tool in other.tools) == 1
