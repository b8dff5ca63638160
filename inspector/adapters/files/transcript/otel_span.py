"""Spans in OTLP's JSON: their attributes as plain values, their times in seconds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.adapters.files.transcript.field import items, mapping, mappings, text
from inspector.domain.jsonvalue import JsonObject

_NANOSECONDS = 1_000_000_000
_ERRORS = (2, "STATUS_CODE_ERROR")
_SERVER = (2, "SPAN_KIND_SERVER")
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Span:
    """What happened between two moments, in nanoseconds since 1970."""

    trace: str
    id: str
    parent: str
    name: str
    begun: int
    ended: int
    failed: bool
    message: str
    of_server: bool
    service: str
    attributes: JsonObject = field(default_factory=dict)

    @property
    def at(self) -> float | None:
        """When it began, in seconds since 1970; None if it does not say."""
        return self.begun / _NANOSECONDS if self.begun else None

    @property
    def milliseconds(self) -> float | None:
        """How long it took; None if it does not say."""
        return (self.ended - self.begun) / 1_000_000 if 0 < self.begun <= self.ended else None

    def text(self, *keys: str) -> str:
        """The first of these attributes that is a text."""
        return next((found for key in keys if (found := text(self.attributes.get(key)))), "")


def spans(record: dict[str, Any]) -> Iterator[Span]:
    """The spans of an export. Keys are in camel case, and in snake case from some programs."""
    for resource in mappings(_either(record, "resourceSpans", "resource_spans")):
        service = text(_attributes(mapping(resource.get("resource"))).get("service.name"))
        scopes = _either(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans")
        for scope in mappings(scopes):
            for span in mappings(scope.get("spans")):
                yield _span(span, service)


def _span(span: dict[str, Any], service: str) -> Span:
    status = mapping(span.get("status"))
    return Span(
        trace=text(_either(span, "traceId", "trace_id")).lower(),
        id=text(_either(span, "spanId", "span_id")).lower(),
        parent=text(_either(span, "parentSpanId", "parent_span_id")).lower(),
        name=text(span.get("name")),
        begun=_nanoseconds(_either(span, "startTimeUnixNano", "start_time_unix_nano")),
        ended=_nanoseconds(_either(span, "endTimeUnixNano", "end_time_unix_nano")),
        failed=status.get("code") in _ERRORS,
        message=text(status.get("message")),
        of_server=span.get("kind") in _SERVER,
        service=service,
        attributes=_attributes(span),
    )


def _either(record: Mapping[str, Any], *keys: str) -> object:
    return next((record[key] for key in keys if key in record), None)


def _nanoseconds(value: object) -> int:
    """A time as OTLP writes it: decimal text, as it exceeds what JSON's numbers hold; or a number."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < len(str(2**64)):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else 0


def _attributes(holder: dict[str, Any]) -> dict[str, Any]:
    pairs = mappings(holder.get("attributes"))
    return {text(pair.get("key")): _value(mapping(pair.get("value")), 0) for pair in pairs}


def _value(value: dict[str, Any], depth: int) -> object:
    if depth > _DEEPEST or not value:
        return None
    kind, given = next(iter(value.items()))
    match kind.replace("_", "").lower():
        case "intvalue":
            return (
                int(given)
                if isinstance(given, str) and given.isascii() and given.isdigit() and len(given) < 20
                else given
            )
        case "arrayvalue":
            return [_value(mapping(one), depth + 1) for one in items(mapping(given).get("values"))]
        case "kvlistvalue":
            pairs = mappings(mapping(given).get("values"))
            return {text(pair.get("key")): _value(mapping(pair.get("value")), depth + 1) for pair in pairs}
        case _:
            return given
