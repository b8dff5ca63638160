"""A tool's parameters as fields of a form: an object is a field for each part, a list a line each."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.schema.json_value import JsonObject
from inspector.schema.reading import type_text, types_of
from inspector.schema.schema import FORMATS, SchemaField, checked, fields, resolve
from widgets import NOTHING, Field
from widgets.prompt import Kind

_KINDS: Mapping[str, Kind] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}
_DEFINITIONS = ("$defs", "definitions")
# What is nested more deeply is typed as JSON, and so are all objects if the form would have more fields.
_DEEPEST, _MOST = 3, 200
_SHOWN, _LONGEST = 8, 40
_ANY = 'Any JSON: true, 7, "text".'
Path = tuple[str, ...]


class CallForm(Struct, frozen=True):
    """The fields, and for each the path of its value in the arguments."""

    fields: tuple[Field, ...]
    paths: Mapping[str, Path]

    @classmethod
    def of(cls, schema: JsonObject, values: JsonObject | None = None) -> "CallForm":
        """The form for a schema: filled with its defaults, or with these arguments alone."""
        made: dict[str, tuple[Field, Path]] = {}
        parts = list(islice(_nested(schema, (), _DEEPEST), _MOST + 1))
        for field, path in parts if len(parts) <= _MOST else _nested(schema, (), 0):
            name = field.name
            while name in made:
                name += "'"
            filled = field if values is None else replace(field, default=_at(values, path))
            made[name] = (replace(filled, name=name, title=field.title), path)
        return cls(
            tuple(field for field, _ in made.values()), {name: path for name, (_, path) in made.items()}
        )

    def arguments(self, values: Mapping[str, object]) -> dict[str, Any]:
        """The arguments that the values of the fields make; an object whose parts are empty is left out."""
        arguments: dict[str, Any] = {}
        for name, value in values.items():
            *parents, last = self.paths[name]
            inner = arguments
            for parent in parents:
                inner = inner.setdefault(parent, {})
            inner[last] = value
        return arguments

    def holds(self, arguments: JsonObject) -> bool:
        """Whether the fields can show these arguments, all of them and unchanged."""
        shown = {field.name: field.default for field in self.fields if field.default is not NOTHING}
        is_fit = all(_fits(field, field.default) for field in self.fields if field.name in shown)
        return is_fit and self.arguments(shown) == arguments


class _Check(Struct, frozen=True):
    """What a parameter's schema objects to; "" also if that cannot be checked. As JSON, anything is sent."""

    schema: JsonObject

    def __call__(self, value: object) -> str:
        found = checked(self.schema, value, 1)
        return found.reasons[0].removeprefix("$").removeprefix(": ") if found.fits is False else ""


def form_fields(schema: JsonObject) -> tuple[Field, ...]:
    """One field for each parameter; values that no simple input can hold are typed as JSON."""
    return CallForm.of(schema).fields


def _at(values: Any, path: Path) -> object:
    for step in path:
        if not isinstance(values, Mapping) or step not in values:
            return NOTHING
        values = values[step]
    return values


def _nested(
    schema: JsonObject, above: Path, depth: int, required: bool = True
) -> Iterator[tuple[Field, Path]]:
    shared = {key: schema[key] for key in _DEFINITIONS if key in schema}
    for parameter in fields(schema):
        path = (*above, parameter.name)
        inner = {**shared, **parameter.schema}
        is_closed = parameter.default is None and not parameter.schema.get("additionalProperties")
        if depth and parameter.type == "object" and is_closed and fields(inner):
            yield from _nested(inner, path, depth - 1, required and parameter.required)
        else:
            field = replace(_field(parameter, schema), check=_Check(inner))
            # The arguments' names may be those of other parts, so a part's name is its whole path.
            title = " › ".join(path) if above else ""
            yield (
                replace(field, name=title or field.name, title=title, required=required and field.required),
                path,
            )


def _field(parameter: SchemaField, root: JsonObject) -> Field:
    # An enum without values has nothing to choose from, so its value is typed.
    kind: Kind = "enum" if parameter.choices else _KINDS.get(parameter.type, "json")
    choices = parameter.choices
    if parameter.type == "array":
        kind, choices = _list_kind(parameter.schema.get("items"), root)
    shown = _shape(parameter.schema, root) if kind == "json" else ""
    shape = shown if '"' in shown else _ANY if shown and parameter.type == "any" else ""
    about = "   ".join(filter(None, (parameter.description, shape)))
    example = FORMATS.get(str(parameter.schema.get("format")), "")
    field = Field(parameter.name, kind, parameter.required, about, choices=choices, example=example)
    value = parameter.default
    return replace(field, default=value) if value is not None and _fits(field, value) else field


def _shape(schema: object, root: JsonObject, depth: int = _DEEPEST) -> str:
    """What a value that is typed as JSON looks like: `[{"name": string}]`."""
    known = resolve(schema, root) if isinstance(schema, Mapping) else {}
    if depth and known.get("type") == "array":
        return f"[{_shape(known.get('items'), root, depth - 1)}]"
    parts = fields(known) if depth else ()
    if parts:
        inner = (f'"{part.name}": {_shape(part.schema, root, depth - 1)}' for part in parts[:_SHOWN])
        return f"{{{', '.join(inner)}{', …' if len(parts) > _SHOWN else ''}}}"
    values = known.get("enum")
    if isinstance(values, list) and values:
        written = [json.dumps(value, ensure_ascii=False)[:_LONGEST] for value in values[:_SHOWN]]
        return " | ".join([*written, "…"] if len(values) > _SHOWN else written)
    return type_text(types_of(known))


def _list_kind(items: object, root: JsonObject) -> tuple[Kind, tuple[object, ...]]:
    known = resolve(items, root) if isinstance(items, Mapping) else {}
    choices = known.get("enum")
    if isinstance(choices, list) and choices:
        return "many", tuple(choices)
    return ("lines" if known.get("type") == "string" else "json"), ()


def _fits(field: Field, value: object) -> bool:
    """Whether the input can hold a value: servers' schemas contradict themselves."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_list = isinstance(value, list)
    fits: Mapping[Kind, bool] = {
        "string": isinstance(value, str),
        "integer": isinstance(value, int) and is_number,
        "number": is_number,
        "boolean": isinstance(value, bool),
        "enum": any(value == one and type(value) is type(one) for one in field.choices),
        "many": is_list and value == [one for one in field.choices if one in value],  # type: ignore[operator]
        "lines": is_list,
        "json": True,
    }
    return fits[field.kind]
