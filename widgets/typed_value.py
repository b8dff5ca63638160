"""What is typed into a field, as a value of its kind."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Literal

Kind = Literal["string", "integer", "number", "boolean", "enum", "many", "lines", "text", "json"]


class InvalidValue(ValueError):
    """The typed text is no value of the field; the message says what would be."""


def parse(kind: Kind, text: str) -> object:
    """Parse typed text. Raises InvalidValue with what is expected."""
    readers: dict[str, Callable[[str], object]] = {
        "integer": _integer,
        "number": _number,
        "lines": _lines,
        "json": _json,
    }
    return readers[kind](text) if kind in readers else text


def _integer(text: str) -> int:
    try:
        return int(text.strip())
    except ValueError:
        raise InvalidValue("not a whole number such as 10") from None


def _number(text: str) -> int | float:
    try:
        value = float(text.strip())
    except ValueError:
        raise InvalidValue("not a number such as 2.5") from None
    if not math.isfinite(value):
        raise InvalidValue("JSON does not allow Infinity or NaN")
    return int(text) if text.strip().lstrip("+-").isdecimal() and len(text) < 400 else value


def _lines(text: str) -> object:
    """One text a line, or a JSON array for texts that have lines themselves."""
    return _json(text) if text.lstrip().startswith("[") else text.splitlines()


def written_lines(value: object) -> str:
    """The text that `parse` reads as this list."""
    texts = value if isinstance(value, list) else []
    is_plain = all(isinstance(one, str) and one.splitlines() == [one] for one in texts)
    if texts and is_plain and not texts[0].lstrip().startswith("["):
        return "\n".join(texts)
    return json.dumps(value, indent=2, default=str)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidValue(f"not JSON: {error.msg} at {where}") from None
    except (RecursionError, ValueError):
        raise InvalidValue("the JSON is nested too deeply, or a number in it is too long") from None
