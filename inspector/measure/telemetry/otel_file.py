"""Writes spans as OTLP's JSON, one export a line, as the file exporter of the specification does."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from inspector import __version__
from inspector.core.error import ConfigError
from inspector.core.sink import open_private
from inspector.measure.telemetry.span import Attributes, Span, SpanEvent, SpanKind, Value

SERVICE = "toolsight"
BATCH = 500
_KINDS = {SpanKind.INTERNAL: 1, SpanKind.CLIENT: 3}
_ERROR = 2


def export_lines(spans: Iterable[Span]) -> Iterator[tuple[str, int]]:
    """The spans as lines, each one an export of at most `BATCH` of them, and how many it holds."""
    waiting = iter(spans)
    while batch := list(islice(waiting, BATCH)):
        yield json.dumps(export_json(batch), separators=(",", ":")), len(batch)


def write_spans(path: Path, spans: Iterable[Span]) -> int:
    """Write the spans to a file that is not there yet, and return how many there are. Raises ConfigError."""
    written = 0
    try:
        with open_private(path, "x", encoding="ascii") as file:
            for line, size in export_lines(spans):
                file.write(f"{line}\n")
                written += size
    except FileExistsError:
        raise ConfigError(f"{path} already exists", hint="Choose another file.") from None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", hint="Choose another file."
        ) from error
    return written


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
    return {
        "timeUnixNano": str(event.at),
        "name": event.name,
        "attributes": _attributes(event.attributes),
    }


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
