"""A JSON Schema as alternatives that can be compared, with its references followed and its parts merged.

And the schemas within it, each with its place, or changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct

from inspector.schema.json_value import JsonObject, canonical, step
from inspector.schema.schema import resolve

MOST_WORK = 100_000
# So many characters of a text are one step.
_CHARACTERS = 64


class TooLarge(Exception):
    """More work than a comparison may take."""


class Work:
    """One budget for a whole comparison; a step is about a value that is looked at."""

    def __init__(self, most: int = MOST_WORK) -> None:
        self._left = most

    def spend(self, steps: int) -> None:
        """Take some steps. Raises TooLarge if they are not left."""
        self._left -= steps
        if self._left < 0:
            raise TooLarge

    def read(self, *values: object) -> None:
        """Take as many steps as there are values in these, in all depths. Raises TooLarge."""
        for value in values:
            self.spend(size(value, self._left))


def size(value: object, most: int) -> int:
    """How many values there are in one, and itself; counted no further than a little beyond `most`."""
    waiting, steps = [value], 0
    while waiting and steps <= most:
        one = waiting.pop()
        steps += 1
        if isinstance(one, str):
            steps += len(one) // _CHARACTERS
        elif isinstance(one, Mapping):
            steps += len(one)
            if steps <= most:
                waiting.extend(one.values())
        elif isinstance(one, list | tuple):
            steps += len(one)
            if steps <= most:
                waiting.extend(one)
    return steps


Schema = Mapping[str, Any]

DEEPEST = 40
_NOTES = ("title", "description", "default", "examples", "deprecated", "$comment", "$schema", "$id")
WORDS = frozenset((*_NOTES, "readOnly", "writeOnly"))
"""The keywords that take nothing in or out."""
CONTAINERS = frozenset(("$defs", "definitions", "components"))
COMBINED = ("anyOf", "oneOf", "allOf")
UNIONS = ("anyOf", "oneOf")
# References can make few lines into any number of alternatives.
_MOST_ALTERNATIVES, _MOST_EXACT = 5_000, 200
_NOTHING: Schema = {"enum": []}
TYPES = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))
# What these say depends on one another: parts that share one out cannot be merged.
_TOGETHER = (
    frozenset(("properties", "patternProperties", "additionalProperties")),
    frozenset(("items", "prefixItems", "contains", "minContains", "maxContains")),
    frozenset(("if", "then", "else")),
)


class Reading:
    """Reads the parts of one schema; it knows the whole, where references lead."""

    def __init__(self, root: JsonObject, work: Work) -> None:
        self._root = root
        self._work = work
        self._left = _MOST_ALTERNATIVES

    def opened(self, schema: object) -> Schema:
        """A schema with its reference followed; what stands beside a reference holds as well."""
        if isinstance(schema, bool) or not isinstance(schema, Mapping):
            return _NOTHING if schema is False else {}
        if "$ref" not in schema:
            return schema
        beside = {key: value for key, value in schema.items() if key != "$ref" and key not in WORDS}
        target = resolve({"$ref": schema["$ref"]}, self._root)
        self._work.spend(len(schema) + len(target))
        return {"allOf": [target], **beside} if beside else target

    def alternatives(self, schema: Schema, depth: int = 0) -> Iterator[Schema]:
        """Simple schemas of which one at least takes what this one takes, and perhaps more."""
        self._left -= 1
        if self._left < 0:
            yield {}
            return
        schema = self._widened(schema)
        union = next((key for key in UNIONS if isinstance(schema.get(key), list)), "")
        if union and depth < DEEPEST:
            for option in schema[union]:
                self._work.spend(len(schema))
                merged = {**without(schema, union), **self.opened(option)}
                yield from self.alternatives(merged, depth + 1)
            return
        types = schema.get("type")
        if isinstance(types, list) and len(types) > 1:
            for one in types:
                self._work.spend(len(schema))
                yield {**schema, "type": one}
        else:
            yield schema

    def _widened(self, schema: Schema) -> Schema:
        """A schema with the parts that hold as well; where two say something, the first one counts."""
        for _ in range(DEEPEST):
            parts = schema.get("allOf")
            if not isinstance(parts, list):
                return schema
            merged = without(schema, "allOf")
            for part in parts:
                self._work.spend(len(merged))
                merged = {**self.opened(part), **merged}
            schema = merged
        return {}

    def exact_alternatives(self, schema: Schema, depth: int = 0) -> list[Schema] | None:
        """Simple schemas that together take exactly what this one takes; None if it is too involved."""
        merged = self._merged(schema)
        if merged is None or depth > DEEPEST:
            return None
        unions = [key for key in UNIONS if isinstance(merged.get(key), list)]
        if not unions:
            return [merged]
        if len(merged[unions[0]]) > _MOST_EXACT:
            return None
        options = [self._merged(self.opened(option)) for option in merged[unions[0]]]
        read = [option for option in options if option is not None]
        if len(unions) > 1 or len(read) < len(options):
            return None
        if unions[0] == "oneOf" and not self._are_apart(read):
            return None
        found: list[Schema] = []
        for option in read:
            whole = self._both(without(merged, unions[0]), option)
            inner = None if whole is None else self.exact_alternatives(whole, depth + 1)
            if inner is None or len(found) + len(inner) > _MOST_EXACT:
                return None
            found += inner
        return found

    def _merged(self, schema: Schema) -> Schema | None:
        """A schema with the parts that hold as well; None if they say different things about the same."""
        for _ in range(DEEPEST):
            parts = schema.get("allOf")
            if not isinstance(parts, list):
                return schema
            merged: Schema | None = without(schema, "allOf")
            for part in parts:
                merged = self._both(merged, self.opened(part)) if merged is not None else None
            if merged is None:
                return None
            schema = merged
        return None

    def _both(self, one: Schema, other: Schema) -> Schema | None:
        """A schema that says what both say; None if they speak of the same."""
        self._work.spend(len(one) + len(other))
        first, second = one.keys() - WORDS, other.keys() - WORDS
        for key in first & second:
            if key not in CONTAINERS and not self._is_equal(one[key], other[key]):
                return None
        for group in _TOGETHER:
            if first & group and second & group and first & group != second & group:
                return None
        return {**other, **one}

    def _is_equal(self, one: object, other: object) -> bool:
        self._work.read(one, other)
        return canonical(one) == canonical(other)

    def _are_apart(self, options: Sequence[Schema]) -> bool:
        """Whether no value can be taken by two of them, by their types."""
        self._work.read(*(option.get(key) for option in options for key in ("type", "enum", "const")))
        every = [types_of(option) for option in options]
        number = frozenset(("number", "integer"))
        wide = [types | number if types & number else types for types in every]
        return all(one.isdisjoint(other) for one, other in combinations(wide, 2))


def is_same(before: object, after: object) -> bool:
    """Whether two schemas say the same, apart from their words."""
    return canonical(_without_words(before)) == canonical(_without_words(after))


def has_same_parts(before: Schema, after: Schema) -> bool:
    """Whether what references lead to is the same, as far as both have it."""
    for key in CONTAINERS:
        old, new = before.get(key), after.get(key)
        if not isinstance(old, Mapping) or not isinstance(new, Mapping):
            continue
        if any(canonical(old[name]) != canonical(new[name]) for name in old.keys() & new.keys()):
            return False
    return True


def _without_words(value: object, *, are_names: bool = False) -> object:
    """A schema without what is for people; the keys below `properties` are names, not keywords."""
    if isinstance(value, Mapping):
        return {
            key: _without_words(item, are_names=not are_names and key in ("properties", *CONTAINERS))
            for key, item in value.items()
            if are_names or key not in WORDS
        }
    return [_without_words(item) for item in value] if isinstance(value, list) else value


def without(schema: Schema, *keys: str) -> dict[str, Any]:
    """A schema without some keywords."""
    return {key: value for key, value in schema.items() if key not in keys}


def reference(schema: object) -> str:
    """Where a schema leads that is nothing but a reference; "" for any other."""
    target = schema.get("$ref") if isinstance(schema, Mapping) and len(schema) == 1 else None
    return target if isinstance(target, str) else ""


def types_of(schema: Schema) -> frozenset[str]:
    """The types that a schema takes: as it says, or as its values are, or every one."""
    said, values = schema.get("type"), values_of(schema)
    types = {said} if isinstance(said, str) else set(names(said)) if isinstance(said, list) else set(TYPES)
    if values is not None:
        of_values = {type_of(value) for value in values.values()}
        types = {one for one in of_values if one in types or (one == "integer" and "number" in types)}
    return frozenset(types)


def type_of(value: object) -> str:
    """The type of a JSON value; a number that is whole is an integer."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
    return "array" if isinstance(value, list | tuple) else "object"


def values_of(schema: Schema) -> dict[str, Any] | None:
    """The only values that a schema takes, by their JSON; None if it names none."""
    named = [schema["const"]] if "const" in schema else schema.get("enum")
    return {canonical(value): value for value in named} if isinstance(named, list) else None


def names(value: object) -> list[str]:
    """The texts in a list; none in anything else."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def type_text(types: Iterable[str]) -> str:
    """Types in words."""
    known = sorted(types)
    return "any" if set(known) >= TYPES else " or ".join(known) or "nothing"


# Values of these keywords are schemas by name, a list of schemas, one schema.
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTED = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SINGLE = frozenset(
    {"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"}
)
_DEEPER = frozenset({"properties", "patternProperties", "additionalProperties", "items", "prefixItems"})


class Part(Struct, frozen=True):
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
