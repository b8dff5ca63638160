"""Names and definitions of tools as agents write them."""

import re
from typing import Any

from inspector.clients.transcript import AgentTool
from inspector.clients.transcript_file.field import is_shallow, mapping, text
from inspector.schema.json_value import JsonObject

_MCP = "mcp__"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def agent_tool(sent: str, definition: JsonObject | None = None) -> AgentTool:
    """The tool of a name such as `mcp__shop__list_orders`; any other name is a tool of the agent's own.

    A server whose name holds two underscores cannot be told from its tool: it ends at the first two.
    """
    server, separator, name = sent.removeprefix(_MCP).partition("__")
    if sent.startswith(_MCP) and separator and server and name:
        return AgentTool(name, server, sent, definition)
    return AgentTool(sent, "", sent, definition)


def in_namespace(namespace: str, name: str, definition: JsonObject | None = None) -> AgentTool:
    """The tool of a namespace, or of the server that a namespace such as `mcp__shop` stands for."""
    if not namespace:
        return agent_tool(name, definition)
    if namespace.startswith(_MCP):
        return agent_tool(f"{namespace.rstrip('_')}__{name}", definition)
    return AgentTool(name, namespace, f"{namespace}.{name}", definition)


def server_name(name: str) -> str:
    """A server's name as it is part of its tools' names."""
    return _NOT_IN_NAMES.sub("_", name)


def definition_of(record: dict[str, Any]) -> JsonObject | None:
    """A definition with the keys that Toolsight uses; None if the record holds the name alone."""
    inner = mapping(record.get("function")) or mapping(record.get("schema"))
    found = {**inner, **record}
    schema = next((found[key] for key in ("parameters", "input_schema", "inputSchema") if key in found), None)
    if schema is None and "description" not in found:
        return None
    return {
        "name": text(found.get("name")),
        "description": text(found.get("description")),
        "parameters": schema if isinstance(schema, dict) and is_shallow(schema) else {},
    }
