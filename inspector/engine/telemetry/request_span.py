"""Spans of single requests to servers: a connection's beginning, and each attempt at a call."""

from collections.abc import Iterator
from dataclasses import replace

from inspector.domain.events import Record, ServerConnecting, ServerFailed, ServerReady
from inspector.engine.telemetry import attribute
from inspector.engine.telemetry.span import OpenSpan, Span, SpanKind, known, moment, trace_id

_OF_THE_CALL = ("gen_ai.conversation.id", "gen_ai.tool.name", "mcp.method.name", "mcp.server.name")


def attempt(record: Record, call: OpenSpan, took: float, error: str) -> Span:
    """One request of a call that was made several times; it ended with this record, after `took` ms."""
    # A record may name a tool without its server, or by nothing at all.
    name = f"tools/call {call.attributes.get('gen_ai.tool.name', '')}".rstrip()
    made = OpenSpan(name, SpanKind.CLIENT, record, call.trace, call.id)
    made.attributes.update({key: call.attributes[key] for key in _OF_THE_CALL if key in call.attributes})
    made.attributes.update(known({"error.type": error}))
    return replace(made.ended(record, failed=bool(error)), start=moment(record, max(took, 0.0)))


class ConnectionSpans:
    """Follows connections as they open; each is a trace of its own."""

    def __init__(self) -> None:
        self._open: dict[str, OpenSpan] = {}

    def after(
        self, record: Record, event: ServerConnecting | ServerReady | ServerFailed, agent: str
    ) -> Iterator[Span]:
        """The span that ends with this record, if one does."""
        opened = self._open.pop(event.server, None)
        if isinstance(event, ServerConnecting):
            trace = trace_id(record.session, record.seq)
            opened = OpenSpan("initialize", SpanKind.CLIENT, record, trace, "")
            opened.attributes.update(
                known(
                    {
                        "gen_ai.conversation.id": record.session,
                        "gen_ai.agent.name": agent,
                        "mcp.method.name": "initialize",
                        "mcp.server.name": event.server,
                    }
                )
            )
            self._open[event.server] = opened
        elif opened is not None:
            yield _connected(record, event, opened)

    def end(self) -> tuple[OpenSpan, ...]:
        """The connections that are still opening."""
        left, self._open = tuple(self._open.values()), {}
        return left


def _connected(record: Record, event: ServerReady | ServerFailed, opened: OpenSpan) -> Span:
    if isinstance(event, ServerReady):
        opened.attributes.update(
            known({"mcp.protocol.version": event.info.protocol, "toolsight.server.tools": event.tools})
        )
        return opened.ended(record)
    error = "login_required" if event.needs_login else attribute.UNKNOWN_ERROR
    opened.attributes["error.type"] = error
    return opened.ended(record, failed=True, message=event.reason)
