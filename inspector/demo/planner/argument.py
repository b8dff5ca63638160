"""Fills a tool's arguments from a step and from earlier results, following its schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inspector.demo.planner import value
from inspector.demo.planner.reading import Reading
from inspector.demo.planner.value import Source
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SchemaField, fields, resolve
from inspector.search.vocabulary import stem, terms

MAX_DEPTH = 4
MAX_FIELDS = 60
MAX_ROWS = 200
_NAMES = ("title", "name", "subject", "path", "key")
_DEFINITIONS = ("$defs", "definitions")


@dataclass(frozen=True, slots=True)
class Filled:
    """Arguments, and the required parameters that have no value."""

    arguments: dict[str, Any]
    missing: tuple[str, ...] = ()


def fill(schema: JsonObject, source: Source) -> Filled:
    """Fill the arguments that the step gives; the tool's defaults apply to the rest."""
    names = [value.words_of(parameter.name) for parameter in fields(schema) if parameter.required]
    source.wants_content = any(value.CONTENT.intersection(words) for words in names)
    return _object(schema, schema, source, MAX_DEPTH)


def unused(arguments: object, reading: Reading) -> tuple[str, ...]:
    """The step's values that the arguments do not use."""
    passed = "\n".join(_leaves(arguments, MAX_DEPTH * 2))
    return tuple(
        text
        for text in dict.fromkeys(reading.values)
        if text not in passed and text.replace(" ", "_") not in passed
    )


def _leaves(node: object, depth: int) -> list[str]:
    if isinstance(node, Mapping | list | tuple) and depth:
        parts = node.values() if isinstance(node, Mapping) else node
        return [leaf for part in parts for leaf in _leaves(part, depth - 1)]
    return [str(node)]


def _object(schema: JsonObject, root: JsonObject, source: Source, depth: int) -> Filled:
    filled: dict[str, Any] = {}
    missing: list[str] = []
    declared = fields(_rooted(schema, root))[:MAX_FIELDS]
    for parameter in sorted(declared, key=_order):
        argument, lacking = _value(parameter, root, source, depth)
        if argument is not None:
            filled[parameter.name] = argument
        elif parameter.required:
            missing += lacking or [parameter.name]
    ordered = {p.name: filled[p.name] for p in declared if p.name in filled}
    return Filled(ordered, tuple(missing))


def _order(parameter: SchemaField) -> tuple[bool, int]:
    """The sort key: required parameters come first, and flags before the choices they may explain."""
    kinds = ("boolean", "enum", "integer", "number")
    return not parameter.required, kinds.index(parameter.type) if parameter.type in kinds else len(kinds)


def _value(parameter: SchemaField, root: JsonObject, source: Source, depth: int) -> tuple[object, list[str]]:
    """The value, or None and the names of what is missing in it."""
    if "const" in parameter.schema:
        return (parameter.schema["const"] if parameter.required else None), []
    if parameter.type == "object" and depth > 0:
        return _nested(parameter, root, source, depth)
    if parameter.type == "array" and depth > 0:
        return _array(parameter, root, source, depth)
    return _simple(parameter, source), []


def _simple(parameter: SchemaField, source: Source) -> object:
    if parameter.choices:
        chosen = value.choice(parameter, source)
        only = parameter.choices[0] if len(parameter.choices) == 1 and parameter.required else None
        return only if chosen is None else chosen
    if parameter.type == "boolean":
        return value.boolean(parameter, source)
    kinds = parameter.type.split(" or ")
    if "integer" in kinds or "number" in kinds:
        number = value.number(parameter, source)
        if number is not None or "string" not in kinds:
            return _earlier_id(parameter, source) if number is None else number
    if "string" in kinds or parameter.type == "any":
        written = value.text(parameter, source)
        return _earlier_id(parameter, source) if written is None else written
    return None


def _nested(parameter: SchemaField, root: JsonObject, source: Source, depth: int) -> tuple[object, list[str]]:
    inner = _object(parameter.schema, root, source, depth - 1)
    if inner.missing:
        return None, [f"{parameter.name}.{name}" for name in inner.missing]
    return (inner.arguments if inner.arguments or parameter.required else None), []


def _array(parameter: SchemaField, root: JsonObject, source: Source, depth: int) -> tuple[object, list[str]]:
    raw = parameter.schema.get("items")
    items = resolve(raw, root) if isinstance(raw, Mapping) else {}
    element = fields(_rooted({"properties": {parameter.name: dict(items)}}, root))
    item = element[0] if element else SchemaField(parameter.name, "any")
    if item.type == "object":
        inner = _object(item.schema, root, source, depth - 1)
        if inner.missing:
            return None, [f"{parameter.name}.{name}" for name in inner.missing]
        return ([inner.arguments] if inner.arguments else None), []
    return _elements(item, parameter, source) or None, []


def _elements(item: SchemaField, parameter: SchemaField, source: Source) -> list[object]:
    reading = source.reading
    if item.choices:
        return value.mentioned(item.choices, source)
    if item.type in {"integer", "number"}:
        return [n.value for n in reading.numbers] if parameter.required else []
    if item.type not in {"string", "any"}:
        return []
    names = frozenset(value.words_of(parameter.name))
    if names & value.ZONE:
        return list(iter(lambda: value.zone(source), None))
    if names & value.PEOPLE:
        values = reading.emails
    elif names & value.CITY:
        values = reading.places
    else:
        values = reading.quotes or (reading.codes if parameter.required else ())
    fresh = [text for text in values if text not in source.used]
    source.used.update(fresh)
    return list(fresh)


def _earlier_id(parameter: SchemaField, source: Source) -> object:
    """The id of the row that the step refers to, if a required parameter needs one."""
    if not parameter.required or not source.rows or not source.reading.refers:
        return None
    row = _row(source)
    names = value.words_of(parameter.name)
    nouns = [name for name in names if name not in {"id", "number", "key"}]
    keys = [parameter.name]
    if source.about.issuperset(map(stem, nouns)) and (
        "string" not in parameter.type or names[-1:] == ("id",)
    ):
        keys += ["id", "number", f"{parameter.name}_id", f"{parameter.name}_number"]
    for key in keys:
        candidate = row.get(key)
        if _is_id(candidate, parameter.type):
            return candidate
    return None


def _row(source: Source) -> Mapping[str, Any]:
    """The row that the step counts ("the second"), or else the one whose name best matches the request."""
    if (counted := source.reading.row) is not None:
        return source.rows[counted if counted < len(source.rows) else 0]
    asked = set(terms(source.asked))

    def agreement(row: Mapping[str, Any]) -> int:
        name = " ".join(str(row[key])[:200] for key in _NAMES if key in row)
        return len(asked.intersection(terms(name)))

    return max(source.rows[:MAX_ROWS], key=agreement)


def _is_id(candidate: object, kind: str) -> bool:
    if isinstance(candidate, bool):
        return False
    if isinstance(candidate, int):
        return "integer" in kind or "number" in kind or kind == "any"
    return isinstance(candidate, str) and ("string" in kind or kind == "any")


def _rooted(schema: JsonObject, root: JsonObject) -> JsonObject:
    """A part of a schema, with the definitions that its local references need."""
    if not isinstance(schema, Mapping):
        return {}
    shared = {key: root[key] for key in _DEFINITIONS if isinstance(root, Mapping) and key in root}
    return {**shared, **schema}
