"""Recognizes the format of a transcript by its first records, never by its name."""

import json
import re
from typing import Any, BinaryIO, NamedTuple

from inspector.clients.transcript import Tally
from inspector.clients.transcript_file import claude_code
from inspector.clients.transcript_file.field import mapping, text
from inspector.clients.transcript_file.format import Format, parsed
from inspector.clients.transcript_file.line import MAX_LINE, read_lines
from inspector.config.content import MEGABYTE

_RECORDS = 20
_LONGEST = 4 * MEGABYTE
_HEAD = 64 * 1024
_CODEX = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "token_usage_record"}
    | {"world_state", "inter_agent_communication", "retained_context"}
)
_ITEMS = frozenset(
    {"message", "function_call", "function_call_output", "mcp_call", "mcp_list_tools", "tool_search_call"}
    | {"tool_search_output", "reasoning", "additional_tools", "custom_tool_call"}
)
# A document of one value may be too large to read it only to see what it is.
_DOCUMENTS = (
    (Format.OTEL, re.compile(r'"(?:resourceSpans|resource_spans)"\s*:\s*\[')),
    (Format.RESPONSES, re.compile(r'"object"\s*:\s*"response"')),
    (
        Format.VSCODE,
        re.compile(r'"requests"\s*:\s*\[(?:\s*\{\s*"requestId"|.*"(?:variableData|responseId)")', re.S),
    ),
    (Format.VSCODE, re.compile(r'"responderUsername"\s*:.*"requests"\s*:\s*\[', re.S)),
)


class Found(NamedTuple):
    """A format; `whole` if the file is one value over many lines, or a list."""

    format: Format
    whole: bool = False


def recognized(file: BinaryIO) -> Found | None:
    """The format of an open file, or None. Reads its beginning only."""
    for number, (line, done) in enumerate(read_lines(file, _LONGEST)):
        record = None if line is None else parsed(line, Tally())
        found = None if record is None else format_of(record)
        if found is not None:
            return Found(found)
        if number >= _RECORDS or done > MAX_LINE:
            break
    file.seek(0)
    whole = _document(file.read(_HEAD).decode(errors="replace").removeprefix("\ufeff").lstrip())
    return Found(whole, whole=True) if whole else None


def format_of(record: dict[str, Any]) -> Format | None:
    """The format that a record belongs to, or None."""
    kind = text(record.get("type"))
    if "resourceSpans" in record or "resource_spans" in record:
        return Format.OTEL
    if isinstance(record.get("requests"), list) and _is_chat(record):
        return Format.VSCODE
    if kind in _CODEX and isinstance(record.get("payload"), dict):
        return Format.CODEX
    if _is_claude_code(record, kind):
        return Format.CLAUDE_CODE
    if _is_response(record) or _is_response(mapping(record.get("response"))):
        return Format.RESPONSES
    return Format.RESPONSES if _is_item(record, kind) else None


def _is_chat(record: dict[str, Any]) -> bool:
    return "responderUsername" in record or "sessionId" in record


def _is_claude_code(record: dict[str, Any], kind: str) -> bool:
    if kind in claude_code.CONVERSATION:
        return any(isinstance(record.get(key), str) for key in ("uuid", "sessionId"))
    return kind in claude_code.STATES and (
        "sessionId" in record or "leafUuid" in record or "messageId" in record
    )


def _is_response(record: dict[str, Any]) -> bool:
    return record.get("object") == "response" and isinstance(record.get("output"), list)


def _is_item(record: dict[str, Any], kind: str) -> bool:
    """Whether it is an item of a response by itself; other programs write messages, too."""
    if kind == "message":
        return isinstance(record.get("content"), list) and "role" in record and "timestamp" not in record
    return kind in _ITEMS and ("call_id" in record or "id" in record)


def _document(head: str) -> Format | None:
    if not head.startswith(("{", "[")):
        return None
    return next((found for found, pattern in _DOCUMENTS if pattern.search(head)), _list_of(head))


def _list_of(head: str) -> Format | None:
    """The format of a list, by its first element."""
    if not head.startswith("["):
        return None
    try:
        first, _ = json.JSONDecoder().raw_decode(head[1:].lstrip())
    except (ValueError, RecursionError):
        return None
    return format_of(first) if isinstance(first, dict) else None
