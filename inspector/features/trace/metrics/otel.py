"""A session as spans of OpenTelemetry, in the JSON that collectors read from files and over HTTP."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from itertools import islice
from typing import Any

from inspector import __version__
from inspector.core.error import FailureKind
from inspector.core.events import (
    CallFinished,
    CallStarted,
    ModelRequested,
    ModelResponded,
    Record,
    SearchPerformed,
)
from inspector.core.message import ToolCall, Usage
from inspector.schema.json_value import compact

Value = str | int | float | bool | Sequence[str]
Attributes = Mapping[str, Value]
Values = Mapping[str, Value | None]
"""Attributes, and None for those that are not known."""
_NANOSECONDS = 1_000_000_000
_LAST = 2**63 - 1


class SpanKind(StrEnum):
    """INTERNAL happens in this program, CLIENT asks another one."""

    INTERNAL = "internal"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """A moment within a span; `at` is in nanoseconds since 1970, UTC."""

    name: str
    at: int
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """Ids are hexadecimal, `parent` is "" for the first of its trace; times are in nanoseconds since 1970."""

    name: str
    kind: SpanKind
    trace: str
    id: str
    parent: str
    start: int
    end: int
    attributes: Attributes
    events: tuple[SpanEvent, ...] = ()
    failed: bool = False
    message: str = ""


def moment(record: Record, before_ms: float = 0.0) -> int:
    """When a record was made, or some milliseconds before.

    The record's number is added in nanoseconds: records of one time stay in their order.
    """
    at = (record.at - before_ms / 1000) * _NANOSECONDS
    # No exporter takes a time that 64 bits cannot hold, whatever is recorded.
    return min((round(at) if 0 <= at < _LAST else 0) + record.seq, _LAST)


def plain(text: str) -> str:
    """The text as UTF-8 can hold it: what models write may have lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def known(values: Values) -> dict[str, Value]:
    """The attributes that have a value: what is not known is left out, and is no 0."""
    return {key: made for key, value in values.items() if (made := _sent(value)) is not None}


def _sent(value: Value | None) -> Value | None:
    """The value as any exporter takes it; None for one that says nothing."""
    match value:
        case bool() | None:
            return value
        case int():
            return max(min(value, _LAST), -_LAST)
        case float():
            return value if math.isfinite(value) else None
        case str():
            return plain(value) or None
        case _:
            return tuple(map(plain, value)) or None


def trace_id(session: str, seq: int) -> str:
    """The id of the trace that began with this record: the same each time it is exported."""
    return _digest(f"trace\0{session}\0{seq}", 32)


def span_id(session: str, seq: int, part: str = "") -> str:
    """The id of the span that began with this record; `part` distinguishes several of one record."""
    return _digest(f"span\0{session}\0{seq}\0{part}", 16)


def _digest(key: str, digits: int) -> str:
    """Hexadecimal digits, never all zero: that would be no id."""
    found = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:digits]
    return found if found.strip("0") else f"{found[:-1]}1"


@dataclass(slots=True)
class OpenSpan:
    """A span that has begun."""

    name: str
    kind: SpanKind
    began: Record
    trace: str
    parent: str
    attributes: dict[str, Value] = field(default_factory=dict)
    events: list[SpanEvent] = field(default_factory=list)

    @property
    def id(self) -> str:
        return span_id(self.began.session, self.began.seq)

    def know(self, values: Values) -> None:
        """Add attributes, as far as they are known."""
        self.attributes.update(known(values))

    def mark(self, record: Record, name: str, values: Values) -> None:
        """Add what happened in between."""
        self.events.append(SpanEvent(name, moment(record), known(values)))

    def ended(self, by: Record, *, failed: bool = False, message: str = "") -> Span:
        """The span, once it has ended with a record."""
        start = moment(self.began)
        return Span(
            *(plain(self.name), self.kind, self.trace, self.id, self.parent, start, max(moment(by), start)),
            *(self.attributes, tuple(self.events), failed, plain(message)),
        )


# Names and values of attributes, after OpenTelemetry's conventions for generative AI and for MCP: those of
# semantic-conventions-genai (gen-ai spans 002c8a6, MCP spans 55a32cd; status: development, without a release
# of its own yet), with `error.type` as in the semantic conventions 1.44. What these have no name for stands
# under `toolsight.`, and a server's configured name under `mcp.server.name`.
UNKNOWN_ERROR = "_OTHER"
"""The class of an error that nobody classified."""
TOOL_ERROR = "tool_error"
"""The class of an error that a tool itself reports (`isError`)."""
DATA_SOURCE = "toolsight.tools"
"""What a search searches."""
# A litellm name begins with the provider, whose name is mostly the conventions' own.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
_BY_MODEL = (
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("gemini", "gcp.gemini"),
)
_UNKNOWN_PROVIDER = "unknown"


def provider(model: str) -> str:
    """The provider of a model by its name, or `unknown`."""
    named, slash, _ = model.partition("/")
    if slash:
        return _PROVIDERS.get(named, named)
    return next((name for start, name in _BY_MODEL if model.startswith(start)), _UNKNOWN_PROVIDER)


def usage(reported: Usage) -> Values:
    """The provider's own counts; the input includes what was cached, the output its reasoning."""
    return {
        "gen_ai.usage.input_tokens": reported.input_tokens,
        "gen_ai.usage.output_tokens": reported.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": reported.cached_tokens,
        "gen_ai.usage.cache_creation.input_tokens": reported.written_tokens,
        "gen_ai.usage.reasoning.output_tokens": reported.reasoning_tokens,
    }


