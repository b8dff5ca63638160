"""Sessions as spans: their conventions and files."""

import json
import math
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import given
from msgspec.structs import replace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from inspector.core.budget import TokenParts
from inspector.core.events import (
    CallFinished,
    CallRejected,
    CallStarted,
    Event,
    Failed,
    ModelRequested,
    ModelResponded,
    Record,
    SearchPerformed,
    SessionStarted,
    ToolLoaded,
    TurnEnded,
    UserSaid,
)
from inspector.core.message import ToolCall, Usage
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.features.agents.importing import Importer
from inspector.features.agents.transcript_file.reader import open_transcript
from inspector.features.trace.metrics.spans import Span, export_json, export_lines, known, spans
from inspector.store.store import MemoryStore
from tests.core.test_event import records
from tests.core.test_fold_property import streams
from tests.support.fakes import WordCounter
from tests.support.transcripts import records_of, story_store

SAID = "canary"
HIT = Hit(1, Score("shop:late", 3.5), Outcome.LOADED)
TALK: list[Event] = [
    SessionStarted("c", ("shop",), "", "openai/gpt-5", "gpt-5", 1000),
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

ORDER = ("user", "response", "search", "call", "result")


def imported(path: Path) -> list[Record]:
    """The session that is made of the spans in a file."""
    store = MemoryStore()
    Importer(store, lambda _: WordCounter()).run(open_transcript(path).entries(), file=path.name)
    return records_of(store)


def calls(stream: list[Record]) -> list[tuple[Any, ...]]:
    """The tool calls of a session: which, with what, and what came of them."""
    started = {r.event.call_id: r.event for r in stream if isinstance(r.event, CallStarted)}
    finished = [r.event for r in stream if isinstance(r.event, CallFinished)]
    return [(one.call_id, one.tool, started[one.call_id].arguments, one.text, one.ok) for one in finished]


AT_ONCE = [replace(record, at=1.0) for record in records(TALK)]


@pytest.mark.parametrize(
    "stream", [records(TALK), AT_ONCE, records_of(story_store())], ids=["own", "at one time", "imported"]
)
def test_what_is_exported_and_imported_again_has_the_same_tool_calls(
    stream: list[Record], tmp_path: Path
) -> None:
    file = tmp_path / "spans.jsonl"
    file.write_text("\n".join(export_lines(spans(stream, content=True))))
    again = imported(file)
    assert calls(again) == calls(stream) != []
    assert [r.kind for r in again if r.kind in ORDER] == [r.kind for r in stream if r.kind in ORDER]
    asked = [[r.event.text for r in one if isinstance(r.event, UserSaid)] for one in (stream, again)]
    assert asked[0] == asked[1]


def test_a_number_that_is_none_reaches_no_collector() -> None:
    assert known({"a": math.inf, "b": math.nan, "c": 1.5}) == {"c": 1.5}


def test_a_failed_call_is_an_error_in_the_exported_file() -> None:
    (scope,) = export_json(list(spans(records(TALK))))["resourceSpans"][0]["scopeSpans"]
    assert [one["name"] for one in scope["spans"] if "status" in one] == ["execute_tool late"]


def test_without_content_the_calls_are_known_and_what_they_said_is_not(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    file.write_text("\n".join(export_lines(spans(records(TALK)))))
    assert calls(imported(file)) == [("c1", "shop:late", {}, "", False)]


def _with_base64(value: Any) -> Any:
    """OTLP's JSON as protobuf reads it: ids in base64, where OTLP has hexadecimal digits."""
    if isinstance(value, list):
        return [_with_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: b64encode(bytes.fromhex(one)).decode() if key in ids else _with_base64(one)
        for key, one in value.items()
    }


@given(streams)
def test_a_collector_can_read_what_is_exported(stream: list[Event]) -> None:
    made = list(spans(records([*TALK, *stream]), content=True))
    ours = _with_base64(json.loads(json.dumps(export_json(made))))
    read = MessageToDict(ParseDict(ours, ExportTraceServiceRequest()), use_integers_for_enums=True)
    for one in (theirs := read["resourceSpans"][0]["scopeSpans"][0]["spans"]):
        one.setdefault("attributes", [])
        for event in one.get("events", ()):
            event.setdefault("attributes", [])
    assert theirs == ours["resourceSpans"][0]["scopeSpans"][0]["spans"]


def made(*events: Event, content: bool = False) -> dict[str, Span]:
    """The spans of these events by name."""
    return {span.name: span for span in spans(records(list(events)), content=content)}


def test_a_turn_is_a_trace_and_what_happens_in_it_are_its_children() -> None:
    found = made(*TALK)
    turn = found["invoke_agent toolsight"]
    inner = [found[name] for name in ("chat openai/gpt-5", "retrieval toolsight.tools", "execute_tool late")]
    assert turn.parent == ""
    assert {(span.trace, span.parent) for span in inner} == {(turn.trace, turn.id)}


def test_spans_have_the_conventions_names() -> None:
    found = made(*TALK)
    chat, tool = found["chat openai/gpt-5"].attributes, found["execute_tool late"].attributes
    assert chat["gen_ai.operation.name"] == "chat"
    assert (chat["gen_ai.provider.name"], chat["gen_ai.request.model"]) == ("openai", "openai/gpt-5")
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (120, 20)
    assert "gen_ai.usage.cache_read.input_tokens" not in chat
    turn = found["invoke_agent toolsight"].attributes
    assert (turn["gen_ai.usage.input_tokens"], turn["gen_ai.usage.cache_read.input_tokens"]) == (210, 40)
    assert (tool["gen_ai.tool.name"], tool["gen_ai.tool.call.id"]) == ("late", "c1")
    assert (tool["mcp.method.name"], tool["mcp.server.name"]) == ("tools/call", "shop")
    assert {span.attributes["gen_ai.conversation.id"] for span in found.values()} == {"s"}


def test_times_are_those_of_the_record() -> None:
    found = made(*TALK)
    tool, search = found["execute_tool late"], found["retrieval toolsight.tools"]
    assert (tool.end - tool.start) // 10**9 == 1
    assert search.end - search.start == pytest.approx(4_000_000, abs=1000)


def test_what_happens_to_tools_within_a_turn_is_an_event_of_it() -> None:
    turn = made(*TALK)["invoke_agent toolsight"]
    assert [event.name for event in turn.events] == ["toolsight.load", "toolsight.reject"]


def test_a_model_that_fails_is_an_error_and_what_nothing_ended_says_so() -> None:
    asking = [UserSaid("hi"), ModelRequested(1, (), TokenParts(), 1), Failed("m", SAID)]
    found = made(*asking, TurnEnded("failed", SAID))
    assert (found["chat"].failed, found["chat"].message) == (True, "")
    assert found["invoke_agent toolsight"].failed
    open_turn = made(*asking[:2])
    assert all("toolsight.unfinished" in span.attributes for span in open_turn.values())


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
