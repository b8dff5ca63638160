"""Parts of OpenAI's items: usage, calls and definitions, as Codex and the Responses API write them."""

from collections.abc import Iterator
from typing import Any

from inspector.clients.transcript import AgentTool
from inspector.clients.transcript_file.field import arguments, count, mapping, mappings, text
from inspector.clients.transcript_file.tool import definition_of, in_namespace
from inspector.core.message import ToolCall, Usage

SEARCH = "tool_search"
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "tool_search_call")


def usage_of(record: dict[str, Any]) -> Usage:
    """The usage; its input includes what was cached. Codex has flat keys, the Responses API nested ones."""
    read, thought = mapping(record.get("input_tokens_details")), mapping(record.get("output_tokens_details"))
    return Usage(
        count(record.get("input_tokens")),
        count(record.get("output_tokens")),
        count(record.get("cached_input_tokens", read.get("cached_tokens"))),
        count(record.get("cache_write_input_tokens", read.get("cache_write_tokens"))),
        None,
        count(record.get("reasoning_output_tokens", thought.get("reasoning_tokens"))),
    )


def is_call(kind: str) -> bool:
    """Whether an item of this type is a call whose result is another item."""
    return kind in _CALLS


def call_of(item: dict[str, Any], call_id: str) -> ToolCall:
    """The call in an item."""
    kind = text(item.get("type"))
    if kind == "tool_search_call":
        given, error = arguments(item.get("arguments"))
        return ToolCall(call_id, SEARCH, given, error)
    if kind == "custom_tool_call":
        return ToolCall(call_id, text(item.get("name")), {"input": text(item.get("input"))})
    if kind in ("local_shell_call", "shell_call"):
        return ToolCall(call_id, kind.removesuffix("_call"), mapping(item.get("action")))
    given, error = arguments(item.get("arguments"))
    tool = in_namespace(text(item.get("namespace")), text(item.get("name")))
    return ToolCall(call_id, tool.sent, given, error)


def defined(tools: object, namespace: str = "") -> Iterator[tuple[AgentTool, bool]]:
    """The tools of a list of definitions, also those in namespaces, and whether each is deferred.

    What an MCP server of the provider's side offers is told by another item.
    """
    for one in mappings(tools):
        kind, name = text(one.get("type")), text(one.get("name"))
        if kind == "namespace":
            yield from defined(one.get("tools"), name)
        elif name and kind in ("function", "custom", ""):
            yield in_namespace(namespace, name, definition_of(one)), one.get("defer_loading") is True
