"""What agent frameworks make of an input schema: changes by name, as `schema_change` has those of agents."""

import re
from typing import Any

from inspector.clients.client import Kind
from inspector.clients.rule import SchemaChange
from inspector.clients.schema_step import (
    BRANCHES,
    DESCRIPTION,
    MORE,
    PROPERTIES,
    REQUIRED,
    Schema,
    SentSchema,
    changed_so,
    each_parameter,
    everywhere,
    referred,
)
from inspector.schema.json_value import as_object, as_objects
from inspector.schema.reading import DEEPEST, changed, names, without

# So many references are followed in one schema: each may hold more of them.
_MOST_REFERENCES = 1_000
_DEFINITIONS, _NULL = "$defs", {"type": "null"}
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _inline(schema: Schema, what: SchemaChange) -> SentSchema:
    """What refers to a definition of `keys` becomes it, one within itself `value`; the definitions go."""
    root, left, emptied = {key: schema[key] for key in what.keys if key in schema}, _MOST_REFERENCES, False

    def inlined(one: Schema, levels: int, within: frozenset[str] = frozenset()) -> Schema:
        nonlocal left, emptied
        target = referred(root, one)
        if not levels:
            return one
        if target is one or not left:
            return changed(one, lambda inner: inlined(dict(inner), levels - 1, within))
        left -= 1
        place = str(one["$ref"])
        if place in within:
            emptied = True
            return dict(what.value)
        return inlined(target, levels, within | {place}) | without(one, "$ref")

    after = inlined(without(schema, *root), DEEPEST)
    return changed_so(schema, after, "references inlined", Kind.SCHEMA if emptied else Kind.SPARE)


def _fill_objects(schema: Schema, what: SchemaChange) -> SentSchema:
    """What is of the type object gets what it lacks of `value`, and `keys` of that in any case."""

    def change(one: Schema) -> Schema:
        is_object = one.get("type") == "object"
        return {**what.value, **one, **{key: what.value[key] for key in what.keys}} if is_object else one

    return changed_so(schema, everywhere(schema, change), f"{', '.join(what.value)} added to objects")


def _fill_parameters(schema: Schema, what: SchemaChange) -> SentSchema:
    """Parameters get what they lack of `value`, `{name}` or `{Name}` in it; a union or a reference no type.

    Objects within get `keys` as empty lists, and have their parameters filled, too; without `keys` they stay.
    """

    def filled(name: str, one: Any, levels: int) -> Any:
        if not isinstance(one, dict) or "$ref" in one or not levels:
            return one
        told = {"{name}": name, "{Name}": name.replace("_", " ").title()}
        more = {key: told.get(text, text).replace("{name}", name) for key, text in what.value.items()}
        if what.keys and one.get("type") == "object" and PROPERTIES in one:
            found = {**{key: [] for key in what.keys}, **within(one, levels - 1)}
            return {**more, **found} if levels == DEEPEST else found
        has_type = any(key in one for key in ("type", "not", *BRANCHES))
        return {**(without(more, "type") if has_type else more), **one}

    def within(one: Schema, levels: int = DEEPEST) -> Schema:
        return each_parameter(one, lambda name, each: filled(name, each, levels))

    if PROPERTIES not in schema:
        return SentSchema(schema)
    after = within(schema)
    if "title" in what.value and isinstance(inside := schema.get(_DEFINITIONS), dict):
        after[_DEFINITIONS] = {
            name: {"title": name, **within(as_object(one))} for name, one in inside.items()
        }
    return changed_so(schema, after, f"{', '.join(what.value)} added to parameters")


def _retype(schema: Schema, what: SchemaChange) -> SentSchema:
    """Parameters are rebuilt from their types: beside these only `keys` stay, of what is within them none.

    `value` has what one becomes that is `untyped`, or an `object` without parameters, and whether those of
    objects within are kept (`inner`); the values of an enum stay if `keys` has it. Of several types the first
    stays, or with `single` none: one beside null is no several.
    """
    made = _Types(what)
    after = made.of_object(schema)
    if not made.inner and isinstance(inside := schema.get(_DEFINITIONS), dict):
        after[_DEFINITIONS] = {name: made.of_object(as_object(one)) for name, one in inside.items()}
    return changed_so(schema, after, "parameters rebuilt from their types", Kind.SCHEMA)


