"""Which parameters of one tool take the arguments that another one was called with."""

from collections.abc import Mapping, Sequence

from inspector.schema.json_value import JsonObject
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
