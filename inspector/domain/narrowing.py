"""Where one JSON Schema no longer takes what another one took, told by the path of each difference.

What is found is complete for the values that a caller writes by a schema, with the names that it declares: if
nothing is found, each of them is still taken. What cannot be compared counts as found. Schemas are untrusted
input: they may be deep, circular or of any shape, so the work is bounded.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from inspector.domain.jsonvalue import JsonObject, compact
from inspector.domain.schema_reading import (
    COMBINED,
    CONTAINERS,
    DEEPEST,
    WORDS,
    Reading,
    Schema,
    has_same_parts,
    is_same,
    names,
    reference,
    type_text,
    types_of,
    values_of,
    without,
)

Kind = Literal["removed", "required", "type", "values", "limit", "form", "closed", "unknown"]
_MOST_STEPS, _SHOWN = 5_000, 60
_LOW = {"minimum": "number", "exclusiveMinimum": "number", "minLength": "string", "minItems": "array"}
_HIGH = {"maximum": "number", "exclusiveMaximum": "number", "maxLength": "string", "maxItems": "array"}
_LOW["minProperties"] = _HIGH["maxProperties"] = "object"
_FORMS = {"pattern": "string", "format": "string", "multipleOf": "number", "uniqueItems": "array"}
_PLAINLY = ("type", "enum", "const", "properties", "required", "additionalProperties", "items")
_COMPARED = frozenset((*_PLAINLY, *COMBINED, *_LOW, *_HIGH, *_FORMS))
_PLAIN = re.compile(r"[\w$-]+")


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Something that was taken and is not any more: where, what kind, and the detail in words."""

    path: str
    kind: Kind
    detail: str = ""


def narrowings(before: JsonObject, after: JsonObject, *, of_result: bool = False) -> tuple[Narrowing, ...]:
    """What `after` does not take of what `before` took; () if that is nothing.

    With `of_result` it is what a reader by `after` cannot read of what is written by `before`: further fields
    do no harm to a reader, missing ones do.
    """
    return tuple(dict.fromkeys(_Comparison(before, after, of_result).found("", before, after, 0)))


