"""Writes the tables of a client's file."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


def written_table(head: str, values: Mapping[str, Any]) -> Iterator[str]:
    """A table of TOML; what is empty is left out."""
    yield f"\n{head}"
    for key, value in values.items():
        if value not in ("", [], None):
            yield f"{key} = {_toml(value)}"


def _toml(value: Any) -> str:
    """A value of TOML. JSON of texts, numbers and lists of them is TOML, but for one control character."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(one)}' for key, one in value.items())} }}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
