"""What a race will probably take, told before a real model is asked twice."""

import pytest

from inspector.core.budget import Prices
from inspector.scenario.race import estimate
from tests.support.told_model import calls, says
from tests.support.workbench import connected

ORDERS = calls(("calc__evaluate", {}))


async def test_before_the_first_answer_nothing_is_known() -> None:
    async with connected() as rig:
        assert estimate(rig.bench) is None


async def test_both_sides_take_as_many_calls_as_the_last_message_and_static_binding_sends_every_tool() -> (
    None
):
    prices = Prices("told", input=0.5, output=1.0)
    async with connected(says("one"), ORDERS, says("two"), prices=(prices,)) as rig:
        await rig.bench.chat("a")
        await rig.bench.chat("b")
        guess = estimate(rig.bench)
        costs = rig.bench.state.costs
        assert guess is not None
        assert (len(costs), guess.calls) == (3, 4)
        found = sum(cost.parts.input for cost in costs[1:])
        bound = sum(cost.parts.system + cost.parts.history + cost.static_tools for cost in costs[1:])
        assert guess.tokens == found + bound
        assert guess.dollars == pytest.approx(0.5 * guess.tokens)


async def test_a_model_without_prices_has_an_estimate_without_dollars() -> None:
    async with connected(says("one")) as rig:
        await rig.bench.chat("a")
        guess = estimate(rig.bench)
        assert guess is not None
        assert guess.dollars is None
