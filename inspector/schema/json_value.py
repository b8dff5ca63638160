"""JSON as Python values, and how Toolsight serializes it."""

import json
import re
from collections.abc import Mapping
from typing import Any

JsonObject = Mapping[str, Any]
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


def compact(value: object) -> str:
    """JSON as sent to a provider: no spaces, non-ASCII kept, key order as given.

    Toolsight counts all tokens on this form, so that both sides of a comparison are measured alike.
    """
    return _COMPACT.encode(value)


def canonical(value: object) -> str:
    """The same text for equal values: sorted keys, ASCII only. For hashes, never for token counts."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=str)


_PLAIN, _LONGEST_STEP = re.compile(r"[\w$-]+"), 60


def step(place: str, key: str | int) -> str:
    """The place of a key or an index below another: `properties.limit.enum[2]`; an odd key is quoted."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    key = key if len(key) <= _LONGEST_STEP else f"{key[:_LONGEST_STEP]}…"
    return f"{place}{'.' if place else ''}{key if _PLAIN.fullmatch(key) else compact(key)}"


_LONGEST_SHOWN = 30


def shown(value: object) -> str:
    """A value as a sentence names it: a short one as JSON, a longer text cut, others by their kind."""
    if isinstance(value, Mapping | list | tuple):
        return "an object" if isinstance(value, Mapping) else "an array"
    text = compact(value[: _LONGEST_SHOWN + 1] if isinstance(value, str) else value)
    return text if len(text) <= _LONGEST_SHOWN + 2 else f"{text[:_LONGEST_SHOWN]}…"


def as_object(value: object) -> dict[str, Any]:
    """The JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The JSON array, or an empty one in place of anything else."""
    return value if isinstance(value, list) else []


def as_objects(value: object) -> list[dict[str, Any]]:
    """The objects in a JSON array; what else is in it is passed over."""
    return [one for one in as_list(value) if isinstance(one, dict)]


def as_text(value: object) -> str:
    """The text, or an empty one in place of anything else."""
    return value if isinstance(value, str) else ""


def read_value(text: str | bytes) -> Any:
    """The value of a JSON text; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object that a text is, or an empty one."""
    return as_object(read_value(text))
