"""What is wrong in a configuration, in plain words: the file, the dotted key, the nearest right one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from inspector.adapters.files.config.model import (
    DiscoveryModel,
    FileModel,
    RuleModel,
    ServerModel,
    ToolsetModel,
)
from inspector.adapters.files.config.source import dotted
from inspector.domain.closest import closest
from inspector.domain.error import ConfigError

_EXPECTED: Mapping[str, str] = {
    "string_type": "a string",
    "list_type": "a list",
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
}
_SERVERS = "mcpServers"
_CORRECT = "Correct the value, or remove the key to get its default."


def invalid(path: Path, error: ValidationError, *, section: str, at: Sequence[str | int] = ()) -> ConfigError:
    """The ConfigError for a file that breaks the models; `at` is where the checked part sits in the file."""
    # A misspelt key says more than what is missing because of it.
    faults = sorted(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
    loc = (*at, *faults[0]["loc"])
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    message, hint = _told(faults[0]["type"], loc, faults[0])
    return ConfigError(f"{path}: {_path(loc, section)} {message}{more}", hint=hint)


def meant(name: str, known: Sequence[str]) -> str:
    """The hint for a name that is not among `known`."""
    near = closest(name, known, limit=1)
    if near:
        return f"Did you mean `{near[0]}`?"
    return f"Known: {', '.join(known)}." if known else ""


def _told(kind: str, loc: tuple[str | int, ...], fault: Mapping[str, Any]) -> tuple[str, str]:
    if kind == "extra_forbidden":
        return "is not a key Toolsight knows", meant(str(loc[-1]), _keys(loc))
    if kind == "missing":
        return "is missing", "Add it, or remove the entry."
    if kind in _EXPECTED:
        found = _NAMES.get(type(fault["input"]), "an object")
        return f"must be {_EXPECTED[kind]}, not {found}", _type_hint(kind, fault["input"])
    if kind == "literal_error":
        return f"must be {fault['ctx']['expected']}", _CORRECT
    wanted = fault["msg"].removeprefix("Input should be ")
    return f"must be {wanted}, not {fault['input']}", _CORRECT


def _type_hint(kind: str, value: object) -> str:
    if kind == "string_type" and isinstance(value, int | float):
        return "Put it in double quotes."
    if kind == "bool_type" and isinstance(value, str):
        return "Write true or false without quotes."
    if kind == "list_type" and isinstance(value, str):
        return "Write each argument as a string of its own, in brackets."
    return _CORRECT


def _keys(loc: tuple[str | int, ...]) -> tuple[str, ...]:
    """The keys that are valid where an unknown one was found."""
    model: type[BaseModel] = FileModel
    if loc[0] == "tool_discovery" and len(loc) > 1:
        model = DiscoveryModel
    elif loc[0] == _SERVERS and len(loc) > 2:
        model = ServerModel
    elif loc[0] == "tool_sets" and len(loc) > 2:
        model = RuleModel if "servers" in loc[2:-1] else ToolsetModel
    return tuple(model.model_fields)


def _path(loc: tuple[str | int, ...], section: str) -> str:
    shown = ""
    for index, step in enumerate(loc):
        if isinstance(step, int):
            shown += f"[{step}]"
        elif index == 0 and step == _SERVERS:
            shown = section
        elif step != "[key]":
            shown = dotted(shown, step)
    return shown
