"""A session's records as spans: a trace a turn, with its model calls, searches and tool calls.

What is said, searched for, given and returned is left out unless it is asked for. Beside the turns, each
connection of a server is a trace, and so is each call by hand.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from functools import singledispatchmethod
from operator import attrgetter

from inspector.core.events import (
    BreakerChanged,
    CallFinished,
    CallRejected,
    CallRetried,
    CallStarted,
    Event,
    Failed,
    GateApplied,
    LoopDetected,
    ModelRequested,
    ModelResponded,
    ModelSwitched,
    Record,
    RedundantSearch,
    SearchPerformed,
    ServerConnecting,
    ServerFailed,
    ServerReady,
    SessionStarted,
    TaskChanged,
    ToolEvicted,
    ToolLoaded,
    ToolSubstituted,
    TurnEnded,
    UserSaid,
)
from inspector.core.message import Usage
from inspector.features.trace.metrics import otel
from inspector.features.trace.metrics.discovery import OWN
from inspector.features.trace.metrics.otel import OpenSpan, Span, SpanKind, Value, moment, trace_id
from inspector.schema.json_value import compact

# Spans of single requests to servers: a connection's beginning, and each attempt at a call.

_OF_THE_CALL = ("gen_ai.conversation.id", "gen_ai.tool.name", "mcp.method.name", "mcp.server.name")


def attempt(record: Record, call: OpenSpan, took: float, error: str) -> Span:
    """One request of a call that was made several times; it ended with this record, after `took` ms."""
    # A record may name a tool without its server, or by nothing at all.
    name = f"tools/call {call.attributes.get('gen_ai.tool.name', '')}".rstrip()
    made = OpenSpan(name, SpanKind.CLIENT, record, call.trace, call.id)
    made.attributes.update({key: call.attributes[key] for key in _OF_THE_CALL if key in call.attributes})
    made.know({"error.type": error})
    return replace(made.ended(record, failed=bool(error)), start=moment(record, max(took, 0.0)))


# What a span notes of an event that gets no span of its own.


_TOLD: Mapping[type[Event], Mapping[str, str]] = {
    ToolLoaded: {"tool": "tool", "tokens": "tokens"},
    ToolEvicted: {"tool": "tool", "cause": "cause"},
    LoopDetected: {"tool": "tool", "count": "count"},
    CallRejected: {"tool": "name", "reason": "reason"},
    BreakerChanged: {
        "breaker": "name",
        "breaker.before": "before",
        "breaker.after": "after",
        "breaker.failure_rate": "failure_rate",
    },
    CallRetried: {"retry.attempt": "attempt", "retry.wait": "wait", "retry.failure": "failure"},
    TaskChanged: {"task.id": "state.id", "task.status": "state.status", "task.polls": "state.polls"},
    ToolSubstituted: {
        "tool": "tool",
        "substitute.instead_of": "instead_of",
        "substitute.similarity": "similarity",
    },
}
"""The attributes of each event, without their prefix, and where in it they stand."""


def told_within(event: Event) -> Mapping[str, Value | None] | None:
    """What a turn's span notes of an event; None for events that have spans of their own, or are left out."""
    match event:
        case RedundantSearch():
            return {"toolsight.overlap": event.overlap, "toolsight.in_a_row": event.in_a_row or None}
        case GateApplied():
            return {
                "toolsight.gate.candidates": len(event.candidates),
                "toolsight.gate.active": len(event.active),
                "toolsight.gate.gated_out": len(event.gated_out),
                "toolsight.gate.query_hash": event.query_hash,
                "toolsight.gate.phase1_tokens": event.pool_tokens,
                "toolsight.gate.phase2_tokens": event.tokens,
                "toolsight.gate.milliseconds": event.milliseconds,
            }
    if (told := _TOLD.get(type(event))) is None:
        return None
    found = {f"toolsight.{name}": attrgetter(place)(event) for name, place in told.items()}
    return {name: str(value) if isinstance(value, Enum) else value for name, value in found.items()}


