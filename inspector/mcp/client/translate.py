"""Makes ours of what a server sends, of any shape: repairs, pages, results and texts."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from typing import Any

from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ListToolsResult,
    Tool,
    jsonrpc_message_adapter,
)
from mcp_types.methods import validate_server_result
from msgspec import Struct
from msgspec.structs import astuple
from pydantic import BaseModel, ValidationError

from inspector.config.problem import EXPECTED
from inspector.core.message import Attachment, ToolResult
from inspector.core.server import SkippedTool
from inspector.mcp.pace import size_text
from inspector.schema.json_value import JsonObject, compact, shown, step
from inspector.schema.schema import checked

Message = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError

UNREADABLE = "The server's answer is not a valid JSON-RPC response"
"""The error that stands for an answer which is no frame."""
LONE_SURROGATE, NOT_UTF8 = "lone surrogate", "invalid UTF-8"
OTHER_TEXT = "other text on the line of a message"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER = json.JSONDecoder(strict=False)
# Where a message may begin on a line that has other text too.
_MOST_STARTS = 20


class Repaired(Struct, frozen=True):
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
            # Whoever waits for this answer is told that it cannot be read.
            named = _ID.search(text, start)
            value, end = {"id": json.loads(named[1]) if named else None, "error": {}}, len(text)
        if isinstance(value, dict) and ("jsonrpc" in value or ("id" in value and value.keys() & _ANSWERS)):
            return value, start, end
    return None


_ANSWERS = {"result", "error"}
_ID = re.compile(r'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")')


def _message(value: dict[str, Any]) -> tuple[Message | None, list[str]]:
    """The message that a JSON object is, with its flaws.

    An answer that is not valid, such as one whose result is a list, becomes an error: without it the caller
    would wait until its timeout.
    """
    flaws: list[str] = []
    try:
        text = compact(value)
        if _SURROGATE.search(text):
            flaws.append(LONE_SURROGATE)
            text = _SURROGATE.sub(_REPLACEMENT, text)
        return jsonrpc_message_adapter.validate_json(text, by_name=False), flaws
    except (ValueError, RecursionError):
        return _error(value), flaws


def _error(value: dict[str, Any]) -> Message | None:
    request_id = value.get("id")
    if not value.keys() & _ANSWERS or isinstance(request_id, bool) or not isinstance(request_id, int | str):
        return None
    if isinstance(request_id, str):
        request_id = _SURROGATE.sub(_REPLACEMENT, request_id)
    error = ErrorData(code=INTERNAL_ERROR, message=UNREADABLE)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


# Some 50,000 tokens: more is no use to a model, and counting it would keep the keys waiting.
MAX_TEXT = 200_000
MAX_STRUCTURED = 1_000_000
MAX_SUMMARY = 160
# Against a flood of text only: instructions are kept whole.
MAX_INSTRUCTIONS = 100_000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


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
    whole = len(text) if len(text) > MAX_TEXT else 0
    text = _limited(text)
    is_error = raw.get("isError") is True
    if schema is not None and structured is not None and not is_error:
        output = checked(schema, structured, most=1)
        if output.fits is False:
            text = f"{text}\n[not what the tool's output schema says: {output.reasons[0]}]"
    attachments = tuple(one for one in map(_attachment, blocks) if one is not None)
    return ToolResult(text, is_error, _kept(structured), kinds or ("empty",), attachments, whole)


def _unfinished(raw: Mapping[str, Any]) -> str:
    """Describe a result that only starts something Toolsight does not support; else an empty text."""
    if raw.get("resultType") == "input_required":
        return "[the tool asks for more input in a way that Toolsight does not understand]"
    if isinstance(raw.get("task"), Mapping) and "content" not in raw:
        return "[the task's result is another task, which Toolsight does not follow]"
    return ""


def _attachment(block: object) -> Attachment | None:
    """What a block of content has beside its text."""
    inner = block.get("resource") if _kind(block) == "resource" and isinstance(block, Mapping) else block
    if not isinstance(inner, Mapping):
        return None
    data = inner.get("blob") if inner is not block else inner.get("data")
    mime, uri = (str(inner.get(key) or "") for key in ("mimeType", "uri"))
    return Attachment(_kind(block), mime, uri, data) if isinstance(data, str) else None


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


LIST = "tools/list"
SKIPPED = "toolsight/skipped"
"""Where `_meta` has the tools that were left out, each a SkippedTool."""
LISTED = "toolsight/listed"
"""Where `_meta` has the other tools, as sent."""
BAD_CURSOR, NULL_CURSOR = "toolsight/bad_cursor", "toolsight/null_cursor"
"""Where `_meta` says what is wrong with the cursor of the next page, which was left out."""
MAX_DEFINITION = 1_000_000
"""Characters of one tool's definition as JSON: some 250,000 tokens."""
_SHOWN_ERRORS = 2
_SHOWN_CURSOR = 40
_MOST_KEPT = 100_000


