"""A session's turns as spans of OpenTelemetry, in the JSON that collectors read from files and over HTTP.

A turn is a trace, with its model calls, searches and tool calls. What is said, searched for, given and
returned is left out unless it is asked for. Names are those of OpenTelemetry's conventions for generative AI
and for MCP: of semantic-conventions-genai (gen-ai spans 002c8a6, MCP spans 55a32cd; status: development,
without a release of its own yet), with `error.type` as in the semantic conventions 1.44. What these have no
name for stands under `toolsight.`, and a server's configured name under `mcp.server.name`.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector import __version__
from inspector.core.error import FailureKind
from inspector.core.events import (
    BreakerChanged,
    CallRejected,
    CallRetried,
    Event,
    GateApplied,
    LoopDetected,
    ModelResponded,
    Record,
    RedundantSearch,
    ScriptRun,
    ToolEvicted,
    ToolLoaded,
    ToolSubstituted,
    TurnEnded,
)
from inspector.core.message import ToolCall as Wanted, Usage
from inspector.core.turns import ModelCall, Search, ToolCall, Turn, turns
from inspector.schema.json_value import JsonObject, compact

Value = str | int | float | bool | Sequence[str]
Values = Mapping[str, Value | None]
"""Attributes, and None for those that are not known."""
_NANOSECONDS = 1_000_000_000
_LAST = 2**63 - 1
INTERNAL, CLIENT = 1, 3
"""The kinds of spans: what happens in this program, and what asks another one."""
_ERROR = 2
_UNKNOWN_ERROR, _TOOL_ERROR = "_OTHER", "tool_error"
_TOOLS = "toolsight.tools"
_SERVICE, _BATCH = "toolsight", 500
_PROVIDERS = {"claude": "anthropic", "gpt": "openai", "gemini": "gcp.gemini"}
# The fields of events that a turn's span notes: none has anything that was said, given or returned.
_NOTED: Mapping[type[Event], str] = {
    ToolLoaded: "tool tokens",
    ToolEvicted: "tool cause",
    LoopDetected: "tool count",
    CallRejected: "name reason",
    CallRetried: "tool attempt wait failure",
    ToolSubstituted: "tool instead_of similarity",
    ScriptRun: "calls returned withheld",
    BreakerChanged: "name before after failure_rate",
    RedundantSearch: "overlap in_a_row",
    GateApplied: "call query_hash active gated_out pool_tokens tokens milliseconds",
}


class SpanEvent(Struct, frozen=True):
    """A moment within a span; `at` is in nanoseconds since 1970, UTC."""

    name: str
    at: int
    attributes: Mapping[str, Value]


class Span(Struct, frozen=True):
    """Ids are hexadecimal, `parent` is "" for the first of its trace; times are in nanoseconds since 1970."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    start: int
    end: int
    attributes: Mapping[str, Value]
    events: tuple[SpanEvent, ...] = ()
    failed: bool = False
    message: str = ""


def known(values: Values) -> dict[str, Value]:
    """The attributes that have a value, as any exporter takes it: what is not known is left out, and no 0."""
    return {key: made for key, value in values.items() if (made := _sent(value)) is not None}


def _sent(value: Value | None) -> Value | None:
    match value:
        case bool() | None:
            return value
        case int():
            return max(min(value, _LAST), -_LAST)
        case float():
            return value if math.isfinite(value) else None
        case str():
            return _plain(value) or None
        case _:
            return tuple(map(_plain, value)) or None


def _plain(text: str) -> str:
    """The text as UTF-8 can hold it: what models write may have lone surrogates."""
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")


def _moment(record: Record, before_ms: float = 0.0) -> int:
    """When a record was made, or some milliseconds before.

    The record's number is added in nanoseconds: records of one time stay in their order. No exporter takes a
    time that 64 bits cannot hold, whatever is recorded.
    """
    at = (record.at - before_ms / 1000) * _NANOSECONDS
    return min((round(at) if 0 <= at < _LAST else 0) + record.seq, _LAST)


def _id(kind: str, record: Record, digits: int) -> str:
    """The id of what began with this record: the same each time that it is exported."""
    key = f"{kind}\0{record.session}\0{record.seq}"
    return hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:digits]


def _provider(model: str) -> str:
    """The provider, with which a litellm name begins; else by the model's family."""
    named, slash, _ = model.partition("/")
    found = (name for start, name in _PROVIDERS.items() if model.startswith(start))
    return named if slash else next(found, "unknown")


