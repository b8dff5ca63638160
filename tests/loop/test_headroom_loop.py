"""Sessions that come near the window: every step is told, and what is sent fits."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

from hypothesis import given, strategies as st

from inspector.core.fold import fold
from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelRequest,
    NoteMessage,
    ToolMessage,
    ToolResult,
    UserMessage,
)
from inspector.core.session import Binding
from inspector.core.tool import Tool
from inspector.loop import headroom
from inspector.schema.json_value import JsonObject
from inspector.tokens import measure
from inspector.tokens.manifest import wire_message
from tests.support.examples import examples
from tests.support.fakes import Step, calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import READS, Rig, connected, names

RESERVE = 100


async def read(_tool: str, arguments: JsonObject) -> ToolResult:
    """As many characters as are asked for; asked for none, it fails."""
    length = arguments.get("length", 1)
    return ToolResult("x" * length, is_error=not length)


def archive() -> dict[str, MemoryServer]:
    """A pinned tool that reads, and that are found by name, with long descriptions."""
    found = [Tool("shop", f"tool_{n}", f"{n}" * 600, annotations=READS) for n in "abc"]
    pinned = Tool("calc", "read", "Read.", annotations=READS)
    return {"calc": MemoryServer([pinned], answer=read), "shop": MemoryServer(found)}


def reads(*lengths: int) -> Step:
    return calls(*(("calc__read", {"length": length}) for length in lengths))


@asynccontextmanager
async def near(window: int, *steps: Step, **constants: Any) -> AsyncGenerator[Rig, None]:
    """A session whose window has room for so many characters beside the tools and the reserve."""
    given = {"budget.output_reserve": RESERVE}
    async with connected(*steps, servers=archive(), values=given) as rig:
        budget = rig.bench.state.budget
        assert budget is not None
        rig.model.window = budget.parts.used + window
        with patch.multiple(headroom, KEPT_TOKENS=20, **constants):
            yield rig
        assert fold(rig.bench.records()) == rig.bench.state


def reductions(rig: Rig) -> list[str]:
    return [event.step for event in rig.events("reduce")]


def results(request: ModelRequest) -> list[str]:
    return [message.text for message in request.messages if isinstance(message, ToolMessage)]


def assert_paired(messages: tuple[Message, ...]) -> None:
    """Every call has its result right behind it."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            assert message.call_id == waiting.pop(0)
        else:
            assert not waiting
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.tool_calls]
    assert not waiting


async def test_in_an_emergency_the_present_exchange_is_what_stays() -> None:
    steps = (says("a" * 900), says("b" * 900), reads(1500), says("c"))
    async with near(2000, *steps, _COMPRESS_AT=0) as rig:
        for text in ("first?", "second?", "third?"):
            await rig.bench.chat(text)
        (event,) = rig.events("reduce")
        assert event.step == "emergency"
        assert event.before > rig.model.window >= event.after
        note, *rest = rig.model.requests[-1].messages
        assert isinstance(note, NoteMessage)
        assert note.exchanges == 2
        assert rest[0] == UserMessage("third?")
        assert results(rig.model.requests[-1]) == ["x" * 1500]


async def test_then_found_tools_go_the_least_recently_used_first() -> None:
    steps = (searches(tool_names=["tool_a", "tool_b", "tool_c"]), calls(("shop__tool_a", {})), says("done"))
    async with near(10_000, *steps, says("ok")) as rig:
        await rig.bench.chat("hello")
        assert rig.loaded == ["shop:tool_a", "shop:tool_b", "shop:tool_c"]
        budget = rig.bench.state.budget
        assert budget is not None
        fixed = budget.parts.used - budget.parts.history - budget.parts.searches
        rig.model.window = fixed
        ended = await rig.bench.chat("?")
        assert ended.outcome == "answered"
        assert [(event.tool, event.cause) for event in rig.events("evict")] == [("shop:tool_c", "window")]
        assert rig.events("reduce")[-1].text.endswith("; evicted shop:tool_c")
        assert rig.bench.state.tools["shop:tool_c"].binding is Binding.EVICTED
        assert "shop__tool_c" not in names(rig.model.requests[-1])


async def test_what_fits_in_no_way_is_not_sent_and_the_turn_says_what_takes_the_room() -> None:
    async with near(2000, says("a" * 500), says("b"), says("c")) as rig:
        await rig.bench.chat("first?")
        room, sent = rig.model.window, len(rig.model.requests)
        before = rig.bench.next_request().messages
        rig.model.window = 300
        ended = await rig.bench.chat("second?")
        assert ended.outcome == "failed"
        (failure,) = rig.events("error")
        assert "the window has 300 (search_tools" in failure.message
        assert "system prompt" in failure.message
        assert f"reserve for the answer {RESERVE}" in failure.message
        assert "budget.output_reserve" in failure.hint
        assert len(rig.model.requests) == sent
        assert rig.bench.next_request().messages[-1] == UserMessage("second?")
        assert reductions(rig) == ["compress"]
        assert len(before) == 2
        rig.model.window = room
        assert (await rig.bench.chat("third?")).outcome == "answered"


async def test_a_turn_in_a_full_window_serialises_no_more_messages_than_an_earlier_one() -> None:
    turns, written = 30, Counter[int]()
    steps = [step for _ in range(turns) for step in (reads(400), says("done " * 20))]

    def counted(message: Message) -> dict[str, Any]:
        written[turn] += 1
        return wire_message(message)

    async with near(6_000, *steps) as rig:
        with patch.object(measure, "wire_message", counted):
            for turn in range(turns):
                await rig.bench.chat(f"request {turn}")
        assert {"truncate", "compress"} <= set(reductions(rig))
        assert max(written[turn] for turn in range(turns // 2, turns)) < 20


async def test_a_summary_makes_room_for_the_turns_that_follow() -> None:
    turns = 40
    async with near(6_000, *(says("done " * 50) for _ in range(turns))) as rig:
        for turn in range(turns):
            await rig.bench.chat(f"request {turn}")
        summaries = [request.messages[0] for request in rig.model.requests]
        written = {one.text for one in summaries if isinstance(one, NoteMessage)}
        assert 2 <= len(written) <= turns / 5


lengths = st.lists(st.integers(0, 3000), min_size=1, max_size=3)


@given(window=st.integers(300, 4000), turns=st.lists(st.lists(lengths, max_size=3), min_size=1, max_size=4))
@examples(share=0.5)
async def test_whatever_is_sent_fits_has_every_result_and_ends_as_it_was_said(
    window: int, turns: list[list[list[int]]]
) -> None:
    steps = [step for turn in turns for step in [*(reads(*some) for some in turn), says("done " * 30)]]
    async with near(window, *steps) as rig:
        for number, _ in enumerate(turns):
            await rig.bench.chat(f"request {number}")
        budgets = [event.tokens.used for event in rig.events("request")]
        assert all(used <= rig.model.window for used in budgets)
        for request in rig.model.requests:
            assert_paired(request.messages)
        for event in rig.events("reduce"):
            assert event.after < event.before
