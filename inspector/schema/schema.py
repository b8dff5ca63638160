"""Reads JSON Schema as a flat list of fields, for forms and summaries, and writes it as providers take it.

Local references (`#/...`) of JSON Schema 2020-12 are followed; a reference that is broken, external or
circular is left as it is. Schemas are untrusted input: no shape may cause an error.
"""

import json
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

from msgspec import Struct, field

from inspector.schema.json_value import JsonObject, as_object, compact

if TYPE_CHECKING:
    from jsonschema import ValidationError

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


class SchemaField(Struct, frozen=True):
    """One top-level parameter. `type` is a JSON type name, `enum`, or alternatives joined by ` or `."""

    name: str
    type: str
    required: bool = False
    description: str = ""
    default: object = None
    choices: tuple[object, ...] = ()
    schema: JsonObject = field(default_factory=dict)


def fields(schema: JsonObject, root: JsonObject | None = None) -> tuple[SchemaField, ...]:
    """The parameters of an object schema, a part of `root`, in declaration order, references resolved."""
    schema = schema if isinstance(schema, Mapping) else {}
    root = schema if root is None else root
    resolved = resolve(schema, root)
    properties = resolved.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = resolved.get("required")
    names = (
        set(required) if isinstance(required, list) and all(isinstance(n, str) for n in required) else set()
    )
    return tuple(_field(str(name), value, name in names, root) for name, value in properties.items())


def elements(parameter: SchemaField, root: JsonObject) -> SchemaField:
    """What a parameter's elements are, as the schema of an array says."""
    return _field(parameter.name, parameter.schema.get("items"), False, root)


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
    schema = _without_null(resolve(raw, root), root)
    choices = schema.get("enum")
    return SchemaField(
        name=name,
        type=type_name(schema, root),
        required=required,
        description=str(raw.get("description") or schema.get("description") or ""),
        default=raw.get("default", schema.get("default")),
        choices=tuple(choices) if isinstance(choices, list) else (),
        schema=schema,
    )