class _Comparison:
    def __init__(self, before: JsonObject, after: JsonObject, of_result: bool) -> None:
        self._of_result = of_result
        self._old, self._new = Reading(before), Reading(after)
        self._open: set[tuple[str, str]] = set()
        self._steps = 0
        self._has_same_parts = has_same_parts(before, after)

    def found(self, path: str, before: object, after: object, depth: int) -> tuple[Narrowing, ...]:
        """What `after` does not take of `before`; both may be any value at all."""
        self._steps += 1
        if depth > DEEPEST or self._steps > _MOST_STEPS:
            return (Narrowing(path, "unknown", "it is too large to be compared"),)
        if self._has_same_parts and before == after:
            return ()
        pair = reference(before), reference(after)
        if not all(pair):
            return tuple(self._compared(path, before, after, depth))
        if pair in self._open:
            # A circle: nothing differs in it that is not found on the way round.
            return ()
        self._open.add(pair)
        try:
            return tuple(self._compared(path, before, after, depth))
        finally:
            self._open.discard(pair)

    def _compared(self, path: str, before: object, after: object, depth: int) -> Iterator[Narrowing]:
        """Each alternative of the old schema has to be taken by one of the new ones."""
        old, new = self._old.opened(before), self._new.opened(after)
        for key in COMBINED:
            if key in old and key in new and self._is_equal(old[key], new[key]):
                old, new = without(old, key), without(new, key)
        takers = self._new.exact_alternatives(new)
        if takers is None:
            yield Narrowing(path, "unknown", "it is put together in a way that cannot be compared")
            return
        for option in self._old.alternatives(old):
            if len(takers) == 1:
                yield from self._simple(path, option, takers[0], depth)
                continue
            tries = [tuple(self._simple(path, option, taker, depth)) for taker in takers]
            if all(tries):
                near = [one for one in tries if all(each.path != path for each in one)]
                yield from near[0] if near else (Narrowing(path, "type", type_text(types_of(option))),)

    def _is_equal(self, old: object, new: object) -> bool:
        """Whether two parts say the same, and what they refer to does."""
        return is_same(old, new) and (self._has_same_parts or '"$ref"' not in compact(new))

    def _simple(self, path: str, old: Schema, new: Schema, depth: int) -> Iterator[Narrowing]:
        types = types_of(old)
        if not types:
            return
        yield from _value_narrowings(path, old, new, types)
        for key in sorted((old.keys() | new.keys()) - _COMPARED - WORDS - CONTAINERS):
            if not self._is_equal(old.get(key), new.get(key)):
                yield Narrowing(path, "unknown", f"`{key}` changed")
        if "array" in types and "items" in new:
            yield from self.found(f"{path}[]", old.get("items", True), new["items"], depth + 1)
        if "object" in types:
            yield from self._object(path, old, new, depth)

    def _object(self, path: str, old: Schema, new: Schema, depth: int) -> Iterator[Narrowing]:
        before, after = _mapping(old.get("properties")), _mapping(new.get("properties"))
        gone = after.keys() - before.keys() if self._of_result else before.keys() - after.keys()
        yield from (Narrowing(_step(path, name), "removed") for name in (*before, *after) if name in gone)
        others = old.get("additionalProperties")
        for name, schema in after.items():
            if name in before:
                yield from self.found(_step(path, name), before[name], schema, depth + 1)
            elif isinstance(others, Mapping) and not self._of_result:
                yield from self.found(_step(path, name), others, schema, depth + 1)
        always = set(names(old.get("required")))
        for name in names(new.get("required")):
            if name not in always and not (self._of_result and name in gone):
                yield Narrowing(_step(path, name), "required")
        yield from self._others(path, old, new, depth)

    def _others(self, path: str, old: Schema, new: Schema, depth: int) -> Iterator[Narrowing]:
        """What may be beside the properties that are declared; a reader does without."""
        before, after = (schema.get("additionalProperties", True) for schema in (old, new))
        if after is False and before is not False and not self._of_result:
            yield Narrowing(path, "closed")
        elif isinstance(after, Mapping) and (isinstance(before, Mapping) or not self._of_result):
            yield from self.found(_step(path, "*"), before, after, depth + 1)


def _value_narrowings(path: str, old: Schema, new: Schema, types: frozenset[str]) -> Iterator[Narrowing]:
    """What type, values, limits and form keep out."""
    taken = types_of(without(new, "enum", "const") if "type" in new else new)
    taken = taken | {"integer"} if "number" in taken else taken
    if lost := types - taken:
        yield Narrowing(path, "type", f"{type_text(lost)} → {type_text(taken)}")
        return
    before, after = values_of(old), values_of(new)
    if after is not None and (before is None or before.keys() - after.keys()):
        lost_values = [before[key] for key in before if key not in after] if before is not None else []
        yield Narrowing(path, "values", ", ".join(map(_short, lost_values)))
    kinds = types | {"number"} if "integer" in types else types
    for limits, is_low in ((_LOW, True), (_HIGH, False)):
        for key, kind in limits.items():
            if kind in kinds and not _is_within(old.get(key), new.get(key), is_low=is_low):
                yield Narrowing(path, "limit", f"{key} {_short(old.get(key))} → {_short(new.get(key))}")
    for key, kind in _FORMS.items():
        asked = new.get(key)
        if kind in kinds and asked not in (None, False) and not _is_as_before(old.get(key), asked):
            yield Narrowing(path, "form", f"{key} {_short(old.get(key))} → {_short(asked)}")


def _is_as_before(old: object, new: object) -> bool:
    return type(old) is type(new) and old == new


def _is_within(old: object, new: object, *, is_low: bool) -> bool:
    """Whether a limit lets everything through that the old one did; None is no limit."""
    if new is None or _is_as_before(old, new):
        return True
    if not _is_number(old) or not _is_number(new):
        return False
    assert isinstance(old, int | float)
    assert isinstance(new, int | float)
    return new <= old if is_low else new >= old


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _step(path: str, name: str) -> str:
    name = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
    return f"{path}{'.' if path else ''}{name if _PLAIN.fullmatch(name) else compact(name)}"


def _short(value: object) -> str:
    text = "none" if value is None else compact(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
