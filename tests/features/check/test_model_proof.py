"""Proof by a model: what it chooses and how it calls it, errors apart, and nothing that is ever executed."""

import pytest

from inspector.core.budget import Prices
from inspector.core.error import ModelError
from inspector.core.message import ModelReply, Usage
from inspector.core.number import Share
from inspector.features.check.model_proof import ModelProof, Run, prove
from inspector.search.answer.expectation import Expectation
from tests.support.fakes import Step, ToldModel, calls, says, searches
from tests.support.workbench import connected, names

FORECAST = Expectation("forecast for Kyiv", frozenset({"weather:get_forecast"}))
NOTHING = Expectation("tell me a joke", frozenset())
RIGHT = ("weather__get_forecast", {"city": "Kyiv"})
PRICES = Prices("told", input=0.01, output=0.1, cache_read=0.001)


async def _runs(*steps: Step, one: Expectation = FORECAST, times: int = 1) -> tuple[list[Run], ToldModel]:
    model = ToldModel(*steps)
    async with connected() as rig:
        runs = [run async for run in prove(rig.bench, model, [one], times)]
        assert rig.received == 0
        assert rig.events("search_performed") == []
    return runs, model


async def test_a_model_searches_as_in_a_session_and_gets_what_is_found() -> None:
    (run,), model = await _runs(searches(query="forecast for a city"), calls(RIGHT))
    assert (run.is_right, run.problem, run.searches) == (True, "", 1)
    assert [("weather__get_forecast" in names(request)) for request in model.requests] == [False, True]
    assert "weather:get_forecast" in str(model.requests[1].messages[-1])


@pytest.mark.parametrize(
    ("step", "chosen", "failed"),
    [
        (calls(RIGHT), ("weather:get_forecast",), ""),
        (calls(("weather__get_forecast", {})), ("weather:get_forecast",), "$: 'city' is a required property"),
        (calls(("shop__list_orders", {})), ("shop:list_orders",), "shop:list_orders"),
        (calls(("no_such_tool", {})), ("no_such_tool",), "no_such_tool"),
        (calls(RIGHT, error="no JSON"), ("weather:get_forecast",), "no JSON"),
        (
            calls(("call_tool", {"name": "weather:get_forecast", "arguments": {"city": "x"}})),
            ("weather:get_forecast",),
            "",
        ),
        (says("I cannot."), (), "no call"),
    ],
)
async def test_what_is_chosen_and_whether_it_is_called_right(
    step: ModelReply, chosen: tuple[str, ...], failed: str
) -> None:
    (run,), _ = await _runs(step)
    assert (run.chosen, run.what_failed) == (chosen, failed)


async def test_where_no_tool_fits_no_call_is_right() -> None:
    (run,), _ = await _runs(says("A joke."), one=NOTHING)
    assert run.is_right
    (run,), _ = await _runs(calls(RIGHT), one=NOTHING)
    assert not run.is_right


async def test_a_model_that_only_searches_ends_without_a_choice() -> None:
    (run,), model = await _runs(*(searches(query="orders"),) * 9)
    assert (run.chosen, run.searches, len(model.requests)) == ((), 3, 4)


async def test_errors_of_the_model_are_counted_apart_and_are_no_misses() -> None:
    runs, _ = await _runs(calls(RIGHT), ModelError("rate limited"), says("no"), times=3)
    (proof,) = ModelProof("told", tuple(runs), 3).requests
    assert (proof.chosen, proof.called, proof.errors) == (Share(1, 2), Share(1, 1), 1)
    assert proof.told == "rate limited"


async def test_tokens_and_dollars_are_those_of_all_model_calls() -> None:
    usage = Usage(input_tokens=100, output_tokens=10, cached_tokens=40)
    steps = (searches(query="forecast"), calls(RIGHT))
    (run,), _ = await _runs(*(ModelReply("", one.tool_calls, usage) for one in steps))
    assert (run.input_tokens, run.output_tokens) == (200, 20)
    dollars = ModelProof("told", (run,), 1, PRICES).dollars
    assert dollars == pytest.approx(2 * (60 * 0.01 + 40 * 0.001 + 10 * 0.1))
    (run,), _ = await _runs(calls(RIGHT))
    assert run.input_tokens > 500  # Counted, as nothing was reported.
    assert ModelProof("told", (Run(FORECAST),), 1).dollars is None
