"""A tool's parameters as form fields."""

from collections.abc import Mapping

from inspector.domain.jsonvalue import JsonObject
from inspector.domain.schema import SchemaField, fields
from widgets import NOTHING, Field
from widgets.typed_value import Kind

_KINDS: Mapping[str, Kind] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}


def form_fields(schema: JsonObject) -> tuple[Field, ...]:
    """Return one field per parameter; values that no simple input can hold are typed as JSON."""
    return tuple(_field(parameter) for parameter in fields(schema))


def _field(parameter: SchemaField) -> Field:
    kind = _kind(parameter)
    return Field(
        name=parameter.name,
        kind=kind,
        required=parameter.required,
        description=parameter.description,
        default=_default(parameter, kind),
        choices=parameter.choices if kind == "enum" else (),
    )


def _kind(parameter: SchemaField) -> Kind:
    # An enum without values has nothing to choose from, so its value is typed.
    if parameter.choices:
        return "enum"
    return _KINDS.get(parameter.type, "json")


def _default(parameter: SchemaField, kind: Kind) -> object:
    """Return the schema's default if the input can hold it: servers' schemas contradict themselves."""
    value = parameter.default
    if value is None:
        return NOTHING
    fits: Mapping[Kind, bool] = {
        "string": isinstance(value, str),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "enum": value in parameter.choices,
        "json": True,
    }
    return value if fits[kind] else NOTHING
