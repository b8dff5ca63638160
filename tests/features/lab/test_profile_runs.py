"""Whole sessions under every profile: what the model is sent, what goes, and what the stream says of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from inspector.config.profile import PROFILES
from inspector.core.fold import fold
from inspector.core.message import ModelReply, ModelRequest
from tests.support.fakes import Step, calls, says, searches
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.support.workbench import Rig, connected, names

SEARCHING = [name for name in PROFILES if name not in ("static", "attention")]
PINNED = "calc__evaluate"
LIST_ORDERS = "List the orders of a customer, late ones first."
KEPT = 8


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


async def test_advisory_binds_everything_and_its_search_binds_nothing_and_ranks() -> None:
    async with running("advisory", searches(query="list orders"), says("done")) as rig:
        await rig.bench.chat("hello")
        assert {len(request.tools) for request in rig.model.requests} == {12}
        assert rig.results[0].startswith("Best tools for 'list orders' (ranked by relevance):\n1. ")
        assert "now loaded" not in rig.results[0]
        assert rig.events("load") == []


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

    async def test_every_profile_can_follow_another_one(self) -> None:
        async with running("toolsight", values={"guard.enabled": False}) as rig:
            for profile in (*PROFILES, *reversed(list(PROFILES))):
                rig.bench.policy.use(profile)
                await rig.bench.retrieval.settled()
                rig.model.steps += [searches(query=LIST_ORDERS), orders(), says("done")]
                assert (await rig.bench.chat(LIST_ORDERS)).outcome == "answered"
            assert len(rig.servers["shop"].calls) == 2 * len(PROFILES)
