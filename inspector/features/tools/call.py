"""A tool call in words, read and written as people write it, and calls saved with a name to be compared."""

import difflib
import json
import re
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal

from inspector.core.error import ConfigError
from inspector.core.message import ToolResult
from inspector.core.text import closest, shortened
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject, compact
from inspector.schema.schema import SchemaField, elements, fields

CallForm = Literal["line", "json-rpc"]
CALL_FORMS: Final = ("line", "json-rpc")
_ELEMENT, _DEEPEST = "[]", 20
_NAME = re.compile(r"\w[\w\-]*")
_NAME_END = re.compile(r"(?=\.|\[\]|$)")
_ONE_OBJECT = "Write one object, such as '{\"a\": 1}', and nothing else."


def read_arguments(
    tool: Tool, words: Sequence[str], read: Callable[[str], str], saved: JsonObject | None = None
) -> JsonObject:
    """The arguments in words: one JSON object or `@FILE` with one, or `KEY=VALUE` and `KEY:=JSON`.

    A value of `KEY=` is read as its parameter's type; `@FILE` in place of a value stands for the file's text,
    which `read` returns. `a.b` is b of the object a, `a[]` one more element of the array a; of objects in
    an array the last one gets what it lacks. What was `saved` is changed. Raises ConfigError.
    """
    first = words[0].lstrip() if words else ""
    if first.startswith(("{", "@")):
        return {**(saved or {}), **_object(words, read)}
    known = {field.name for field in fields(tool.input_schema)}
    arguments: Any = saved or {}
    for word in words:
        name, sign, text = word.partition("=")
        is_json = name.endswith(":") and name not in known
        name = name.removesuffix(":") if is_json else name
        if not sign:
            raise ConfigError(f"'{word}' has no value", hint=f"Write {name}=VALUE.")
        way, field = _way(tool, name)
        text = read(text[1:]) if text.startswith("@") else text
        value = _value(None if is_json else field, name, text, is_json=is_json)
        arguments = _changed(arguments, way, value)
    return dict(arguments)


def _way(tool: Tool, path: str) -> tuple[list[str], SchemaField | None]:
    """The names and `[]` that lead to a value, and what the schema says of it, None if nothing.

    A name in the schema that has a dot or `[]` in it is that name. Raises ConfigError.
    """
    root, rest = tool.input_schema, f".{path}"
    way: list[str] = []
    field: SchemaField | None = SchemaField("", "object", schema=root)
    while rest:
        so_far = path[: max(0, len(path) - len(rest))]
        kind = "array" if rest.startswith(_ELEMENT) else "object"
        if field is not None and not {kind, "any"}.intersection(field.type.split(" or ")):
            raise ConfigError(f"{so_far} is {field.type}, not {kind}", hint=f"Write {so_far}=VALUE.")
        if kind == "array":
            way, rest = [*way, _ELEMENT], rest.removeprefix(_ELEMENT)
            field = field and elements(field, root)
            continue
        known = {one.name: one for one in fields(field.schema, root)} if field is not None else {}
        names = [rest[1 : match.start()] for match in _NAME_END.finditer(rest, 1)]
        name = next((name for name in reversed(names) if name in known), names[0])
        if rest[0] != "." or not (name or name in known) or len(way) == _DEEPEST:
            raise ConfigError(
                f"'{shortened(path, 200)}' leads to no value", hint="Write a.b=VALUE or a[]=VALUE."
            )
        if name not in known and known:
            near = ", ".join(closest(name, list(known)) or known)
            raise ConfigError(f"{so_far or tool.id} has no parameter '{name}'", hint=f"Parameters: {near}.")
        way, field, rest = [*way, name], known.get(name), rest[1 + len(name) :]
    return way, field


