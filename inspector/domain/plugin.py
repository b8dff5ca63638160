"""A plugin of a marketplace: a server that could be installed, and what its publisher says of it.

Semantic tool discovery, section 10.1. Nobody checks what a publisher says: all texts here are hostile.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from inspector.domain.error import ConfigError
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.number import money
from inspector.domain.server import ServerSpec

_UNNAMEABLE = re.compile(r"[^A-Za-z0-9_-]+")
_SERVER_NAME = 40
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_.-]+)\}")


class PackageKind(StrEnum):
    """How a plugin is installed: by which program, or by an address alone."""

    NPM = "npm"
    PYPI = "pypi"
    OCI = "oci"
    MODULE = "module"
    REMOTE = "remote"


_PINS: Mapping[PackageKind, tuple[str, ...]] = {
    PackageKind.NPM: ("@",),
    PackageKind.PYPI: ("@", "==", "["),
    PackageKind.OCI: (":", "@"),
}


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that the server wants. In an argument or address, `{name}` stands for one of the place text."""

    name: str
    description: str = ""
    required: bool = False
    secret: bool = False
    default: str = ""
    place: Literal["env", "header", "text"] = "env"


@dataclass(frozen=True, slots=True)
class PluginTool:
    """One tool of a plugin, as its publisher describes it."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the publisher says that the server reaches, in words; "" where nothing is said."""

    files: str = ""
    network: str = ""
    environment: str = ""


@dataclass(frozen=True, slots=True)
class Package:
    """What would be started: a `command` with `args`, or a `url`.

    `options` are those of `args` that the publisher passes to the runtime itself (npx, uvx, docker).
    `obstacle` says why it cannot be installed here, "" if it can.
    """

    kind: PackageKind
    identifier: str
    version: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    variables: tuple[Variable, ...] = ()
    options: tuple[str, ...] = ()
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry of a catalog. `price` is in US dollars a month, `rating` from 0 to 5; None if nobody says.

    `publisher` is the organisation that says so itself, `origin` the catalog that the entry is from.
    """

    name: str
    description: str
    package: Package
    category: str = ""
    price: float | None = None
    rating: float | None = None
    publisher: str = ""
    origin: str = ""
    version: str = ""
    tools: tuple[PluginTool, ...] = ()
    permissions: Permissions = Permissions()

    @property
    def label(self) -> str:
        """The last part of its name, which registries put behind a namespace."""
        return self.name.rpartition("/")[2] or self.name

    def is_installed(self, specs: Collection[ServerSpec]) -> bool:
        """Whether a configured server is this one: by package, command line or address, not by its name."""
        return any(map(self._is, specs))

    def _is(self, spec: ServerSpec) -> bool:
        package = self.package
        if package.kind is PackageKind.REMOTE:
            return bool(package.url) and spec.url.rstrip("/") == package.url.rstrip("/")
        if package.kind is PackageKind.MODULE:
            return bool(package.args) and spec.args[: len(package.args)] == package.args
        starts = tuple(package.identifier + pin for pin in _PINS[package.kind])
        return any(word == package.identifier or word.startswith(starts) for word in spec.argv)


def price_text(price: float | None) -> str:
    """The price for people: free, an amount a month, or "" if nobody says."""
    if price is None:
        return ""
    return "free" if price == 0 else f"{money(price, 2)}/month"


def rating_text(rating: float | None) -> str:
    """The rating out of five, or "" if nobody says."""
    return "" if rating is None else f"{rating:.1f}"


def server_name(plugin: Plugin, taken: Collection[str]) -> str:
    """A name for the plugin's server that no configured one has."""
    plain = _UNNAMEABLE.sub("-", plugin.label).strip("-")[:_SERVER_NAME] or "plugin"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name


def missing_values(plugin: Plugin, values: Mapping[str, str]) -> tuple[Variable, ...]:
    """The variables that have to be given and are not."""
    return tuple(
        one
        for one in plugin.package.variables
        if one.required and not (values.get(one.name, "").strip() or one.default)
    )


def server_entry(plugin: Plugin, values: Mapping[str, str]) -> JsonObject:
    """The entry of `mcpServers` that starts the plugin with these values of its variables, by name.

    Raises ConfigError if it cannot be installed, lacks a value, or has no variable of a given name.
    """
    package = plugin.package
    if package.obstacle:
        raise ConfigError(f"{plugin.name} cannot be installed: {package.obstacle}")
    _require_known(plugin, values)
    if missing := missing_values(plugin, values):
        names = ", ".join(one.name for one in missing)
        raise ConfigError(f"{plugin.name} needs {names}", hint=f"Give it as {missing[0].name}=VALUE.")
    given = {one.name: values.get(one.name) or one.default for one in package.variables}
    texts = {one.name: given[one.name] for one in package.variables if one.place == "text"}
    env = {one.name: given[one.name] for one in package.variables if one.place == "env" and given[one.name]}
    if package.kind is PackageKind.REMOTE:
        headers = {
            one.name: given[one.name]
            for one in package.variables
            if one.place == "header" and given[one.name]
        }
        return {
            "type": "http",
            "url": _filled(package.url, texts),
            **({"headers": headers} if headers else {}),
        }
    entry: JsonObject = {
        "command": package.command,
        "args": [_filled(argument, texts) for argument in package.args],
        **({"env": env} if env else {}),
    }
    return entry


def _require_known(plugin: Plugin, values: Mapping[str, str]) -> None:
    known = [one.name for one in plugin.package.variables]
    for name in values:
        if name not in known:
            hint = f"It takes: {', '.join(known)}." if known else "It takes none."
            raise ConfigError(f"{plugin.name} has no variable {name}", hint=hint)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with the values in place of their names; other braces stay as they are."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1]) or found[0], text)
