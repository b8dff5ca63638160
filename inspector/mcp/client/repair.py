"""Finds the messages in bytes that are not exactly one valid message, and mends what can be mended."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from inspector.mcp.client.frame import UNREADABLE, Message
from inspector.schema.json_value import compact

TOO_DEEP = "[nested more deeply than Toolsight reads]"
"""What stands in place of a value that is nested too deeply; also the key of a tool that had one."""
LONE_SURROGATE, NESTING, NOT_UTF8 = "lone surrogate", "value nested too deeply", "invalid UTF-8"
OTHER_TEXT = "other text on the line of a message"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# The SDK's parser gives up at 200 levels.
_DEEPEST = 190
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
# Where a message may begin on a line that has other text too.
_MOST_STARTS = 20


@dataclass(frozen=True, slots=True)
class Repaired:
    """A message, and what was wrong with it."""

    message: Message
    flaws: tuple[str, ...] = ()


def repaired(data: bytes) -> Iterator[Repaired]:
    """The messages that can be found, in order; none in what has nothing to do with JSON-RPC."""
    text = data.decode("utf-8", "replace")
    flaws = [NOT_UTF8] if text.count(_REPLACEMENT) != data.count(_REPLACEMENT.encode()) else []
    position = 0
    while (found := _next_object(text, position)) is not None:
        value, start, end = found
        flaws += [OTHER_TEXT] if text[position:start].strip() else []
        message, more = _message(value)
        if message is not None:
            yield Repaired(message, (*flaws, *more))
            flaws = []
        position = end
        if text[end:].strip() == "":
            return


def _next_object(text: str, position: int) -> tuple[dict[str, Any], int, int] | None:
    """The next JSON object that looks like a message, with where it begins and ends."""
    for found in islice(re.compile("{").finditer(text, position), _MOST_STARTS):
        start = found.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except ValueError:
            continue
        except RecursionError:
            value, end = _shallow_object(text[start:]), len(text)
        if isinstance(value, dict) and ("jsonrpc" in value or ("id" in value and value.keys() & _ANSWERS)):
            return value, start, end
    return None


_ANSWERS = {"result", "error"}


def _shallow_object(text: str) -> object:
    try:
        return json.loads(shallow(text))
    except (ValueError, RecursionError):
        return None


def shallow(text: str, deepest: int = _DEEPEST) -> str:
    """The JSON text with a mark in place of whatever is nested more deeply."""
    parts: list[str] = []
    start = depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("{", "["):
            depth += 1
            if depth == deepest + 1:
                parts += [text[start : token.start()], json.dumps(TOO_DEEP)]
        elif token[0] in ("}", "]"):
            if depth == deepest + 1:
                start = token.end()
            depth -= 1
    return "".join([*parts, text[start:] if depth <= deepest else ""])


def _message(value: dict[str, Any]) -> tuple[Message | None, list[str]]:
    """The message that a JSON object is, with its flaws.

    An answer that is not valid, such as one whose result is a list, becomes an error: without it the caller
    would wait until its timeout.
    """
    flaws: list[str] = []
    text = compact(value)
    if TOO_DEEP not in text and (cut := shallow(text)) != text:
        text = cut
    if TOO_DEEP in text:
        value = _without_deep_tools(json.loads(text))
        text = compact(value)
        flaws += [f"{NESTING} in {place}" for place in _places(value, re.compile(re.escape(TOO_DEEP)))]
    if _SURROGATE.search(text):
        flaws += [f"{LONE_SURROGATE} in {place}" for place in _places(value, _SURROGATE)]
        text = _SURROGATE.sub(_REPLACEMENT, text)
    try:
        return jsonrpc_message_adapter.validate_json(text, by_name=False), flaws
    except ValueError:
        return _error(value), flaws


def _without_deep_tools(value: dict[str, Any]) -> dict[str, Any]:
    """The page without the definitions that were cut; of those only the name is left, and why."""
    tools = _tools(value)
    for number, tool in enumerate(tools):
        if isinstance(tool, dict) and TOO_DEEP in compact(tool):
            tools[number] = {"name": tool.get("name"), TOO_DEEP: True}
    return value


def _tools(value: dict[str, Any]) -> list[Any]:
    result = value.get("result")
    tools = result.get("tools") if isinstance(result, dict) else None
    return tools if isinstance(tools, list) else []


def _places(value: dict[str, Any], flaw: re.Pattern[str]) -> list[str]:
    """Where in a message a flaw is: the tools that have it, or else the kind of message."""
    named = [
        f"the tool {_SURROGATE.sub(_REPLACEMENT, str(tool.get('name')))}"
        for tool in _tools(value)
        if isinstance(tool, dict) and flaw.search(compact(tool))
    ]
    method = value.get("method")
    whole = _SURROGATE.sub(_REPLACEMENT, method) if isinstance(method, str) else "an answer"
    return named or [whole]


def _error(value: dict[str, Any]) -> Message | None:
    request_id = value.get("id")
    if not value.keys() & _ANSWERS or isinstance(request_id, bool) or not isinstance(request_id, int | str):
        return None
    if isinstance(request_id, str):
        request_id = _SURROGATE.sub(_REPLACEMENT, request_id)
    error = ErrorData(code=INTERNAL_ERROR, message=UNREADABLE)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
