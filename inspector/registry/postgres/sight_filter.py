"""What somebody may see, as a condition of a query: exactly what `Sight.permits` says, for any text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from inspector.core.access import Sight
from inspector.registry.postgres.stored_text import ONE_CHARACTER, stored

_WILD = re.compile(r"[*?]")
_STARS = re.compile(r"\*+")
_SPECIAL_IN_LIKE = re.compile(r"[\\%_]")


@dataclass(frozen=True, slots=True)
class Condition:
    """SQL over a column of stored ids, with its parameters by name; "TRUE" keeps nothing out."""

    sql: str
    parameters: dict[str, list[str]] = field(default_factory=dict)


def condition(sight: Sight, column: str) -> Condition:
    """The condition that holds for the ids that may be seen."""
    granted = _any_of(sight.patterns, column, "granted")
    if sight.allowlist is None:
        return granted
    allowed = _any_of(sight.allowlist, column, "allowed")
    return Condition(f"({granted.sql}) AND ({allowed.sql})", granted.parameters | allowed.parameters)


def _any_of(patterns: Sequence[str], column: str, name: str) -> Condition:
    """The cheapest test for each: an id compared, LIKE, and a regular expression where `?` occurs."""
    patterns = [_STARS.sub("*", pattern) for pattern in patterns]
    if "*" in patterns:
        return Condition("TRUE")
    tests = (
        (f"{name}_ids", "=", [stored(one) for one in patterns if not _WILD.search(one)]),
        (f"{name}_likes", "LIKE", [_like(one) for one in patterns if "*" in one and "?" not in one]),
        (f"{name}_regexes", "~", [_regex(one) for one in patterns if "?" in one]),
    )
    used = [test for test in tests if test[2]]
    sql = " OR ".join(f"{column} {operator} ANY(%({key})s)" for key, operator, _values in used)
    return Condition(sql or "FALSE", {key: values for key, _operator, values in used})


def _like(pattern: str) -> str:
    return _SPECIAL_IN_LIKE.sub(r"\\\g<0>", stored(pattern)).replace("*", "%")


def _regex(pattern: str) -> str:
    wild = {"*": ".*", "?": ONE_CHARACTER}
    return f"^{''.join(wild.get(one) or _literal(one) for one in stored(pattern))}$"


def _literal(character: str) -> str:
    """A backslash before a letter or digit would mean something else, and nothing before any other."""
    return character if character.isalnum() or character == "_" else f"\\{character}"
