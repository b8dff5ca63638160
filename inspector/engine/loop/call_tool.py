"""The proxy through which found tools are called where the `tools` array never changes."""

import json
from collections.abc import Mapping
from dataclasses import replace

from inspector.domain.message import ToolCall
from inspector.domain.synthetic import CALL_TOOL


def unwrapped(call: ToolCall) -> ToolCall:
    """The call inside a `call_tool` call; models write its arguments as an object, as JSON, or flat."""
    if call.name != CALL_TOOL or call.error:
        return call
    name, given = str(call.arguments.get("name", "")), call.arguments.get("arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except ValueError as error:
            return replace(call, name=name, error=f"{CALL_TOOL}: arguments is not valid JSON: {error}")
    if given is None:
        given = {key: value for key, value in call.arguments.items() if key not in ("name", "arguments")}
    if not isinstance(given, Mapping):
        return replace(call, name=name, error=f"{CALL_TOOL}: arguments must be an object")
    return replace(call, name=name, arguments=given)
