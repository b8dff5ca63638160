"""Spans on their way out: to a file that is read again, and to a collector over a real connection."""

import json
import sys
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from inspector.clients.importing import Importer
from inspector.clients.transcript_file.reader import open_transcript
from inspector.core.error import ConfigError, ConnectError
from inspector.core.events import CallFinished, CallStarted, Event, Record, UserSaid
from inspector.measure.telemetry.otel import export_json, readable, send_spans, traces_address, write_spans
from inspector.measure.telemetry.trace import spans
from inspector.store.memory import MemoryStore
from tests.core.test_event import records
from tests.core.test_fold_property import streams
from tests.measure.test_spans import TALK
from tests.support.fakes import WordCounter
from tests.support.transcripts import records_of, story_store

ORDER = ("user", "response", "search", "call", "result")


def imported(path: Path) -> list[Record]:
    """The session that is made of the spans in a file."""
    store = MemoryStore()
    Importer(store, lambda _: WordCounter()).run(open_transcript(path), file=path.name)
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
    write_spans(file, spans(stream, content=True))
    again = imported(file)
    assert calls(again) == calls(stream) != []
    assert [r.kind for r in again if r.kind in ORDER] == [r.kind for r in stream if r.kind in ORDER]
    asked = [[r.event.text for r in one if isinstance(r.event, UserSaid)] for one in (stream, again)]
    assert asked[0] == asked[1]


def test_without_content_the_calls_are_known_and_what_they_said_is_not(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    write_spans(file, spans(records(TALK)))
    assert calls(imported(file)) == [("c1", "shop:late", {}, "", False)]


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    file.write_text("mine")
    with pytest.raises(ConfigError, match="already exists"):
        write_spans(file, spans(records(TALK)))
    assert file.read_text() == "mine"


def _like_protobuf(value: Any) -> Any:
    """OTLP's JSON as protobuf's own JSON has it: ids in base64 there, in hexadecimal here."""
    if isinstance(value, list):
        return [_like_protobuf(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: b64decode(one).hex() if key in ("traceId", "spanId", "parentSpanId") else _like_protobuf(one)
        for key, one in value.items()
        if key != "flags"
    }


@given(streams)
def test_a_file_says_what_a_collector_is_sent(stream: list[Event]) -> None:
    made = list(spans(records([*TALK, *stream]), content=True))
    sent = encode_spans([readable(one) for one in made])
    whole = MessageToDict(sent, use_integers_for_enums=True)
    theirs = _like_protobuf(whole)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    for one in theirs:
        one.setdefault("attributes", [])
        one.get("status") or one.pop("status", None)
        for event in one.get("events", ()):
            event.setdefault("attributes", [])
    ours = json.loads(json.dumps(export_json(made)))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert theirs == ours


class _Collector(HTTPServer):
    """A collector that keeps what it is sent, and answers with `status`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiver)
        self.received: list[tuple[str, str, bytes]] = []
        self.status = 200

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Receiver(BaseHTTPRequestHandler):
    server: _Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((self.path, self.headers["Content-Type"], body))
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[_Collector]:
    with _Collector() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_collector_gets_every_span_as_protobuf(collector: _Collector) -> None:
    made = list(spans(records(TALK)))
    assert send_spans(collector.address, made) == len(made)
    [(path, kind, body)] = collector.received
    assert (path, kind) == ("/v1/traces", "application/x-protobuf")
    [resource] = ExportTraceServiceRequest.FromString(body).resource_spans
    sent = resource.scope_spans[0].spans
    assert [(one.name, one.span_id.hex()) for one in sent] == [(one.name, one.id) for one in made]
    assert {attribute.key for attribute in resource.resource.attributes} == {
        "service.name",
        "service.version",
    }


def test_a_collector_that_refuses_is_an_error_with_its_reason(collector: _Collector) -> None:
    collector.status = 401
    with pytest.raises(ConnectError, match="401"):
        send_spans(collector.address, spans(records(TALK)))


def test_an_address_without_a_path_gets_the_specifications_one() -> None:
    assert traces_address("http://a:4318/") == "http://a:4318/v1/traces"
    assert traces_address("https://a/x/v1/traces") == "https://a/x/v1/traces"
    with pytest.raises(ConfigError):
        traces_address("a:4318")


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(ConfigError, match="not installed") as told:
        send_spans("http://127.0.0.1:9", ())
    assert "toolsight[otel]" in told.value.hint
