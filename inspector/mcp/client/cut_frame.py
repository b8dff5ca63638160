"""What is left of an answer that was too large to be read: the beginning of its text, or an error."""

import json
import re
from contextlib import suppress
from typing import Any

from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCResponse

from inspector.mcp.client.line import LONGEST_LINE, CutLine
from inspector.mcp.client.translate import size_text

TOO_LARGE = "The answer is too large"
ASK_FOR_LESS = "Toolsight limits the size of a message. Can the server split its answer?"
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")')
# The text of the first block of a result's content, wherever its type stands.
_TEXT = re.compile(rb'"content"\s*:\s*\[\s*\{[^{}\[\]]*?"text"\s*:\s*"')
_FAILED = re.compile(rb'"isError"\s*:\s*true')
# Where the text that was kept may end: not within an escape.
_HALF_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?$")
# How far an id may be from an end of the line.
_NEAR = 4_000


def cut_frame(line: CutLine) -> JSONRPCResponse | JSONRPCError | None:
    """An answer in place of one that was too large; None if what it answers is unknown."""
    named = _ID.search(line.head[:_NEAR]) or _ID.search(line.tail)
    if named is None:
        return None
    request_id = json.loads(named[1])
    said = f"{TOO_LARGE}: it has {size_text(line.size)}, and {size_text(LONGEST_LINE)} are read at most"
    text = _text(line.head)
    if not text:
        error = ErrorData(code=INTERNAL_ERROR, message=said)
        return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
    note = f"[{said}. This is its beginning; ask for less at a time.]"
    content = [{"type": "text", "text": f"{text}\n{note}"}]
    result: dict[str, Any] = {"content": content, "isError": bool(_FAILED.search(line.tail))}
    return JSONRPCResponse(jsonrpc="2.0", id=request_id, result=result)


def _text(head: bytes) -> str:
    """The beginning of a result's text; "" if there is none."""
    found = _TEXT.search(head)
    if found is None:
        return ""
    kept = head[found.end() :]
    end = re.search(rb'(?<!\\)(?:\\\\)*"', kept)
    kept = kept[: end.end() - 1] if end else _HALF_ESCAPE.sub(b"", kept)
    with suppress(ValueError):
        text = str(json.loads(b'"' + kept.decode("utf-8", "ignore").encode() + b'"'))
        # The second half of a character may have been cut off.
        return text[:-1] if "\ud800" <= text[-1:] <= "\udbff" else text
    return ""