def _changed(node: Any, way: Sequence[str], value: Any) -> Any:
    """An object or array with another value where the way leads; what is in its way goes."""
    if not way:
        return value
    step, *rest = way
    if step != _ELEMENT:
        own = node if isinstance(node, dict) else {}
        return {**own, step: _changed(own.get(step), rest, value)}
    items = list(node) if isinstance(node, list) else []
    last = items.pop() if items and rest and not _has(items[-1], rest) else None
    return [*items, _changed(last, rest, value)]


def _has(node: Any, way: Sequence[str]) -> bool:
    """Whether there is something where the way leads; never in an array, which takes one more."""
    step, *rest = way
    return isinstance(node, dict) and step in node and (not rest or _has(node[step], rest))


def _is_text(field: SchemaField | None, text: str) -> bool:
    return field is None or field.type in ("string", "any") or text in field.choices


def _value(field: SchemaField | None, name: str, text: str, *, is_json: bool) -> Any:
    if not is_json and _is_text(field, text):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = f"As JSON: {name}:=7, {name}:=true, {name}:='[\"a\"]'."
        kind = field.type if field is not None else "JSON"
        raise ConfigError(f"{name} must be {kind}, not '{text[:200]}'", hint=hint) from error


def _object(words: Sequence[str], read: Callable[[str], str]) -> JsonObject:
    """All arguments as one JSON object, which stands alone. Raises ConfigError."""
    if len(words) > 1:
        raise ConfigError("a JSON object must hold all arguments, so none may follow it", hint=_ONE_OBJECT)
    text = read(words[0][1:]) if words[0].startswith("@") else words[0]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the arguments are not valid JSON: {error}", hint=_ONE_OBJECT) from error
    if not isinstance(value, dict):
        raise ConfigError("the arguments are not a JSON object", hint=_ONE_OBJECT)
    return value


# The same call, to paste elsewhere.


def command_line(tool: Tool, arguments: JsonObject, source: Sequence[str] = ()) -> str:
    """The call as a line for a shell, which `read_arguments` reads; `source` says which servers are meant."""
    known = {field.name: field for field in fields(tool.input_schema)}
    is_plain = all(
        re.fullmatch(r"[\w.][\w.\-]*", name) if name in known else not known and _NAME.fullmatch(name)
        for name in arguments
    )
    words = [_word(known.get(name), name, value) for name, value in arguments.items()]
    return shlex.join(["toolsight", "call", tool.id, *(words if is_plain else [compact(arguments)]), *source])


def _word(field: SchemaField | None, name: str, value: object) -> str:
    is_text = isinstance(value, str) and not value.startswith("@") and _is_text(field, value)
    return f"{name}={value}" if is_text else f"{name}:={compact(value)}"


def json_rpc(tool: Tool, arguments: JsonObject) -> str:
    """The call as the JSON-RPC request that a server gets."""
    task: JsonObject = {"task": {}} if tool.task_support == "required" else {}
    params = {"name": tool.name, "arguments": arguments, **task}
    return compact({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def written(form: str, tool: Tool, arguments: JsonObject, source: Sequence[str]) -> str:
    """The call in one of `CALL_FORMS`."""
    return command_line(tool, arguments, source) if form == "line" else json_rpc(tool, arguments)


_MOST_LINES = 40


def result_changes(before: ToolResult, after: ToolResult) -> tuple[str, ...]:
    """How a result differs from an earlier one: lines that begin with `-` or `+`, at most forty.

    The structured content is compared where the texts are the same.
    """
    outcomes = ["error" if one.is_error else "ok" for one in (before, after)]
    changes = [] if outcomes[0] == outcomes[1] else [f"-{outcomes[0]}", f"+{outcomes[1]}"]
    is_text = before.text != after.text
    indented = partial(json.dumps, indent=2, sort_keys=True, ensure_ascii=False)
    old, new = (one.text if is_text else indented(one.structured) for one in (before, after))
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0))[2:]
    changes += [line for line in lines if not line.startswith("@@")]
    left = len(changes) - _MOST_LINES
    return (*changes[:_MOST_LINES], *([f"… {left:,} more lines"] if left > 0 else []))