def with_valid_tools(page: Mapping[str, Any], protocol: str, *, is_large: bool = True) -> dict[str, Any]:
    """A page without the tools that the SDK would reject; `_meta` names those, with the reasons.

    So it does the tools that are too large, which only a page that `is_large` may have, and the cursor of a
    next page that is none. A page that is otherwise invalid stays as it is, so that the SDK reports it.
    """
    whole, notes = dict(page), dict[str, Any]()
    cursor, tools = whole.get("nextCursor"), page.get("tools")
    if cursor is None and "nextCursor" in whole:
        notes[NULL_CURSOR] = True
    if cursor is not None and not isinstance(cursor, str):
        del whole["nextCursor"]
        notes[BAD_CURSOR] = f"the cursor of the next page is not text: {compact(cursor)[:_SHOWN_CURSOR]}"
    if not isinstance(tools, list) or _flaw({**whole, "tools": []}, protocol):
        return whole
    giants, skipped = _giants(tools) if is_large else {}, list[SkippedTool]()
    good = [tool for number, tool in enumerate(tools) if number not in giants]
    if _flaw({**whole, "tools": good}, protocol) or _model_flaw(ListToolsResult, {**whole, "tools": good}):
        good, skipped = _sorted_out(whole, good, protocol)
    meta = page.get("_meta")
    notes |= {SKIPPED: [astuple(one) for one in (*skipped, *giants.values())], LISTED: good}
    return {**whole, "tools": good, "_meta": {**(meta if isinstance(meta, dict) else {}), **notes}}


def _giants(tools: Sequence[Any]) -> dict[int, SkippedTool]:
    """By their place, the tools that are too large to be of any use, with their sizes."""
    sizes = ((place, tool, len(compact(tool))) for place, tool in enumerate(tools))
    return {
        place: SkippedTool(
            _name(tool),
            f"its definition has {size_text(size)}; Toolsight reads at most {size_text(MAX_DEFINITION)}",
            number=place + 1,
        )
        for place, tool, size in sizes
        if size > MAX_DEFINITION
    }


def _sorted_out(
    page: Mapping[str, Any], tools: Sequence[Any], protocol: str
) -> tuple[list[Any], list[SkippedTool]]:
    """The valid tools of a page, and the others with what is wrong."""
    good, skipped = list[Any](), list[SkippedTool]()
    left = _MOST_KEPT
    for number, tool in enumerate(tools, start=1):
        flaw = _flaw({**page, "tools": [tool]}, protocol) or _model_flaw(Tool, tool)
        if not flaw:
            good.append(tool)
            continue
        definition = tool if isinstance(tool, dict) and (size := len(compact(tool))) <= left else None
        left -= size if definition is not None else 0
        place, reason = _told(tool, flaw)
        skipped.append(SkippedTool(_name(tool), reason, place=place, number=number, definition=definition))
    return good, skipped


def _told(tool: object, flaw: ValidationError) -> tuple[str, str]:
    """Where a tool's first flaw is, and what is wrong in words."""
    outer = tool.get("inputSchema") if isinstance(tool, dict) else None
    inner = outer.items() if isinstance(outer, dict) and "type" not in outer else ()
    names = (key for key, value in inner if isinstance(value, dict) and value.get("type") == "object")
    for name in islice(names, 1):
        return "inputSchema", f"the schema is inside of {step('', name)}"
    found = _flaws(flaw, with_values=True)
    return next(iter(found.values()), ""), _summed(found)


def _name(tool: object) -> str:
    """What a tool of any shape is called, "" if nothing."""
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else ""


def _flaw(page: Mapping[str, Any], protocol: str) -> ValidationError | None:
    try:
        validate_server_result(LIST, protocol, page)
    except ValidationError as error:
        return error
    except (KeyError, ValueError):
        return None
    return None


def _model_flaw(model: type[BaseModel], value: object) -> ValidationError | None:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError as error:
        return error
    return None


_WANTED = {**EXPECTED, "bool_parsing": "true or false"}
# The step of a path that names one of several forms that a value may have.
_FORM = re.compile(r"(dict|list)\[.*|bool|str|int|float")


def flaw_text(error: ValidationError) -> str:
    """What pydantic found wrong and where, in one short line."""
    return _summed(_flaws(error))


def _summed(found: Collection[str]) -> str:
    more = len(found) - _SHOWN_ERRORS
    return "; ".join(islice(found, _SHOWN_ERRORS)) + (f"; and {more} more" if more > 0 else "")


def _flaws(error: ValidationError, *, with_values: bool = False) -> dict[str, str]:
    """What is wrong in words, with its place. Values are shown of definitions alone: others may be secret."""
    found: dict[str, str] = {}
    for flaw in error.errors(include_url=False, include_context=False):
        path = list(flaw["loc"])
        is_form = len(path) > 1 and _FORM.fullmatch(str(path[-1])) is not None
        path = path[2 if path[:2] == ["tools", 0] else 0 : -1 if is_form else None]
        where = reduce(step, path, "")
        wanted = "a schema" if is_form and path[-2:-1] == ["properties"] else _WANTED.get(flaw["type"])
        said = f"is not {wanted}" if wanted else flaw["msg"].replace("Input should be", "is not")
        if with_values and said.startswith("is not "):
            said = f"is {shown(flaw['input'])}, {said.removeprefix('is ')}".replace("'", '"')
        found[f"{where or 'it'} {'is missing' if flaw['type'] == 'missing' else said}"] = where
    return found