def _usage(answers: Iterable[ModelResponded]) -> Values:
    """The provider's own counts, summed; the input includes what was cached, the output its reasoning."""
    reported = [answer.usage for answer in answers]
    told = {name: [getattr(usage, name) for usage in reported] for name in Usage.__struct_fields__}
    total = {
        name: sum(one for one in counts if one is not None)
        if any(one is not None for one in counts)
        else None
        for name, counts in told.items()
    }
    return {
        "gen_ai.usage.input_tokens": total["input_tokens"],
        "gen_ai.usage.output_tokens": total["output_tokens"],
        "gen_ai.usage.cache_read.input_tokens": total["cached_tokens"],
        "gen_ai.usage.cache_creation.input_tokens": total["written_tokens"],
        "gen_ai.usage.reasoning.output_tokens": total["reasoning_tokens"],
    }


class _TurnSpans:
    """Makes the spans of one turn; with `content`, what was said, given and returned is among them."""

    def __init__(self, turn: Turn, said: Sequence[str], *, content: bool) -> None:
        """`said` are the user's messages so far."""
        self._turn, self._said, self._has_content = turn, said, content
        first = turn.records[0]
        self._last = turn.records[-1]
        self._records = {id(record.event): record for record in turn.records}
        self._trace, self._root = _id("trace", first, 32), _id("turn", first, 16)
        self._agent = turn.session.agent or _SERVICE

    def made(self) -> Iterator[Span]:
        """The turn's span, and those in it."""
        yield self._whole()
        for number, call in enumerate(self._turn.calls):
            yield self._model_call(call, is_first=not number)
        for act in self._turn.acts:
            if isinstance(act, Search):
                yield self._search(act)
            elif isinstance(act, ToolCall):
                yield self._tool_call(act)

    def _span(
        self, name: str, operation: str, kind: int, began: Record, end: Event | None, values: Values
    ) -> Span:
        """What began with a record and ended with an event; what nothing ended ends with the turn."""
        ended = self._records.get(id(end))
        given = {
            "gen_ai.operation.name": operation,
            "gen_ai.conversation.id": began.session,
            "gen_ai.agent.name": self._agent,
            "toolsight.unfinished": True if ended is None else None,
        }
        start, over = _moment(began), _moment(ended or self._last)
        ids = (self._trace, _id("span", began, 16), self._root)
        attributes = known({**given, **values})
        failed = "error.type" in attributes
        return Span(_plain(name), kind, *ids, start, max(start, over), attributes, failed=failed)

    def _told(self, text: str) -> str | None:
        """What somebody said, if anybody wants the content."""
        return text if self._has_content else None

    def _asked(self, *texts: str) -> str | None:
        messages = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in texts]
        return self._told(compact(messages)) if texts else None

    def _whole(self) -> Span:
        turn, model = self._turn, self._turn.session.model
        ended = next(iter(turn.of(TurnEnded)), None)
        values = {
            "gen_ai.provider.name": _provider(model),
            "gen_ai.request.model": model,
            "gen_ai.input.messages": self._asked(turn.said.text) if turn.said is not None else None,
            "gen_ai.output.messages": self._answer(ended.text, (), ended.outcome) if ended else None,
            "toolsight.turn.outcome": turn.outcome,
            "error.type": _UNKNOWN_ERROR if turn.outcome == "failed" else None,
            **_usage(call.answer for call in turn.calls if call.answer is not None),
        }
        span = self._span(
            f"invoke_agent {self._agent}", "invoke_agent", INTERNAL, turn.records[0], ended, values
        )
        events = tuple(_noted(record) for record in turn.records if type(record.event) in _NOTED)
        return replace(span, id=self._root, parent="", events=events)

    def _answer(self, text: str, calls: Sequence[Wanted], finish_reason: str) -> str | None:
        parts: list[JsonObject] = [{"type": "text", "content": text}] if text else []
        parts += [
            {"type": "tool_call", "id": one.id, "name": one.name, "arguments": one.arguments} for one in calls
        ]
        answer = {"role": "assistant", "parts": parts, "finish_reason": finish_reason}
        return self._told(compact([answer]))

    def _model_call(self, call: ModelCall, *, is_first: bool) -> Span:
        """A model call; the conversation so far is told with the first of a turn, and not with each."""
        sent, answer, failed = call.request, call.answer, call.failed
        values: dict[str, Value | None] = {
            "gen_ai.provider.name": _provider(call.model),
            "gen_ai.request.model": call.model,
            "gen_ai.input.messages": self._asked(*self._said) if is_first else None,
            "toolsight.call": sent.call,
            "toolsight.tools.bound": len(sent.bound),
            "toolsight.tokens.definitions": sent.tokens.tools + sent.tokens.meta,
            "toolsight.tokens.input": sent.tokens.input,
            "toolsight.delivery": sent.delivery,
            "error.type": _UNKNOWN_ERROR if answer is None and failed is not None else None,
        }
        if answer is not None:
            values |= {
                "gen_ai.response.finish_reasons": (answer.finish_reason,) if answer.finish_reason else None,
                "gen_ai.response.id": answer.message,
                "gen_ai.output.messages": self._answer(answer.text, answer.tool_calls, answer.finish_reason),
                **_usage([answer]),
            }
        span = self._span(
            f"chat {call.model}".rstrip(), "chat", CLIENT, call.record, answer or failed, values
        )
        return (
            replace(span, message=_plain(self._told(failed.message) or ""))
            if span.failed and failed
            else span
        )

    def _search(self, act: Search) -> Span:
        report, request = act.event.report, act.event.report.request
        query = request.query or ", ".join(request.tool_names) or request.label()
        found = [{"id": hit.tool_id, "score": hit.score.value} for hit in report.results]
        values: dict[str, Value | None] = {
            "gen_ai.data_source.id": _TOOLS,
            "gen_ai.request.top_k": report.limit or None,
            "gen_ai.retrieval.query.text": self._told(query),
            "gen_ai.retrieval.documents": self._told(compact(found)),
            "toolsight.search.ranker": report.ranker,
            "toolsight.search.candidates": report.scored,
            "toolsight.search.returned": len(found),
            "toolsight.search.answer": report.answer.value,
            "error.type": _UNKNOWN_ERROR if report.error else None,
        }
        span = self._span(f"retrieval {_TOOLS}", "retrieval", INTERNAL, act.record, act.event, values)
        # No search begins before it is asked for, whatever clock has measured it.
        answered = self._records.get(id(act.call.answer)) if act.call is not None else None
        asked = _moment(answered or self._turn.records[0])
        return replace(
            span, start=min(max(_moment(act.record, max(report.latency_ms, 0.0)), asked), span.end)
        )

    def _tool_call(self, act: ToolCall) -> Span:
        """A tool call; one of the agent's own tools, such as a shell, is none of a server."""
        server, _, name = act.event.tool.partition(":")
        end, is_mcp = act.end, server != self._agent
        values: dict[str, Value | None] = {
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": act.event.call_id,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.arguments": self._told(compact(act.event.arguments)),
            "mcp.method.name": "tools/call" if is_mcp else None,
            "mcp.server.name": server if is_mcp else None,
        }
        if end is not None:
            kind = "" if end.ok else end.failure or _UNKNOWN_ERROR
            values |= {
                "gen_ai.tool.call.result": self._told(end.text),
                "error.type": _TOOL_ERROR if kind is FailureKind.TOOL else str(kind),
                "toolsight.attempts": end.attempts if end.attempts > 1 else None,
            }
        span = self._span(f"execute_tool {name}", "execute_tool", INTERNAL, act.record, end, values)
        return replace(span, message=_plain(self._told(end.text) or "")) if span.failed and end else span


