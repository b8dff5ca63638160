"""Sends spans to a collector with OpenTelemetry's SDK, over HTTP as protobuf. Needs the extra `otel`."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from inspector import __version__
from inspector.core.error import ConfigError, ConnectError
from inspector.measure.telemetry.otel_file import BATCH, SERVICE
from inspector.measure.telemetry.span import Span, SpanKind

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

_TRACES = "/v1/traces"
_INSTALL = "Install it with `pip install 'toolsight[otel]'`; --otel FILE works without it."


def send_spans(endpoint: str, spans: Iterable[Span], *, timeout: float = 10.0) -> int:
    """Send the spans, and return how many there were.

    `endpoint` is a collector's address; without a path it gets the specification's one. The environment
    (`OTEL_EXPORTER_OTLP_HEADERS`, …) is heeded. Raises ConfigError without the extra, and ConnectError if the
    collector does not take them.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError as error:
        raise ConfigError("the OpenTelemetry exporter is not installed", hint=_INSTALL) from error
    exporter, sent, waiting = (
        OTLPSpanExporter(endpoint=traces_address(endpoint), timeout=timeout),
        0,
        iter(spans),
    )
    with _heard() as said:
        try:
            while batch := [readable(one) for one in islice(waiting, BATCH)]:
                if exporter.export(batch) is not SpanExportResult.SUCCESS:
                    raise _refused(endpoint, said)
                sent += len(batch)
        except OSError as error:
            raise ConnectError(f"{endpoint} cannot be reached: {error}", hint=_HINT) from error
        finally:
            exporter.shutdown()  # type: ignore[no-untyped-call]
    return sent


_HINT = "Is a collector running there? Its OTLP/HTTP port is usually 4318."


def traces_address(endpoint: str) -> str:
    """The address to send to: an address without a path gets the specification's one."""
    from urllib.parse import urlsplit

    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigError(f"{endpoint} is not a valid address", hint="Write it as http://localhost:4318.")
    return endpoint.rstrip("/") + _TRACES if parts.path in ("", "/") else endpoint


def readable(span: Span) -> "ReadableSpan":
    """The span as the SDK has those that have ended."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind as Kind, Status, StatusCode, TraceFlags

    def context(span_id: str) -> SpanContext:
        flags = TraceFlags(TraceFlags.SAMPLED)
        return SpanContext(int(span.trace, 16), int(span_id, 16), is_remote=False, trace_flags=flags)

    return ReadableSpan(
        name=span.name,
        context=context(span.id),
        parent=context(span.parent) if span.parent else None,
        resource=Resource({"service.name": SERVICE, "service.version": __version__}),
        attributes=dict(span.attributes),
        events=[Event(one.name, dict(one.attributes), one.at) for one in span.events],
        kind=Kind.CLIENT if span.kind is SpanKind.CLIENT else Kind.INTERNAL,
        status=Status(StatusCode.ERROR, span.message or None) if span.failed else Status(StatusCode.UNSET),
        start_time=span.start,
        end_time=span.end,
        instrumentation_scope=InstrumentationScope(SERVICE, __version__),
    )


class _Ear(logging.Handler):
    """Keeps what the exporter logs of a failure, which it reports nowhere else."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What the exporter says while this is open; it goes nowhere else."""
    logger, ear = logging.getLogger("opentelemetry"), _Ear()
    before = logger.propagate
    logger.addHandler(ear)
    logger.propagate = False
    try:
        yield ear.heard
    finally:
        logger.removeHandler(ear)
        logger.propagate = before


def _refused(endpoint: str, said: list[str]) -> ConnectError:
    return ConnectError(
        f"{endpoint} did not accept the spans: {said[-1] if said else 'no reason given'}", hint=_HINT
    )