class _Types:
    """Makes schemas of types alone."""

    def __init__(self, what: SchemaChange) -> None:
        self.inner: bool = what.value.get("inner", False)
        self._single: bool = what.value.get("single", False)
        self._untyped, self._free, self._keys = what.value["untyped"], what.value["object"], what.keys

    def of_object(self, one: Schema, levels: int = DEEPEST) -> Schema:
        """An object's parameters, and which it needs."""
        properties = as_object(one.get(PROPERTIES))
        needed = [name for name in names(one.get(REQUIRED)) if name in properties]
        found = {
            name: self._typed(each, levels) | {key: each[key] for key in self._keys if key in each}
            for name, each in properties.items()
            if isinstance(each, dict)
        }
        return {"type": "object", PROPERTIES: found} | ({REQUIRED: needed} if needed else {})

    def _typed(self, one: Schema, levels: int) -> Schema:
        return self._rebuilt(one, levels - 1) if levels else one

    def _rebuilt(self, one: Schema, levels: int) -> Schema:
        values, types = one.get("enum"), one.get("type")
        first = self._first(names(types)) if isinstance(types, list) else types
        if "$ref" in one:
            return {"$ref": one["$ref"]}
        if "enum" in self._keys and isinstance(values, list):
            known = {_TYPES.get(type(each)) for each in values}
            return {"enum": values} | ({"type": known.pop()} if len(known) == 1 and None not in known else {})
        if objects := as_objects(one.get("anyOf")):
            found = [self._typed(each, levels) for each in objects]
            return {"anyOf": [each for at, each in enumerate(found) if each not in found[:at]]}
        if first == "array":
            items = one.get("items")
            return {"type": first, "items": self._typed(items, levels) if isinstance(items, dict) else {}}
        if first == "object":
            return self._object(one, levels)
        first = first or ("string" if isinstance(values, list) else "")
        return {"type": first} if first else dict(self._untyped)

    def _first(self, types: list[str]) -> str:
        left = [name for name in types if name != "null" or not self._single]
        return "" if self._single and len(left) > 1 else next(iter(left), "")

    def _object(self, one: Schema, levels: int) -> Schema:
        more = one.get(MORE)
        if self.inner and PROPERTIES in one:
            return self.of_object(one, levels)
        is_map = isinstance(more, dict) and not self.inner
        return {"type": "object", MORE: self._typed(as_object(more), levels)} if is_map else dict(self._free)


def _describe(schema: Schema, what: SchemaChange) -> SentSchema:
    """Descriptions become `value`, with theirs for `{text}`."""

    def change(one: Schema) -> Schema:
        text = one.get(DESCRIPTION)
        return (
            one | {DESCRIPTION: what.value.replace("{text}", text)} if isinstance(text, str) and text else one
        )

    return changed_so(schema, everywhere(schema, change), "descriptions wrapped")


def _require_all(schema: Schema, what: SchemaChange) -> SentSchema:
    """All parameters are required but those with one of `keys`; with a `value` those of objects within, too.

    A text in `value` is the keyword that then lists those that were not.
    """

    def change(one: Schema) -> Schema:
        properties, needed = one.get(PROPERTIES), names(one.get(REQUIRED))
        if not isinstance(properties, dict):
            return one
        free = {name for name, each in properties.items() if set(what.keys) & as_object(each).keys()}
        found = [name for name in properties if name not in free]
        if not isinstance(what.value, str):
            return one | {REQUIRED: found}
        more = [name for name in found if name not in needed]
        return one | {REQUIRED: [*needed, *more]} | ({what.value: more} if more else {})

    after = everywhere(schema, change) if what.value else change(schema)
    other = set(names(schema.get(REQUIRED))) != set(names(after.get(REQUIRED)))
    kind = Kind.SCHEMA if other else Kind.SPARE
    return changed_so(schema, after, "parameters that may be left out are required", kind)


