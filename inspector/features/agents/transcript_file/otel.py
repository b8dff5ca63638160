"""OpenTelemetry's spans of generative AI and of MCP, as OTLP's JSON; see docs/papers/transcripts.md.

Spans are exported when they end, in no order: they are put in order when the file has ended.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from inspector.core.message import ToolCall, Usage
from inspector.features.agents.transcript import (
    AgentTool,
    Asked,
    Begun,
    Entry,
    Searched,
    ServerTrouble,
    Tally,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.openai_item import defined
from inspector.features.agents.transcript_file.record_reader import (
    OpenAnswer,
    RecordReader,
    agent_tool,
    arguments,
    count,
    items,
    mappings,
    said,
    server_name,
    text,
    texts,
)
from inspector.schema.json_value import JsonObject, as_object, canonical

# Spans in OTLP's JSON: their attributes as plain values, their times in seconds.

_NANOSECONDS = 1_000_000_000
_ERRORS = (2, "STATUS_CODE_ERROR")
_SERVER = (2, "SPAN_KIND_SERVER")
_DEEPEST = 20


class Span(Struct, frozen=True):
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
    """The spans of an export."""
    for resource in mappings(record.get("resourceSpans")):
        service = text(_attributes(as_object(resource.get("resource"))).get("service.name"))
        for scope in mappings(resource.get("scopeSpans")):
            for span in mappings(scope.get("spans")):
                yield _span(span, service)


def _span(span: dict[str, Any], service: str) -> Span:
    status = as_object(span.get("status"))
    trace, own, parent = (text(span.get(key)).lower() for key in ("traceId", "spanId", "parentSpanId"))
    return Span(
        *(trace, own, parent, text(span.get("name"))),
        begun=_nanoseconds(span.get("startTimeUnixNano")),
        ended=_nanoseconds(span.get("endTimeUnixNano")),
        failed=status.get("code") in _ERRORS,
        message=text(status.get("message")),
        of_server=span.get("kind") in _SERVER,
        service=service,
        attributes=_attributes(span),
    )


def _nanoseconds(value: object) -> int:
    """A time as OTLP writes it: decimal text, as it exceeds what JSON's numbers hold; or a number."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < len(str(2**64)):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63 else 0


def _attributes(holder: dict[str, Any]) -> dict[str, Any]:
    pairs = mappings(holder.get("attributes"))
    return {text(pair.get("key")): _value(as_object(pair.get("value")), 0) for pair in pairs}


def _value(value: dict[str, Any], depth: int) -> object:
    if depth > _DEEPEST or not value:
        return None
    kind, given = next(iter(value.items()))
    inner = items(as_object(given).get("values"))
    match kind:
        case "intValue":
            # As decimal text, since JSON's numbers are too small for it.
            return count(given)
        case "arrayValue":
            return [_value(as_object(one), depth + 1) for one in inner]
        case "kvlistValue":
            pairs = ((text(pair.get("key")), as_object(pair.get("value"))) for pair in mappings(inner))
            return {key: _value(one, depth + 1) for key, one in pairs}
        case _:
            return given


MOST_SPANS = 200_000
_INFERENCE = frozenset({"chat", "text_completion", "generate_content"})
_NAMELESS = "mcp"
# What Toolsight's own exports call the tools that a search searches.
_OWN_TOOLS = "toolsight.tools"


