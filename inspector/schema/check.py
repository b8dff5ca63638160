"""Checks arguments against a tool's schema, which may be hostile."""

from collections.abc import Mapping
from itertools import islice

from inspector.schema.json_value import JsonObject

# A regular expression can take for ever, and a schema is untrusted: what has one is not checked.
_EXPRESSIONS = frozenset({"pattern", "patternProperties"})
_DEFINITIONS = ("$defs", "definitions")
# What stands below these are names that the schema's author chose, not keywords.
_NAMED = frozenset({"properties", "dependentSchemas", *_DEFINITIONS})
# Nor is one with more parts than this, or with more references.
_MOST_PARTS = 1_000
_MOST_REFERENCES = 10
_SHOWN = 200


class JsonSchemaCheck:
    """See `SchemaCheck`. Nothing is ever fetched: a reference to another document cannot be checked."""

    def problem(self, schema: JsonObject, arguments: JsonObject) -> str:
        """What a schema objects to, or why it cannot be checked; "" for arguments that it accepts."""
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError, best_match
        from referencing import Registry
        from referencing.exceptions import Unresolvable

        if unfit := _unfit(schema):
            return unfit
        try:
            Draft202012Validator.check_schema(dict(schema))
            validator = Draft202012Validator(dict(schema), registry=Registry())
            error = best_match(islice(validator.iter_errors(dict(arguments)), 100))
        except (SchemaError, Unresolvable, RecursionError, ValueError, TypeError, ArithmeticError) as found:
            return f"its schema cannot be checked: {type(found).__name__}"
        return "" if error is None else f"{error.json_path}: {error.message}"[:_SHOWN]


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
