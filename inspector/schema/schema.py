"""Reads JSON Schema as a flat list of fields, for forms and summaries, and writes it as providers take it.

Local references (`#/...`) of JSON Schema 2020-12 are followed; a reference that is broken, external or
circular is left as it is. Schemas are untrusted input: no shape may cause an error.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

from inspector.schema.json_value import JsonObject, as_object, compact

MAX_REFERENCES = 32
FORMATS: Mapping[str, str] = {
    "email": "an e-mail address such as ada@example.com",
    "uri": "an address such as https://example.com",
    "date": "a date such as 2026-07-28",
    "date-time": "a date and time such as 2026-07-28T09:30:00Z",
}
"""What a text of a format looks like, for whoever types it."""
# No pointer that anyone writes is longer, and no list has an index of more digits.
_LONGEST_POINTER, _MOST_DIGITS = 1_000, 9


@dataclass(frozen=True, slots=True)
class SchemaField:
    """One top-level parameter. `type` is a JSON type name, `enum`, or alternatives joined by ` or `."""

    name: str
    type: str
    required: bool = False
    description: str = ""
    default: object = None
    choices: tuple[object, ...] = ()
    nullable: bool = False
    schema: JsonObject = field(default_factory=dict)


def fields(schema: JsonObject) -> tuple[SchemaField, ...]:
    """The parameters of an object schema in declaration order, with references resolved."""
    root = schema if isinstance(schema, Mapping) else {}
    resolved = resolve(root, root)
    properties = resolved.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = resolved.get("required")
    names = (
        set(required) if isinstance(required, list) and all(isinstance(n, str) for n in required) else set()
    )
    return tuple(_field(str(name), value, name in names, root) for name, value in properties.items())


def defaults(schema: JsonObject) -> dict[str, object]:
    """The default of every parameter, None without one; much less work than reading the fields."""
    properties = resolve(schema, schema).get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {str(name): _default(value, schema) for name, value in properties.items()}


def _default(raw: object, root: JsonObject) -> object:
    seen: set[str] = set()
    while isinstance(raw, Mapping) and len(seen) < MAX_REFERENCES:
        if "default" in raw:
            return raw["default"]
        reference = raw.get("$ref")
        if not isinstance(reference, str) or reference in seen or not reference.startswith("#"):
            return None
        seen.add(reference)
        raw = _lookup(reference, root)
    return None


def _field(name: str, raw: object, required: bool, root: JsonObject) -> SchemaField:
    if not isinstance(raw, Mapping):
        return SchemaField(name, "any", required)
    schema, nullable = _without_null(resolve(raw, root), root)
    choices = schema.get("enum")
    return SchemaField(
        name=name,
        type=type_name(schema, root),
        required=required,
        description=str(raw.get("description") or schema.get("description") or ""),
        default=raw.get("default", schema.get("default")),
        choices=tuple(choices) if isinstance(choices, list) else (),
        nullable=nullable,
        schema=schema,
    )


def _without_null(schema: JsonObject, root: JsonObject) -> tuple[JsonObject, bool]:
    """Reduce `anyOf: [X, null]`, as pydantic writes optional parameters, to a nullable X."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list):
            real = [o for o in options if not (isinstance(o, Mapping) and o.get("type") == "null")]
            if len(real) < len(options) and len(real) == 1 and isinstance(real[0], Mapping):
                return resolve(real[0], root), True
    types = schema.get("type")
    if isinstance(types, list) and "null" in types:
        real_types = [t for t in types if t != "null"]
        only: Any = real_types[0] if len(real_types) == 1 else real_types
        return {**schema, "type": only}, True
    return schema, False


def type_name(schema: JsonObject, root: JsonObject | None = None) -> str:
    """A short name for a schema's type, for people and for search results."""
    if isinstance(schema.get("enum"), list):
        return "enum"
    types = schema.get("type")
    if isinstance(types, str):
        return types
    if isinstance(types, list):
        return " or ".join(str(t) for t in types) or "any"
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list):
            names = [_option_name(option, root) for option in options]
            return " or ".join(dict.fromkeys(names)) or "any"
    if "properties" in schema:
        return "object"
    return "const" if "const" in schema else "any"


def _option_name(option: object, root: JsonObject | None) -> str:
    if not isinstance(option, Mapping):
        return "any"
    if "$ref" in option:
        target = resolve(option, root or {})
        return "object" if "$ref" in target else type_name(target)
    return "object" if "anyOf" in option or "oneOf" in option else type_name(option)


def resolve(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Follow `$ref` to its final target; siblings of a reference override the target."""
    current: JsonObject = schema
    for _ in range(MAX_REFERENCES):
        reference = current.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return current
        target = _lookup(reference, root)
        if target is None:
            return current
        siblings = {key: value for key, value in current.items() if key != "$ref"}
        current = {**target, **siblings}
    return current


def _lookup(pointer: str, root: JsonObject) -> JsonObject | None:
    """Look up a JSON Pointer (RFC 6901) in URI fragment form."""
    if len(pointer) > _LONGEST_POINTER:
        return None
    node: object = root
    for step in pointer.removeprefix("#").split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list) and len(key) <= _MOST_DIGITS and key.isdecimal() and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node if isinstance(node, Mapping) else None


# Anthropic takes an object schema with few keys at its top, and references to `$defs` only. litellm brings
# every schema into that form; done here, before counting, it has nothing left to change.

Deferral = Literal["", "tool_reference", "tool_search"]
"""How a provider loads definitions later: Claude expands `tool_reference`, OpenAI takes `tool_search`."""

SchemaDialect = Literal["", "anthropic"]
"""The form of tool schemas that a provider takes; "" for any."""


@dataclass(frozen=True, slots=True)
class ModelFeatures:
    """`breakpoints`: the prompt cache keeps what is marked and nothing else; `deferral`: "" for none."""

    breakpoints: bool = False
    deferral: Deferral = ""
    dialect: SchemaDialect = ""


PLAIN = ModelFeatures()


_TOP = ("type", "properties", "additionalProperties", "required", "$defs", "strict")
_MOVED = ('"$ref":"#/definitions/', '"$ref":"#/components/schemas/')
_DEFS = "$defs"


def schema_for(dialect: SchemaDialect, schema: JsonObject) -> dict[str, Any]:
    """A tool's schema as a provider gets it; as it is without a dialect."""
    if dialect != "anthropic":
        return dict(schema)
    whole = {**schema, "type": "object"}
    whole.setdefault("properties", {})
    moved = _legacy_definitions(schema)
    if moved:
        # A quotation mark inside a JSON string is escaped, so only real references match.
        text = compact({**whole, _DEFS: {**moved, **as_object(schema.get(_DEFS))}})
        for prefix in _MOVED:
            text = text.replace(prefix, f'"$ref":"#/{_DEFS}/')
        whole = json.loads(text)
    return {key: value for key, value in whole.items() if key in _TOP}


def _legacy_definitions(schema: JsonObject) -> dict[str, Any]:
    """The definitions at places that Anthropic does not look at."""
    components = as_object(schema.get("components"))
    return {**as_object(components.get("schemas")), **as_object(schema.get("definitions"))}
