"""JSON as Python values, and the one way Toolsight serializes it."""

import json
from collections.abc import Mapping
from typing import Any

JsonObject = Mapping[str, Any]


def compact(value: object) -> str:
    """The bytes a provider is sent: no spaces, UTF-8 kept, key order as given.

    Every token count in Toolsight is taken on this form, so that both sides of a comparison pay alike.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def canonical(value: object) -> str:
    """A form that is equal for equal values: sorted keys, ASCII only. For hashes, never for counts."""
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=str)
