"""The `profile` and the `settings` of a file: nested or dotted, every fault named."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

from inspector.adapters.files.problem import dotted, meant
from inspector.domain.error import ConfigError
from inspector.domain.knob import find_knob, knobs
from inspector.domain.profile import DEFAULT_PROFILE, PROFILES
from inspector.domain.settings import Settings

SECTIONS = tuple(section.name for section in fields(Settings))


def profile(path: Path, name: str | None) -> str:
    """The name of a profile that there is. Raises ConfigError with the nearest."""
    if name is not None and name not in PROFILES:
        hint = meant(name, tuple(PROFILES))
        raise ConfigError(f"{path}: profile is '{name}', which there is not", hint=hint)
    return name or DEFAULT_PROFILE


def values(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The checked values by path of the knob; the files they name are absolute. Raises ConfigError."""
    found: dict[str, Any] = {}
    for where, knob_path, value in _pairs(path, settings):
        if knob_path in found:
            raise ConfigError(f"{path}: {where} is there twice", hint="Keep one of them.")
        found[knob_path] = _checked(path, where, knob_path, value)
    return found


def anchored(folder: Path, knob_path: str, value: Any) -> Any:
    """The value of a knob that names files, seen from a folder; any other one as it is."""
    if knob_path == "access.predicates":
        return str(folder / value) if value else value
    if knob_path == "discovery.evaluation":
        return tuple(str(folder / name) for name in value)
    return value


def _pairs(path: Path, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Where a value stands, which knob it is for, and the value."""
    for key, entry in settings.items():
        where = dotted("settings", key) if "." not in key else f"settings.{key}"
        if "." in key:
            yield where, key, entry
        elif not isinstance(entry, Mapping):
            _refuse_entry(path, where, key)
        elif key not in SECTIONS and not entry:
            hint = meant(key, SECTIONS)
            raise ConfigError(f"{path}: {where} is no section of the settings", hint=hint)
        else:
            yield from ((f"{where}.{name}", f"{key}.{name}", value) for name, value in entry.items())


def _refuse_entry(path: Path, where: str, key: str) -> NoReturn:
    if key in SECTIONS:
        hint = f"Its settings go in braces, or write them as `{key}.…`."
        raise ConfigError(f"{path}: {where} must be an object", hint=hint)
    full = [one.path for one in knobs() if one.path.endswith(f".{key}")]
    hint = f"Did you mean `{full[0]}`?" if full else meant(key, SECTIONS)
    raise ConfigError(f"{path}: {where} is no section of the settings", hint=hint)


def _checked(path: Path, where: str, knob_path: str, value: Any) -> Any:
    try:
        checked = find_knob(knob_path).check(value)
    except ConfigError as error:
        known = error.message.removeprefix(f"{knob_path} ")
        message = f"{where} {known}" if known != error.message else f"{where} is not a setting"
        raise ConfigError(f"{path}: {message}", hint=error.hint) from error
    return anchored(path.absolute().parent, knob_path, checked)
