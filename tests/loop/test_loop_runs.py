"""Whole sessions in which the model loops: the call runs, its tool goes, and the model has to think."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from hypothesis import given, strategies as st

from inspector.core.fold import fold
from inspector.core.message import AssistantMessage, ModelReply, ModelRequest, NoteMessage
from inspector.core.session import Binding
from tests.support.examples import examples
from tests.support.fakes import Step, calls, says, searches
from tests.support.office import office
from tests.support.workbench import Rig, connected, names

PINNED = "calc__evaluate"
FIND_ORDERS = searches(tool_names=["list_orders"])


def orders() -> ModelReply:
    return calls(("shop__list_orders", {"customer": "Ada"}))


@asynccontextmanager
async def running(*steps: Step, **options: Any) -> AsyncGenerator[Rig, None]:
    """The office under the profile `kaman`; at the end the stream has to give the state."""
    async with connected(*steps, servers=office(), profile="kaman", **options) as rig:
        yield rig
        assert fold(rig.bench.records()) == rig.bench.state


LOOP = (FIND_ORDERS, orders(), orders(), orders())


async def test_the_call_runs_then_its_tool_goes_and_the_model_has_to_think() -> None:
    async with running(*LOOP, says("done")) as rig:
        await rig.bench.chat("hello")
        assert rig.received == 3
        assert [(e.tool, e.cause) for e in rig.events("evict")] == [("shop:list_orders", "loop")]
        assert [request.think for request in rig.model.requests] == [False] * 4 + [True, False]
        thinking, after = rig.model.requests[-2:]
        assert isinstance(thinking.messages[-1], NoteMessage)
        assert [m.text for m in after.messages if isinstance(m, AssistantMessage) and m.thought] == [
            "I think about it."
        ]
        assert "shop__list_orders" not in names(after)


async def test_whoever_finds_the_tool_again_may_use_it_again() -> None:
    async with running(*LOOP, FIND_ORDERS, orders(), orders(), says("done")) as rig:
        await rig.bench.chat("hello")
        assert rig.received == 5
        assert [event.in_time for event in rig.events("count")] == [1, 2, 3, 1, 2]
        assert rig.bench.state.tools["shop:list_orders"].binding is Binding.LOADED


async def test_a_think_turn_counts_as_a_step_of_the_cap() -> None:
    async with running(*LOOP, says("never"), values={"chat.max_steps": 5}) as rig:
        ended = await rig.bench.chat("hello")
        assert ended.outcome == "capped"
        assert "5 model calls" in ended.text
        assert "chat.max_steps" in ended.text
        assert len(rig.model.requests) == 5
        assert not rig.bench.state.busy


@examples(share=0.5)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([PINNED, "shop__list_orders", "mail__list_folders", "no__such", "search_tools"]),
            st.integers(0, 1),
        ),
        max_size=30,
    )
)
def test_no_call_of_a_bound_tool_is_ever_blocked(sequence: list[tuple[str, int]]) -> None:
    bound = 0

    def step(name: str, value: int) -> Step:
        def reply(request: ModelRequest) -> ModelReply:
            nonlocal bound
            bound += name in names(request) and name != "search_tools"
            found = {"tool_names": ["list_orders", "list_folders"]}
            return calls((name, found if name == "search_tools" else {"n": value}))

        return reply

    async def run() -> tuple[int, int, int]:
        steps = [step(name, value) for name, value in sequence]
        async with running(*steps, values={"chat.max_steps": 1000}) as rig:
            await rig.bench.chat("hello")
            return rig.received, len(rig.events("call")), len(rig.events("count"))

    assert asyncio.run(run()) == (bound, bound, bound)
