"""A step of what clients make of a schema: the schema then, what it took, and what every step is made of."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from inspector.clients.client import Change, Kind
from inspector.schema.json_value import JsonObject, as_object, as_objects
from inspector.schema.reading import DEEPEST, changed, without

Schema = dict[str, Any]

BRANCHES = ("anyOf", "oneOf", "allOf")
DESCRIPTION, PROPERTIES, REQUIRED, MORE = "description", "properties", "required", "additionalProperties"
# Without these a model can call a tool as well.
SPARE = frozenset({"title", "$schema", "$id", "$comment", MORE})
_LOCAL = re.compile(r"#/(\$defs|definitions)/([^/]+)")


class SentSchema(Struct, frozen=True):
    """A schema as the model gets it. `lead` comes in front of the tool's description."""

    schema: Schema
    changes: tuple[Change, ...] = ()
    refused: Change | None = None
    lead: str = ""


def everywhere(
    schema: JsonObject, change: Callable[[Schema], Schema], levels: int = DEEPEST, but: Sequence[str] = ()
) -> Schema:
    """The schema changed, then every schema left in it, down to so many levels, `but` behind these."""
    now = change(dict(schema))
    if not levels:
        return now
    inner = changed(without(now, *but), lambda one: everywhere(one, change, levels - 1, but))
    return {key: inner.get(key, value) for key, value in now.items()} if but else inner


def each_parameter(schema: Schema, change: Callable[[str, Any], Any]) -> Schema:
    """The schema with every parameter changed by its name; one that declares none stays as it is."""
    properties = schema.get(PROPERTIES)
    if not isinstance(properties, dict):
        return schema
    return schema | {PROPERTIES: {name: change(name, one) for name, one in properties.items()}}


def without_descriptions(schema: JsonObject) -> Schema:
    """A schema without its descriptions. A parameter named `description` stays."""
    return everywhere(schema, lambda one: without(one, DESCRIPTION))


def changed_so(before: JsonObject, after: Schema, says: str, kind: Kind = Kind.SPARE) -> SentSchema:
    """The schema, and that it changed if it did: by default so that a call needs nothing that is lost."""
    return SentSchema(after, (Change(kind, f"schema: {says}", "inputSchema"),) if before != after else ())


def removed(schema: Schema, keys: Iterable[str], more: str = "", place: str = "inputSchema") -> SentSchema:
    """The schema without keywords; a call may need what they said."""
    lost = list(dict.fromkeys(keys))
    if not lost:
        return SentSchema(schema)
    kind = Kind.SPARE if SPARE.issuperset(lost) else Kind.SCHEMA
    return SentSchema(schema, (Change(kind, f"schema: {', '.join(lost)} removed{more}", place),))


def branches(schema: Schema, key: str) -> list[Schema]:
    """The branches of a combination, with what they refer to."""
    return [referred(schema, one) for one in as_objects(schema.get(key))]


def branch_properties(schema: Schema, key: str) -> dict[str, Any]:
    """What the branches of a combination say of properties; of several that say it, the first."""
    found: dict[str, Any] = {}
    for one in branches(schema, key):
        found = {**found, **without(as_object(one.get(PROPERTIES)), *found)}
    return found


def referred(root: Schema, one: Schema) -> Schema:
    """What a schema refers to in the root's definitions; itself if that is nothing there."""
    match = _LOCAL.fullmatch(str(one.get("$ref", "")))
    target = as_object(root.get(match[1])).get(match[2]) if match else None
    return target if isinstance(target, dict) else one
