"""Turns tool results into rows and into text for people."""

import json
import re
from collections.abc import Mapping
from typing import Any

MAX_RESULT = 200_000
SHOWN = 12
MAILED = 100
_MAX_LINE = 240
_MAX_RECORD = 2_000
_MAX_VALUE = 120
_NESTED = 3
_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"\s*")
_ERROR = re.compile(r"\s*error\b", re.IGNORECASE)


def is_error(result: str) -> bool:
    """Whether a result's text reports a failure; the text is all that a model sees."""
    return bool(_ERROR.match(result))


def documents(result: str) -> tuple[Any, ...]:
    """The JSON values of a result; a list may come as one value per line. Empty if the result is text."""
    text = result[:MAX_RESULT]
    values: list[Any] = []
    position = _blank_to(text, 0)
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            # The loop guard's note may follow the values; a text that begins with a number is still text.
            return tuple(values) if text.startswith("[", position) else ()
        values.append(value)
        position = _blank_to(text, position)
    return tuple(values)


def _blank_to(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def rows(result: str) -> tuple[Mapping[str, Any], ...]:
    """The records in a result: those of a list, of the only list inside an object, or the object itself."""
    return _records(documents(result))[1]


def keys(result: str) -> str:
    """The keys of an object, which say what its rows are."""
    values = documents(result)
    return " ".join(map(str, values[0])) if len(values) == 1 and isinstance(values[0], Mapping) else ""


def _records(values: tuple[Any, ...]) -> tuple[Mapping[str, Any], tuple[Mapping[str, Any], ...]]:
    """The records, and the other fields of the object around them, such as their city."""
    around: Mapping[str, Any] = {}
    if len(values) == 1 and isinstance(values[0], list):
        values = tuple(values[0])
    elif len(values) == 1 and isinstance(values[0], Mapping):
        inner = _only_list(values[0])
        if inner is not None:
            around = {key: value for key, value in values[0].items() if not isinstance(value, list)}
            values = tuple(inner)
    return around, tuple(value for value in values if isinstance(value, Mapping))


def _only_list(value: Mapping[str, Any]) -> list[Any] | None:
    lists = [v for v in value.values() if isinstance(v, list) and v and isinstance(v[0], Mapping)]
    scalars = [v for v in value.values() if not isinstance(v, list | Mapping)]
    return lists[0] if len(lists) == 1 and len(scalars) <= _NESTED else None


def render(result: str, limit: int = SHOWN, *, brief: bool = False) -> str:
    """A result as short lines; text that is not JSON stays unchanged."""
    values = documents(result)
    if is_error(result) or not values:
        return _cut(result.strip(), _MAX_LINE * limit) or "(an empty result)"
    around, records = _records(values)
    if not records:
        return "\n".join(_cut(_plain(value), _MAX_LINE) for value in values[:limit])
    heading = [f"{_line(around)}:"] if around else []
    if len(records) == 1:
        return " ".join([*heading, _line(records[0], _MAX_LINE if brief else _MAX_RECORD)])
    lines = [f"- {_line(row)}" for row in records[:limit]]
    more = [f"- … and {len(records) - limit} more"] if len(records) > limit else []
    return "\n".join([*heading, *lines, *more])


def _line(row: Mapping[str, Any], size: int = _MAX_LINE) -> str:
    share = _MAX_VALUE if size == _MAX_LINE else size // 4
    parts = [
        f"{str(key).replace('_', ' ')} {_cut(_plain(value), share)}"
        for key, value in row.items()
        if _has_content(value)
    ]
    return _cut(", ".join(parts), size) or "(empty)"


def _has_content(value: object) -> bool:
    return value is not None and value not in ("", [], {})


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{key} {value[key]}" for key in list(value)[:6]) + ")"
    if isinstance(value, list):
        return f"{len(value)} entries" if len(value) > _NESTED else "; ".join(map(_plain, value)) or "nothing"
    return " ".join(str(value).split())


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[: size - 1]}…"
