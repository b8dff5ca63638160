"""Where one JSON Schema takes less than another, told by path; and arguments of one tool for another's.

What is found is complete for the values that a caller writes by a schema, with the names that it declares: if
nothing is found, each of them is still taken. What cannot be compared counts as found. Schemas are untrusted
input: they may be deep, circular or of any shape, so the work is bounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from inspector.schema.json_value import JsonObject, as_object, canonical, compact, step
from inspector.schema.reading import (
    COMBINED,
    CONTAINERS,
    DEEPEST,
    WORDS,
    Reading,
    Schema,
    TooLarge,
    Work,
    has_same_parts,
    is_same,
    names,
    reference,
    size,
    type_text,
    types_of,
    values_of,
    without,
)
from inspector.schema.schema import SchemaField, fields


def argument_mapping(
    arguments: JsonObject, source: JsonObject, target: JsonObject
) -> Mapping[str, str] | None:
    """The parameter of the schema `target` for each argument, or None if they do not fit.

    A name fits itself, then the one that differs only in case and separators; of a target with a single
    required parameter, that one takes the single argument that is left, if both are of one type. Every
    argument has to have a place, and every required parameter an argument: nothing is left out or made up.
    """
    wanted = fields(target)
    mapping = {name: name for name in arguments if any(name == one.name for one in wanted)}
    for name in (name for name in arguments if name not in mapping):
        alike = [one.name for one in wanted if _plain(one.name) == _plain(name)]
        if len(alike) == 1 and alike[0] not in mapping.values():
            mapping[name] = alike[0]
    left = [name for name in arguments if name not in mapping]
    if len(left) == 1 and (only := _only_required(wanted)) is not None and only.name not in mapping.values():
        types = {one.name: one.type for one in fields(source)}
        if types.get(left[0]) == only.type:
            mapping[left[0]] = only.name
    is_whole = mapping.keys() == arguments.keys()
    is_enough = all(one.name in mapping.values() for one in wanted if one.required)
    return mapping if is_whole and is_enough else None


def mapped(arguments: JsonObject, mapping: Mapping[str, str]) -> JsonObject:
    """The arguments under their names in the other tool."""
    return {mapping[name]: value for name, value in arguments.items()}


def _only_required(wanted: Sequence[SchemaField]) -> SchemaField | None:
    required = [one for one in wanted if one.required]
    return required[0] if len(required) == 1 else None


def _plain(name: str) -> str:
    """A name without case and separators."""
    return "".join(sign for sign in name if sign.isalnum()).casefold()


Kind = Literal["removed", "required", "type", "values", "limit", "form", "closed", "unknown"]
_SHOWN, _MOST_SHOWN, _MOST_COUNTED = 60, 10, 50
# What it takes to compare two alternatives with nothing in them, or to tell what is found.
_PAIR = 12
_LOW = {"minimum": "number", "exclusiveMinimum": "number", "minLength": "string", "minItems": "array"}
_HIGH = {"maximum": "number", "exclusiveMaximum": "number", "maxLength": "string", "maxItems": "array"}
_TIGHTER = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_LOW["minProperties"] = _HIGH["maxProperties"] = "object"
_FORMS = {"pattern": "string", "format": "string", "multipleOf": "number", "uniqueItems": "array"}
_PLAINLY = ("type", "enum", "const", "properties", "required", "additionalProperties", "items")
# Without these, a schema takes what it took, and more.
_KEEPS_OUT = frozenset(("propertyNames", "dependentRequired", "contains", "not"))
_COMPARED = frozenset((*_PLAINLY, *COMBINED, *_LOW, *_HIGH, *_FORMS))
_TOO_LARGE = "it is too large to be compared"


class Narrowing(Struct, frozen=True):
    """Something that was taken and is not any more: where, what kind, and the detail in words."""

    path: str
    kind: Kind
    detail: str = ""


def narrowings(before: JsonObject, after: JsonObject, *, of_result: bool = False) -> tuple[Narrowing, ...]:
    """What `after` does not take of what `before` took; () if that is nothing.

    With `of_result` it is what a reader by `after` cannot read of what is written by `before`: further fields
    do no harm to a reader, missing ones do.
    """
    return () if before == after else tuple(dict.fromkeys(_found(before, after, of_result)))


def _found(before: JsonObject, after: JsonObject, of_result: bool) -> Iterator[Narrowing]:
    work = Work()
    try:
        for one in _Comparison(before, after, of_result, work).found("", before, after, 0):
            work.spend(_PAIR)
            yield one
    except TooLarge:
        yield Narrowing("", "unknown", _TOO_LARGE)


class _Alternative(Struct, frozen=True):
    """A simple schema, the types that it takes, those that it says, and its values; each is read once.

    Few whole numbers between limits are values, too: it `counts` them.
    """

    schema: Schema
    types: frozenset[str]
    said: frozenset[str]
    values: Mapping[str, Any] | None
    counts: bool = False

    @classmethod
    def of(cls, schema: Schema, work: Work) -> "_Alternative":
        work.read(*(schema.get(key) for key in ("type", "enum", "const")))
        types = types_of(schema)
        said = types_of(without(schema, "enum", "const")) if "type" in schema else types
        values, bounds = values_of(schema), _inclusive(schema)
        low, high = bounds.get("minimum"), bounds.get("maximum")
        if isinstance(low, int) and isinstance(high, int) and values is None and types == {"integer"}:
            counted = {canonical(one): one for one in range(low, min(high, low + _MOST_COUNTED) + 1)}
            if len(counted) <= _MOST_COUNTED:
                return cls(schema, types, said, counted, counts=True)
        return cls(schema, types, said, values)


class _Comparison:
    def __init__(self, before: JsonObject, after: JsonObject, of_result: bool, work: Work) -> None:
        self._of_result = of_result
        self._work = work
        self._old, self._new = Reading(before, self._work), Reading(after, self._work)
        self._open: set[tuple[str, str]] = set()
        self._work.read(*(schema.get(key) for schema in (before, after) for key in CONTAINERS))
        self._has_same_parts = has_same_parts(before, after)

    def found(self, path: str, before: object, after: object, depth: int) -> Iterator[Narrowing]:
        """What `after` does not take of `before`; both may be any value at all. Raises TooLarge."""
        self._work.spend(1)
        if depth > DEEPEST:
            yield Narrowing(path, "unknown", _TOO_LARGE)
            return
        if self._has_same_parts and self._is_as_before(before, after):
            return
        pair = reference(before), reference(after)
        if pair in self._open:
            # A circle: nothing differs in it that is not found on the way round.
            return
        if all(pair):
            self._open.add(pair)
        try:
            yield from self._compared(path, before, after, depth)
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
        new_ones = [_Alternative.of(taker, self._work) for taker in takers]
        for option in self._old.alternatives(old):
            one = _Alternative.of(option, self._work)
            if len(new_ones) == 1:
                yield from self._simple(path, one, new_ones[0], depth)
                continue
            tries = [tuple(self._simple(path, one, taker, depth)) for taker in new_ones]
            if all(tries):
                near = [found for found in tries if all(each.path != path for each in found)]
                yield from near[0] if near else (Narrowing(path, "type", type_text(one.types)),)

    def _is_equal(self, old: object, new: object) -> bool:
        """Whether two parts say the same, and what they refer to does."""
        self._work.read(old, new)
        return is_same(old, new) and (self._has_same_parts or '"$ref"' not in compact(new))

    def _is_as_before(self, old: object, new: object) -> bool:
        self._work.read(new)
        return type(old) is type(new) and old == new

    def _simple(
        self, path: str, before: _Alternative, after: _Alternative, depth: int
    ) -> Iterator[Narrowing]:
        old, new, types = before.schema, after.schema, before.types
        self._work.spend(_PAIR + len(old) + len(new))
        if not types:
            return
        yield from self._value_narrowings(path, before, after)
        for key in sorted((old.keys() | new.keys()) - _COMPARED - WORDS - CONTAINERS):
            is_dropped = key in _KEEPS_OUT and key not in new
            if not is_dropped and not self._is_equal(old.get(key), new.get(key)):
                yield Narrowing(path, "unknown", f"`{key}` changed")
        if "array" in types and "items" in new:
            yield from self.found(f"{path}[]", old.get("items", True), new["items"], depth + 1)
        if "object" in types:
            yield from self._object(path, old, new, depth)

    def _object(self, path: str, old: Schema, new: Schema, depth: int) -> Iterator[Narrowing]:
        before, after = as_object(old.get("properties")), as_object(new.get("properties"))
        self._work.spend(len(before) + len(after))
        self._work.read(old.get("required"), new.get("required"))
        gone = after.keys() - before.keys() if self._of_result else before.keys() - after.keys()
        yield from (Narrowing(step(path, name), "removed") for name in (*before, *after) if name in gone)
        others = old.get("additionalProperties")
        for name, schema in after.items():
            if name in before:
                yield from self.found(step(path, name), before[name], schema, depth + 1)
            elif isinstance(others, Mapping) and not self._of_result:
                yield from self.found(step(path, name), others, schema, depth + 1)
        always = set(names(old.get("required")))
        for name in names(new.get("required")):
            if name not in always and not (self._of_result and name in gone):
                yield Narrowing(step(path, name), "required")
        yield from self._others(path, old, new, depth)

    def _others(self, path: str, old: Schema, new: Schema, depth: int) -> Iterator[Narrowing]:
        """What may be beside the properties that are declared; a reader does without."""
        before, after = (schema.get("additionalProperties", True) for schema in (old, new))
        if after is False and before is not False and not self._of_result:
            yield Narrowing(path, "closed")
        elif isinstance(after, Mapping) and (isinstance(before, Mapping) or not self._of_result):
            yield from self.found(step(path, "*"), before, after, depth + 1)

    def _value_narrowings(self, path: str, before: _Alternative, after: _Alternative) -> Iterator[Narrowing]:
        """What type and values keep out, and if nothing, limits and form."""
        taken = after.said | {"integer"} if "number" in after.said else after.said
        if lost := before.types - taken:
            yield Narrowing(path, "type", f"{type_text(lost)} → {type_text(taken)}")
            return
        if after.values is not None:
            known = before.values or {}
            self._work.spend(len(known) + len(after.values))
            lost_values = [known[key] for key in known if key not in after.values]
            if before.values is None or lost_values:
                yield Narrowing(path, "values", _listed(lost_values))
        kinds = before.types | {"number"} if "integer" in before.types else before.types
        kinds -= {"number", "integer"} if after.counts else set()
        yield from self._limits(path, before.schema, after.schema, kinds)

    def _limits(self, path: str, old: Schema, new: Schema, kinds: frozenset[str]) -> Iterator[Narrowing]:
        if not kinds - {"integer", "number"} and "integer" in kinds:
            old, new = _inclusive(old), _inclusive(new)
        for limits, is_low in ((_LOW, True), (_HIGH, False)):
            for key, kind in limits.items():
                if key not in new or kind not in kinds:
                    continue
                was, asked = old.get(key, old.get(_TIGHTER.get(key, ""))), new[key]
                if not (_is_within(was, asked, is_low=is_low) or self._is_as_before(was, asked)):
                    yield Narrowing(path, "limit", f"{key} {_short(was)} → {_short(asked)}")
        for key, kind in _FORMS.items():
            asked = new.get(key)
            if kind in kinds and asked not in (None, False) and not self._is_as_before(old.get(key), asked):
                yield Narrowing(path, "form", f"{key} {_short(old.get(key))} → {_short(asked)}")


def _inclusive(schema: Schema) -> Schema:
    """A schema of whole numbers whose limits are values that it takes."""
    found = dict(schema)
    for key, bound, is_low in (("exclusiveMinimum", "minimum", True), ("exclusiveMaximum", "maximum", False)):
        limit, other = found.get(key), found.get(bound)
        if isinstance(limit, int) and not isinstance(limit, bool) and other is None:
            found[bound] = found.pop(key) + (1 if is_low else -1)
    return found


def _is_within(old: object, new: object, *, is_low: bool) -> bool:
    """Whether a limit lets everything through that the old one did; None is no limit."""
    if new is None:
        return True
    if isinstance(old, bool) or isinstance(new, bool):
        return False
    if not isinstance(old, int | float) or not isinstance(new, int | float):
        return False
    return new <= old if is_low else new >= old


def _listed(values: Sequence[object]) -> str:
    more = len(values) - _MOST_SHOWN
    return ", ".join(map(_short, values[:_MOST_SHOWN])) + (f" and {more:,} more" if more > 0 else "")


def _short(value: object) -> str:
    value = value[: _SHOWN + 1] if isinstance(value, str) else value
    if size(value, _SHOWN) > _SHOWN:
        return "…"
    text = "none" if value is None else compact(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
