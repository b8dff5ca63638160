"""Reads values of other programs' records: each as the type that it should have, or as nothing."""

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from inspector.core.number import LAST
from inspector.features.agents.transcript import AgentTool, Tally
from inspector.schema.json_value import JsonObject, as_object

_LARGEST = 2**53
_DEEPEST = 100


def text(value: object) -> str:
    """The text, or an empty one."""
    return value if isinstance(value, str) else ""


def items(value: object) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: object) -> Iterator[dict[str, Any]]:
    """The objects in a list; what else is in it is passed over."""
    return (item for item in items(value) if isinstance(item, dict))


def texts(value: object) -> tuple[str, ...]:
    """The texts in a list; what else is in it is passed over."""
    return tuple(item for item in items(value) if isinstance(item, str) and item)


def count(value: object) -> int | None:
    """A count, also one written as decimal text; None for anything that is none."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < len(str(_LARGEST)):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
        return None
    return int(value) if value == int(value) else None


def number(value: object) -> float | None:
    """A number that is not negative, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LARGEST:
        return None
    return float(value)


def moment(value: object, tally: Tally, *, per_second: int = 1) -> float | None:
    """A time in seconds since 1970: given in ISO 8601, UTC without a zone, or as a number of its units.

    None if there is none. What is no time from 1970 to 9999 is none, and is counted.
    """
    if value is None or value == "":
        return None
    counted = number(value)
    seconds = _iso(value) if isinstance(value, str) else None if counted is None else counted / per_second
    if seconds is None or not 0 <= seconds <= LAST:
        tally.count_malformed("an invalid time")
        return None
    return seconds


def _iso(value: str) -> float | None:
    try:
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def said(content: object) -> str:
    """The text of a message or result: a string, or a list of parts; a part without text is named."""
    if isinstance(content, str):
        return content
    parts = items(content) if isinstance(content, list) else [content]
    return "\n".join(shown for part in parts if (shown := _part(part)))


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    found = as_object(part)
    words = found.get("text", found.get("value", found.get("refusal")))
    if isinstance(words, str):
        return words
    kind = text(found.get("type")) or text(found.get("kind"))
    return f"[{kind}]" if kind else ""


def arguments(value: object) -> tuple[JsonObject, str]:
    """A call's arguments, given as an object or as JSON, and what is wrong with them, if anything."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            return {}, "the arguments are not JSON"
    if value is None:
        return {}, ""
    if not isinstance(value, dict):
        return {}, "the arguments are not an object"
    return (value, "") if is_shallow(value) else ({}, "the arguments are nested too deeply")


def is_shallow(value: object) -> bool:
    """Whether a value can be walked through: nothing of a real call or schema is nested a hundred times."""
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        level = [below for above in level for below in _below(above)]
        if not level:
            return True
    return False


def _below(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


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
    inner = as_object(record.get("function")) or as_object(record.get("schema"))
    found = {**inner, **record}
    schema = next((found[key] for key in ("parameters", "input_schema", "inputSchema") if key in found), None)
    if schema is None and "description" not in found:
        return None
    return {
        "name": text(found.get("name")),
        "description": text(found.get("description")),
        "parameters": schema if isinstance(schema, dict) and is_shallow(schema) else {},
    }