class SpanMaker:
    """Makes spans of one session's records, one after another; a span comes once it has ended."""

    def __init__(self, *, content: bool = False) -> None:
        """With `content`, what was said, searched for, given and returned is among the attributes."""
        self._has_content = content
        self._agent, self._model = OWN, ""
        self._version = ""
        self._turn: OpenSpan | None = None
        self._usage = Usage()
        self._request: OpenSpan | None = None
        self._calls: dict[str, OpenSpan] = {}
        self._connections: dict[str, OpenSpan] = {}
        self._said: list[str] = []
        self._is_first = False
        self._last: Record | None = None
        self._asked = 0

    def after(self, record: Record) -> Iterator[Span]:
        """The spans that end with this record."""
        self._last = record
        yield from self._take(record.event, record)

    def end(self) -> Iterator[Span]:
        """The spans that nothing ended; the last record is their end."""
        last = self._last
        if last is None:
            return
        left = [*self._calls.values(), *self._connections.values(), self._request, self._turn]
        for one in left:
            if one is not None:
                one.attributes["toolsight.unfinished"] = True
                yield one.ended(last)
        self._calls, self._connections, self._request, self._turn = {}, {}, None, None

    def _open(
        self, record: Record, name: str, operation: str, kind: SpanKind, *, alone: bool = False
    ) -> OpenSpan:
        """A span that begins with this record, in the turn if there is one."""
        turn = None if alone else self._turn
        session = record.session
        trace = turn.trace if turn is not None else trace_id(session, record.seq)
        opened = OpenSpan(name, kind, record, trace, turn.id if turn is not None else "")
        given = {"gen_ai.operation.name": operation, "gen_ai.conversation.id": session}
        opened.know({**given, "gen_ai.agent.name": self._agent})
        return opened

    @singledispatchmethod
    def _take(self, event: Event, record: Record) -> Iterable[Span]:
        """Note in a call or in the turn what happened to its tools, and what the guards did."""
        told = told_within(event)
        call = self._calls.get(str(getattr(event, "call_id", "")))
        within = call if call is not None else self._turn
        if told is None or within is None:
            return
        within.mark(record, f"toolsight.{record.kind}", told)
        if isinstance(event, CallRetried) and call is not None and "mcp.method.name" in call.attributes:
            yield attempt(record, call, event.milliseconds, event.failure)

    @_take.register
    def _session_started(self, event: SessionStarted, _record: Record) -> Iterable[Span]:
        origin = event.origin
        self._model = event.model
        self._agent, self._version = (origin.agent, origin.version) if origin else (OWN, "")
        return ()

    @_take.register
    def _model_switched(self, event: ModelSwitched, _record: Record) -> Iterable[Span]:
        self._model = event.model
        return ()

    @_take.register
    def _user_said(self, event: UserSaid, record: Record) -> Iterable[Span]:
        before, self._asked = self._turn, moment(record)
        self._said.append(event.text)
        self._usage, self._is_first = Usage(), True
        name = f"invoke_agent {self._agent}"
        self._turn = self._open(record, name, "invoke_agent", SpanKind.INTERNAL, alone=True)
        self._turn.know(
            {
                "gen_ai.provider.name": otel.provider(self._model),
                "gen_ai.request.model": self._model,
                "gen_ai.agent.version": self._version,
                "gen_ai.input.messages": self._words(event.text),
            }
        )
        return () if before is None else (before.ended(record),)

    def _words(self, *texts: str) -> str | None:
        """What the user said, as messages; None if nobody wants the content."""
        return compact(otel.said("user", *texts)) if self._has_content else None

    @_take.register
    def _turn_ended(self, event: TurnEnded, record: Record) -> Iterable[Span]:
        failed, answer = event.outcome == "failed", None
        turn, request, self._turn, self._request = self._turn, self._request, None, None
        if request is not None:
            yield request.ended(record, failed=failed)
        if turn is None:
            return
        if self._has_content:
            answer = otel.answer(event.text, (), event.outcome)
        turn.know(
            {
                "toolsight.turn.outcome": event.outcome,
                "error.type": otel.UNKNOWN_ERROR if failed else None,
                "gen_ai.output.messages": answer,
                **otel.usage(self._usage),
            }
        )
        yield turn.ended(record, failed=failed)

    @_take.register
    def _model_requested(self, event: ModelRequested, record: Record) -> Iterable[Span]:
        opened = self._open(record, f"chat {self._model}".rstrip(), "chat", SpanKind.CLIENT)
        opened.know(otel.requested(event, self._model))
        # The conversation so far is told with the first call of a turn, and not with each.
        words = self._words(*self._said) if self._is_first else None
        opened.know({"gen_ai.input.messages": words})
        self._request, self._is_first = opened, False
        return ()

    @_take.register
    def _model_responded(self, event: ModelResponded, record: Record) -> Iterable[Span]:
        request, self._request, self._asked = self._request, None, moment(record)
        if request is None:
            return ()
        self._usage = otel.total(self._usage, event.usage)
        request.know(otel.responded(event, content=self._has_content))
        return (request.ended(record),)

    @_take.register
    def _failed(self, event: Failed, record: Record) -> Iterable[Span]:
        request, self._request = self._request, None
        if request is None:
            return ()
        request.attributes["error.type"] = otel.UNKNOWN_ERROR
        return (request.ended(record, failed=True, message=event.message if self._has_content else ""),)

    @_take.register
    def _search_performed(self, event: SearchPerformed, record: Record) -> Iterable[Span]:
        name = f"retrieval {otel.DATA_SOURCE}"
        opened = self._open(record, name, "retrieval", SpanKind.INTERNAL, alone=event.by == "user")
        opened.know(otel.searched(event, content=self._has_content))
        span = opened.ended(record, failed=bool(event.report.error))
        start = moment(record, max(event.report.latency_ms, 0.0))
        # No search begins before it is asked for, whatever clock has measured it.
        return (replace(span, start=min(max(start, self._asked), span.end)),)

    @_take.register
    def _call_started(self, event: CallStarted, record: Record) -> Iterable[Span]:
        server, _, name = event.tool.partition(":")
        alone = event.by == "user"
        opened = self._open(record, f"execute_tool {name}", "execute_tool", SpanKind.INTERNAL, alone=alone)
        # A tool of the agent's own, such as a shell, stands under the agent's name and is none of a server.
        is_mcp = server != self._agent
        opened.know(otel.called(event, is_mcp=is_mcp, content=self._has_content))
        self._calls[event.call_id] = opened
        return ()

    @_take.register
    def _call_finished(self, event: CallFinished, record: Record) -> Iterable[Span]:
        opened = self._calls.pop(event.call_id, None)
        if opened is None:
            return
        opened.know(otel.returned(event, content=self._has_content))
        retries = sum(each.name == f"toolsight.{CallRetried.kind}" for each in opened.events)
        if "mcp.method.name" in opened.attributes and (retries or event.attempts > 1):
            # Then each attempt was a request, and the call itself was none. A pause may have been the end.
            if event.attempts > retries:
                yield attempt(
                    record, opened, event.milliseconds, str(opened.attributes.get("error.type", ""))
                )
            del opened.attributes["mcp.method.name"]
        message = event.text if self._has_content and not event.ok else ""
        yield opened.ended(record, failed=not event.ok, message=message)

    @_take.register
    def _server_connecting(self, event: ServerConnecting, record: Record) -> Iterable[Span]:
        opened = self._open(record, "initialize", "", SpanKind.CLIENT, alone=True)
        opened.know({"mcp.method.name": "initialize", "mcp.server.name": event.server})
        # The newest is the last.
        self._connections.pop(event.server, None)
        self._connections[event.server] = opened
        return ()

    @_take.register
    def _connected(self, event: ServerReady | ServerFailed, record: Record) -> Iterable[Span]:
        opened = self._connections.pop(event.server, None)
        if opened is None:
            return ()
        if isinstance(event, ServerReady):
            opened.know({"mcp.protocol.version": event.info.protocol, "toolsight.server.tools": event.tools})
            return (opened.ended(record),)
        opened.attributes["error.type"] = "login_required" if event.needs_login else otel.UNKNOWN_ERROR
        return (opened.ended(record, failed=True, message=event.reason),)


def spans(records: Iterable[Record], *, content: bool = False) -> Iterator[Span]:
    """One session's records as spans, each once it has ended. See `SpanMaker`."""
    maker = SpanMaker(content=content)
    for record in records:
        yield from maker.after(record)
    yield from maker.end()
