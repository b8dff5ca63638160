"""Reads a file's `profile` and `settings`, nested or dotted, with an error for every fault."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

from inspector.config.knob import find_knob, knobs
from inspector.config.problem import dotted, meant
from inspector.config.profile import DEFAULT_PROFILE, PROFILES
from inspector.core.error import ConfigError
from inspector.core.settings import Settings

SECTIONS = tuple(section.name for section in fields(Settings))


def profile(path: Path, name: str | None) -> str:
    """The name of a known profile. Raises ConfigError, with the nearest name as its hint."""
    if name is not None and name not in PROFILES:
        hint = meant(name, tuple(PROFILES))
        raise ConfigError(f"{path}: profile '{name}' does not exist", hint=hint)
    return name or DEFAULT_PROFILE


def values(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The checked values by setting path; the files they name are absolute. Raises ConfigError."""
    checked: dict[str, Any] = {}
    for where, knob_path, value in _pairs(path, settings):
        if knob_path in checked:
            raise ConfigError(f"{path}: {where} appears twice", hint="Keep one of them.")
        checked[knob_path] = _checked(path, where, knob_path, value)
    return checked


def anchored(folder: Path, knob_path: str, value: Any) -> Any:
    """Resolve the file names in a setting's value against a folder; other values are unchanged."""
    if knob_path in ("access.predicates", "access.policy", "inertia.seed", "federation.peers"):
        return str(folder / value) if value else value
    if knob_path in ("discovery.evaluation", "marketplace.catalogs"):
        return tuple(str(folder / name) for name in value)
    return value


def _pairs(path: Path, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """For each value: where it is in the file, the path of its setting, and the value."""
    for key, entry in settings.items():
        where = dotted("settings", key) if "." not in key else f"settings.{key}"
        if "." in key:
            yield where, key, entry
        elif not isinstance(entry, Mapping):
            _refuse_entry(path, where, key)
        elif key not in SECTIONS and not entry:
            hint = meant(key, SECTIONS)
            raise ConfigError(f"{path}: {where} is not a settings section", hint=hint)
        else:
            yield from ((f"{where}.{name}", f"{key}.{name}", value) for name, value in entry.items())


def _refuse_entry(path: Path, where: str, key: str) -> NoReturn:
    if key in SECTIONS:
        hint = f"Put its settings in braces, or write them as `{key}.…`."
        raise ConfigError(f"{path}: {where} must be an object", hint=hint)
    full = [knob.path for knob in knobs() if knob.path.endswith(f".{key}")]
    hint = f"Did you mean `{full[0]}`?" if full else meant(key, SECTIONS)
    raise ConfigError(f"{path}: {where} is not a settings section", hint=hint)


def _checked(path: Path, where: str, knob_path: str, value: Any) -> Any:
    try:
        checked = find_knob(knob_path).check(value)
    except ConfigError as error:
        known = error.message.removeprefix(f"{knob_path} ")
        message = f"{where} {known}" if known != error.message else f"{where} is not a setting"
        raise ConfigError(f"{path}: {message}", hint=error.hint) from error
    return anchored(path.absolute().parent, knob_path, checked)
