"""What clients make of an input schema: small changes by name, which a client's file lists in their order.

Each takes a schema and its `SchemaChange`, changes neither, and gives the schema as it is then. What a server
declares may have any shape: what is not as JSON Schema wants it stays as it is.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspector.clients.client import Change, Kind
from inspector.clients.framework_change import FRAMEWORK_CHANGES
from inspector.clients.refusal import refusals
from inspector.clients.rule import SchemaChange, SchemaRule
from inspector.clients.schema_step import (
    BRANCHES,
    DESCRIPTION,
    MORE,
    PROPERTIES,
    REQUIRED,
    SPARE,
    Schema,
    SentSchema,
    branch_properties,
    branches,
    changed_so,
    each_parameter,
    everywhere,
    removed,
    without_descriptions,
)
from inspector.schema.json_value import JsonObject, as_object, compact
from inspector.schema.reading import names, without


def sent_schema(rule: SchemaRule, schema: JsonObject) -> SentSchema:
    """What becomes of a schema by a client's rule, and why it is refused if it is."""
    now, changes, lead = dict(schema), list[Change](), ""
    for one in rule.changes:
        step = SCHEMA_CHANGES[one.does](now, one)
        now, lead = step.schema, lead + step.lead
        changes += step.changes
    refused = next((one for one in refusals(rule.conditions, now) if one.effect == "refused"), None)
    if refused is None:
        return SentSchema(now, tuple(changes), None, lead)
    place, by = f"inputSchema.{refused.place}".rstrip("."), refused.condition
    change = Change(Kind.SCHEMA_REFUSED, refused.says, place, by.source, by.date, by.costs == "server")
    return SentSchema(dict(schema), (), change)


# The changes.


def _lose(schema: Schema, what: SchemaChange) -> SentSchema:
    """Keywords are lost everywhere; with the value `unions` they stay within branches."""
    return _lost(schema, lambda key: key in what.keys, BRANCHES if what.value == "unions" else ())


def _keep(schema: Schema, what: SchemaChange) -> SentSchema:
    """All keywords but these are lost everywhere."""
    return _lost(schema, lambda key: key not in what.keys)


def _lost(schema: Schema, is_lost: Callable[[str], bool], but: Sequence[str] = ()) -> SentSchema:
    lost: dict[str, None] = {}

    def change(one: Schema) -> Schema:
        lost.update(dict.fromkeys(filter(is_lost, one)))
        return {key: value for key, value in one.items() if not is_lost(key)}

    return removed(everywhere(schema, change, but=but), lost)


def _lose_top(schema: Schema, what: SchemaChange) -> SentSchema:
    """Keywords at the top are lost."""
    top = [key for key in what.keys if key in schema]
    return removed(without(schema, *top), top, " from the top level", f"inputSchema.{top[0]}" if top else "")


def _keep_top(schema: Schema, what: SchemaChange) -> SentSchema:
    """All keywords at the top but these are lost, definitions with them: references to them point nowhere."""
    return _lose_top(schema, SchemaChange("lose_top", tuple(key for key in schema if key not in what.keys)))


def _set_top(schema: Schema, what: SchemaChange) -> SentSchema:
    """Keywords at the top have this value, whatever the server says."""
    told = f"{', '.join(what.keys)} set to {compact(what.value)}"
    other = any(schema.get(key, what.value) != what.value for key in what.keys)
    after = schema | dict.fromkeys(what.keys, what.value)
    return changed_so(schema, after, told, Kind.SCHEMA if other else Kind.SPARE)


def _fill_top(schema: Schema, what: SchemaChange) -> SentSchema:
    """Keywords that are not at the top get this value."""
    return SentSchema(schema | {key: what.value for key in what.keys if key not in schema})


def _add_parameter(schema: Schema, what: SchemaChange) -> SentSchema:
    """An object gets parameters of the client's own."""
    properties = schema.get(PROPERTIES, {})
    if schema.get("type") != "object" or not isinstance(properties, dict):
        return SentSchema(schema)
    more = properties | dict.fromkeys(what.keys, what.value)
    return changed_so(schema, schema | {PROPERTIES: more}, f"parameter {', '.join(what.keys)} added")


def _undescribe(schema: Schema, what: SchemaChange) -> SentSchema:
    """From `value` bytes on the descriptions of all parameters are lost."""
    if len(compact(schema).encode("utf-8", "surrogatepass")) < int(what.value):
        return SentSchema(schema)
    told = "too large, so all parameter descriptions were removed"
    return changed_so(schema, without_descriptions(schema), told, Kind.SCHEMA)


