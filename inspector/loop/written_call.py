"""Reads calls that a model wrote as the text of its answer."""

import json
import math
from collections.abc import Collection, Iterator
from typing import Any

from inspector.schema.json_value import JsonObject

# An answer is understood as calls only if it is nothing else: one JSON object or list, bare or in one code
# fence, or objects in `<tool_call>` tags, perhaps after a `<think>` block. What stands in a longer answer is
# quoted, and every call has to name a tool that the request offered.

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
_THINK, _THOUGHT = "<think>", "</think>"
_FENCE = "```"
# What a fence may call its content.
_FENCED = frozenset({"", "json", "tool_call", "tool_code"})
_ARGUMENTS = frozenset({"arguments", "parameters"})
_FIELDS = frozenset({"name", "type", *_ARGUMENTS})
# `str.strip` also takes what JSON does not allow around a value.
_SPACE = " \t\r\n"


def written_calls(text: str, names: Collection[str]) -> tuple[tuple[str, JsonObject], ...]:
    """The name and the arguments of each call that an answer consists of; empty if it is an answer.

    `names` are the tools that the request offered; one other name, and nothing is a call.
    """
    try:
        entries = list(_entries(_after_thought(text.strip(_SPACE))))
    except (ValueError, RecursionError):
        return ()
    calls = [_call(entry, names) for entry in entries]
    return tuple(call for call in calls if call is not None) if None not in calls else ()


def _after_thought(text: str) -> str:
    thought, closed, rest = text.partition(_THOUGHT)
    return rest.strip(_SPACE) if closed and thought.startswith(_THINK) else text


def _entries(text: str) -> Iterator[Any]:
    """The JSON values that may be calls. Raises ValueError if the text holds anything else."""
    if text.startswith(_OPEN):
        yield from _tagged(text)
        return
    value = _decoder.decode(_unfenced(text))
    yield from value if isinstance(value, list) else (value,)


def _tagged(text: str) -> Iterator[Any]:
    """Read each value as JSON, so that a tag within one of its strings ends nothing."""
    while text:
        if not text.startswith(_OPEN):
            raise ValueError("text beside the calls")
        value, end = _decoder.raw_decode(inner := text.removeprefix(_OPEN).lstrip(_SPACE))
        rest = inner[end:].lstrip(_SPACE)
        if not rest.startswith(_CLOSE):
            raise ValueError("a call that does not end")
        yield value
        text = rest.removeprefix(_CLOSE).lstrip(_SPACE)


def _unfenced(text: str) -> str:
    """The content of the one code fence that the text consists of; other text as it is."""
    first, _, rest = text.partition("\n")
    body, _, last = rest.rpartition("\n")
    language = first.removeprefix(_FENCE).strip(_SPACE)
    fenced = first.startswith(_FENCE) and last.strip(_SPACE) == _FENCE and language in _FENCED
    return body if fenced else text


def _call(entry: Any, names: Collection[str]) -> tuple[str, JsonObject] | None:
    if (
        not isinstance(entry, dict)
        or not entry.keys() <= _FIELDS
        or entry.get("type", "function") != "function"
    ):
        return None
    name, given = entry.get("name"), [entry[field] for field in _ARGUMENTS if field in entry]
    if len(given) != 1 or not isinstance(given[0], dict) or not isinstance(name, str) or name not in names:
        return None
    return name, given[0]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(known := dict(pairs)) < len(pairs):
        raise ValueError("the same key twice: which one counts is unclear")
    return known


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text} is not JSON")
    return number


_decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_finite)
