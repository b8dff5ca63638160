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
    ServerTrouble,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import line_reader
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


def test_an_export_on_one_line_is_the_same_chat(tmp_path: Path) -> None:
    (chat,) = records(FILES[VSCODE])
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    assert whole(tmp_path / "chat.json") == whole(FILES[VSCODE])
