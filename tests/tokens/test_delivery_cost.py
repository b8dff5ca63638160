"""What a session costs by delivery: a case worked out by hand, published figures, and what always holds."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.core.budget import Prices
from inspector.core.prompt_cache import CacheTerms
from inspector.tokens.cost import Delivery, SessionCost, compare, session_cost
from inspector.tokens.plan import Assumptions, Overhead, Plan, PlannedCall, PlannedTool, usual_plan
from tests.support.fakes import searched_early

TERMS = CacheTerms(write=1.25, read=0.1, ttl_seconds=300, minimum=1)
PRICES = Prices("m", 2e-6, 10e-6, source="a list", date="2026-01-01")
# Two tools in catalog order, three calls: b is found before the second, a before the third.
BY_HAND = Plan(
    (PlannedTool("a", 100), PlannedTool("b", 200)),
    Overhead(system=50, meta=30, manifest=20, call_tool=10, pool=40),
    (
        PlannedCall(growth=10, gated=("a",), output=1),
        PlannedCall(growth=20, discovered=("b",), gated=("a",), search=5, seconds=10, output=2),
        PlannedCall(growth=30, discovered=("a",), gated=("b",), search=5, seconds=10, output=3),
    ),
)


def of_hand(delivery: Delivery) -> SessionCost:
    return session_cost(BY_HAND, delivery, TERMS, PRICES)


def charges(cost: SessionCost) -> list[tuple[int, int]]:
    """(read, written) of each request."""
    return [(request.charge.read, request.charge.written) for request in cost.requests]


def test_static_binding_by_hand() -> None:
    """Tools 300, prompt 50, then 10, 20 and 30 tokens of conversation: no searches."""
    cost = of_hand(Delivery.STATIC)
    assert charges(cost) == [(0, 360), (360, 20), (380, 30)]
    assert cost.raw == 360 + 380 + 410
    assert cost.billed == pytest.approx(1.25 * 410 + 0.1 * 740) == pytest.approx(586.5)
    assert cost.dollars == pytest.approx(586.5 * 2e-6 + 6 * 10e-6)
    assert cost.hit_rate == pytest.approx(740 / 1150)
    assert cost.breaks == ()


def test_code_by_hand() -> None:
    """Declarations take half of a definition; the script of call 3 makes the calls of call 4 as well."""
    plan = Plan(
        BY_HAND.tools,
        replace(BY_HAND.overhead, run_script=15, declared=0.5),
        (*BY_HAND.calls, PlannedCall(growth=40, output=4, scripted=True), PlannedCall(growth=50, output=5)),
    )
    cost = session_cost(plan, Delivery.CODE, TERMS)
    # In front 30 + 20 + 15 and the prompt; results bring half of b, then half of a. Of call 4's growth the
    # three tokens of the answer before it stay, of the result nothing.
    grown = [10, 20 + 5 + 100, 30 + 5 + 50, 3 + 50]
    assert [request.charge.tokens for request in cost.requests] == [
        65 + 50 + sum(grown[:number]) for number in range(1, 5)
    ]
    assert [(request.call, request.output) for request in cost.requests] == [(1, 1), (2, 2), (3, 7), (5, 5)]
    assert cost.breaks == ()
    assert len(session_cost(plan, Delivery.CALL_TOOL, TERMS).requests) == 5


def test_rewriting_by_hand() -> None:
    """Only search_tools (50) stays in front: b moves the prompt, and a moves b."""
    cost = of_hand(Delivery.REWRITE)
    assert charges(cost) == [(0, 110), (50, 285), (50, 420)]
    assert cost.billed == pytest.approx(1.25 * 815 + 0.1 * 100)
    assert [(row.call, row.broke, row.again) for row in cost.breaks] == [
        (2, "tools[]: +b", 50 + 10),
        (3, "tools[]: +a", 200 + 50 + 10 + 25),
    ]


def test_appending_by_hand() -> None:
    """b stays where it is when a comes; prompt and conversation move all the same."""
    cost = of_hand(Delivery.APPEND)
    assert charges(cost) == [(0, 110), (50, 285), (250, 220)]
    assert cost.billed == pytest.approx(1.25 * 615 + 0.1 * 300)
    assert [(row.broke, row.again) for row in cost.breaks] == [
        ("tools[]: +b", 60),
        ("tools[]: +a", 50 + 10 + 25),
    ]


def test_a_proxy_by_hand() -> None:
    """Definitions come with the search results: 20 + 5 + 200, then 30 + 5 + 100."""
    cost = of_hand(Delivery.CALL_TOOL)
    assert charges(cost) == [(0, 120), (120, 225), (345, 135)]
    assert cost.billed == pytest.approx(1.25 * 480 + 0.1 * 465)
    assert cost.breaks == ()


def test_a_gate_by_hand() -> None:
    """Summaries in the prompt (90), one tool in front of it, which changes in the third call."""
    cost = of_hand(Delivery.GATE)
    assert charges(cost) == [(0, 200), (200, 20), (0, 350)]
    assert cost.billed == pytest.approx(1.25 * 570 + 0.1 * 200)
    assert [(row.call, row.broke, row.again) for row in cost.breaks] == [(3, "tools[]: +b, -a", 120)]


def test_a_conversation_that_is_cut_down_is_sent_anew() -> None:
    calls = (
        PlannedCall(500),
        PlannedCall(0, discovered=("b",), search=5, seconds=1),
        PlannedCall(60, seconds=1, anew=True),
    )
    plan = Plan(BY_HAND.tools, BY_HAND.overhead, calls)
    static = session_cost(plan, Delivery.STATIC, TERMS)
    assert static.requests[-1].charge.tokens == 300 + 50 + 60
    assert static.breaks[-1].broke == "the conversation was shortened"
    proxied = session_cost(plan, Delivery.CALL_TOOL, TERMS)
    assert proxied.requests[-1].charge.tokens == 60 + 50 + 60 + 200


def test_figures_that_were_measured_elsewhere_come_out_within_half_a_percent() -> None:
    """30 turns over 120 tools (47.3k tokens), four discoveries, writing 1.25, reading 0.1."""
    tools = [PlannedTool(f"s:t{number}", 395 if number % 6 == 0 else 394) for number in range(120)]
    assumed = Assumptions(calls_per_turn=1, searches_per_call=0, gate_tools=6, growth=1200)
    plan = searched_early(usual_plan(tools, Overhead(system=2000, manifest=800, pool=120 * 40), assumed))
    found = {cost.delivery: cost for cost in compare(plan, CacheTerms())}
    assert plan.tool_tokens == 47_300
    assert found[Delivery.STATIC].uncached.billed == pytest.approx(2_037_000, rel=0.005)
    assert found[Delivery.STATIC].cached.billed == pytest.approx(302_000, rel=0.005)
    assert found[Delivery.REWRITE].cached.billed == pytest.approx(189_000, rel=0.005)
    assert found[Delivery.CALL_TOOL].cached.billed == pytest.approx(124_000, rel=0.005)
    assert found[Delivery.GATE].cached.billed == pytest.approx(1_041_000, rel=0.005)


IDS = [f"t{number}" for number in range(8)]
SUBSETS = st.lists(st.sampled_from([*IDS, "gone"]), max_size=5).map(tuple)


@st.composite
def plans(draw: st.DrawFn, seconds: Sequence[float] = (0, 10, 300, 301, 4000)) -> Plan:
    sizes = draw(st.lists(st.integers(0, 500), min_size=1, max_size=len(IDS)))
    pinned = draw(st.sets(st.sampled_from(IDS)))
    tools = tuple(PlannedTool(id_, size, id_ in pinned) for id_, size in zip(IDS, sizes, strict=False))
    small = st.integers(0, 400)
    calls = st.builds(
        PlannedCall,
        growth=small,
        discovered=SUBSETS,
        gated=SUBSETS,
        search=small,
        seconds=st.sampled_from(seconds),
        output=small,
        anew=st.booleans(),
    )
    overhead = st.builds(Overhead, small, small, small, small, small)
    return Plan(tools, draw(overhead), tuple(draw(st.lists(calls, max_size=8))))


CACHES = st.builds(
    CacheTerms,
    write=st.sampled_from([1.0, 1.25, 2.0]),
    read=st.sampled_from([0.1, 0.5, 1.0]),
    ttl_seconds=st.sampled_from([0.0, 300.0, 3600.0]),
    minimum=st.sampled_from([0, 1, 400, 1024]),
)


@given(plans(), CACHES)
def test_every_token_is_charged_once_and_without_a_cache_in_full(plan: Plan, terms: CacheTerms) -> None:
    for cost in compare(plan, terms, PRICES):
        assert cost.uncached.billed == cost.uncached.raw == cost.uncached.plain
        cached = cost.cached
        assert cached.read + cached.written + cached.plain == cached.raw == cost.uncached.raw
        assert cached.billed == pytest.approx(
            terms.read * cached.read + terms.write * cached.written + cached.plain
        )
        assert cached.output == cost.uncached.output
        assert [row.broke for row in cost.uncached.requests] == [""] * len(cost.uncached.requests)


@given(plans(seconds=(0, 10, 300)), CACHES.filter(lambda terms: terms.ttl_seconds >= 300))
def test_a_cache_pays_for_static_binding_on_exactly_one_condition(plan: Plan, terms: CacheTerms) -> None:
    """(1 - read) x all requests but the last >= (write - 1) x the last one, in raw tokens.

    That is where the conversation only grows, no prefix expires, and the first request is long enough: every
    token is then written once, which adds up to the last request, and read whenever it is sent again.
    """
    calls = tuple(PlannedCall(call.growth + 1, seconds=call.seconds) for call in plan.calls)
    costs = compare(replace(plan, calls=calls), terms)[0]
    raw = [row.charge.tokens for row in costs.uncached.requests]
    if not raw or raw[0] < max(1, terms.minimum):
        return
    gain = (1 - terms.read) * sum(raw[:-1]) - (terms.write - 1) * raw[-1]
    assert costs.uncached.billed - costs.cached.billed == pytest.approx(gain)
