"""A session as spans: what is whose child, how long it took, and that content is there only if asked for."""

import json

import pytest
from hypothesis import given

from inspector.core.budget import TokenParts
from inspector.core.error import FailureKind
from inspector.core.events import (
    CallFinished,
    CallRejected,
    CallRetried,
    CallStarted,
    Event,
    Failed,
    ModelRequested,
    ModelResponded,
    SearchPerformed,
    ServerConnecting,
    ServerFailed,
    ServerReady,
    SessionStarted,
    ToolLoaded,
    TurnEnded,
    UserSaid,
)
from inspector.core.message import ToolCall, Usage
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.measure.telemetry.otel import Span
from inspector.measure.telemetry.trace import spans
from tests.core.test_event import records
from tests.core.test_fold_property import streams

SAID = "canary"
HIT = Hit(1, Score("shop:late", 3.5), Outcome.LOADED)
TALK: list[Event] = [
    SessionStarted("c", ("shop",), "", "openai/gpt-5", "gpt-5", 1000),
    ServerConnecting("shop"),
    ServerReady("shop", 3, 100),
    UserSaid(f"late? {SAID}"),
    ModelRequested(1, (), TokenParts(meta=50, history=10), 1),
    ModelResponded(
        1,
        f"I look {SAID}",
        (ToolCall("s", "search_tools", {"query": SAID}),),
        Usage(90, 10, 40),
        "tool_calls",
    ),
    SearchPerformed(SearchReport(SearchRequest(SAID), "bm25", (HIT,), latency_ms=4.0, scored=3), SAID),
    ToolLoaded("shop:late", 60, f"search {SAID}", 1),
    ModelRequested(2, ("shop:late",), TokenParts(tools=60, meta=50), 3),
    ModelResponded(2, "", (ToolCall("c1", "shop__late", {"key": SAID}),), Usage(120, 20)),
    CallStarted("c1", "shop:late", {"key": SAID}),
    CallFinished("c1", "shop:late", False, f"no {SAID}", 900.0),
    CallRejected("c2", "shop:gone", "unknown tool", SAID, {"key": SAID}),
    TurnEnded("answered", f"none {SAID}"),
]


def made(*events: Event, content: bool = False) -> dict[str, Span]:
    """The spans of these events by name."""
    return {span.name: span for span in spans(records(list(events)), content=content)}


def test_a_turn_is_a_trace_and_what_happens_in_it_are_its_children() -> None:
    found = made(*TALK)
    turn = found["invoke_agent toolsight"]
    inner = [found[name] for name in ("chat openai/gpt-5", "retrieval toolsight.tools", "execute_tool late")]
    assert turn.parent == ""
    assert {(span.trace, span.parent) for span in inner} == {(turn.trace, turn.id)}
    assert (found["initialize"].parent, found["initialize"].trace == turn.trace) == ("", False)


def test_spans_have_the_conventions_names() -> None:
    found = made(*TALK)
    chat, tool = found["chat openai/gpt-5"].attributes, found["execute_tool late"].attributes
    assert chat["gen_ai.operation.name"] == "chat"
    assert (chat["gen_ai.provider.name"], chat["gen_ai.request.model"]) == ("openai", "openai/gpt-5")
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (120, 20)
    assert "gen_ai.usage.cache_read.input_tokens" not in chat
    assert (tool["gen_ai.tool.name"], tool["gen_ai.tool.call.id"]) == ("late", "c1")
    assert (tool["mcp.method.name"], tool["mcp.server.name"]) == ("tools/call", "shop")
    assert {span.attributes["gen_ai.conversation.id"] for span in found.values()} == {"s"}


def test_a_turn_sums_up_what_its_answers_reported() -> None:
    turn = made(*TALK)["invoke_agent toolsight"].attributes
    assert (turn["gen_ai.usage.input_tokens"], turn["gen_ai.usage.cache_read.input_tokens"]) == (210, 40)


def test_times_are_those_of_the_record() -> None:
    found = made(*TALK)
    tool, search = found["execute_tool late"], found["retrieval toolsight.tools"]
    assert (tool.end - tool.start) // 10**9 == 1
    assert search.end - search.start == pytest.approx(4_000_000, abs=1000)


def test_a_failed_call_is_an_error_of_a_known_class() -> None:
    tool = made(*TALK)["execute_tool late"]
    assert (tool.failed, tool.attributes["error.type"], tool.message) == (True, "_OTHER", "")


def test_what_is_said_given_and_returned_is_left_out_unless_asked_for() -> None:
    assert SAID not in json.dumps([repr(span) for span in made(*TALK).values()])
    told = made(*TALK, content=True)
    assert SAID in str(told["invoke_agent toolsight"].attributes["gen_ai.input.messages"])
    assert SAID in str(told["execute_tool late"].attributes["gen_ai.tool.call.arguments"])
    assert SAID in str(told["execute_tool late"].attributes["gen_ai.tool.call.result"])
    assert SAID in str(told["retrieval toolsight.tools"].attributes["gen_ai.retrieval.query.text"])


def test_what_happens_to_tools_within_a_turn_is_an_event_of_it() -> None:
    turn = made(*TALK)["invoke_agent toolsight"]
    assert [event.name for event in turn.events] == ["toolsight.load", "toolsight.reject"]


def test_each_attempt_at_a_call_is_a_request_of_its_own() -> None:
    retry = CallRetried("c1", "shop:late", 1, 3, 2.0, FailureKind.TIMEOUT, milliseconds=500.0)
    done = CallFinished("c1", "shop:late", True, "none", 250.0, attempts=2)
    found = list(spans(records([UserSaid("late?"), CallStarted("c1", "shop:late", {}), retry, done])))
    first, second, call, _turn = found
    assert (first.name, first.parent, first.attributes["error.type"]) == (
        "tools/call late",
        call.id,
        "timeout",
    )
    assert first.end - first.start == pytest.approx(500_000_000, abs=1000)
    assert second.end - second.start == pytest.approx(250_000_000, abs=1000)
    assert (second.failed, call.failed, call.attributes["toolsight.attempts"]) == (False, False, 2)
    assert [event.name for event in call.events] == ["toolsight.retry"]
    assert ["mcp.method.name" in span.attributes for span in (first, second, call)] == [True, True, False]


def test_a_server_that_fails_and_a_model_that_fails_are_errors() -> None:
    failing = [ServerConnecting("shop"), ServerFailed("shop", "exit 1"), UserSaid("hi")]
    asking = [ModelRequested(1, (), TokenParts(), 1), Failed("m", SAID), TurnEnded("failed", SAID)]
    found = made(*failing, *asking)
    assert (found["initialize"].failed, found["initialize"].message) == (True, "exit 1")
    assert (found["chat"].failed, found["chat"].message) == (True, "")
    assert found["invoke_agent toolsight"].failed


@given(streams)
def test_every_span_has_an_id_of_its_own_and_a_parent_that_is_there(stream: list[Event]) -> None:
    found = list(spans(records(stream), content=True))
    by_id = {span.id: span for span in found}
    assert len(by_id) == len(found)
    for span in found:
        assert 0 <= span.start <= span.end < 2**63
        assert span.parent == "" or by_id[span.parent].trace == span.trace
        str(span.attributes).encode("utf-8")
        assert span.name.encode("utf-8")
