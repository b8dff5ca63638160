"""Parts of Claude's messages: usage, calls, and searches for tools, Claude Code's own and the API's."""

from typing import Any

from inspector.clients.transcript_file.field import arguments, count, mapping, mappings, text
from inspector.clients.transcript_file.tool import agent_tool
from inspector.core.message import ToolCall, Usage

SEARCH = "ToolSearch"
_SERVER_SEARCH = "tool_search_tool"
_SELECT = "select:"


def usage_of(record: dict[str, Any]) -> Usage:
    """The usage, with what was read from and written to the cache as a part of the input.

    All zeros is what some versions write where they do not know it.
    """
    fresh, output = count(record.get("input_tokens")), count(record.get("output_tokens"))
    cached = count(record.get("cache_read_input_tokens"))
    written = count(record.get("cache_creation_input_tokens"))
    hour = count(mapping(record.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    if not any((fresh, output, cached, written)):
        return Usage()
    total = None if fresh is None else fresh + (cached or 0) + (written or 0)
    thought = count(mapping(record.get("output_tokens_details")).get("thinking_tokens"))
    return Usage(total, output, cached, written, hour, thought)


def call_of(block: dict[str, Any]) -> ToolCall:
    """The call in a block; a tool of the API's MCP connector gets the name that Claude Code gives it."""
    given, error = arguments(block.get("input"))
    name, server = text(block.get("name")), text(block.get("server_name"))
    return ToolCall(text(block.get("id")), f"mcp__{server}__{name}" if server else name, given, error)


def is_search(call: ToolCall | None, block: dict[str, Any], details: dict[str, Any]) -> bool:
    """Whether a result is that of a search for tools; its call may be missing."""
    if call is not None and not agent_tool(call.name).server:
        return call.name == SEARCH or call.name.startswith(_SERVER_SEARCH)
    if call is not None:
        return False
    return block.get("type") == "tool_search_tool_result" or "total_deferred_tools" in details


def wanted(call: ToolCall | None, details: dict[str, Any]) -> tuple[str, tuple[str, ...], int | None]:
    """The query of a search, or the names that were asked for; and how many tools at most."""
    given = call.arguments if call else {}
    query = text(given.get("query")) or text(given.get("pattern")) or text(details.get("query"))
    limit = count(given.get("max_results", given.get("limit")))
    if query.startswith(_SELECT):
        names = (name.strip() for name in query.removeprefix(_SELECT).split(","))
        return "", tuple(name for name in names if name), limit
    return query, (), limit


def references(content: object) -> tuple[str, ...]:
    """The names of the tools that a result refers to, in its order."""
    found = mapping(content).get("tool_references", content)
    named = (block for block in mappings(found) if block.get("type") == "tool_reference")
    return tuple(name for block in named if (name := text(block.get("tool_name"))))
