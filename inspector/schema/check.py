"""Checks arguments and results against a tool's schema, which may be hostile."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from inspector.schema.json_value import JsonObject, compact

if TYPE_CHECKING:
    from jsonschema import ValidationError

# A regular expression can take for ever, and a schema is untrusted: what has one is not checked.
_EXPRESSIONS = frozenset({"pattern", "patternProperties"})
_DEFINITIONS = ("$defs", "definitions")
# What stands below these are names that the schema's author chose, not keywords.
_NAMED = frozenset({"properties", "dependentSchemas", *_DEFINITIONS})
# Nor is one with more parts than this, or with more references.
_MOST_PARTS = 1_000
_MOST_REFERENCES = 10
# Nor a value of more characters; where items must be unique, each is compared with all others.
_LARGEST_VALUE, _LARGEST_UNIQUE = 200_000, 10_000
_SHOWN = 200
_NO_OUTPUT = "the tool declares an output schema and returns no structured content"


def schema_problem(schema: JsonObject, arguments: JsonObject) -> str:
    """What a schema objects to, or why it cannot be checked; "" for arguments that it accepts."""
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_errors(schema, dict(arguments), 100))
    except Unchecked as unfit:
        return str(unfit)
    return "" if error is None else f"{error.json_path}: {error.message}"[:_SHOWN]


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a value fits a schema, None if that cannot be checked; the first errors by path, or why not."""

    fits: bool | None
    reasons: tuple[str, ...] = ()


def checked(schema: JsonObject, value: object, most: int = 3) -> Checked:
    """Check a value, and return the first errors."""
    is_slow = "uniqueItems" in compact(schema)
    if len(compact(value)) > (_LARGEST_UNIQUE if is_slow else _LARGEST_VALUE):
        return Checked(None, ("the value is too large to be checked",))
    try:
        errors = _errors(schema, value, most)
    except Unchecked as unfit:
        return Checked(None, (str(unfit),))
    return Checked(not errors, tuple(f"{error.json_path}: {error.message}"[:_SHOWN] for error in errors))


def checked_output(schema: JsonObject | None, structured: JsonObject | None) -> Checked | None:
    """Whether structured content fits a tool's output schema; None without one. MCP wants it returned."""
    if schema is None:
        return None
    return checked(schema, structured) if structured is not None else Checked(False, (_NO_OUTPUT,))


class Unchecked(ValueError):
    """A schema cannot be checked; the message says why."""


def _errors(schema: JsonObject, value: object, most: int) -> "list[ValidationError]":
    """The first errors. Nothing is ever fetched: a reference to another document cannot be checked."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if unfit := _unfit(schema):
        raise Unchecked(unfit)
    try:
        Draft202012Validator.check_schema(dict(schema))
        validator = Draft202012Validator(dict(schema), registry=Registry())
        return list(islice(validator.iter_errors(value), most))
    except (SchemaError, Unresolvable, RecursionError, ValueError, TypeError, ArithmeticError) as found:
        raise Unchecked(f"its schema cannot be checked: {type(found).__name__}") from found


def _unfit(schema: JsonObject) -> str:
    """Why a schema is not checked; without recursion, as it may be deep.

    A definition that refers to another one, or to itself, may be looked at more often on every level.
    """
    # Each part with whether its keys are names, and whether it is in a definition.
    waiting: list[tuple[object, bool, bool]] = [(schema, False, False)]
    references = 0
    for _ in range(_MOST_PARTS):
        if not waiting:
            return ""
        part, are_names, is_definition = waiting.pop()
        if isinstance(part, Mapping):
            if not are_names and not _EXPRESSIONS.isdisjoint(part):
                return "its schema has a regular expression, which is not run"
            if not are_names and ("$ref" in part or "$dynamicRef" in part):
                references += 1
                if is_definition or references > _MOST_REFERENCES or not _is_plain(part.get("$ref")):
                    return "its schema refers to itself, or to too much"
            for key, value in part.items():
                named = not are_names and key in _NAMED
                waiting.append((value, named, is_definition or (named and key in _DEFINITIONS)))
        elif isinstance(part, list | tuple):
            waiting += [(value, False, is_definition) for value in part]
    return "its schema is too large to be checked"


def _is_plain(reference: object) -> bool:
    """Whether a reference is to a definition of the schema."""
    return isinstance(reference, str) and reference.startswith(tuple(f"#/{name}/" for name in _DEFINITIONS))