def said(role: str, *texts: str) -> list[dict[str, Any]]:
    """Messages of text alone."""
    return [{"role": role, "parts": [{"type": "text", "content": text}]} for text in texts]


def answer(text: str, calls: tuple[ToolCall, ...], finish_reason: str) -> str:
    """A model's answer as `gen_ai.output.messages`."""
    parts: list[dict[str, Any]] = [{"type": "text", "content": text}] if text else []
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments} for call in calls
    ]
    return compact([{"role": "assistant", "parts": parts, "finish_reason": finish_reason}])


def total(one: Usage, other: Usage) -> Usage:
    """Both together; what neither reports stays unknown."""

    def both(name: str) -> int | None:
        values = [value for usage in (one, other) if (value := getattr(usage, name)) is not None]
        return sum(values) if values else None

    return Usage(**{each.name: both(each.name) for each in fields(Usage)})


def requested(event: ModelRequested, model: str) -> Values:
    """What a model call is about."""
    return {
        "gen_ai.provider.name": provider(model),
        "gen_ai.request.model": model,
        "toolsight.call": event.call,
        "toolsight.tools.bound": len(event.bound),
        "toolsight.tokens.definitions": event.tokens.tools + event.tokens.meta,
        "toolsight.tokens.input": event.tokens.input,
        "toolsight.delivery": event.delivery,
    }


def responded(event: ModelResponded, *, content: bool) -> Values:
    """What a model answered; what it said only with its content."""
    return {
        "gen_ai.response.finish_reasons": (event.finish_reason,) if event.finish_reason else None,
        "gen_ai.response.id": event.message,
        "toolsight.tool_calls": len(event.tool_calls),
        **usage(event.usage),
        "gen_ai.output.messages": answer(event.text, event.tool_calls, event.finish_reason)
        if content
        else None,
    }


def searched(event: SearchPerformed, *, content: bool) -> Values:
    """A search for tools; what was searched for and found only with its content."""
    report, request = event.report, event.report.request
    query = request.query or ", ".join(request.tool_names) or request.label()
    found = [{"id": hit.tool_id, "score": hit.score.value} for hit in report.results]
    return {
        "gen_ai.data_source.id": DATA_SOURCE,
        "gen_ai.request.top_k": report.limit or None,
        "gen_ai.retrieval.query.text": query if content else None,
        "gen_ai.retrieval.documents": compact(found) if content else None,
        "toolsight.search.ranker": report.ranker,
        "toolsight.search.by": event.by,
        "toolsight.search.candidates": report.scored,
        "toolsight.search.returned": len(found),
        "toolsight.search.answer": report.answer.value,
        "error.type": UNKNOWN_ERROR if report.error else None,
    }


def called(event: CallStarted, *, is_mcp: bool, content: bool) -> Values:
    """A tool call as it begins; its arguments only with its content."""
    server, _, name = event.tool.partition(":")
    return {
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": event.call_id,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": compact(event.arguments) if content else None,
        "mcp.method.name": "tools/call" if is_mcp else None,
        "mcp.server.name": server if is_mcp else None,
        "toolsight.call.by": event.by,
    }


def returned(event: CallFinished, *, content: bool) -> Values:
    """How a tool call ended; its result only with its content."""
    kind = "" if event.ok else event.failure or UNKNOWN_ERROR
    return {
        "gen_ai.tool.call.result": event.text if content else None,
        "error.type": TOOL_ERROR if kind is FailureKind.TOOL else str(kind),
        "toolsight.attempts": event.attempts if event.attempts > 1 else None,
    }


SERVICE = "toolsight"
BATCH = 500
_KINDS = {SpanKind.INTERNAL: 1, SpanKind.CLIENT: 3}
_ERROR = 2


def export_lines(spans: Iterable[Span]) -> Iterator[str]:
    """The spans as lines, each one an export of at most `BATCH` of them."""
    waiting = iter(spans)
    while batch := list(islice(waiting, BATCH)):
        yield json.dumps(export_json(batch), separators=(",", ":"))


def export_json(spans: Sequence[Span]) -> dict[str, Any]:
    """One export of spans, as OTLP's JSON has it: hexadecimal ids, 64-bit numbers as text."""
    scope = {"name": SERVICE, "version": __version__}
    resource = {"attributes": _attributes({"service.name": SERVICE, "service.version": __version__})}
    return {
        "resourceSpans": [
            {"resource": resource, "scopeSpans": [{"scope": scope, "spans": [_span(one) for one in spans]}]}
        ]
    }


def _span(span: Span) -> dict[str, Any]:
    told = {
        "traceId": span.trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": span.name,
        "kind": _KINDS[span.kind],
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
    }
    if span.events:
        told["events"] = [_event(event) for event in span.events]
    if span.failed:
        told["status"] = {"code": _ERROR, **({"message": span.message} if span.message else {})}
    return told


def _event(event: SpanEvent) -> dict[str, Any]:
    return {"timeUnixNano": str(event.at), "name": event.name, "attributes": _attributes(event.attributes)}


def _attributes(values: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Value) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case _:
            return {"arrayValue": {"values": [_value(one) for one in value]}}
