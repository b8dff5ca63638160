"""Plugins of a marketplace: what a catalog may say of them, how each is started, its entry of a file."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from inspector.core.error import ConfigError
from inspector.core.package_run import PackageKind, package_run
from inspector.core.server import ServerSpec
from inspector.schema.json_value import JsonObject

_UNNAMEABLE = re.compile(r"[^A-Za-z0-9_-]+")
_SERVER_NAME = 40
_REFERENCE = "${"
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_.-]+)\}")
LONGEST_NAME = 200
LONGEST_TEXT = 4_000
LONGEST_ARGUMENT = 4_000
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,199}")
_RUNNABLE = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*")
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]*")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]*")
_TAG = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}")


class Variable(Struct, frozen=True):
    """A value that the server wants. In an argument or address, `{name}` stands for one of the place text."""

    name: str
    description: str = ""
    required: bool = False
    secret: bool = False
    default: str = ""
    place: Literal["env", "header", "text"] = "env"


class PluginTool(Struct, frozen=True):
    """One tool of a plugin, as its publisher describes it."""

    name: str
    description: str = ""


class Package(Struct, frozen=True):
    """What would be started: a `command` with `args`, or a `url`.

    `kind`, `identifier` and `version` are its publisher's words; what is run is in the command alone.
    `obstacle` says why it cannot be installed here, "" if it can.
    """

    kind: PackageKind
    identifier: str
    version: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    variables: tuple[Variable, ...] = ()
    obstacle: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.command, *self.args) if self.command else ()

    @property
    def label(self) -> str:
        """The package that the command runs, or that cannot be run here; "" for any other command."""
        if not self.command:
            return " ".join(filter(None, (self.kind, self.identifier, self.version)))
        run = package_run(self.argv)
        return run.label if run is not None else ""


class Plugin(Struct, frozen=True):
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
        run = package_run(package.argv)
        if run is not None and run.name:
            return run.is_in(spec.argv, but=_is_open)
        if package.kind is PackageKind.MODULE and package.args:
            return _fits(package.args, spec.args)
        return bool(package.command) and _fits(package.argv, spec.argv)


def _fits(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the others begin with these words, whatever stands for a value of a variable."""
    return len(words) <= len(others) and all(
        one == other or _is_open(one) for one, other in zip(words, others, strict=False)
    )


def _is_open(word: str) -> bool:
    return _PLACEHOLDER.search(word) is not None


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
        raise ConfigError(f"{plugin.name} needs {names}", hint=f"Specify it as {missing[0].name}=VALUE.")
    given = {one.name: values.get(one.name) or one.default for one in package.variables}
    texts = {one.name: given[one.name] for one in package.variables if one.place == "text"}
    env, headers = (
        {one.name: given[one.name] for one in package.variables if one.place == place and given[one.name]}
        for place in ("env", "header")
    )
    if package.kind is PackageKind.REMOTE:
        url = _filled(package.url, texts, values)
        return {"type": "http", "url": url, **({"headers": headers} if headers else {})}
    entry: JsonObject = {
        "command": package.command,
        "args": [_filled(argument, texts, values) for argument in package.args],
        **({"env": env} if env else {}),
    }
    return entry


def concealed_values(plugin: Plugin, values: Mapping[str, str], spec: ServerSpec) -> dict[str, str]:
    """What the server is passed of the person's own values for secret variables, by name.

    Of a reference to a variable of the person's, the words count that it became part of. A default is no
    secret: it is the catalog's word, which must not hide what is started.
    """
    package, found = plugin.package, dict[str, str]()
    for one in package.variables:
        value = values.get(one.name, "")
        if not one.secret or value == one.default:
            continue
        if _REFERENCE not in value:
            found[one.name] = value
            continue
        places = zip((*package.args, package.url), (*spec.args, spec.url), strict=False)
        became = [word for place, word in places if f"{{{one.name}}}" in place]
        became += [spec.env.get(one.name, ""), spec.headers.get(one.name, "")]
        found |= {f"{one.name}.{number}": word for number, word in enumerate(became)}
    return {name: value for name, value in found.items() if value and _REFERENCE not in value}


def _require_known(plugin: Plugin, values: Mapping[str, str]) -> None:
    known = [one.name for one in plugin.package.variables]
    for name in values:
        if name not in known:
            hint = f"Its variables: {', '.join(known)}." if known else "It has no variables."
            raise ConfigError(f"{plugin.name} has no variable {name}", hint=hint)


def _filled(text: str, values: Mapping[str, str], own: Mapping[str, str]) -> str:
    """The text with the values in place of their names; other braces stay as they are.

    Raises ConfigError if that makes a reference such as `${HOME}` that is in none of the person's `own`
    values: a catalog could ask for it in pieces.
    """
    filled = _PLACEHOLDER.sub(lambda found: values.get(found[1]) or found[0], text)
    meant = sum(
        own.get(found[1], "").count(_REFERENCE) for found in _PLACEHOLDER.finditer(text) if found[1] in values
    )
    if filled.count(_REFERENCE) > meant:
        raise ConfigError(
            f"{text} would become a reference to one of your variables ({_REFERENCE}…)",
            hint="Nothing was changed. If you want such a reference, write all of it in one value.",
        )
    return filled


# Strangers write catalogs: these look at each text before it reaches a command line or a configuration.


def checked_name(text: str, what: str) -> str:
    """A name on one line. Raises ConfigError."""
    if not text.strip() or len(text) > LONGEST_NAME or _CONTROL.search(text) or ":" in text:
        raise ConfigError(f"{what} must have 1 to {LONGEST_NAME} characters on one line, without a colon")
    return text


def prose(text: str) -> str:
    """A text for reading, cut where it is far too long."""
    return text[:LONGEST_TEXT]


def checked_argument(text: str, what: str) -> str:
    """A text that goes to a command line, an address or a variable. Raises ConfigError.

    A reference such as `${HOME}` is refused: it would be replaced by a value of the person's own.
    """
    if len(text) > LONGEST_ARGUMENT:
        raise ConfigError(f"{what} is longer than {LONGEST_ARGUMENT:,} characters")
    if _CONTROL.search(text):
        raise ConfigError(f"{what} contains a control character")
    if _REFERENCE in text:
        raise ConfigError(f"{what} refers to one of your variables ({_REFERENCE}…)")
    return text


def checked_arguments(texts: Iterable[str], what: str) -> tuple[str, ...]:
    """A command line's arguments. Raises ConfigError."""
    return tuple(checked_argument(text, f"{what}[{index}]") for index, text in enumerate(texts))


def checked_variable(text: str) -> str:
    """A variable's name. Raises ConfigError."""
    if not _VARIABLE.fullmatch(text):
        raise ConfigError("a variable does not have a valid name")
    return text


def checked_package(identifier: str, version: str, *, image: bool = False) -> str:
    """A package's name, or an image's, that no runtime can take for an option or an address.

    Raises ConfigError, also for a version that is no version.
    """
    if len(identifier) > LONGEST_NAME or not (_IMAGE if image else _RUNNABLE).fullmatch(identifier):
        raise ConfigError("its package name is not valid")
    if version and (len(version) > LONGEST_NAME or not (_TAG if image else _VERSION).fullmatch(version)):
        raise ConfigError("its version is not a valid tag" if image else "its version is not a valid version")
    return identifier
