"""The end of an MCP call as Codex records it: with its server, its time, and whether it failed."""

import re
from dataclasses import dataclass
from typing import Any

from inspector.adapters.files.transcript.field import is_shallow, mapping, number, said, text
from inspector.adapters.files.transcript.tool import agent_tool, server_name
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolCall
from inspector.domain.transcript import AgentTool

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|µs|us|ns)")
_MILLISECONDS = {"s": 1000.0, "ms": 1.0, "µs": 1e-3, "us": 1e-3, "ns": 1e-6}


@dataclass(frozen=True, slots=True)
class McpEnd:
    """What the end of an MCP call says, beside the result that the model read."""

    tool: AgentTool
    arguments: JsonObject
    text: str
    ok: bool
    milliseconds: float | None


def mcp_end(payload: dict[str, Any], call: ToolCall | None) -> McpEnd:
    """The end of a call; without the call itself, where it was made by code that the model wrote."""
    invocation = mapping(payload.get("invocation"))
    name, server = text(invocation.get("tool")), server_name(text(invocation.get("server")))
    known = agent_tool(call.name) if call else AgentTool(name, server, f"mcp__{server}__{name}")
    tool = known if known.server else AgentTool(name, server, known.sent)
    words, ok = _outcome(payload.get("result"))
    given = mapping(invocation.get("arguments"))
    return McpEnd(tool, given if is_shallow(given) else {}, words, ok, _milliseconds(payload.get("duration")))


def _outcome(result: object) -> tuple[str, bool]:
    """The text of a result, and whether it is one: Rust's `Ok` or `Err`, or the result itself."""
    found = mapping(result)
    if "Err" in found:
        return text(found["Err"]) or said(found["Err"]), False
    answer = mapping(found.get("Ok")) or found
    failed = answer.get("isError", answer.get("is_error")) is True
    return said(answer.get("content", [])), not failed


def _milliseconds(duration: object) -> float | None:
    parts = mapping(duration)
    if parts:
        seconds, nanos = number(parts.get("secs")), number(parts.get("nanos"))
        return None if seconds is None else seconds * 1000 + (nanos or 0) / 1e6
    match = _DURATION.fullmatch(text(duration).strip())
    return float(match[1]) * _MILLISECONDS[match[2]] if match else None
