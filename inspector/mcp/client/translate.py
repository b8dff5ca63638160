"""Converts raw call results and server texts, without the SDK; accepts data of any shape."""

import re
from collections.abc import Mapping
from typing import Any

from inspector.core.message import ToolResult
from inspector.schema.json_value import JsonObject, compact
from inspector.schema.result_flaw import result_flaw

# Some 50,000 tokens: more is no use to a model, and counting it would keep the keys waiting.
MAX_TEXT = 200_000
MAX_STRUCTURED = 1_000_000
MAX_SUMMARY = 160
# Against a flood of text only: instructions are kept whole.
MAX_INSTRUCTIONS = 100_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_UNITS = ("B", "KB", "MB", "GB")


def tool_result(raw: Mapping[str, Any], schema: JsonObject | None = None) -> ToolResult:
    """Convert a `tools/call` result to text for a model. Anything but text is described in brackets.

    So is structured content that is not what `schema`, the tool's own, says.
    """
    unfinished = _unfinished(raw)
    if unfinished:
        return ToolResult(unfinished, is_error=True, kinds=("unsupported",))
    content = raw.get("content")
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    kinds = tuple(_kind(block) for block in blocks)
    text = "\n".join(_block_text(block) for block in blocks)
    structured = raw.get("structuredContent")
    if structured is not None and not text.strip():
        text, kinds = compact(structured), (*kinds, "structured")
    text = _limited(text)
    flaw = result_flaw(schema, structured) if structured is not None else ""
    if flaw and raw.get("isError") is not True:
        text = f"{text}\n[not what the tool's output schema says: {flaw}]"
    return ToolResult(
        text,
        is_error=raw.get("isError") is True,
        structured=_kept(structured),
        kinds=kinds or ("empty",),
    )


def _unfinished(raw: Mapping[str, Any]) -> str:
    """Describe a result that only starts something Toolsight does not support; else an empty text."""
    if raw.get("resultType") == "input_required":
        return "[the tool asks for more input in a way that Toolsight does not understand]"
    if isinstance(raw.get("task"), Mapping) and "content" not in raw:
        return "[the tool started a background task, which Toolsight does not follow]"
    return ""


def _kind(block: object) -> str:
    kind = block.get("type") if isinstance(block, Mapping) else None
    return kind if isinstance(kind, str) and kind else "unknown"


def _block_text(block: object) -> str:
    if not isinstance(block, Mapping):
        return compact(block)
    kind = _kind(block)
    if kind == "text":
        text = block.get("text")
        return text if isinstance(text, str) else compact(text)
    if kind in ("image", "audio"):
        return f"[{kind} {block.get('mimeType') or 'of unknown type'}, {_encoded_size(block.get('data'))}]"
    if kind == "resource":
        return _resource_text(block.get("resource"))
    if kind == "resource_link":
        label = block.get("title") or block.get("name") or ""
        return f"[link {block.get('uri')} {label}".rstrip() + "]"
    return f"[{kind}: {compact(block)}]"


def _resource_text(resource: object) -> str:
    if not isinstance(resource, Mapping):
        return f"[resource: {compact(resource)}]"
    text = resource.get("text")
    if isinstance(text, str):
        return f"[resource {resource.get('uri')}]\n{text}"
    mime = resource.get("mimeType") or "of unknown type"
    return f"[resource {resource.get('uri')} {mime}, {_encoded_size(resource.get('blob'))}]"


def _encoded_size(data: object) -> str:
    """The size of base64 data after decoding."""
    length = len(data) * 3 // 4 - data[-2:].count("=") if isinstance(data, str) else 0
    return size_text(length)


def size_text(count: float) -> str:
    """A number of bytes for people: `12 KB`."""
    for unit in _UNITS[:-1]:
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.0f} {_UNITS[-1]}"


def _limited(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}\n[{len(text) - MAX_TEXT:,} more characters left out; ask for less at a time]"


def _kept(structured: object) -> JsonObject | None:
    """The structured content to keep: an object that is not too large to copy."""
    if not isinstance(structured, Mapping) or len(compact(structured)) > MAX_STRUCTURED:
        return None
    return dict(structured)


def summary(*candidates: str | None) -> str:
    """One line about a server: the first sentence of the first text that is not blank."""
    for candidate in candidates:
        lines = [" ".join(line.split()).lstrip("# ") for line in (candidate or "").splitlines()]
        line = next((line for line in lines if line), "")
        if line:
            sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
            return sentence if len(sentence) <= MAX_SUMMARY else f"{sentence[: MAX_SUMMARY - 1].rstrip()}…"
    return ""
