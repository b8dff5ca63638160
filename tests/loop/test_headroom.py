"""Conversations made shorter: what goes first, what never goes, and what a reader is told of it."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, strategies as st

from inspector.core.message import AssistantMessage, Message, NoteMessage, ToolCall, ToolMessage, UserMessage
from inspector.loop.headroom import Reduced, compressed, cut_down, shortened, truncated
from inspector.schema.json_value import compact
from inspector.tokens.manifest import wire_message
from tests.support.examples import examples

KEPT = 20
EVERYTHING = 10**9

texts = st.one_of(
    st.text(st.characters(), max_size=30),
    st.sampled_from(
        ["", "\x00", "\ud800", "a\n" * 200, "\ud83d" * 300, "“" * 150, "Toolsight left", "long " * 400]
    ),
)


def size(message: Message) -> int:
    """One token a character of what is sent, with its separator."""
    return len(compact(wire_message(message))) + 1


def total(messages: Sequence[Message]) -> int:
    return sum(map(size, messages))


def truncate(messages: tuple[Message, ...], excess: int) -> Reduced:
    return truncated(messages, excess, KEPT, size, (), {})


def compress(messages: tuple[Message, ...], excess: int) -> Reduced:
    return compressed(messages, excess, size)


def cut(messages: tuple[Message, ...], excess: int) -> Reduced:
    return cut_down(messages, excess, 10 * KEPT, size)


Step = Callable[[tuple[Message, ...], int], Reduced]
every_step = pytest.mark.parametrize("step", [truncate, compress, cut])


@st.composite
def exchanges(draw: st.DrawFn, *, is_over: bool) -> list[Message]:
    """A request, some calls with their results, thoughts between them, and an answer where it is over."""
    said: list[Message] = [UserMessage(draw(texts))]
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            said += [
                NoteMessage("Think."),
                AssistantMessage(draw(texts), thought=True),
                NoteMessage("Go on."),
            ]
        names = draw(
            st.lists(st.sampled_from(["search_tools", "shop__list", "\ud800"]), min_size=1, max_size=3)
        )
        calls = tuple(ToolCall(f"c{n}", name, {}) for n, name in enumerate(names))
        said.append(AssistantMessage(draw(texts), calls))
        said += [ToolMessage(call.id, call.name, draw(texts), draw(st.booleans())) for call in calls]
    return [*said, AssistantMessage(draw(texts))] if is_over and draw(st.booleans()) else said


conversations = st.tuples(st.lists(exchanges(is_over=True), max_size=4), exchanges(is_over=False)).map(
    lambda drawn: tuple(message for exchange in (*drawn[0], drawn[1]) for message in exchange)
)
excesses = st.one_of(st.integers(-5, 3000), st.just(EVERYTHING))


def paired(messages: Sequence[Message]) -> bool:
    """Whether every call has its result, in order and right behind it, and no result is without one."""
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        if isinstance(message, ToolMessage):
            return False
        for call in message.tool_calls if isinstance(message, AssistantMessage) else ():
            result = messages[place] if place < len(messages) else None
            if not isinstance(result, ToolMessage) or result.call_id != call.id:
                return False
            place += 1
    return True


def present(messages: Sequence[Message]) -> list[Message]:
    """The last request and what came after it, results without their text."""
    start = max(place for place, message in enumerate(messages) if isinstance(message, UserMessage))
    return [
        ToolMessage(m.call_id, m.name, "", m.failed) if isinstance(m, ToolMessage) else m
        for m in messages[start:]
    ]


@every_step
@given(conversation=conversations, excess=excesses)
def test_a_call_keeps_its_result_and_the_present_exchange_stays(
    step: Step, conversation: tuple[Message, ...], excess: int
) -> None:
    after = step(conversation, excess).messages
    assert paired(after)
    assert present(after) == present(conversation)


@every_step
@given(conversation=conversations, excess=excesses)
def test_no_step_makes_a_conversation_longer_and_each_tells_whether_it_changed_anything(
    step: Step, conversation: tuple[Message, ...], excess: int
) -> None:
    after = step(conversation, excess)
    if after.changed:
        assert total(after.messages) < total(conversation)
        assert after.text
    else:
        assert after.messages is conversation
        assert not after.text


@given(
    text=texts | st.text(st.characters(), max_size=3000), kept=st.integers(10, 300), more=st.integers(1, 300)
)
@examples(share=4)
def test_a_shortened_result_keeps_head_and_tail_and_counts_what_is_gone(
    text: str, kept: int, more: int
) -> None:
    whole = ToolMessage("c", "t", text)
    once = shortened(whole, kept, size)
    assert shortened(once, kept, size) is once
    if once is not whole:
        head, _, tail = once.text.partition(
            f"\n[… Toolsight left {once.left_out} tokens out here to make room …]\n"
        )
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) - len(tail) in (0, 1)
        assert once.left_out == sum(
            len(compact(c)) - 2 for c in text.encode("utf-8", "replace").decode()
        ) - sum(len(compact(c)) - 2 for c in (head + tail).encode("utf-8", "replace").decode())
    twice = shortened(shortened(whole, kept + more, size), kept, size)
    assert twice.text.count("tokens out here to make room …]") == once.text.count(
        "tokens out here to make room …]"
    )


CALL = AssistantMessage("", (ToolCall("c0", "shop__list", {}),))
CALLS = AssistantMessage("", (ToolCall("c0", "shop__list", {}), ToolCall("c1", "shop__get", {})))
EARLIER = (
    UserMessage("Which orders are late?"),
    CALLS,
    ToolMessage("c0", "shop__list", "a" * 500),
    ToolMessage("c1", "shop__get", "b" * 900, failed=True),
    AssistantMessage("Nine of them."),
)
NOW = (
    UserMessage("And the open ones?"),
    CALL,
    ToolMessage("c0", "shop__list", "c" * 2000),
    CALL,
    ToolMessage("c0", "shop__list", "d" * 2000),
)


def test_an_exchange_becomes_a_line_with_request_tools_and_answer() -> None:
    after = compress(EARLIER + NOW, 10).messages
    assert after[1:] == NOW
    assert after[0] == NoteMessage(
        "[Toolsight took the first exchange out of this conversation to make room. Toolsight's summary of "
        "what was said:]\n"
        "- asked: “Which orders are late?”; tools: shop__list ok, shop__get failed; answer: “Nine of them.”",
        exchanges=1,
    )


def test_the_newest_result_is_cut_last_and_keeps_what_there_is_room_for() -> None:
    over = total(EARLIER) + 2500
    after = cut(EARLIER + NOW, over).messages
    older, newest = after[3], after[5]
    assert isinstance(older, ToolMessage)
    assert isinstance(newest, ToolMessage)
    assert older.text.count("c") == KEPT
    assert newest.text.count("d") > 1000
    assert total(EARLIER + NOW) - total(after) >= over


def test_the_results_of_a_spared_tool_stay_whole() -> None:
    conversation = (
        UserMessage("first"),
        AssistantMessage("", (ToolCall("1", "search_tools", {}), ToolCall("2", "read", {}))),
        ToolMessage("1", "search_tools", "parameters " * 50),
        ToolMessage("2", "read", "line " * 20),
        AssistantMessage("done"),
        UserMessage("second"),
    )
    kept = truncated(conversation, EVERYTHING, KEPT, size, {"search_tools"}, {}).messages
    assert kept[2] is conversation[2]
    assert size(kept[3]) < size(conversation[3])
