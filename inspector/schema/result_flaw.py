"""Whether a structured result is what its tool's schema says, as far as that is plain to see.

Types, required fields and named values are checked, where the schema says them without alternatives. Schemas
and results are untrusted, and a pattern can be made to take for ever: nothing else is tried.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.schema.json_value import JsonObject, canonical, compact
from inspector.schema.reading import type_text, types_of, values_of
from inspector.schema.schema import resolve

_DEEPEST, _MOST_STEPS, _SHOWN = 20, 2_000, 60
_OPEN = ("anyOf", "oneOf", "allOf", "not", "if")


def result_flaw(schema: JsonObject | None, value: object) -> str:
    """The first place where a result is not what its schema says, in words; "" if none is found."""
    return next(_flaws(schema, value), "") if isinstance(schema, Mapping) else ""


def _flaws(schema: JsonObject, value: object) -> Iterator[str]:
    waiting: list[tuple[str, Any, object]] = [("", schema, value)]
    for _ in range(_MOST_STEPS):
        if not waiting:
            return
        path, part, item = waiting.pop()
        if not isinstance(part, Mapping) or path.count(".") > _DEEPEST:
            continue
        known = resolve(part, schema)
        if any(key in known for key in _OPEN) or "$ref" in known:
            continue
        yield from _of_value(path, known, item)
        waiting += _inner(path, known, item)


def _of_value(path: str, schema: JsonObject, value: object) -> Iterator[str]:
    where = path or "it"
    types, values = types_of(schema), values_of(schema)
    if not _type_names(value) & types and values is None:
        yield f"{where} is {_short(value)}, not {type_text(types)}"
    elif values is not None and canonical(value) not in values:
        yield f"{where} is {_short(value)}, which is none of its values"
    if isinstance(value, Mapping) and isinstance(needed := schema.get("required"), list):
        yield from (f"{_step(path, name)} is missing" for name in needed if name not in value)


def _inner(path: str, schema: JsonObject, value: object) -> Iterator[tuple[str, Any, object]]:
    named, items = schema.get("properties"), schema.get("items")
    if isinstance(value, Mapping) and isinstance(named, Mapping):
        yield from (
            (_step(path, name), named[name], value[name]) for name in reversed(list(named)) if name in value
        )
    if isinstance(value, list | tuple) and isinstance(items, Mapping) and "prefixItems" not in schema:
        yield from ((f"{path}[{number}]", items, item) for number, item in enumerate(value[:_MOST_STEPS]))


def _type_names(value: object) -> frozenset[str]:
    """Every type that a value has: a whole number is a number too."""
    (name,) = types_of({"const": value})
    return frozenset((name, "number")) if name == "integer" else frozenset((name,))


def _step(path: str, name: object) -> str:
    return f"{path}{'.' if path else ''}{str(name)[:_SHOWN]}"


def _short(value: object) -> str:
    text = compact(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
