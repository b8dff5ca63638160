"""The schemas within a JSON Schema, each with its place, and a schema with each of them changed."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.schema.json_value import JsonObject, compact
from inspector.schema.reading import DEEPEST, Work

# Values of these keywords are schemas by name, a list of schemas, one schema.
BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}
)
_DEEPER = frozenset({"properties", "patternProperties", "additionalProperties", "items", "prefixItems"})
_PLAIN = re.compile(r"[\w$-]+")
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A schema, whatever value stands in its place, how many schemas it is in, and at what level of a value.

    `place` is a path of parameters, such as `lines[].from`, with the keyword of any other step between dots.
    """

    place: str
    value: Any
    depth: int = 0
    level: int = 0


def parts(schema: object, work: Work) -> Iterator[Part]:
    """A schema and those in it, each before its own, to the depth that is read. Raises TooLarge."""
    waiting = [Part("", schema)]
    while waiting:
        part = waiting.pop()
        work.spend(1)
        yield part
        if isinstance(part.value, Mapping) and part.depth < DEEPEST:
            work.spend(len(part.value))
            waiting += reversed(list(_within(part)))


def _within(part: Part) -> Iterator[Part]:
    depth = part.depth + 1
    for key, value in part.value.items():
        level = part.level + (key in _DEEPER)
        if key in BY_NAME and isinstance(value, Mapping):
            base = part.place if key == "properties" else step(part.place, key)
            yield from (Part(step(base, str(name)), one, depth, level) for name, one in value.items())
        elif isinstance(value, list) and (key in _LISTED or key == "items"):
            base = step(part.place, key)
            yield from (Part(f"{base}[{number}]", one, depth, level) for number, one in enumerate(value))
        elif key == "items":
            yield Part(f"{part.place}[]", value, depth, level)
        elif key in _SINGLE:
            yield Part(step(part.place, key), value, depth, level)


def step(place: str, name: str) -> str:
    """The place of what is called so there."""
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    return f"{place}{'.' if place else ''}{name if _PLAIN.fullmatch(name) else compact(name)}"


def changed(schema: JsonObject, change: Callable[[JsonObject], Any]) -> dict[str, Any]:
    """The schema with every object changed that is a schema directly in it."""
    return {key: _changed(key, value, change) for key, value in schema.items()}


def _changed(key: str, value: Any, change: Callable[[JsonObject], Any]) -> Any:
    if key in BY_NAME and isinstance(value, dict):
        return {name: change(one) if isinstance(one, dict) else one for name, one in value.items()}
    if key in _LISTED and isinstance(value, list):
        return [change(one) if isinstance(one, dict) else one for one in value]
    if key in _SINGLE and isinstance(value, dict):
        return change(value)
    return value
