"""A tool's parameters as the fields of a form."""

from collections.abc import Mapping

from inspector.domain.jsonvalue import JsonObject
from inspector.domain.schema import SchemaField, fields
from widgets import NOTHING, Field
from widgets.form_field import Kind

_KINDS: Mapping[str, Kind] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}


def form_fields(schema: JsonObject) -> tuple[Field, ...]:
    """One field a parameter; what no simple input can hold is typed as JSON."""
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
    # An enum without values can hold nothing that could be chosen, so it has to be typed.
    if parameter.choices:
        return "enum"
    return _KINDS.get(parameter.type, "json")


def _default(parameter: SchemaField, kind: Kind) -> object:
    """What the schema says, if the input can hold it: schemas of servers contradict themselves."""
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
