"""The settings by their dotted paths, with documentation and checks."""

import json
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct
from msgspec.structs import replace

from inspector.core.error import ConfigError
from inspector.core.settings import SERVED, Settings
from inspector.core.text import closest
from inspector.schema.json_value import compact, read_value


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
_EXAMPLES = {KnobKind.TABLE: '{"mail:*": ["first", "second"]}', KnobKind.TEXTS: '{"mail:*": "text"}'}
_ANY = Meta()
_KINDS: Mapping[object, KnobKind] = {
    bool: KnobKind.SWITCH,
    int: KnobKind.COUNT,
    float: KnobKind.NUMBER,
    str: KnobKind.TEXT,
    Mapping[str, tuple[str, ...]]: KnobKind.TABLE,
    Mapping[str, str]: KnobKind.TEXTS,
}


class Knob(Struct, frozen=True):
    """One setting. `path` is its section, a dot and its name; `low` and `high` are inclusive."""

    path: str
    kind: KnobKind
    about: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def default(self) -> Any:
        """The value that nothing else sets."""
        return value_of(Settings(), self.path)

    @property
    def allowed(self) -> str:
        """The allowed values in words: "a whole number, 1 to 100"."""
        if self.choices:
            return self._wanted
        end = "or more" if self.high is None else f"to {self.high:g}"
        return str(self.kind) if self.low is None else f"{self.kind}, {self.low:g} {end}"

    @property
    def _wanted(self) -> str:
        some = "any" if self.kind is KnobKind.LIST else "one"
        return f"{some} of {', '.join(self.choices)}"

    def check(self, value: Any) -> Any:
        """Return the value as the tree stores it. Raises ConfigError if the setting does not allow it."""
        checked = _converted(self.kind, value)
        if checked is None:
            wanted = str(self.kind)
        elif self.choices and not set(self.choices).issuperset(_all(checked)):
            wanted = self._wanted
        elif self.low is not None and checked < self.low:
            wanted = f"at least {self.low:g}"
        elif self.high is not None and checked > self.high:
            wanted = f"at most {self.high:g}"
        else:
            return checked
        hint = f"{self.about[:1].upper()}{self.about[1:]}."
        raise ConfigError(f"{self.path} must be {wanted}, not {_shown(value)}", hint=hint)


HEADINGS: Mapping[str, str] = {
    "discovery": "Search",
    "manifest": "Manifest",
    "binding": "Binding and eviction",
    "gate": "Per-turn gate",
    "access": "Permissions and preconditions",
    "guard": "Guards against loops and redundant searches",
    "breaker": "Circuit breakers for failing tools",
    "retry": "Retries of transient failures",
    "fallback": "Substitutes for unavailable tools",
    "budget": "Window and budget",
    "chat": "Conversation",
    "inertia": "Next tools",
    "record": "Recorded sessions",
    "consent": "Consent to start servers",
    "client": "Client capabilities declared to servers",
    "marketplace": "Marketplace",
    "federation": "Other registries",
}
"""The heading of each section of settings, for people."""


@cache
def knobs() -> tuple[Knob, ...]:
    """Every setting, in tree order."""
    return tuple(
        known
        for section, section_type in get_type_hints(Settings).items()
        for known in knobs_of(section_type, f"{section}.")
    )