def _without_null(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Reduce `anyOf: [X, null]`, as pydantic writes optional parameters, to X."""
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list):
            real = [o for o in options if not (isinstance(o, Mapping) and o.get("type") == "null")]
            if len(real) < len(options) and len(real) == 1 and isinstance(real[0], Mapping):
                return resolve(real[0], root)
    types = schema.get("type")
    if isinstance(types, list) and "null" in types:
        real_types = [t for t in types if t != "null"]
        only: Any = real_types[0] if len(real_types) == 1 else real_types
        return {**schema, "type": only}
    return schema


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
    found = pointed(pointer, root)
    return found[1] if found is not None and isinstance(found[1], Mapping) else None


def pointed(pointer: str, root: JsonObject) -> tuple[list[str | int], Any] | None:
    """The way of a JSON Pointer (RFC 6901, in URI fragment form), and what it leads to; None if nothing."""
    if len(pointer) > _LONGEST_POINTER or pointer[1:2] not in ("", "/"):
        return None
    way: list[str | int] = []
    node: object = root
    for step in pointer.removeprefix("#").split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and key in node:
            way.append(key)
            node = node[key]
        elif isinstance(node, list) and len(key) <= _MOST_DIGITS and key.isdecimal() and int(key) < len(node):
            way.append(int(key))
            node = node[int(key)]
        else:
            return None
    return way, node


# Anthropic takes an object schema with few keys at its top, and references to `$defs` only. litellm brings
# every schema into that form; done here, before counting, it has nothing left to change.

Deferral = Literal["", "tool_reference", "tool_search"]
"""How a provider loads definitions later: Claude expands `tool_reference`, OpenAI takes `tool_search`."""

SchemaDialect = Literal["", "anthropic"]
"""The form of tool schemas that a provider takes; "" for any."""


class ModelFeatures(Struct, frozen=True):
    """`breakpoints`: the prompt cache keeps what is marked and nothing else; `deferral`: "" for none.

    `scripted`: what it writes is planned by rules or recorded, so that its scripts may run.
    """

    breakpoints: bool = False
    deferral: Deferral = ""
    dialect: SchemaDialect = ""
    scripted: bool = False


PLAIN = ModelFeatures()
SCRIPTED = ModelFeatures(scripted=True)


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


# A regular expression can take for ever, and a schema is untrusted: what has one is not checked.
_EXPRESSIONS = frozenset({"pattern", "patternProperties"})
_DEFINITIONS = ("$defs", "definitions")
# What stands below these are names that the schema's author chose, not keywords.
_NAMED = frozenset({"properties", "dependentSchemas", *_DEFINITIONS})
# Nor is one with more parts than this, or with more references.
_MOST_PARTS = 1_000
_MOST_REFERENCES = 10
# Nor a value of more characters; where items must be unique, each is compared with all others.
_LARGEST_VALUE, _LARGEST_UNIQUE = 200_000, 10_000
_SHOWN = 200
_NO_OUTPUT = "the tool declares an output schema and returns no structured content"


def schema_problem(schema: JsonObject, arguments: JsonObject) -> str:
    """What a schema objects to, or why it cannot be checked; "" for arguments that it accepts."""
    from jsonschema.exceptions import best_match

    try:
        error = best_match(_errors(schema, dict(arguments), 100))
    except Unchecked as unfit:
        return str(unfit)
    return "" if error is None else f"{error.json_path}: {error.message}"[:_SHOWN]


class Checked(Struct, frozen=True):
    """Whether a value fits a schema, None if that cannot be checked; the first errors by path, or why not."""

    fits: bool | None
    reasons: tuple[str, ...] = ()


def checked(schema: JsonObject, value: object, most: int = 3) -> Checked:
    """Check a value, and return the first errors."""
    is_slow = "uniqueItems" in compact(schema)
    if len(compact(value)) > (_LARGEST_UNIQUE if is_slow else _LARGEST_VALUE):
        return Checked(None, ("the value is too large to be checked",))
    try:
        errors = _errors(schema, value, most)
    except Unchecked as unfit:
        return Checked(None, (str(unfit),))
    return Checked(not errors, tuple(f"{error.json_path}: {error.message}"[:_SHOWN] for error in errors))


def checked_output(schema: JsonObject | None, structured: JsonObject | None) -> Checked | None:
    """Whether structured content fits a tool's output schema; None without one. MCP wants it returned."""
    if schema is None:
        return None
    return checked(schema, structured) if structured is not None else Checked(False, (_NO_OUTPUT,))


class Unchecked(ValueError):
    """A schema cannot be checked; the message says why."""


def _errors(schema: JsonObject, value: object, most: int) -> "list[ValidationError]":
    """The first errors. Nothing is ever fetched: a reference to another document cannot be checked."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    if unfit := _unfit(schema):
        raise Unchecked(unfit)
    try:
        Draft202012Validator.check_schema(dict(schema))
        validator = Draft202012Validator(dict(schema), registry=Registry())
        return list(islice(validator.iter_errors(value), most))
    except (SchemaError, Unresolvable, RecursionError, ValueError, TypeError, ArithmeticError) as found:
        raise Unchecked(f"its schema cannot be checked: {type(found).__name__}") from found


def _unfit(schema: JsonObject) -> str:
    """Why a schema is not checked; without recursion, as it may be deep.

    A definition that refers to another one, or to itself, may be looked at more often on every level.
    """
    # Each part with whether its keys are names, and whether it is in a definition.
    waiting: list[tuple[object, bool, bool]] = [(schema, False, False)]
    references = 0
    for _ in range(_MOST_PARTS):
        if not waiting:
            return ""
        part, are_names, is_definition = waiting.pop()
        if isinstance(part, Mapping):
            if not are_names and not _EXPRESSIONS.isdisjoint(part):
                return "its schema has a regular expression, which is not run"
            if not are_names and ("$ref" in part or "$dynamicRef" in part):
                references += 1
                if is_definition or references > _MOST_REFERENCES or not _is_plain(part.get("$ref")):
                    return "its schema refers to itself, or to too much"
            for key, value in part.items():
                named = not are_names and key in _NAMED
                waiting.append((value, named, is_definition or (named and key in _DEFINITIONS)))
        elif isinstance(part, list | tuple):
            waiting += [(value, False, is_definition) for value in part]
    return "its schema is too large to be checked"


def _is_plain(reference: object) -> bool:
    """Whether a reference is to a definition of the schema."""
    return isinstance(reference, str) and reference.startswith(tuple(f"#/{name}/" for name in _DEFINITIONS))