def _nullable(schema: Schema, what: SchemaChange) -> SentSchema:
    """A type, or null, becomes the type with `nullable`; of several types nothing changes.

    With the key `anyOf` a parameter that is a union with null becomes the other's type and enum, `nullable`.
    """

    def of_union(one: Schema) -> Schema:
        union = [each for each in one.get("anyOf") or () if isinstance(each, dict)]
        left = [each for each in union if each.get("type") not in ("null", None)]
        if len(union) != 2 or len(left) != 1:
            return one
        kept = {key: left[0][key] for key in ("type", "enum") if key in left[0]}
        return without(one, "anyOf") | kept | {"nullable": True}

    def change(one: Schema) -> Schema:
        types = one.get("type")
        other = [name for name in types if name != "null"] if isinstance(types, list) else []
        is_one = isinstance(types, list) and len(types) == 2 and len(other) == 1
        return one | {"type": other[0], "nullable": True} if is_one else one

    if "anyOf" not in what.keys:
        return SentSchema(everywhere(schema, change))
    after = each_parameter(
        schema, lambda _, one: of_union(one) if isinstance(as_object(one).get("anyOf"), list) else one
    )
    return SentSchema(after)


def _empty_references(schema: Schema, _: SchemaChange) -> SentSchema:
    """What refers to another schema becomes empty."""
    after = everywhere(schema, lambda one: {} if "$ref" in one else one)
    return changed_so(schema, after, "$ref emptied", Kind.SCHEMA)


def _fill_items(schema: Schema, what: SchemaChange) -> SentSchema:
    """An array that does not say of what gets `value` as its items."""
    return SentSchema(
        everywhere(
            schema,
            lambda one: (
                one | {"items": what.value} if one.get("type") == "array" and "items" not in one else one
            ),
        )
    )


def _sort(schema: Schema, what: SchemaChange) -> SentSchema:
    """Parameters are sorted by name, or with the key `*` all keys everywhere."""

    def change(one: Schema) -> Schema:
        keys = sorted(one) if "*" in what.keys else list(one)
        sorted_ = {key: one[key] for key in keys}
        if isinstance(properties := one.get(PROPERTIES), dict):
            sorted_[PROPERTIES] = {name: properties[name] for name in sorted(properties)}
        return sorted_

    return SentSchema(everywhere(schema, change))


def _tell(schema: Schema, what: SchemaChange) -> SentSchema:
    """Keywords move into the description, in this order, as text in braces; those in `value` at the top.

    What properties the branches there name stays, with nothing said of it.
    """
    top = names(what.value)
    named = [name for key in top for name in branch_properties(schema, key)]
    after = _told(schema, top)
    if named:
        after |= {PROPERTIES: {name: {} for name in named} | as_object(schema.get(PROPERTIES))}
    after = everywhere(after, lambda one: _told(one, what.keys))
    return changed_so(schema, after, "constraints moved into descriptions")


def _told(one: Schema, keys: Sequence[str]) -> Schema:
    found = [key for key in keys if key in one]
    if not found:
        return one
    left = without(one, *found)
    text = f"{{{', '.join(f'{key}: {compact(one[key])}' for key in found)}}}"
    before = left.get(DESCRIPTION)
    return left | {DESCRIPTION: f"{before}\n\n{text}" if before else text}


def _merge_all_of(schema: Schema, _: SchemaChange) -> SentSchema:
    """The properties and required names of all branches of allOf at the top move there."""
    if "allOf" not in schema:
        return SentSchema(schema)
    left = without(schema, "allOf")
    required = dict.fromkeys(names(schema.get(REQUIRED)))
    for one in branches(schema, "allOf"):
        required |= dict.fromkeys(names(one.get(REQUIRED)))
    properties = {**branch_properties(schema, "allOf"), **as_object(schema.get(PROPERTIES))}
    more = {REQUIRED: list(required)} if required else {}
    return changed_so(schema, left | {PROPERTIES: properties} | more, "allOf merged into the top level")


