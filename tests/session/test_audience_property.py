"""Sessions whose policy, toolset, servers and tools change at random: what a model is told of them."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st
from msgspec.structs import replace

from inspector.core.access import AccessPolicy, Grant, Scope, ServerRule, Toolset, User
from inspector.core.error import ToolsightError
from inspector.core.message import ModelRequest, NoteMessage, ToolMessage
from inspector.core.tool import Tool
from inspector.schema.schema import Deferral, ModelFeatures
from tests.support.fakes import calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import Rig, configured, connected

SERVERS = ("crm", "shop")
VERBS = ("find", "list", "send", "delete")
APP_ONLY = {"ui": {"visibility": ["app"]}}
# Every tool has a word of its own: a substring tells whether it is named.
WORDS = {
    f"{s}:{v}": f"q{7919 * n % 9973:04d}z" for n, (s, v) in enumerate((s, v) for s in SERVERS for v in VERBS)
}
TOOLSETS = {
    "": None,
    "some": Toolset("some", "", {"crm": ServerRule(exclude=frozenset({f"find_{WORDS['crm:find']}"}))}),
}
DEFERRALS: dict[str, Deferral] = {"tool_reference": "tool_reference", "tool_search": "tool_search"}
DELIVERIES = ("rewrite", "append", "call_tool", "text", "code", *DEFERRALS)
"""How definitions reach a model; a provider that defers them has its own, which `native` stands for."""


def tool(key: str) -> Tool:
    server, verb = key.split(":")
    word = WORDS[key]
    return Tool(server, f"{verb}_{word}", f"{verb} orders of customers by {word}.", {"type": "object"})


TOOLS = {key: tool(key) for key in WORDS}
Grants = frozenset[str]
Step = tuple[Callable[["Driven", Any], Any], Any]
grants = st.frozensets(st.sampled_from(sorted(WORDS)), max_size=len(WORDS))


def policy(granted: Grants) -> AccessPolicy:
    patterns = tuple(TOOLS[key].id for key in sorted(granted))
    return AccessPolicy({"ada": User("ada", "acme")}, (Grant(Scope.USER, "ada", "acme", patterns),))


class Driven:
    """A session, and what is known of it from outside."""

    def __init__(self, rig: Rig, granted: list[Grants]) -> None:
        self.rig, self.granted = rig, granted
        self.toolset = ""

    async def grant(self, granted: Grants) -> None:
        self.granted[0] = granted
        await self.rig.bench.read_policy_again()

    async def switch(self, name: str) -> None:
        self.rig.bench.switch_toolset(name)
        self.toolset = name

    async def stop(self, server: str) -> None:
        await self.rig.bench.stop(server)

    async def reconnect(self, server: str) -> None:
        await self.rig.bench.reconnect(server)
        await self.rig.bench.wait_connected()

    async def describe(self, server: str) -> None:
        await self._list(server, lambda one: replace(one, description=f"{one.description} Again."))

    async def hide(self, key: str) -> None:
        hidden = TOOLS[key].id
        await self._list(
            key.split(":")[0], lambda one: replace(one, meta=APP_ONLY) if one.id == hidden else one
        )

    async def drop(self, server: str) -> None:
        await self._list(server, lambda one: one if "list" in one.name or "send" in one.name else None)

    async def _list(self, server: str, change: Callable[[Tool], Tool | None]) -> None:
        own = self.rig.servers[server]
        own.tools = tuple(one for one in map(change, own.tools) if one is not None)
        await self.reconnect(server)

    def forbidden(self) -> list[str]:
        """The words of tools that no model may know now."""
        toolset, granted = TOOLSETS[self.toolset], self.granted[0]
        hidden = {
            one.id for server in self.rig.servers.values() for one in server.tools if one.meta == APP_ONLY
        }
        return [
            WORDS[key]
            for key, one in TOOLS.items()
            if key not in granted or one.id in hidden or (toolset is not None and not toolset.permits(one))
        ]

    async def turn(self) -> list[ModelRequest]:
        """One message of a person, with a search and a call in it; the requests that were sent."""
        model = self.rig.model
        before = len(model.requests)
        named = sorted(one.wire_name for one in TOOLS.values())[len(model.requests) % len(TOOLS)]
        model.steps[:] = [searches(query="delete orders of customers"), calls((named, {})), says("done")]
        await self.rig.bench.chat("delete the orders of a customer")
        return model.requests[before:]


def said(request: ModelRequest) -> str:
    """What a request says of tools by itself: not what people, models and tools said before."""
    notes = [one.text for one in request.messages if isinstance(one, NoteMessage)]
    brought = [one.definitions for one in request.messages if isinstance(one, ToolMessage)]
    found = [
        one.text for one in request.messages if isinstance(one, ToolMessage) and one.name == "search_tools"
    ]
    return json.dumps([request.system, request.tools, request.deferred, notes, brought, found])


steps = st.lists(
    st.one_of(
        st.tuples(st.just(Driven.grant), grants),
        st.tuples(st.just(Driven.switch), st.sampled_from(sorted(TOOLSETS))),
        st.tuples(st.just(Driven.hide), st.sampled_from(sorted(WORDS))),
        st.tuples(
            st.sampled_from((Driven.stop, Driven.reconnect, Driven.describe, Driven.drop)),
            st.sampled_from(SERVERS),
        ),
    ),
    min_size=1,
    max_size=5,
)


async def driven(
    delivery: str, taken: Sequence[Step], first: Grants
) -> list[tuple[list[str], list[ModelRequest]]]:
    granted = [first]
    native = delivery in DEFERRALS
    chosen = "native" if native else delivery
    values = {"access.policy": "p", "access.user": "ada", "binding.delivery": chosen}
    made = {name: MemoryServer([one for one in TOOLS.values() if one.server == name]) for name in SERVERS}
    toolsets = {name: one for name, one in TOOLSETS.items() if one is not None}
    configuration = replace(configured(SERVERS), toolsets=toolsets)
    opening = connected(
        servers=made, policy=lambda: policy(granted[0]), values=values, configuration=configuration
    )
    turns = []
    async with opening as rig:
        if native:
            rig.model.features = ModelFeatures(deferral=DEFERRALS[delivery])
        session = Driven(rig, granted)
        turns.append((session.forbidden(), await session.turn()))
        for step, argument in taken:
            with suppress(ToolsightError):
                await step(session, argument)
            turns.append((session.forbidden(), await session.turn()))
    return turns


ALL = frozenset(WORDS)
FEW = frozenset({"shop:list"})


@given(steps, st.just(ALL) | grants)
@example([(Driven.grant, FEW)], ALL)
@example([(Driven.describe, "crm"), (Driven.grant, FEW), (Driven.grant, ALL)], ALL)
@example([(Driven.hide, "crm:delete")], ALL)
@example([(Driven.switch, "some"), (Driven.switch, "")], ALL)
@example([(Driven.switch, "some"), (Driven.grant, frozenset()), (Driven.grant, FEW)], ALL)
@settings(max_examples=10)
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_no_request_tells_of_a_tool_that_its_model_may_not_know(
    delivery: str,
    taken: Sequence[Step],
    first: Grants,
) -> None:
    for forbidden, requests in asyncio.run(asyncio.wait_for(driven(delivery, taken, first), 20)):
        for request in requests:
            assert not [word for word in forbidden if word in said(request)]


kept = st.lists(
    st.tuples(
        st.sampled_from((Driven.stop, Driven.reconnect, Driven.describe, Driven.drop)),
        st.sampled_from(SERVERS),
    ),
    min_size=1,
    max_size=4,
)


@given(kept)
@example([(Driven.describe, "crm"), (Driven.stop, "shop"), (Driven.reconnect, "shop")])
@settings(max_examples=8)
@pytest.mark.parametrize("delivery", [one for one in DELIVERIES if one != "rewrite"])
def test_only_a_withdrawal_rewrites_what_was_sent_before(delivery: str, taken: Sequence[Step]) -> None:
    turns = asyncio.run(asyncio.wait_for(driven(delivery, taken, ALL), 20))
    requests = [request for _, made in turns for request in made]
    for before, after in pairwise(requests):
        assert after.system == before.system
        assert after.tools[:1] == before.tools[:1]
        assert after.messages[: len(before.messages)] == before.messages
