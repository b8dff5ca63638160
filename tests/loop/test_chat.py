"""The discovery loop, step by step, on a model that says what it is told to say."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, strategies as st

from inspector.config.configuration import Configuration
from inspector.config.setting import with_values
from inspector.core.budget import Prices
from inspector.core.error import ModelError
from inspector.core.events import TurnEnded
from inspector.core.fold import fold
from inspector.core.message import (
    AssistantMessage,
    ModelReply,
    ModelRequest,
    NoteMessage,
    OnTask,
    ToolMessage,
    ToolResult,
)
from inspector.core.ports import ChatModel, Decision
from inspector.core.redaction import Redactor
from inspector.core.server import ServerSpec
from inspector.core.session import Binding
from inspector.core.settings import BindingSettings, ChatSettings, Settings
from inspector.core.stream import Session
from inspector.core.tool import Annotations, Tool
from inspector.loop.binder import Binder
from inspector.loop.breaker import MemoryBreakers
from inspector.loop.discovery_loop import Chat
from inspector.loop.inertia import Inertia
from inspector.loop.session_breakers import Breakers
from inspector.search.answer.retrieval import Live
from inspector.store.store import MemoryStore
from tests.support.examples import examples
from tests.support.fakes import (
    FixedApprover,
    ManualClock,
    Step,
    ToldModel,
    calls,
    character_accounting,
    says,
    searches,
)
from tests.support.office import office
from tests.support.retrieval import words_only
from tests.support.workbench import Rig, connected, names

READS = Annotations(read_only=True)
TOOLS = (
    Tool("shop", "list_orders", "List orders by status.", annotations=READS),
    Tool(
        "shop", "refund_order", "Refund an order.", annotations=Annotations(read_only=False, destructive=True)
    ),
    Tool("weather", "get_forecast", "Forecast for a city.", annotations=READS),
    Tool("calc", "evaluate", "Evaluate an expression.", annotations=READS),
)


class Servers:
    """All connected; they answer every call with its own arguments, or as told."""

    connecting: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, Mapping[str, Any]]] = []
        self.fails: Exception | None = None
        self.hangs = False

    async def settled(self) -> None:
        """There is nobody to wait for."""

    def catch_up(self) -> None:
        """Nothing ever changes."""

    async def reconnect(self, server: str) -> None:
        """No server was ever away."""

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, Any],
        on_task: OnTask,  # noqa: ARG002 - no call is a task
    ) -> ToolResult:
        self.calls.append((server, tool, arguments))
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails:
            raise self.fails
        return ToolResult(f"{server}:{tool} did it")


class Bench:
    """A chat over TOOLS, everything deferred but calc."""

    def __init__(
        self,
        *steps: Step,
        decision: Decision = Decision.ONCE,
        max_steps: int = 12,
        settings: Settings | None = None,
        model: ChatModel | None = None,
        prices: Sequence[Prices] = (),
    ) -> None:
        self.model, self.servers, self.clock = ToldModel(*steps), Servers(), ManualClock()
        self.store, self.approver = MemoryStore(), FixedApprover(decision)
        specs = tuple(
            ServerSpec(name, "x", defer_loading=name != "calc") for name in ("shop", "weather", "calc")
        )
        chosen = settings or Settings(chat=ChatSettings(max_steps=max_steps))
        self.settings = with_values(chosen, {"discovery.auto": "always"})
        self.session = Session("s", self.store, self.clock, Redactor({}))
        self.live = Live(
            settings=self.settings,
            model=model or self.model,
            configuration=Configuration("test", specs, settings=self.settings),
            retrieval=words_only(self.settings.discovery, self.clock),
        )
        accounting = character_accounting(self.live, *prices)
        self.binder = Binder(self.session, self.live, self.clock, accounting)
        breakers = Breakers(self.session, MemoryBreakers(), self.clock, self.live)
        self.chat = Chat(
            self.session,
            self.live,
            clock=self.clock,
            approver=self.approver,
            binder=self.binder,
            servers=self.servers,
            inertia=Inertia(
                self.session,
                self.live,
                self.clock,
                self.binder,
                breakers,
                tasks=None,
                seeds=lambda _path: {},
            ),
            breakers=breakers,
        )
        self.binder.rebuild(TOOLS, {})

    async def say(self, text: str = "hello") -> TurnEnded:
        return await self.chat.loop.run(text)

    def kinds(self) -> list[str]:
        return [record.kind for record in self.store.read("s")]

    def events(self, kind: str) -> list[Any]:
        return [record.event for record in self.store.read("s", kinds=(kind,))]

    def tool_messages(self) -> list[str]:
        return [m.text for m in self.chat.loop.messages if isinstance(m, ToolMessage)]


def bound_names(request: ModelRequest) -> list[str]:
    return [entry["function"]["name"] for entry in request.tools]


async def test_a_deferred_tool_cannot_be_called_before_it_is_searched_for() -> None:
    bench = Bench(calls(("shop__list_orders", {})), says("done"))
    await bench.say()
    assert bench.servers.calls == []
    assert "Use search_tools" in bench.tool_messages()[0]
    assert bench.events("reject")[0].reason == "deferred"


async def test_unreadable_arguments_are_rejected_with_the_reason() -> None:
    bench = Bench(calls(("calc__evaluate", {}), error="not JSON"), says("done"))
    await bench.say()
    assert bench.servers.calls == []
    assert "not JSON" in bench.tool_messages()[0]


async def test_a_call_of_a_reply_is_not_rejected_because_a_search_in_it_made_room() -> None:
    one = Settings(binding=BindingSettings(policy="bounded", capacity=1))
    both = calls(("search_tools", {"tool_names": ["get_forecast"]}), ("shop__list_orders", {}))
    bench = Bench(searches(tool_names=["list_orders"]), both, says("done"), settings=one)
    await bench.say()
    assert [call[:2] for call in bench.servers.calls] == [("shop", "list_orders")]
    assert bench.events("reject") == []
    assert bound_names(bench.model.requests[-1])[2:] == ["weather__get_forecast"]


async def test_a_model_that_fails_ends_the_turn_and_keeps_what_it_said() -> None:
    bench = Bench(ModelError("rate limit", hint="Wait."))
    ended = await bench.say()
    assert ended.outcome == "failed"
    assert [event.text for event in bench.events("delta")] == ["half an "]
    assert not bench.session.state.busy


async def test_a_model_that_never_answers_is_stopped_with_an_explanation() -> None:
    bench = Bench(*[calls(("calc__evaluate", {"n": n})) for n in range(9)], max_steps=3)
    ended = await bench.say()
    assert ended.outcome == "capped"
    assert "3 model calls" in ended.text
    assert len(bench.model.requests) == 3


async def test_cancelling_leaves_no_call_without_a_result() -> None:
    bench = Bench(calls(("calc__evaluate", {}), ("search_tools", {"query": "x"})), says("later"))
    bench.servers.hangs = True
    started = asyncio.Event()
    bench.session.subscribe(lambda record: started.set() if record.kind == "call" else None)
    turn = asyncio.create_task(bench.say())
    await started.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    asked = next(m for m in bench.chat.loop.messages if isinstance(m, AssistantMessage))
    answered = {m.call_id for m in bench.chat.loop.messages if isinstance(m, ToolMessage)}
    assert answered == {call.id for call in asked.tool_calls}
    assert bench.kinds()[-1] == "end"
    bench.servers.hangs = False
    assert (await bench.say("again")).outcome == "answered"


@pytest.mark.parametrize(
    ("tools", "values", "reason"),
    [
        (TOOLS, {"discovery.search_tool": False}, "There is no search: discovery.search_tool is off."),
        (TOOLS, {"binding.always_include": ["*"]}, "There is nothing to search for: every tool is bound."),
        ((), {}, "There is nothing to search for: there are no tools."),
    ],
)
async def test_the_reason_for_no_search_never_says_that_discovery_is_on(
    tools: Sequence[Tool], values: dict[str, Any], reason: str
) -> None:
    bench = Bench(searches(query="orders"), says("ok"))
    bench.live.settings = with_values(bench.live.settings, values)
    bench.binder.rebuild(tools, {})
    await bench.say("go")
    (rejected,) = bench.events("reject")
    assert rejected.text == reason


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


@examples(share=0.2)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([PINNED, "shop__list_orders", "mail__list_folders", "no__such", "search_tools"]),
            st.integers(0, 1),
        ),
        max_size=15,
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