def _merge_branches(schema: Schema, what: SchemaChange) -> SentSchema:
    """Combinations at the top go, the properties of their branches stay, and a text says what was asked for.

    `keys` are kept of the top; `value` has the beginnings of the text, by combination.
    """
    found = [key for key in BRANCHES if key in schema]
    if not found:
        return SentSchema(schema)
    properties = as_object(schema.get(PROPERTIES))
    for key in found:
        properties = {**branch_properties(schema, key), **properties}
    needed = [
        *names(schema.get(REQUIRED)),
        *(n for one in branches(schema, "allOf") for n in names(one.get(REQUIRED))),
    ]
    after = {
        "type": "object",
        PROPERTIES: {name: one for name, one in properties.items() if isinstance(one, dict)},
        REQUIRED: [name for name in dict.fromkeys(needed) if name in properties],
        MORE: True,
    } | {key: schema[key] for key in what.keys if key in schema}
    told = f"{', '.join(found)} merged into the top level"
    step = changed_so(schema, after, told, Kind.SCHEMA)
    return SentSchema(step.schema, step.changes, lead=_constraint(schema, found, as_object(what.value)))


def _constraint(schema: Schema, found: Sequence[str], texts: Mapping[str, Any]) -> str:
    """What the branches asked for, as the client tells it in front of a description."""
    key = next((one for one in ("oneOf", "anyOf") if one in found), "")
    if not key:
        return str(texts.get("allOf", ""))
    asked = (
        names(one.get(REQUIRED)) or list(as_object(one.get(PROPERTIES))) for one in branches(schema, key)
    )
    groups = " or ".join(f"({one})" for one in dict.fromkeys(", ".join(one) for one in asked if one))
    return (
        f"{texts.get(key, '')}{groups}{texts.get('end', '')}"
        if groups
        else str(texts.get(f"{key}_alone", ""))
    )


_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
# By the first of these that a schema without a type has, Codex takes it for one of the type.
_TYPE_BY = (
    ("object", frozenset({PROPERTIES, REQUIRED, MORE})),
    ("array", frozenset({"items", "prefixItems"})),
    ("string", frozenset({"enum", "format"})),
    ("number", _BOUNDS),
)


def _type(schema: Schema, what: SchemaChange) -> SentSchema:
    """A schema without a type gets one by its keywords.

    With the key `const` that becomes an enum, with `properties` objects have those, and with `{}` nothing is
    left of what gets no type.
    """
    emptied = False

    def change(one: Schema) -> Schema:
        nonlocal emptied
        if "const" in one and "const" in what.keys:
            one = without(one, "const") | {"enum": [one["const"]]}
        if "type" not in one and not ({"$ref", *BRANCHES} & one.keys()):
            if found := next((name for name, keys in _TYPE_BY if keys & one.keys()), ""):
                one = {"type": found} | one
            elif "{}" in what.keys:
                emptied = emptied or not SPARE.issuperset(one)
                one = {}
        is_object = "object" in (one.get("type"), *names(one.get("type")))
        return {PROPERTIES: {}} | one if is_object and PROPERTIES in what.keys else one

    after = everywhere(schema, change)
    told = "what has no type is emptied"
    return changed_so(schema, after, told, Kind.SCHEMA) if emptied else SentSchema(after)


def _replace_true(schema: Schema, what: SchemaChange) -> SentSchema:
    """A parameter whose schema is true gets `value` in its place."""

    def change(_: str, one: Any) -> Any:
        return what.value if one is True else one

    return SentSchema(everywhere(schema, lambda one: each_parameter(one, change)))


def _keep_parameters(schema: Schema, what: SchemaChange) -> SentSchema:
    """Of each parameter at the top all keywords but these are lost, and with them what is within."""
    lost: dict[str, None] = {}

    def change(_: str, one: Any) -> Any:
        others = [key for key in as_object(one) if key not in what.keys]
        lost.update(dict.fromkeys(others))
        return without(one, *others) if others else one

    return removed(each_parameter(schema, change), lost)


def _require(schema: Schema, what: SchemaChange) -> SentSchema:
    """These parameters are required as well."""
    return SentSchema(schema | {REQUIRED: [*names(schema.get(REQUIRED)), *what.keys]})


_CHANGES = (
    *(_lose, _keep, _lose_top, _keep_top, _set_top, _fill_top, _add_parameter, _undescribe, _nullable),
    *(_empty_references, _fill_items, _sort, _tell, _merge_all_of, _merge_branches, _type),
    *(_replace_true, _keep_parameters, _require),
)
SCHEMA_CHANGES: Mapping[str, Callable[[Schema, SchemaChange], SentSchema]] = {
    change.__name__.strip("_"): change for change in (*_CHANGES, *FRAMEWORK_CHANGES)
}
"""The changes by name."""
