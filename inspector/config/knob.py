"""The settings tree as a flat list: each setting by its dotted path, with its documentation and checks."""

import json
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from enum import StrEnum
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from inspector.core.closest import closest
from inspector.core.error import ConfigError
from inspector.core.settings import Settings
from inspector.schema.json_value import compact


class KnobKind(StrEnum):
    """The type of a setting's value, in words."""

    SWITCH = "true or false"
    COUNT = "a whole number"
    NUMBER = "a number"
    TEXT = "text"
    LIST = "a list of strings"
    TABLE = "a table of string lists"
    TEXTS = "a table of strings"


class Origin(StrEnum):
    """Where a setting's value comes from; each origin overrides those before it."""

    DEFAULT = "default"
    FILE = "file"
    PROFILE = "profile"
    SETTINGS = "settings"
    SESSION = "session"


_SWITCHES = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
_EXAMPLES: Mapping[KnobKind, str] = {
    KnobKind.TABLE: '{"mail:*": ["first", "second"]}',
    KnobKind.TEXTS: '{"mail:*": "text"}',
}
# Integers up to this one are exact as floats.
_EXACT = 2**53

_KINDS: Mapping[object, KnobKind] = {
    bool: KnobKind.SWITCH,
    int: KnobKind.COUNT,
    float: KnobKind.NUMBER,
    str: KnobKind.TEXT,
    tuple[str, ...]: KnobKind.LIST,
    Mapping[str, tuple[str, ...]]: KnobKind.TABLE,
    Mapping[str, str]: KnobKind.TEXTS,
}


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting. `path` is `section.name`; `low` and `high` are inclusive."""

    path: str
    kind: KnobKind
    about: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The allowed values in words: "a whole number, 1 to 100"."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.low is None and self.high is None:
            return str(self.kind)
        if self.high is None:
            return f"{self.kind}, {self.low:g} or more"
        return (
            f"{self.kind}, {self.low:g} to {self.high:g}"
            if self.low is not None
            else (f"{self.kind}, at most {self.high:g}")
        )

    def check(self, value: Any) -> Any:
        """Return the value as the tree stores it. Raises ConfigError if the setting does not allow it."""
        checked = _converted(self.kind, value)
        if checked is None:
            raise self._error(f"must be {self.kind}, not {_shown(value)}")
        if self.choices and checked not in self.choices:
            raise self._error(f"must be one of {', '.join(self.choices)}, not {_shown(value)}")
        if self.low is not None and checked < self.low:
            raise self._error(f"must be at least {self.low:g}, not {_shown(value)}")
        if self.high is not None and checked > self.high:
            raise self._error(f"must be at most {self.high:g}, not {_shown(value)}")
        return checked

    def _error(self, problem: str) -> ConfigError:
        return ConfigError(f"{self.path} {problem}", hint=self.about[:1].upper() + self.about[1:] + ".")


@cache
def knobs() -> tuple[Knob, ...]:
    """Every setting, in tree order."""
    return tuple(
        known
        for section, section_type in get_type_hints(Settings).items()
        for known in knobs_of(section_type, f"{section}.")
    )


def knobs_of(kind: type[Any], prefix: str = "") -> tuple[Knob, ...]:
    """The documented fields of a dataclass, in order; `prefix` comes before their names."""
    hints = get_type_hints(kind)
    return tuple(_knob(field, hints[field.name], prefix) for field in fields(kind))


def _knob(field: Field[Any], hint: Any, prefix: str) -> Knob:
    meta = field.metadata
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    return Knob(
        path=f"{prefix}{field.name}",
        kind=KnobKind.TEXT if choices else _KINDS[hint],
        about=meta["about"],
        low=meta["low"],
        high=meta["high"],
        choices=choices,
    )


def find_knob(path: str) -> Knob:
    """The setting at a path. Raises ConfigError with the nearest paths."""
    by_path = {knob.path: knob for knob in knobs()}
    if path in by_path:
        return by_path[path]
    near = closest(path, list(by_path), limit=1)
    hint = f"Did you mean `{near[0]}`?" if near else "`toolsight config settings` lists every setting."
    raise ConfigError(f"there is no setting '{path}'", hint=hint)


def value_of(settings: Settings, path: str) -> Any:
    """The value at a path."""
    section, _, name = find_knob(path).path.partition(".")
    return getattr(getattr(settings, section), name)


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Return the tree with the given values changed by path. Raises ConfigError if any is not allowed."""
    changed: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        section, _, name = path.partition(".")
        changed.setdefault(section, {})[name] = find_knob(path).check(value)
    sections = {section: replace(getattr(settings, section), **names) for section, names in changed.items()}
    return replace(settings, **sections)


