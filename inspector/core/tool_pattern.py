"""Patterns for tool ids in settings: `*` and `?` match, case matters."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TypeVar

Value = TypeVar("Value")


def matches(tool_id: str, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns matches the id."""
    return any(fnmatchcase(tool_id, pattern) for pattern in patterns)


def values_for(tool_id: str, table: Mapping[str, Value]) -> tuple[Value, ...]:
    """The values of every pattern that matches the id, in table order."""
    return tuple(value for pattern, value in table.items() if fnmatchcase(tool_id, pattern))
