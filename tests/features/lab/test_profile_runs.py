"""Whole sessions under every profile: what the model is sent, what goes, and what the stream says of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from inspector.config.profile import PROFILES
from inspector.core.fold import fold
from inspector.core.message import ModelReply
from tests.support.fakes import Step, calls, says, searches
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.support.workbench import Rig, connected, names

SEARCHING = [name for name in PROFILES if name not in ("static", "attention")]
LIST_ORDERS = "List the orders of a customer, late ones first."


@asynccontextmanager
async def running(profile: str, *steps: Step, **options: Any) -> AsyncGenerator[Rig, None]:
    """The office under a profile, with nothing said yet; at the end the stream has to give the state."""
    defaults = {"servers": office(), "embedder": MemoryEmbedder()}
    async with connected(*steps, profile=profile, **{**defaults, **options}) as rig:
        yield rig
        assert fold(rig.bench.records()) == rig.bench.state


def orders(customer: str = "Ada") -> ModelReply:
    return calls(("shop__list_orders", {"customer": customer}))


@pytest.mark.parametrize("profile", PROFILES)
async def test_the_same_conversation_ends_with_one_call_and_an_answer(profile: str) -> None:
    async with running(profile, searches(query=LIST_ORDERS), orders(), says("One is late.")) as rig:
        ended = await rig.bench.chat(LIST_ORDERS)
        assert (ended.outcome, ended.text) == ("answered", "One is late.")
        assert rig.servers["shop"].calls == [("list_orders", {"customer": "Ada"})]
        assert len(rig.events("search")) == (profile in SEARCHING)
        assert ("search_tools" in names(rig.model.requests[0])) == (profile in SEARCHING)
        assert rig.bench.state.profile == profile