def origins(
    base: Settings,
    profile: Mapping[str, Any],
    file: Mapping[str, Any],
    session: Mapping[str, Any],
) -> dict[str, Origin]:
    """Where each setting's value comes from.

    `base` holds the file's `tool_discovery`; the others are values by path from the profile, the file's
    `settings` and the session.
    """
    layers = (
        (Origin.FILE, differences(base, Settings())),
        (Origin.PROFILE, profile),
        (Origin.SETTINGS, file),
        (Origin.SESSION, session),
    )
    by_path = {knob.path: Origin.DEFAULT for knob in knobs()}
    for origin, values in layers:
        by_path |= dict.fromkeys(values, origin)
    return by_path


def parse_value(knob: Knob, text: str) -> Any:
    """Parse a typed value: JSON, or plain text where that is clear (on, kaman, a list with commas).

    Raises ConfigError if the setting does not allow it.
    """
    value = _json(text)
    if knob.kind is KnobKind.TEXT:
        return knob.check(value if isinstance(value, str) else text)
    if knob.kind is KnobKind.LIST and not isinstance(value, list):
        return knob.check([word.strip() for word in text.split(",") if word.strip()])
    if knob.kind is KnobKind.SWITCH and not isinstance(value, bool):
        return knob.check(_SWITCHES.get(text.strip().casefold(), text))
    if knob.kind in _EXAMPLES and not isinstance(value, dict):
        return _empty_table(knob, text)
    return knob.check(_number_of(text) if value is None else value)


def render_value(value: Any) -> str:
    """Render a value as one printable line that `parse_value` reads back unchanged."""
    if isinstance(value, str):
        return value if value.isprintable() and not isinstance(_json(value), str) else json.dumps(value)
    if isinstance(value, tuple | list):
        plain = ", ".join(value)
        is_plain = plain.isprintable() and not isinstance(_json(plain), list)
        listed = [word.strip() for word in plain.split(",") if word.strip()]
        return plain if is_plain and listed == list(value) else json.dumps(list(value))
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return json.dumps(value)


def differences(settings: Settings, base: Settings) -> dict[str, Any]:
    """The values of `settings` that differ from `base`, by path."""
    return {
        knob.path: value_of(settings, knob.path)
        for knob in knobs()
        if value_of(settings, knob.path) != value_of(base, knob.path)
    }


def _empty_table(knob: Knob, text: str) -> Any:
    if text.strip():
        hint = f"Write it as JSON: {_EXAMPLES[knob.kind]}."
        raise ConfigError(f"{knob.path} must be {knob.kind}, not {_shown(text)}", hint=hint)
    return knob.check({})


def _number_of(text: str) -> float | str:
    """Accept ".5" too: JSON requires a digit before the point, people leave it out."""
    try:
        return float(text)
    except ValueError:
        return text


def _json(text: str) -> Any:
    """The value of a JSON text, or None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _converted(kind: KnobKind, value: Any) -> Any:
    """The value as stored, or None if it has another type; a number is not a boolean, nor text a number."""
    if kind is KnobKind.SWITCH:
        return value if isinstance(value, bool) else None
    if kind in (KnobKind.COUNT, KnobKind.NUMBER):
        return _number(value, whole=kind is KnobKind.COUNT)
    if kind is KnobKind.TEXT:
        return value if isinstance(value, str) else None
    if kind is KnobKind.LIST:
        return _texts(value)
    return _table(value, lists=kind is KnobKind.TABLE)


def _number(value: Any, *, whole: bool) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if whole:
        return int(value) if value == value // 1 else None
    try:
        return float(value) if abs(value) < float("inf") else None
    except OverflowError:
        return None


def _texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


def _table(value: Any, *, lists: bool) -> dict[str, Any] | None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return None
    if lists:
        texts = {key: _texts(item) for key, item in value.items()}
        return None if None in texts.values() else texts
    return dict(value) if all(isinstance(item, str) for item in value.values()) else None


def _shown(value: Any) -> str:
    try:
        return compact(value)[:80]
    except (TypeError, ValueError):
        return type(value).__name__
