"""Another session begins where one ran: nothing of one happens in the other."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from inspector.access.restriction import since
from inspector.core.access import AccessPolicy, Sight
from inspector.core.error import ToolsightError
from inspector.core.events import ServerAnswered, ServerAsked
from inspector.core.message import ToolResult
from inspector.features.marketplace.marketplace import marketplace_of
from inspector.mcp.elicitation import Action, ElicitationAnswer, ElicitationRequest, FormRequest
from inspector.mcp.frame import Frame, FrameKind
from inspector.mcp.port import WITHDRAWN
from inspector.schema.json_value import JsonObject
from tests.mcp.test_wire_log import frame
from tests.session.test_access_session import as_user, ids, policy
from tests.support.fakes import says
from tests.support.marketplace import market, servers_and_money
from tests.support.workbench import Rig, configured, connected, happens, opened, shop_and_weather

BOTH = policy(ada=("shop:list*", "calc:*"), bob=("weather:*", "shop:*"))


def whole() -> AccessPolicy:
    return policy(ada=("shop:*",), bob=("shop:*",))


def slow_to_leave(rig: Rig) -> asyncio.Event:
    """Servers end when the event that is returned is set."""
    gate, leave = asyncio.Event(), rig.bench._connections.leave

    async def slow(sight: Sight) -> None:
        await gate.wait()
        await leave(sight)

    rig.bench._connections.leave = slow  # type: ignore[method-assign]
    return gate


async def begun(work: Awaitable[object]) -> "asyncio.Future[object]":
    """The work, as far as it gets without waiting."""
    task = asyncio.ensure_future(work)
    for _ in range(5):
        await asyncio.sleep(0)
    return task


def held() -> tuple[asyncio.Event, Callable[[str, JsonObject], Awaitable[ToolResult]]]:
    """What answers a call once the event is set."""
    gate = asyncio.Event()

    async def answer(_tool: str, _arguments: JsonObject) -> ToolResult:
        await gate.wait()
        return ToolResult("there are orders")

    return gate, answer


async def test_a_grant_withdrawn_while_another_session_begins_is_gone_in_it() -> None:
    now = [policy(ada=("calc:*",), bob=("weather:*", "shop:*"))]
    async with connected(policy=lambda: now[0], values=as_user("ada")) as rig:
        gate = slow_to_leave(rig)
        seeing = await begun(rig.bench.see_as("bob"))
        now[0] = policy(ada=("calc:*",), bob=("weather:*",))
        reading = await begun(rig.bench.read_policy_again())
        # As long as a thread would need, if the file were read at once.
        await asyncio.wait({reading}, timeout=0.1)
        gate.set()
        await asyncio.gather(seeing, reading)
        await rig.bench.wait_connected()
        assert ids(rig) == ["weather:get_forecast"]
        assert rig.bench.sight.patterns == ("weather:*",)


async def test_no_message_and_no_call_begins_while_another_session_does() -> None:
    async with connected(says("Hello."), policy=lambda: BOTH, values=as_user("ada")) as rig:
        gate = slow_to_leave(rig)
        seeing = await begun(rig.bench.see_as("bob"))
        for work in (rig.bench.chat("my secret"), rig.bench.call("shop:list_orders", {"my": "secret"})):
            with pytest.raises(ToolsightError, match="another session is starting"):
                await work
        gate.set()
        await seeing
        assert rig.model.requests == []
        assert rig.received == 0
        assert "secret" not in repr([rig.store.read(name) for name in ("s", "s-2")])
        assert (await rig.bench.chat("hello")).text == "Hello."


async def test_what_begins_while_seeing_as_somebody_else_waits_is_not_interrupted() -> None:
    servers, (gate, answer) = shop_and_weather(), held()
    servers["calc"].answer = answer
    async with connected(servers=servers, policy=lambda: BOTH, values=as_user("ada")) as rig:
        async with rig.bench._handover.alone():
            seeing = await begun(rig.bench.see_as("bob"))
            call = await begun(rig.bench.call("calc:evaluate", {}))
        with pytest.raises(ToolsightError, match="a tool call is running"):
            await seeing
        gate.set()
        await call
        assert rig.bench.state.user == "ada"


async def test_who_sees_only_some_tools_installs_nothing_that_was_asked_for_before() -> None:
    opening = opened(
        servers=servers_and_money(),
        configuration=configured(shop_and_weather()),
        marketplace=market(),
        policy=lambda: BOTH,
        values=as_user("ada"),
    )
    async with opening as rig:
        rig.bench.connect()
        await rig.bench.see_as("")
        await rig.bench.wait_connected()
        plan = marketplace_of(rig.bench).plan("currency")
        gate = slow_to_leave(rig)
        seeing = await begun(rig.bench.see_as("bob"))
        installing = await begun(rig.bench.install(plan))
        gate.set()
        await seeing
        with pytest.raises(ToolsightError, match="only the administrator"):
            await installing
        assert not rig.bench.whole_configuration.servers[3:]


class Person:
    """An Elicitor who answers when the event is set."""

    def __init__(self) -> None:
        self.decided = asyncio.Event()

    async def ask(self, _request: ElicitationRequest) -> ElicitationAnswer:
        await self.decided.wait()
        return ElicitationAnswer(Action.ACCEPT, {"city": "my secret"})


ASKED = FormRequest("shop", "Where?", {"type": "object", "properties": {"city": {"type": "string"}}})


async def test_a_question_that_is_open_is_withdrawn_and_told_where_it_was_asked() -> None:
    person = Person()
    async with connected(elicitor=person, policy=lambda: BOTH, values=as_user("ada")) as rig:
        client = rig.servers["shop"].client
        asking = await begun(client.elicit(ASKED))
        await rig.bench.see_as("bob")
        assert await asyncio.wait_for(asking, 5) == ElicitationAnswer(Action.CANCEL)
        (answered,) = (one.event for one in rig.store.read("s", kinds=(ServerAnswered.kind,)))
        assert answered == ServerAnswered("shop", "form", "cancel", WITHDRAWN)
        assert rig.events(ServerAsked.kind) == rig.events(ServerAnswered.kind) == []
        person.decided.set()
        await client.elicit(ASKED)
        assert len(rig.events(ServerAsked.kind)) == len(rig.events(ServerAnswered.kind)) == 1


def crossed(rig: Rig, *frames: Frame) -> None:
    """These frames cross the wire to the shop."""
    log = rig.servers["shop"].log
    for one in frames:
        log.append(replace(one, number=log.total + 1))


async def test_the_wire_log_begins_with_the_session() -> None:
    request, reply = frame(text='"secret"'), replace(frame(), sent=False, kind=FrameKind.RESULT)
    async with connected(policy=whole, values=as_user("ada")) as rig:
        crossed(rig, request, replace(reply, text='"a secret result"'))
        await rig.bench.see_as("bob")
        log = rig.bench.wire("shop")
        assert log is not None
        assert (log.frames(), log.total) == ((), 0)
        crossed(rig, request, reply)
        assert [(one.id, one.sent) for one in log.frames()] == [("1", True), ("1", False)]
        assert "secret result" not in repr(log.frames())


async def test_a_server_writes_to_stderr_for_who_runs_it_then() -> None:
    async with connected(policy=whole, values=as_user("ada")) as rig:
        server = rig.servers["shop"]
        server.stderr = "ready\ncalled with a secret"
        assert rig.bench.stderr("shop") == server.stderr
        await rig.bench.see_as("bob")
        assert rig.bench.stderr("shop") == ""
        server.stderr += "\ncalled again"
        assert rig.bench.stderr("shop") == "called again"
        server.die()
        await happens(rig.bench, "failed")
        assert rig.bench.stderr("shop") == "called again"
        await rig.bench.see_as("ada")
        assert rig.bench.stderr("shop") == ""
        await rig.bench.reconnect("shop")
        assert rig.bench.stderr("shop") == server.stderr


@given(st.text("ab\n"), st.text("ab\n", min_size=1), st.integers(1, 20))
def test_nothing_of_before_is_left_however_the_end_is_cut(before: str, more: str, longest: int) -> None:
    told = since(before[-longest:], f"{before}{more}"[-longest:])
    assert more.endswith(told)
