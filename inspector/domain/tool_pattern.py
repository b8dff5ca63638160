"""Patterns over tool ids, as settings use them: `*` and `?` match, case counts."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TypeVar

Value = TypeVar("Value")


def matches(tool_id: str, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns is the id's."""
    return any(fnmatchcase(tool_id, pattern) for pattern in patterns)


def values_for(tool_id: str, table: Mapping[str, Value]) -> tuple[Value, ...]:
    """The values of every pattern that is the id's, in the table's order."""
    return tuple(value for pattern, value in table.items() if fnmatchcase(tool_id, pattern))