def _noted(record: Record) -> SpanEvent:
    """What a turn's span notes of an event that has no span of its own."""
    event = record.event
    told = {f"toolsight.{name}": getattr(event, name) for name in _NOTED[type(event)].split()}
    return SpanEvent(f"toolsight.{record.kind}", _moment(record), known(told))


def spans(records: Iterable[Record], *, content: bool = False) -> Iterator[Span]:
    """One session's records as spans. With `content`, what was said, given and returned is in them."""
    said: list[str] = []
    for turn in turns(records):
        if turn.said is not None:
            said.append(turn.said.text)
        if turn.said is not None or turn.calls or turn.searches or turn.tool_calls:
            yield from _TurnSpans(turn, said, content=content).made()


def export_lines(made: Iterable[Span]) -> Iterator[str]:
    """The spans as lines, each one an export of at most 500 of them."""
    waiting = iter(made)
    while batch := list(islice(waiting, _BATCH)):
        yield json.dumps(export_json(batch), separators=(",", ":"))


def export_json(made: Sequence[Span]) -> dict[str, Any]:
    """One export of spans, as OTLP's JSON has it: hexadecimal ids, 64-bit numbers as text."""
    scope = {"name": _SERVICE, "version": __version__}
    resource = {"attributes": _attributes({"service.name": _SERVICE, "service.version": __version__})}
    inner = [{"scope": scope, "spans": list(map(_span_json, made))}]
    return {"resourceSpans": [{"resource": resource, "scopeSpans": inner}]}


def _span_json(span: Span) -> dict[str, Any]:
    told = {
        "traceId": span.trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": span.name,
        "kind": span.kind,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _attributes(span.attributes),
    }
    if span.events:
        told["events"] = [
            {"timeUnixNano": str(one.at), "name": one.name, "attributes": _attributes(one.attributes)}
            for one in span.events
        ]
    if span.failed:
        told["status"] = {"code": _ERROR, **({"message": span.message} if span.message else {})}
    return told


def _attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
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
            return {"arrayValue": {"values": list(map(_value, value))}}
