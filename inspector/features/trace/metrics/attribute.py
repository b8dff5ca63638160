"""Names and values of attributes, after OpenTelemetry's conventions for generative AI and for MCP.

Those of semantic-conventions-genai (gen-ai spans 002c8a6, MCP spans 55a32cd; status: development, without a
release of its own yet), with `error.type` as in the semantic conventions 1.44. What these have no name for
stands under `toolsight.`, and a server's configured name under `mcp.server.name`.
"""

from dataclasses import fields
from typing import Any

from inspector.core.error import FailureKind
from inspector.core.events import CallFinished, CallStarted, ModelRequested, ModelResponded, SearchPerformed
from inspector.core.message import ToolCall, Usage
from inspector.features.trace.metrics.otel import Values
from inspector.schema.json_value import compact

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
