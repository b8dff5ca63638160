"""JSON as Python values, and how Toolsight serializes it."""

import json
from collections.abc import Mapping
from typing import Any

JsonObject = Mapping[str, Any]


def compact(value: object) -> str:
    """JSON as sent to a provider: no spaces, non-ASCII kept, key order as given.

    Toolsight counts all tokens on this form, so that both sides of a comparison are measured alike.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def canonical(value: object) -> str:
    """The same text for equal values: sorted keys, ASCII only. For hashes, never for token counts."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=str)


def as_object(value: object) -> dict[str, Any]:
    """The JSON object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def read_object(text: str | bytes) -> dict[str, Any]:
    """The JSON object that a text is, or an empty one."""
    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):
        return {}
