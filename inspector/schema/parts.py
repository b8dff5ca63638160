"""The schemas within a JSON Schema, each with its place, and a schema with each of them changed."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inspector.schema.json_value import JsonObject, step
from inspector.schema.reading import DEEPEST, Work

# Values of these keywords are schemas by name, a list of schemas, one schema.
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}
)
_DEEPER = frozenset({"properties", "patternProperties", "additionalProperties", "items", "prefixItems"})


@dataclass(frozen=True, slots=True)
class Part:
    """What stands in the place of a schema, how many schemas it is in, and its level in a value."""

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
    for key, value in part.value.items():
        inner: list[tuple[str | int, Any]] = []
        at = step(part.place, key)
        if key in _BY_NAME and isinstance(value, Mapping):
            inner = list(value.items())
        elif isinstance(value, list) and (key in _LISTED or key == "items"):
            inner = list(enumerate(value))
        elif key in _SINGLE:
            yield Part(at, value, part.depth + 1, part.level + (key in _DEEPER))
        yield from (
            Part(step(at, name), one, part.depth + 1, part.level + (key in _DEEPER)) for name, one in inner
        )


def changed(schema: JsonObject, change: Callable[[JsonObject], Any]) -> dict[str, Any]:
    """The schema with every object changed that is a schema directly in it."""
    return {key: _changed(key, value, change) for key, value in schema.items()}


def _changed(key: str, value: Any, change: Callable[[JsonObject], Any]) -> Any:
    if key in _BY_NAME and isinstance(value, dict):
        return {name: change(one) if isinstance(one, dict) else one for name, one in value.items()}
    if key in _LISTED and isinstance(value, list):
        return [change(one) if isinstance(one, dict) else one for one in value]
    if key in _SINGLE and isinstance(value, dict):
        return change(value)
    return value
