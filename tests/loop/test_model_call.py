"""Model calls are made again by the rules of tool calls, within what a turn's repeats may cost."""

from collections.abc import Callable

import pytest

from inspector.core.budget import Prices
from inspector.core.error import FailureKind, ModelError
from inspector.core.fold import fold
from inspector.core.message import ModelReply, ModelRequest
from inspector.loop import retry
from tests.support.fakes import says
from tests.support.workbench import connected

ON = {"retry.enabled": True}
BUSY = ModelError("it is limiting your request rate", failure=FailureKind.RATE_LIMIT, retry_after=3.0)
NO_KEY = ModelError("no key")
_A_CENT_A_TOKEN = [Prices("told", 0.01, 0.01)]


def raises(error: ModelError) -> Callable[[ModelRequest], ModelReply]:
    """A model that fails before it says anything."""

    def fail(_request: ModelRequest) -> ModelReply:
        raise error

    return fail


async def test_a_failure_that_may_pass_is_asked_again_and_told() -> None:
    async with connected(raises(BUSY), raises(BUSY), says("done"), values=ON) as rig:
        ended = await rig.bench.chat("go")
        assert (ended.outcome, ended.text) == ("answered", "done")
        assert [(one.call, one.attempt, one.of, one.left) for one in rig.events("model_retry")] == [
            (1, 1, 3, 5),
            (1, 2, 3, 4),
        ]
        # Never sooner than the provider asked for.
        assert all(one.wait >= 3.0 for one in rig.events("model_retry"))
        assert rig.model.requests[0] == rig.model.requests[2]
        assert fold(rig.bench.records()) == rig.bench.state


@pytest.mark.parametrize(("error", "values"), [(NO_KEY, ON), (BUSY, {})])
async def test_what_will_not_pass_and_what_is_off_is_asked_once(
    error: ModelError, values: dict[str, object]
) -> None:
    async with connected(raises(error), says("done"), values=values) as rig:
        assert (await rig.bench.chat("go")).outcome == "failed"
        assert len(rig.model.requests) == 1


async def test_an_answer_that_people_have_begun_to_read_is_not_begun_again() -> None:
    async with connected(BUSY, says("done"), values=ON) as rig:
        assert (await rig.bench.chat("go")).outcome == "failed"
        assert len(rig.model.requests) == 1


async def test_the_repeats_of_a_turn_cost_no_more_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "_RETRIES_A_TURN", 10)
    values = {**ON, "retry.max_dollars": 15.0, "retry.attempts": 10}
    async with connected(*[raises(BUSY)] * 9, values=values, prices=_A_CENT_A_TOKEN) as rig:
        await rig.bench.chat("go")
        prices = [one.dollars for one in rig.events("model_retry")]
        # Another one would go over the limit.
        assert 0 < sum(prices) <= 15.0 < sum(prices) + prices[-1]
        assert len(rig.model.requests) == len(prices) + 1
        before = len(prices)
        await rig.bench.chat("again")
        assert len(rig.events("model_retry")) > before
