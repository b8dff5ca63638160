"""A session as spans of OpenTelemetry, in the JSON that collectors read from files and over HTTP."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any

from inspector import __version__
from inspector.core.events import Record

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
