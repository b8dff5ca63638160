"""Checks files with pydantic models, and explains faults in plain words.

An error names the file, the line if known, the dotted key, and the nearest valid name.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from inspector.config.file import dotted
from inspector.core.error import ConfigError
from inspector.core.text import closest

Model = TypeVar("Model", bound=BaseModel)
Location = tuple[str | int, ...]
"""The keys and list indexes that lead to a value."""

EXPECTED: Mapping[str, str] = {
    "string_type": "a string",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
}
_NAMES: Mapping[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a fraction",
    type(None): "null",
    list: "a list",
    date: "a date",
}
_REFUSED, _EMPTY, _KEY = "refused", "empty", "[key]"
_CORRECT = "Correct the value, or remove the key to use the default."


class Strict(BaseModel):
    """Accepts exact types and no other keys, from its first use on. A field's description is the hint."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class NullAsAbsent(Strict):
    """Like Strict, but treats a key without a value as absent."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if value is not None}


def refusal(message: str, hint: str) -> PydanticCustomError:
    """The error for a model's own check; `message` follows the key's path: "has neither say nor calls"."""
    return PydanticCustomError(_REFUSED, "{message}", {"message": message, "hint": hint})


def not_empty(text: str) -> str:
    """Validate that a text is not empty. Unlike pydantic's own check, it accepts a lone surrogate."""
    if not text:
        raise PydanticCustomError(_EMPTY, "is empty")
    return text


def validated(
    model: type[Model],
    data: object,
    place: str | Callable[[Location], str],
    *,
    at: Location = (),
    names: Mapping[str, str] | None = None,
) -> Model:
    """Validate the data as the model. Raises ConfigError.

    `place` is the file and line, or a function that returns them for a location. `at` is the data's location
    in the file. `names` maps the model's top-level keys to the file's, where they differ.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        # A misspelled key says more than what is missing because of it.
        faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
        loc = (*at, *faults[0]["loc"])
        message, hint = _explained(model, faults[0])
        where = " ".join(filter(None, (_path(loc, names or {}), message)))
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        start = place if isinstance(place, str) else place(loc)
        raise ConfigError(f"{start}: {where}{more}", hint=hint) from error


def meant(name: str, known: Sequence[str]) -> str:
    """The hint for a name that is not among `known`."""
    near = closest(name, known, limit=1)
    if near:
        return f"Did you mean `{near[0]}`?"
    return f"Known: {', '.join(known)}." if known else ""


def _explained(model: type[BaseModel], fault: Mapping[str, Any]) -> tuple[str, str]:
    kind, loc = fault["type"], fault["loc"]
    keys, described = _schema(model, loc)
    if kind == _REFUSED:
        return fault["ctx"]["message"], fault["ctx"]["hint"]
    if kind == "extra_forbidden":
        return "is not a known key", meant(str(loc[-1]), keys)
    if kind == "missing":
        return "is missing", described or "Add it, or remove the entry."
    if kind == "invalid_key" or loc[-1:] == (_KEY,):
        return "is not a string key", "Put it in double quotes."
    if kind in (_EMPTY, "too_short"):
        return "is empty", described or _CORRECT
    if kind in EXPECTED:
        given = _NAMES.get(type(fault["input"]), "an object")
        hint = _type_hint(kind, fault["input"]) or described or _CORRECT
        return f"must be {EXPECTED[kind]}, not {given}", hint
    if kind == "literal_error":
        return f"must be {fault['ctx']['expected']}", described or _CORRECT
    wanted = fault["msg"].removeprefix("Input should be ")
    return f"must be {wanted}, not {fault['input']}", described or _CORRECT


def _type_hint(kind: str, value: object) -> str:
    if kind == "string_type" and isinstance(value, int | float | date):
        return "Put it in double quotes."
    if kind == "bool_type" and isinstance(value, str):
        return "Write true or false without quotes."
    return ""


def _schema(model: type[BaseModel], loc: Location) -> tuple[tuple[str, ...], str]:
    """The valid keys at a location, or where it leaves the model, and the field's description."""
    kind: Any = model
    described = ""
    for step in loc:
        if not hasattr(kind, "model_fields"):
            # The type of a list's or dict's items.
            items = [kind for kind in get_args(kind) if kind is not ...]
            kind = _plain(items[-1] if items else None)
        elif (field := _fields(kind).get(str(step))) is not None:
            described = field.description or ""
            kind = _plain(field.annotation)
        else:
            break
    return tuple(_fields(kind)), described


def _fields(kind: Any) -> dict[str, FieldInfo]:
    """A model's fields by key."""
    return {field.alias or name: field for name, field in getattr(kind, "model_fields", {}).items()}


def _plain(annotation: Any) -> Any:
    """A type without its annotations and without None."""
    while get_origin(annotation) in (Annotated, Union, UnionType):
        annotation = get_args(annotation)[0]
    return annotation


def _path(loc: Location, names: Mapping[str, str]) -> str:
    shown = ""
    for index, step in enumerate(loc):
        if isinstance(step, int):
            shown += f"[{step}]"
        elif index == 0 and step in names:
            shown = names[step]
        elif step != _KEY:
            shown = dotted(shown, step)
    return shown


class Foreign(NullAsAbsent):
    """A part of somebody else's format: keys that we do not need are ignored."""

    model_config = ConfigDict(extra="ignore")
