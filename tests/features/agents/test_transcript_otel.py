"""Transcripts of exported spans, and of exported chats."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.features.agents.transcript import (
    Answered,
    Asked,
    Begun,
    Called,
    Interrupted,
    ServerAnnounced,
    ServerTrouble,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.reader import Format, line_reader
from tests.support.transcripts import FILES, NO_USAGE, fed, line, of, read, records, whole

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


VSCODE = Format.VSCODE


def test_a_chat_is_told_in_the_order_in_which_it_happened() -> None:
    kinds = [type(entry) for entry in whole(FILES[VSCODE])]
    assert kinds == [
        *(Begun, Asked, ServerAnnounced, Answered, Called, Called, Answered),
        *(Asked, Answered, Interrupted),
    ]


def test_a_call_is_told_once_though_it_is_written_twice() -> None:
    order, stock = of(Called, whole(FILES[VSCODE]))
    assert (order.call_id, order.tool.server, order.tool.name) == ("call-1", "bakery", "order_flour")
    assert (order.arguments, order.text) == ({"kind": "rye", "kilograms": 20}, "order 118 placed")
    assert stock.call_id == "call-2"


def test_a_call_that_was_denied_did_not_succeed() -> None:
    order, stock = of(Called, whole(FILES[VSCODE]))
    assert (order.ok, stock.ok, stock.text) == (True, False, "denied")


def test_tokens_are_unknown_and_not_nothing() -> None:
    assert {answer.usage for answer in of(Answered, whole(FILES[VSCODE]))} == {NO_USAGE}


def test_what_the_server_told_the_model_is_told_once() -> None:
    (server,) = of(ServerAnnounced, whole(FILES[VSCODE]))
    assert (server.server, server.instructions) == ("bakery", "Weights are in kilograms.")


def test_a_cancelled_request_was_stopped_by_the_user() -> None:
    (stopped,) = of(Interrupted, whole(FILES[VSCODE]))
    assert stopped.by_user


def test_an_export_on_one_line_is_the_same_chat(tmp_path: Path) -> None:
    (chat,) = records(FILES[VSCODE])
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    assert whole(tmp_path / "chat.json") == whole(FILES[VSCODE])
