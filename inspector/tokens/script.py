"""Scripts that call tools: the few forms that are understood, so that none is ever evaluated.

    const a = await shop__list_orders({"status":"paid"});
    const b = await mail__draft({"to":a.orders[0].email});
    return b.id;

A script is a straight sequence of calls, a line each, with JSON in which a result or a part of it may stand
for a value, and what it returns. Anything else is refused.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from inspector.core.error import ToolsightError
from inspector.schema.json_value import JsonObject, as_text, compact

MOST_CALLS = 50
"""Calls of one script."""
_LONGEST = 100_000
_NAME, _STRING = r"[A-Za-z_$][A-Za-z0-9_$]*", r'"(?:[^"\\]|\\.)*"'
_STEP = re.compile(rf"\.({_NAME})|\[(\d{{1,9}})\]|\[({_STRING})\]")
_CALL = re.compile(rf"const ({_NAME}) = await ({_NAME})\((.*)\);")
_RETURN = re.compile(r"return (.*);")
_TOKEN = re.compile(rf"({_STRING})|(?<![\w.])({_NAME})((?:{_STEP.pattern})*)")
_WORDS, _PART = frozenset({"true", "false", "null"}), "\0"


class ScriptError(ToolsightError):
    """A text that is no script of the few forms, or a part that a result does not have."""


class Part(Struct, frozen=True):
    """A part of the result that a call assigned to `name`; the whole of it without a `path`."""

    name: str
    path: tuple[str | int, ...] = ()

    @property
    def text(self) -> str:
        """As a script writes it: `a.orders[0].id`."""
        return self.name + "".join(
            f".{step}" if isinstance(step, str) and re.fullmatch(_NAME, step) else f"[{compact(step)}]"
            for step in self.path
        )

    def of(self, results: Mapping[str, Any]) -> Any:
        """The value. Raises ScriptError if the result does not have it."""
        value = results[self.name]
        for step in self.path:
            try:
                value = value[step]
            except (LookupError, TypeError) as error:
                raise ScriptError(f"{self.text} is undefined") from error
        return value


class ScriptCall(Struct, frozen=True):
    """A call whose result is assigned to `name`; `arguments` hold values and `Part`s."""

    name: str
    tool: str
    arguments: dict[str, Any]


class Script(Struct, frozen=True):
    """Calls in order, and what is returned: values and `Part`s."""

    calls: tuple[ScriptCall, ...]
    returns: Any = None

    @property
    def text(self) -> str:
        """The script as a model writes it."""
        calls = (f"const {one.name} = await {one.tool}({_written(one.arguments)});" for one in self.calls)
        return "\n".join((*calls, f"return {_written(self.returns)};"))


def _written(value: object) -> str:
    if isinstance(value, Part):
        return value.text
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{compact(str(key))}:{_written(one)}' for key, one in value.items())}}}"
    return f"[{','.join(map(_written, value))}]" if isinstance(value, list | tuple) else compact(value)


def filled(value: Any, results: Mapping[str, Any]) -> Any:
    """The value with every `Part` replaced. Raises ScriptError if a result lacks one."""
    if isinstance(value, Part):
        return value.of(results)
    if isinstance(value, dict):
        return {key: filled(one, results) for key, one in value.items()}
    return [filled(one, results) for one in value] if isinstance(value, list) else value


def parts(value: Any) -> Iterator[Part]:
    """The parts of results in a value."""
    if isinstance(value, Part):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from parts(one)


def result_value(text: str, structured: JsonObject | None) -> Any:
    """What a script sees of a result: its structured content, else its text as JSON, else its text."""
    if structured is not None:
        return structured
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def returned_text(value: object) -> str:
    """What a model reads of a returned value."""
    return as_text(value) or compact(value)


def read_script(text: object) -> Script:
    """The script. Raises ScriptError that says where it is none of the few forms."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise ScriptError("a script is a text of at most 100,000 characters")
    *lines, last = text.strip().split("\n")
    calls: dict[str, ScriptCall] = {}
    for number, line in enumerate(lines, start=1):
        found = _CALL.fullmatch(line.strip())
        arguments = _value(found[3], calls, number) if found is not None else None
        if found is None or not isinstance(arguments, dict):
            raise ScriptError(f"line {number}: expected `const x = await server__tool({{...}});`")
        if found[1] in calls or number > MOST_CALLS:
            raise ScriptError(f"line {number}: each of at most {MOST_CALLS} results has a name of its own")
        calls[found[1]] = ScriptCall(found[1], found[2], arguments)
    end = _RETURN.fullmatch(last.strip())
    if not calls or end is None:
        raise ScriptError(f"line {len(lines) + 1}: expected calls, and `return x;` at the end")
    return Script(tuple(calls.values()), _value(end[1], calls, len(lines) + 1))


def _value(text: str, known: Mapping[str, object], line: int) -> Any:
    """JSON with parts of the `known` results in it: each is read as an object with its number."""
    found: list[Part] = []

    def marked(token: re.Match[str]) -> str:
        if token[1] or (token[2] in _WORDS and not token[3]):
            return token[0]
        if token[2] not in known:
            raise ScriptError(f"line {line}: {token[2]} is not the result of a call before")
        steps = _STEP.finditer(token[3])
        path = (step[1] or (int(step[2]) if step[2] else json.loads(step[3])) for step in steps)
        found.append(Part(token[2], tuple(path)))
        return json.dumps({_PART: len(found) - 1})

    try:
        return json.loads(
            _TOKEN.sub(marked, text), object_hook=lambda one: found[one[_PART]] if _PART in one else one
        )
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise ScriptError(f"line {line}: expected JSON and results of calls") from error