class OTelReader(RecordReader):
    """Reads exports of spans; `finish` gives what their spans say, in order of time."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._waiting: list[Span] = []

    def take(self, record: dict[str, Any]) -> None:
        if "resourceSpans" not in record:
            self.tally.count_unknown(next((key for key in record if key.startswith("resource")), "no export"))
        for span in spans(record):
            if not self._is_first("span", span.trace, span.id):
                continue
            if not (_operation(span) or span.text("mcp.method.name")):
                self.tally.leave_out("other spans")
            else:
                self._waiting.append(span)
            if len(self._waiting) >= MOST_SPANS:
                self._tell_waiting()

    def finish(self) -> list[Entry]:
        self._tell_waiting()
        return super().finish()

    def _tell_waiting(self) -> None:
        """Tell the spans read so far, in order of time."""
        waiting = sorted(self._waiting, key=lambda span: (span.begun, -span.ended, span.id))
        self._waiting = []
        if waiting:
            self._begin_session(waiting)
        told = _told_by(waiting)
        others = {told[span.id].id: span for span in waiting if span.id in told}
        for span in waiting:
            if span.id in told:
                self.tally.leave_out("a repeated call")
            else:
                self._span(span, others.get(span.id, span))
        self._close()

    def _begin_session(self, waiting: list[Span]) -> None:
        if self._begun is None:
            session = _first(span.text("gen_ai.conversation.id") for span in waiting)
            agent = _first(span.text("gen_ai.agent.name") for span in waiting)
            agent = agent or _first(span.service for span in waiting) or "opentelemetry"
            first = waiting[0]
            self._begin(Begun(agent, session=session or first.trace, at=first.at))

    def _span(self, span: Span, other: Span) -> None:
        operation, method = _operation(span), span.text("mcp.method.name")
        if operation in _INFERENCE:
            self._inference(span)
        elif operation == "execute_tool" or method == "tools/call":
            self._tool_call(span, other)
        elif operation == "retrieval" and span.text("gen_ai.data_source.id") == _OWN_TOOLS:
            self._searched(span)
        elif method == "initialize" and span.failed:
            self._add(ServerTrouble(_server(span), span.message or span.text("error.type"), at=span.at))
        else:
            self.tally.leave_out(f"span {operation or method}")

    def _inference(self, span: Span) -> None:
        self._close()
        offered = [
            tool
            for tool, _ in defined(_json(span, "gen_ai.tool.definitions"))
            if self._is_new(tool.sent, canonical(tool.definition))
        ]
        if offered:
            self._add(ToolsOffered(tuple(offered), at=span.at))
        self._asked(span)
        model = span.text("gen_ai.response.model", "gen_ai.request.model")
        answer_id = span.text("gen_ai.response.id") or span.id
        answer = self._open(OpenAnswer(answer_id, model, span.at, usage=_usage(span)))
        reasons = span.attributes.get("gen_ai.response.finish_reasons")
        answer.finish_reason = ", ".join(texts(reasons)) or text(reasons)
        for message in mappings(_json(span, "gen_ai.output.messages")):
            for part in mappings(message.get("parts")):
                self._part(answer, part)
        if span.failed:
            self._interrupt(span.message or span.text("error.type"), span.at)

    def _asked(self, span: Span) -> None:
        """What the user said last, if it is new: every call repeats the conversation."""
        messages = [
            one for one in mappings(_json(span, "gen_ai.input.messages")) if one.get("role") == "user"
        ]
        if messages:
            words = _words(messages[-1])
            if words.strip() and self._is_new("asked", len(messages), words):
                self._add(Asked(words, span.at))

    def _part(self, answer: OpenAnswer, part: dict[str, Any]) -> None:
        if part.get("type") == "text":
            answer.say(text(part.get("content")))
        elif part.get("type") == "tool_call":
            given, error = arguments(part.get("arguments"))
            self._call(ToolCall(text(part.get("id")), text(part.get("name")), given, error))

    def _searched(self, span: Span) -> None:
        """Add a search for tools, as far as somebody chose to record what was searched for and found."""
        ids = [text(one.get("id")) for one in mappings(_json(span, "gen_ai.retrieval.documents"))]
        pairs = (id_.partition(":")[::2] for id_ in ids)
        found = tuple(AgentTool(name, server_name(server), name) for server, name in pairs)
        query = span.text("gen_ai.retrieval.query.text")
        waiting = count(span.attributes.get("toolsight.search.candidates"))
        error = span.text("error.type")
        self._add(Searched(span.id, query, found=found, waiting=waiting, error=error, at=span.at))

    def _tool_call(self, span: Span, other: Span) -> None:
        """Add a call; `other` is a span of the same call that may know its server."""
        name, call_id = span.text("gen_ai.tool.name"), span.text("gen_ai.tool.call.id") or span.id
        tool = agent_tool(name or span.name.partition(" ")[2])
        if other.text("mcp.method.name") and not tool.server:
            tool = AgentTool(tool.name, _server(other), tool.sent)
        given, _ = arguments(span.attributes.get("gen_ai.tool.call.arguments"))
        answer = self._answer
        # What a model said is kept only where somebody chose so; that it called is known all the same.
        if call_id not in self._calls and answer is not None:
            answer.calls[call_id] = ToolCall(call_id, tool.sent, given)
        result = _json(span, "gen_ai.tool.call.result")
        words = said(as_object(result).get("content", result)) or span.message
        failed = span.failed or bool(span.text("error.type"))
        took, at = span.milliseconds, span.at
        self._returned(call_id, words, ok=not failed, tool=tool, given=given, milliseconds=took, at=at)


def _first(given: Iterable[str]) -> str:
    return next((one for one in given if one), "")


def _told_by(waiting: list[Span]) -> dict[str, Span]:
    """For a span of a call that another span covers too, that one: of the same id, or above it."""
    calls = [span for span in waiting if _is_call(span)]
    by_id = {span.id: span for span in calls}
    by_call: dict[str, Span] = {}
    told: dict[str, Span] = {}
    for span in calls:
        call_id, above = span.text("gen_ai.tool.call.id"), by_id.get(span.parent)
        first = by_call.setdefault(call_id, span) if call_id else span
        if first is span and above is not None and above is not span and _is_same_tool(above, span):
            first = above
        if first is not span:
            told[span.id] = told.get(first.id, first)
    return told


def _is_call(span: Span) -> bool:
    return _operation(span) == "execute_tool" or span.text("mcp.method.name") == "tools/call"


def _is_same_tool(above: Span, span: Span) -> bool:
    name = span.text("gen_ai.tool.name")
    return bool(name) and above.text("gen_ai.tool.name").endswith(name)


def _operation(span: Span) -> str:
    return span.text("gen_ai.operation.name")


def _server(span: Span) -> str:
    """The server of a span: conventions have no name for it, so it is its address, or what ran it."""
    service = span.service if span.of_server else ""
    return server_name(span.text("mcp.server.name", "server.address") or service or _NAMELESS)


def _usage(span: Span) -> Usage:
    given = span.attributes
    fresh = count(given.get("gen_ai.usage.input_tokens", given.get("gen_ai.usage.prompt_tokens")))
    cached = count(given.get("gen_ai.usage.cache_read.input_tokens"))
    written = count(given.get("gen_ai.usage.cache_creation.input_tokens"))
    # The conventions include what was cached; a smaller input shows that its writer does not.
    if fresh is not None and fresh < (cached or 0) + (written or 0):
        fresh += (cached or 0) + (written or 0)
    output = count(given.get("gen_ai.usage.output_tokens", given.get("gen_ai.usage.completion_tokens")))
    return Usage(
        fresh, output, cached, written, None, count(given.get("gen_ai.usage.reasoning.output_tokens"))
    )


def _json(span: Span, key: str) -> object:
    """An attribute that is a structure, or JSON of one."""
    value = span.attributes.get(key)
    if not isinstance(value, str):
        return value
    held, error = arguments(f'{{"value": {value}}}')
    return value if error else held.get("value")


def _words(message: dict[str, Any]) -> str:
    parts = items(message.get("parts"))
    return "\n".join(text(part.get("content")) for part in mappings(parts) if part.get("type") == "text")
