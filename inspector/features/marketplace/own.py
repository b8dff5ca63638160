"""Toolsight's own catalog format: what an organisation publishes, a plugin an entry."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from inspector.config.problem import NullAsAbsent, validated
from inspector.core.error import ConfigError
from inspector.core.package_run import PackageKind
from inspector.features.marketplace.plugin import (
    Package,
    Plugin,
    PluginTool,
    Variable,
    checked_argument,
    checked_arguments,
    checked_name,
    checked_package,
    checked_variable,
    prose,
)

_PIN = {PackageKind.NPM: "@", PackageKind.PYPI: "@", PackageKind.OCI: ":"}
# A colon before a slash belongs to a registry's port.
_TAGGED = re.compile(r"@|:[^/]*$")
RUNTIMES = {PackageKind.NPM: "npx", PackageKind.PYPI: "uvx", PackageKind.OCI: "docker"}


def command_line(
    kind: PackageKind,
    identifier: str,
    version: str,
    *,
    options: Sequence[str] = (),
    args: Sequence[str] = (),
    env: Sequence[str] = (),
) -> tuple[str, tuple[str, ...]]:
    """The command and its arguments; `options` are for the runtime, `env` the variables it passes on.

    An image that has a tag or digest keeps it.
    """
    pinned = identifier
    if version and not (kind is PackageKind.OCI and _TAGGED.search(identifier)):
        pinned += f"{_PIN[kind]}{version}"
    before: tuple[str, ...] = ()
    if kind is PackageKind.NPM:
        before = () if "-y" in options or "--yes" in options else ("-y",)
    elif kind is PackageKind.OCI:
        passed = tuple(word for name in env for word in ("-e", name))
        before = ("run", "-i", "--rm", *passed)
    return RUNTIMES[kind], (*before, *options, pinned, *args)


_Price = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
_Rating = Annotated[float, Field(ge=0, le=5, allow_inf_nan=False)]


class _ToolModel(NullAsAbsent):
    name: str
    description: str = ""


class _VariableModel(NullAsAbsent):
    name: str
    description: str = ""
    required: bool = False
    secret: bool = False
    default: str = ""
    place: Literal["env", "header", "text"] = "env"


class _PackageModel(NullAsAbsent):
    kind: Literal["npm", "pypi", "oci", "module", "remote"]
    identifier: str = ""
    version: str = ""
    command: str = ""
    args: list[str] = Field(default_factory=list)
    url: str = ""
    variables: list[_VariableModel] = Field(default_factory=list)
    obstacle: str = ""


class _PluginModel(NullAsAbsent):
    name: str
    description: str = ""
    category: str = ""
    price: _Price | None = None
    rating: _Rating | None = None
    publisher: str = ""
    version: str = ""
    tools: list[_ToolModel] = Field(default_factory=list)
    package: _PackageModel


class CatalogModel(NullAsAbsent):
    """A whole file; its plugins are checked one by one."""

    toolsight_marketplace: Literal[1] = Field(description="Write 1, the version of this format.")
    publisher: str = ""
    plugins: list[Any]


def own_plugins(
    data: Mapping[str, Any], place: str, origin: str, variables: Mapping[str, str]
) -> Iterator[Plugin | ConfigError]:
    """Each plugin of the file, or what is wrong with it; `variables` are replaced in its command line.

    Raises ConfigError if the file is no catalog.
    """
    model = validated(CatalogModel, data, place)
    for index, entry in enumerate(model.plugins):
        try:
            checked = validated(_PluginModel, entry, place, at=("plugins", index))
            yield _plugin(checked, model.publisher, origin, variables)
        except ConfigError as error:
            yield error


def _plugin(model: _PluginModel, publisher: str, origin: str, variables: Mapping[str, str]) -> Plugin:
    name = checked_name(model.name, "a plugin's name")
    try:
        tools = {checked_name(one.name, "a tool's name"): prose(one.description) for one in model.tools}
        return Plugin(
            name,
            prose(model.description),
            _package(model.package, variables),
            category=prose(model.category),
            price=model.price,
            rating=model.rating,
            publisher=prose(model.publisher or publisher),
            origin=origin,
            version=prose(model.version or model.package.version),
            tools=tuple(PluginTool(*pair) for pair in tools.items()),
        )
    except ConfigError as error:
        raise ConfigError(f"{name}: {error.message}", hint=error.hint) from error


def _package(model: _PackageModel, variables: Mapping[str, str]) -> Package:
    kind = PackageKind(model.kind)
    given = tuple(_variable(one) for one in model.variables)
    # Only Toolsight's own catalog comes with any: they name places of this machine.
    command, *args = (_replaced(one, variables) for one in (model.command, *model.args))
    if kind in RUNTIMES and not command and not model.obstacle:
        checked_package(model.identifier, model.version, image=kind is PackageKind.OCI)
        env = [one.name for one in given if one.place == "env"]
        checked = checked_arguments(args, "args")
        command, filled = command_line(kind, model.identifier, model.version, args=checked, env=env)
        args = list(filled)
    if not model.obstacle and not (model.url if kind is PackageKind.REMOTE else command):
        raise ConfigError(
            f"a package of kind {kind} needs {'a url' if kind is PackageKind.REMOTE else 'a command'}"
        )
    return Package(
        kind,
        checked_argument(model.identifier, "identifier"),
        checked_argument(model.version, "version"),
        command=checked_argument(command, "command"),
        args=checked_arguments(args, "args"),
        url=checked_argument(model.url, "url"),
        variables=given,
        obstacle=prose(model.obstacle),
    )


def _variable(model: _VariableModel) -> Variable:
    name = checked_variable(model.name)
    default = checked_argument(model.default, f"the default of {name}")
    return Variable(name, prose(model.description), model.required, model.secret, default, model.place)


def _replaced(given: str, variables: Mapping[str, str]) -> str:
    for name, value in variables.items():
        given = given.replace(f"${{{name}}}", value)
    return given
