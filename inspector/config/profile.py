"""Profiles: named values of settings, each after a published design; they stand in `profiles.toml`."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from inspector.config.setting import find_knob, with_values
from inspector.core.error import ConfigError
from inspector.core.settings import Settings
from inspector.core.text import closest

DEFAULT_PROFILE = "toolsight"


class Profile(Struct, frozen=True):
    """A named set of values that override the defaults; `values` is keyed by setting path."""

    name: str
    title: str
    about: str
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        """The values that differ from the defaults."""
        return {path: one for path, one in self.values.items() if one != find_knob(path).default}


def _profile(name: str, told: Mapping[str, Any]) -> Profile:
    given = told.get("values", {}).items()
    values = {path: tuple(one) if isinstance(one, list) else one for path, one in given}
    return Profile(name, told["title"], told["about"], values)


_TEXTS = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8"))
PROFILES: Mapping[str, Profile] = {name: _profile(name, told) for name, told in _TEXTS.items()}
CORE_TOOLS: tuple[str, ...] = PROFILES["kaman"].values["binding.always_include"]
"""Tools for memory, knowledge and planning, by their ids, which the bounded profile keeps and lets repeat."""


def find_profile(name: str) -> Profile:
    """The profile of that name. Raises ConfigError with the nearest names."""
    if name in PROFILES:
        return PROFILES[name]
    near = closest(name, list(PROFILES), limit=1) or tuple(PROFILES)
    raise ConfigError(f"there is no profile '{name}'", hint=f"Profiles: {', '.join(near)}.")


def profile_settings(
    name: str, base: Settings | None = None, values: Mapping[str, Any] | None = None
) -> Settings:
    """A profile's settings: its values override `base`, and `values` override both. Raises ConfigError."""
    return with_values(base or Settings(), {**find_profile(name).values, **(values or {})})
