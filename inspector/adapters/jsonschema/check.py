"""Checks arguments against a tool's schema, which may be hostile."""

from collections.abc import Mapping
from itertools import islice

from inspector.domain.jsonvalue import JsonObject

# A regular expression can take for ever, and a schema is untrusted: what has one is not checked.
_EXPRESSIONS = frozenset({"pattern", "patternProperties"})
# Nor is one with more parts than this.
_MOST_PARTS = 5_000
# Definitions that refer to one another twice each are looked at twice as often on every level.
_MOST_REFERENCES = 20
_SHOWN = 200


class JsonSchemaCheck:
    """See `SchemaCheck`. Nothing is ever fetched: a reference to another document cannot be checked."""

    def problem(self, schema: JsonObject, arguments: JsonObject) -> str:
        """What a schema objects to, or why that cannot be told; "" for arguments that it accepts."""
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
    """Why a schema is not checked; without recursion, as it may be deep."""
    waiting: list[object] = [schema]
    references = 0
    for _ in range(_MOST_PARTS):
        if not waiting:
            return "" if references <= _MOST_REFERENCES else "its schema refers to too much to be checked"
        part = waiting.pop()
        if isinstance(part, Mapping):
            if not _EXPRESSIONS.isdisjoint(part):
                return "its schema has a regular expression, which is not run"
            references += "$ref" in part or "$dynamicRef" in part
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part
    return "its schema is too large to be checked"
