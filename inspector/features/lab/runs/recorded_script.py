"""A recorded agent's steps as scripts, the most of them in one that it could write without reading results.

A step joins the script before it if every value of its arguments was known before the script began, or is a
part of a result. What is passed on so is not returned. No model knows that as well: it is the upper bound.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inspector.core.message import AssistantMessage, ModelRequest
from inspector.core.tool import wire_name
from inspector.mcp.recorded_link import RecordedCall, RecordedStep
from inspector.schema.json_value import compact
from inspector.tokens.declaration import function_name
from inspector.tokens.script import MOST_CALLS, Part, Script, ScriptCall, parts, result_value

_WORD = re.compile(r"\w{3,}")
# Numbers below are choices, such as a limit; others are known or come from a result.
_CHOSEN = 100
# So many parts of a result are looked at for a value.
_PARTS = 5_000


def words(text: str) -> frozenset[str]:
    """The words of a text, in lower case."""
    return frozenset(map(str.lower, _WORD.findall(text)))


def known_words(request: ModelRequest) -> frozenset[str]:
    """The words that a model has read or written in a request's conversation."""
    calls = [m.tool_calls for m in request.messages if isinstance(m, AssistantMessage)]
    written = (compact(call.arguments) for made in calls for call in made)
    return words("\n".join((request.system, *(message.text for message in request.messages), *written)))


def scripts_of(steps: Sequence[RecordedStep], known: frozenset[str]) -> tuple[list[Script], int]:
    """The scripts of the first step, the last of them with the steps that it can do too, and how many steps.

    A call that failed ends a script: nothing after it would run.
    """
    done: list[Script] = []
    calls: list[ScriptCall] = []
    values: dict[str, Any] = {}
    for number, step in enumerate(steps):
        given = [dict(call.arguments) if not number else _filled(call, known, values) for call in step.calls]
        if number and (None in given or not calls or len(calls) + len(given) > MOST_CALLS):
            break
        results = {}
        for call, arguments in zip(step.calls, given, strict=True):
            name = f"r{len(calls)}"
            calls.append(ScriptCall(name, function_name(wire_name(call.server, call.tool)), arguments or {}))
            results[name] = result_value(call.result or "", None)
            if call.failed or len(calls) == MOST_CALLS:
                done, calls, values, results = [*done, _script(calls)], [], {}, {}
        values |= results
    else:
        number = len(steps)
    return [*done, *([_script(calls)] if calls else [])], number


def _script(calls: Sequence[ScriptCall]) -> Script:
    passed = {part.name for one in calls for part in parts(one.arguments)}
    returned = [Part(one.name) for one in calls if one.name not in passed]
    return Script(tuple(calls), returned[0] if len(returned) == 1 else returned)


def _filled(call: RecordedCall, known: frozenset[str], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments with parts of results; None if a value is neither known nor part of a result."""
    try:
        return {name: _value(one, known, values) for name, one in call.arguments.items()}
    except LookupError:
        return None


def _value(value: Any, known: frozenset[str], values: Mapping[str, Any]) -> Any:
    """Raises LookupError for a value that a model could not have written yet."""
    if isinstance(value, Mapping):
        return {str(key): _value(one, known, values) for key, one in value.items()}
    if isinstance(value, list):
        return [_value(one, known, values) for one in value]
    is_choice = isinstance(value, int | float) and abs(value) < _CHOSEN
    if value is None or is_choice or words(str(value)) <= known:
        return value
    found = next((part for name, one in values.items() for part in _parts(name, one, value)), None)
    if found is None:
        raise LookupError(value)
    return found


def _parts(name: str, result: Any, value: object) -> Iterator[Part]:
    """The parts of a result that are a value, the outermost first."""
    looked: list[tuple[tuple[str | int, ...], Any]] = [((), result)]
    for path, one in looked:
        if type(one) is type(value) and one == value:
            yield Part(name, path)
        inner = one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
        looked += [((*path, key), each) for key, each in inner if len(looked) < _PARTS]