def knobs_of(kind: type[Struct], prefix: str = "") -> tuple[Knob, ...]:
    """The documented fields of a Struct, in order; `prefix` comes before their names."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_knob(f"{prefix}{name}", *get_args(hints[name])) for name in kind.__struct_fields__)


def _knob(path: str, hint: Any, about: str, bounds: Meta = _ANY) -> Knob:
    one = get_args(hint)[0] if get_origin(hint) is tuple else hint
    choices = get_args(one) if get_origin(one) is Literal else ()
    kind = KnobKind.TEXT if choices else _KINDS[one]
    return Knob(path, kind if one is hint else KnobKind.LIST, about, bounds.ge, bounds.le, choices)


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
    for path, value in values.items():
        checked = find_knob(path).check(value)
        section, _, name = path.partition(".")
        changed = replace(getattr(settings, section), **{name: checked})
        settings = replace(settings, **{section: changed})
    return settings


def origins(
    base: Settings, profile: Mapping[str, Any], file: Mapping[str, Any], session: Mapping[str, Any]
) -> dict[str, Origin]:
    """Where each setting's value comes from.

    `base` holds the file's `tool_discovery`; the others are values by path from the profile, the file's
    `settings` and the session.
    """
    return {
        **{knob.path: Origin.DEFAULT for knob in knobs()},
        **dict.fromkeys(differences(base, Settings()), Origin.FILE),
        **dict.fromkeys(profile, Origin.PROFILE),
        **dict.fromkeys(file, Origin.SETTINGS),
        **dict.fromkeys(session, Origin.SESSION),
    }


def parse_value(knob: Knob, text: str) -> Any:
    """Parse a typed value: JSON, or plain text where that is clear (on, kaman, a list with commas).

    Raises ConfigError if the setting does not allow it.
    """
    value = read_value(text)
    if knob.kind is KnobKind.TEXT:
        return knob.check(value if isinstance(value, str) else text)
    if knob.kind is KnobKind.LIST and not isinstance(value, list):
        return knob.check([word.strip() for word in text.split(",") if word.strip()])
    if knob.kind is KnobKind.SWITCH and not isinstance(value, bool):
        return knob.check(_SWITCHES.get(text.strip().casefold(), text))
    if knob.kind in _EXAMPLES and not isinstance(value, dict):
        if text.strip():
            hint = f"Write it as JSON: {_EXAMPLES[knob.kind]}."
            raise ConfigError(f"{knob.path} must be {knob.kind}, not {_shown(text)}", hint=hint)
        return knob.check({})
    if value is None:
        # JSON requires a digit before the point of ".5", people leave it out.
        with suppress(ValueError):
            return knob.check(float(text))
    return knob.check(text if value is None else value)


def render_value(value: Any) -> str:
    """Render a value as one printable line that `parse_value` reads back unchanged."""
    if isinstance(value, str):
        return value if value.isprintable() and not isinstance(read_value(value), str) else json.dumps(value)
    if isinstance(value, tuple | list):
        plain = ", ".join(value)
        is_plain = plain.isprintable() and not isinstance(read_value(plain), list)
        listed = [word.strip() for word in plain.split(",") if word.strip()]
        return plain if is_plain and listed == list(value) else json.dumps(list(value))
    # Up to here, integers are exact as floats.
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return json.dumps(value)


def anchored(folder: Path, knob_path: str, value: Any) -> Any:
    """Resolve the file names in a setting's value against a folder; other values are unchanged."""
    if knob_path in ("access.predicates", "access.policy", "inertia.seed", "federation.peers"):
        return str(folder / value) if value else value
    if knob_path in ("discovery.evaluation", "discovery.skills", "marketplace.catalogs"):
        return tuple(name if name == SERVED else str(folder / name) for name in value)
    return value


def differences(settings: Settings, base: Settings) -> dict[str, Any]:
    """The values of `settings` that differ from `base`, by path."""
    return {
        knob.path: value_of(settings, knob.path)
        for knob in knobs()
        if value_of(settings, knob.path) != value_of(base, knob.path)
    }


def _converted(kind: KnobKind, value: Any) -> Any:
    """The value as stored, or None if it has another type; a number is not a boolean, nor text a number."""
    match kind:
        case KnobKind.SWITCH:
            return value if isinstance(value, bool) else None
        case KnobKind.COUNT | KnobKind.NUMBER:
            return _number(value, whole=kind is KnobKind.COUNT)
        case KnobKind.TEXT:
            return value if isinstance(value, str) else None
        case KnobKind.LIST:
            return _texts(value)
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return None
    if kind is KnobKind.TEXTS:
        return dict(value) if all(isinstance(item, str) for item in value.values()) else None
    table = {key: _texts(item) for key, item in value.items()}
    return None if None in table.values() else table


def _number(value: Any, *, whole: bool) -> float | int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if whole:
        return int(value) if value == value // 1 else None
    with suppress(OverflowError):
        return float(value) if abs(value) < float("inf") else None
    return None


def _all(checked: Any) -> tuple[Any, ...]:
    """What was chosen: one value or several."""
    return checked if isinstance(checked, tuple) else (checked,)


def _texts(value: Any) -> tuple[str, ...] | None:
    is_texts = isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return tuple(value) if is_texts else None


def _shown(value: Any) -> str:
    try:
        return compact(value)[:80]
    except (TypeError, ValueError):
        return type(value).__name__