def _optional(schema: Schema, what: SchemaChange) -> SentSchema:
    """A parameter that may be left out takes null as well, and has null for `keys`.

    Of its keywords those in `value` stay `outside` the union, or are `copied` there; one with the keyword
    `unless` is left as it is.
    """
    outside, copied, unless = (what.value.get(key, ()) for key in ("outside", "copied", "unless"))

    def optional(one: Schema) -> Schema:
        if unless and one.get(unless) is not None:
            return one
        union, stays = one.get("anyOf"), {key: one[key] for key in (*outside, *copied) if key in one}
        if isinstance(union, list):
            stays, inner = without(one, "anyOf"), union
        else:
            inner = [without(one, *outside)]
        has_null = any(as_object(each).get("type") == "null" for each in inner)
        return {**dict.fromkeys(what.keys), **stays, "anyOf": inner if has_null else [*inner, _NULL]}

    def change(one: Schema) -> Schema:
        needed = names(one.get(REQUIRED))
        return each_parameter(
            one, lambda name, each: optional(each) if isinstance(each, dict) and name not in needed else each
        )

    return changed_so(schema, everywhere(schema, change), "optional parameters take null, too")


def _lose_parameters(schema: Schema, what: SchemaChange) -> SentSchema:
    """Parameters are lost whose name is not as the pattern `value` wants it."""
    properties = as_object(schema.get(PROPERTIES))
    lost = [name for name in properties if not re.fullmatch(what.value, name)]
    left = [name for name in names(schema.get(REQUIRED)) if name not in lost]
    kept = schema | {PROPERTIES: without(properties, *lost)} | ({REQUIRED: left} if left else {})
    after = kept if lost else schema
    return changed_so(schema, after, f"parameters {', '.join(lost)} lost", Kind.SCHEMA)


def _word(schema: Schema, what: SchemaChange) -> SentSchema:
    """Keywords become words at the end of a description, in the order of `value`, which has those words.

    The first of `keys` comes before them, the others are lost if any is told.
    """
    lead, lost = "".join(what.keys[:1]), what.keys[1:]

    def change(one: Schema) -> Schema:
        told = [text.replace("{}", str(one[key])) for key, text in what.value.items() if key in one]
        if not told or "type" not in one:
            return one
        text = f"{lead}{', '.join(told)}"
        before = one.get(DESCRIPTION)
        return without(one, *what.value, *lost) | {DESCRIPTION: f"{before}\n{text}" if before else text}

    return changed_so(schema, everywhere(schema, change), "constraints become words")


_CONDITIONS = ("if", "then", "else", "not")


def _flatten(schema: Schema, _: SchemaChange) -> SentSchema:
    """Combinations and conditions go; what their branches say of parameters stays, if they are objects."""

    def change(one: Schema) -> Schema:
        found = without(one, *BRANCHES, *_CONDITIONS)
        parts = [as_object(one.get("then")), as_object(one.get("else")), *as_objects(one.get("allOf"))]
        union = [
            each
            for each in as_objects(one.get("anyOf") or one.get("oneOf"))
            if PROPERTIES in each or each.get("type") == "object"
        ]
        needed = [name for part in parts for name in names(part.get(REQUIRED))]
        asked = [names(each[REQUIRED]) for each in union if REQUIRED in each]
        common = [name for name in asked[0] if all(name in each for each in asked)] if asked else []
        for part in (*parts, *union):
            if PROPERTIES in part:
                found[PROPERTIES] = {**as_object(found.get(PROPERTIES)), **as_object(part[PROPERTIES])}
        if needed or common:
            found[REQUIRED] = list(dict.fromkeys([*names(found.get(REQUIRED)), *needed, *common]))
        return {"type": "object"} | found if PROPERTIES in found or union else found

    return changed_so(
        schema, everywhere(schema, change), "combinations merged into their objects", Kind.SCHEMA
    )


FRAMEWORK_CHANGES = (
    *(_inline, _fill_objects, _fill_parameters, _describe, _require_all, _retype, _optional),
    *(_lose_parameters, _word, _flatten),
)
