"""OpenTelemetry's spans: one line of time out of exports in no order, each call once."""

from typing import Any

import pytest

from inspector.clients.transcript import (
    Answered,
    Asked,
    Begun,
    Called,
    Interrupted,
    ServerTrouble,
    ToolsOffered,
)
from inspector.clients.transcript_file.reader import Format, line_reader
from tests.support.transcripts import FILES, fed, line, of, read, records, whole

OTEL = Format.OTEL


def attributes(given: dict[str, object]) -> list[dict[str, object]]:
    """Attributes as OTLP's JSON has them; numbers are text."""
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in given.items()
    ]


def export(span_id: str, name: str, begun: int, given: dict[str, object], **fields: Any) -> dict[str, Any]:
    """An export of one span that took a second; `begun` is in seconds since 1970."""
    times = {"startTimeUnixNano": f"{begun}000000000", "endTimeUnixNano": f"{begun + 1}000000000"}
    span = {
        "traceId": "t",
        "spanId": span_id,
        "name": name,
        **times,
        "attributes": attributes(given),
        **fields,
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def chat(span_id: str, begun: int, **usage: object) -> dict[str, Any]:
    """A model call."""
    given = {f"gen_ai.usage.{key}": value for key, value in usage.items()}
    return export(span_id, "chat m", begun, {"gen_ai.operation.name": "chat", **given})


def test_spans_in_no_order_are_told_in_the_order_of_time() -> None:
    entries = whole(FILES[OTEL])
    kinds = [type(entry) for entry in entries]
    assert kinds == [Begun, ToolsOffered, Asked, Answered, Called, Answered]
    assert entries == read(OTEL, *reversed(records(FILES[OTEL])))


def test_a_call_that_three_spans_tell_is_one_call_with_its_server() -> None:
    (called,) = of(Called, whole(FILES[OTEL]))
    assert (called.call_id, called.tool.server, called.tool.name) == (
        "call-1",
        "bakery_example",
        "order_flour",
    )
    assert (called.arguments, called.ok, called.text) == ({"kind": "rye"}, False, "the mill is closed")
    assert called.milliseconds == 450.0


def test_a_call_is_part_of_the_answer_before_it() -> None:
    first, last = of(Answered, whole(FILES[OTEL]))
    assert ([call.name for call in first.calls], last.calls) == (["order_flour"], ())
    assert (last.text, first.finish_reason) == ("The mill is closed.", "tool_calls")


def test_an_agents_sum_is_not_paid_beside_its_model_calls() -> None:
    inputs = [answer.usage.input_tokens for answer in of(Answered, whole(FILES[OTEL]))]
    assert inputs == [2100, 100 + 2048]


@pytest.mark.parametrize(("given", "told"), [(2100, 2100), (100, 1124)])
def test_an_input_smaller_than_its_cache_does_not_include_it(given: int, told: int) -> None:
    usage = {"input_tokens": given, "cache_read.input_tokens": 1024}
    (answer,) = of(Answered, read(OTEL, chat("a", 1, **usage)))
    assert (answer.usage.input_tokens, answer.usage.cached_tokens) == (told, 1024)


def test_older_names_of_usage_are_read() -> None:
    (answer,) = of(Answered, read(OTEL, chat("a", 1, prompt_tokens=7, completion_tokens=3)))
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (7, 3)


def test_the_same_span_in_two_exports_is_told_once() -> None:
    assert len(of(Answered, read(OTEL, chat("a", 1), chat("a", 1), chat("b", 2)))) == 2


def test_a_model_call_that_failed_is_told() -> None:
    failed = export(
        "a", "chat m", 1, {"gen_ai.operation.name": "chat"}, status={"code": 2, "message": "busy"}
    )
    (told,) = of(Interrupted, read(OTEL, failed))
    assert told.message == "busy"


def test_a_server_that_did_not_start_is_in_trouble() -> None:
    given: dict[str, object] = {"mcp.method.name": "initialize", "server.address": "mill.example"}
    failed = export("a", "initialize", 1, given, status={"code": 2, "message": "no answer"})
    (told,) = of(ServerTrouble, read(OTEL, failed))
    assert (told.server, told.reason) == ("mill_example", "no answer")


def test_what_is_no_export_of_spans_is_counted() -> None:
    reader = line_reader(OTEL)
    assert fed(reader, [line({"resourceLogs": []})]) == []
    assert reader.tally.unknown == {"resourceLogs": 1}
