"""Whole sessions under every profile: what the model is sent, what goes, and what the stream says of it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.config.setting import PROFILES
from inspector.core.fold import fold
from inspector.core.message import ModelReply, ModelRequest
from inspector.core.tool import Tool
from tests.support.examples import examples
from tests.support.fakes import Step, calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.support.workbench import READS, Rig, connected, names

SEARCHING = [name for name in PROFILES if name not in ("static", "attention")]
PINNED = "calc__evaluate"
LIST_ORDERS = "List the orders of a customer, late ones first."
KEPT = 8


def crowd(number: int = 20) -> dict[str, MemoryServer]:
    """One server of so many tools, and calc, whose tool is always loaded."""
    tools = [Tool("many", f"job_{n:02}", f"Do job {n}.", annotations=READS) for n in range(number)]
    return {"many": MemoryServer(tools), "calc": office()["calc"]}


@asynccontextmanager
async def running(profile: str, *steps: Step, **options: Any) -> AsyncGenerator[Rig, None]:
    """The office under a profile, with nothing said yet; at the end the stream has to give the state."""
    defaults = {"servers": office(), "embedder": MemoryEmbedder()}
    async with connected(*steps, profile=profile, **{**defaults, **options}) as rig:
        yield rig
        assert fold(rig.bench.records()) == rig.bench.state


def jobs(*numbers: int) -> ModelReply:
    return searches(tool_names=[f"job_{n:02}" for n in numbers])


def orders(customer: str = "Ada") -> ModelReply:
    return calls(("shop__list_orders", {"customer": customer}))


FIND_ORDERS = searches(tool_names=["list_orders"])


@pytest.mark.parametrize("profile", PROFILES)
async def test_the_same_conversation_ends_with_one_call_and_an_answer(profile: str) -> None:
    async with running(profile, searches(query=LIST_ORDERS), orders(), says("One is late.")) as rig:
        ended = await rig.bench.chat(LIST_ORDERS)
        assert (ended.outcome, ended.text) == ("answered", "One is late.")
        assert rig.servers["shop"].calls == [("list_orders", {"customer": "Ada"})]
        assert len(rig.events("search")) == (profile in SEARCHING)
        assert ("search_tools" in names(rig.model.requests[0])) == (profile in SEARCHING)
        assert rig.bench.state.profile == profile


class TestStatic:
    async def test_everything_is_bound_on_every_call_and_nothing_ever_goes(self) -> None:
        async with running("static", *[orders()] * 6, says("done")) as rig:
            await rig.bench.chat("hello")
            assert {len(request.tools) for request in rig.model.requests} == {11}
            assert rig.received == 6
            assert rig.events("evict") == rig.events("loop") == []


class TestPrd:
    async def test_found_tools_stay_for_ever(self) -> None:
        steps = (searches(server_name="many"), says("a"), jobs(3), says("b"))
        async with running("prd", *steps, servers=crowd()) as rig:
            await rig.bench.chat("first")
            rig.clock.advance(1e9)
            await rig.bench.chat("second")
            assert len(names(rig.model.requests[-1])) == 22
            assert rig.events("evict") == []

    async def test_a_loop_is_left_alone(self) -> None:
        async with running("prd", FIND_ORDERS, *[orders()] * 5, says("done")) as rig:
            await rig.bench.chat("hello")
            assert rig.received == 5
            assert rig.events("loop") == []
            assert not any(request.think for request in rig.model.requests)


class TestKaman:
    async def test_no_call_has_more_discovered_tools_than_there_is_room_for(self) -> None:
        steps = [jobs(n, n + 1, n + 2) for n in range(0, 18, 3)]
        async with running("kaman", *steps, says("done"), servers=crowd()) as rig:
            await rig.bench.chat("hello")
            discovered = [len(names(request)) - 2 for request in rig.model.requests]
            assert discovered == [0, 3, 6, 8, 8, 8, 8]
            assert {event.cause for event in rig.events("evict")} == {"lru"}

    async def test_more_than_there_is_room_for_is_told_as_not_loaded(self) -> None:
        async with running("kaman", searches(server_name="many"), says("done"), servers=crowd(10)) as rig:
            await rig.bench.chat("hello")
            assert len(rig.bench.state.load_order) == KEPT
            told = rig.results[0].rpartition("Not loaded")[2]
            assert "many:job_08, many:job_09" in told
            (event,) = rig.events("search")
            assert [hit.tool_id for hit in event.report.results] == rig.loaded

    @examples(share=0.5)
    @given(
        st.lists(st.lists(st.integers(0, 11), min_size=1, max_size=12), min_size=1, max_size=5),
        st.integers(0, 9),
        st.one_of(st.none(), st.floats(0.01, 1)),
    )
    def test_what_the_last_search_tells_as_loaded_is_loaded(
        self, sequence: list[list[int]], capacity: int, share: float | None
    ) -> None:
        values = {
            "binding.capacity": capacity,
            "binding.adaptive": share is not None,
            "binding.share": share or 0.2,
            "guard.enabled": False,
        }

        async def run() -> None:
            steps = [jobs(*numbers) for numbers in sequence]
            async with running("kaman", *steps, servers=crowd(12), values=values) as rig:
                await rig.bench.chat("hello")
                last = rig.events("search")[-1]
                results = {hit.tool_id for hit in last.report.results}
                assert results <= set(rig.bench.state.load_order)
                assert {f"many:job_{n:02}" for n in sequence[-1]} - results == {
                    hit.tool_id for hit in last.report.hits if not hit.outcome.is_result
                }

        asyncio.run(run())


class TestAttention:
    ASKED = "Cancel an order that has not been sent yet, and refund an order in full."

    async def test_there_is_no_search_and_every_tool_has_a_line_in_the_prompt(self) -> None:
        async with running("attention", says("a"), says("b")) as rig:
            await rig.bench.chat(self.ASKED)
            await rig.bench.chat("Create a calendar event and invite people.")
            first, second = rig.model.requests
            assert first.system == second.system
            assert all(f"{tool.id}: " in first.system for tool in rig.bench.catalog.tools)
            assert "search_tools" not in names(first) + names(second)
            assert rig.bench.state.manifest == ""

    async def test_each_turn_binds_what_fits_it(self) -> None:
        async with running("attention", says("a"), says("b")) as rig:
            await rig.bench.chat(self.ASKED)
            await rig.bench.chat("Create a calendar event and invite people.")
            first, second = map(names, rig.model.requests)
            assert "shop__cancel_order" in first
            assert "calendar__create_event" not in first
            assert "calendar__create_event" in second
            assert [len(event.active) for event in rig.events("gate")] == [len(first), len(second)]

    async def test_a_call_of_what_is_not_active_is_rejected_as_json(self) -> None:
        async with running("attention", calls(("calendar__create_event", {"title": "x"})), says("a")) as rig:
            await rig.bench.chat(self.ASKED)
            answer = json.loads(rig.results[0])
            assert answer["error"] == "tool_not_available"
            assert "shop__cancel_order" in answer["available"]
            assert rig.received == 0


async def test_advisory_binds_everything_and_its_search_binds_nothing_and_ranks() -> None:
    async with running("advisory", searches(query="list orders"), says("done")) as rig:
        await rig.bench.chat("hello")
        assert {len(request.tools) for request in rig.model.requests} == {12}
        assert rig.results[0].startswith("Best tools for 'list orders' (ranked by relevance):\n1. ")
        assert "now loaded" not in rig.results[0]
        assert rig.events("load") == []


class TestToolsight:
    async def test_found_tools_are_appended_so_that_the_prefix_stays(self) -> None:
        steps = (searches(tool_names=["send_message"]), FIND_ORDERS, says("done"))
        async with running("toolsight", *steps) as rig:
            await rig.bench.chat("hello")
            arrays = [request.tools for request in rig.model.requests]
            assert names(rig.model.requests[-1])[-2:] == ["mail__send_message", "shop__list_orders"]
            assert all(after[: len(before)] == before for before, after in pairwise(arrays))
            assert [event.change for event in rig.events("request")][1:] == [
                "+mail__send_message",
                "+shop__list_orders",
            ]


async def test_nobody_is_told_to_search_where_there_is_no_search() -> None:
    async with running("prd", orders(), says("done"), values={"discovery.search_tool": False}) as rig:
        await rig.bench.chat("hello")
        assert rig.results == ["Error: The tool shop:list_orders is not loaded."]


class TestChangesDuringASession:
    async def test_another_profile_takes_effect_on_the_next_model_call(self) -> None:
        async with running("prd") as rig:

            def switch(_request: ModelRequest) -> ModelReply:
                rig.bench.policy.use("static")
                return orders()

            rig.model.steps += [switch, says("done")]
            await rig.bench.chat("hello")
            first, second = rig.model.requests
            assert names(first) == ["search_tools", PINNED]
            assert len(second.tools) == 11
            assert rig.received == 1
            (event,) = rig.events("settings")
            assert event.profile == rig.bench.state.profile == "static"
            assert "discovery.enabled" in event.changed

    async def test_a_knob_takes_effect_on_the_next_model_call(self) -> None:
        async with running("kaman", jobs(*range(6)), servers=crowd()) as rig:

            def shrink(_request: ModelRequest) -> ModelReply:
                rig.bench.policy.set("binding.capacity", 2)
                return calls((PINNED, {}))

            rig.model.steps += [shrink, says("done")]
            await rig.bench.chat("hello")
            assert [len(names(request)) - 2 for request in rig.model.requests] == [0, 6, 2]
            (event,) = rig.events("settings")
            assert event.changed == ("binding.capacity",)
            assert rig.bench.state.settings["binding"]["capacity"] == 2

    async def test_every_profile_can_follow_another_one(self) -> None:
        async with running("toolsight", values={"guard.enabled": False}) as rig:
            for profile in (*PROFILES, *reversed(list(PROFILES))):
                rig.bench.policy.use(profile)
                await rig.bench.retrieval.settled()
                rig.model.steps += [searches(query=LIST_ORDERS), orders(), says("done")]
                assert (await rig.bench.chat(LIST_ORDERS)).outcome == "answered"
            assert len(rig.servers["shop"].calls) == 2 * len(PROFILES)
