"""Reads files of plugins of any known format, and keeps what was imported."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins
from pydantic import BaseModel, ConfigDict, Field

from inspector.config.file import MEGABYTE, load_value, unusable
from inspector.config.problem import validated
from inspector.core.error import ConfigError
from inspector.core.package_run import PackageKind
from inspector.core.redaction import private_folder, replacing
from inspector.features.marketplace.own import RUNTIMES, command_line, own_plugins
from inspector.features.marketplace.plugin import (
    Package,
    Plugin,
    Variable,
    checked_argument,
    checked_arguments,
    checked_name,
    checked_package,
    checked_variable,
    prose,
)

# The format is read as published from 2025-09-16 to 2025-12-11: versions optional since 2025-10-11,
# variables in addresses of remotes since 2025-12-11 (docs/marketplace.md has the sources). What is not known
# here is ignored: registries add keys.

_OFFICIAL = "io.modelcontextprotocol.registry/official"
_HOMES = {
    PackageKind.NPM: ("https://registry.npmjs.org",),
    PackageKind.PYPI: ("https://pypi.org", "https://pypi.org/simple"),
    PackageKind.OCI: (),
}
_PREFERRED = (PackageKind.PYPI, PackageKind.NPM, PackageKind.OCI)
_LATEST = "latest"


class _Lenient(BaseModel):
    """Exact types of what is read; other keys are the registry's business."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)


class _Input(_Lenient):
    description: str | None = None
    isRequired: bool = False  # noqa: N815 - the format's own names
    isSecret: bool = False  # noqa: N815
    value: str | None = None
    default: str | None = None
    variables: dict[str, "_Input"] = Field(default_factory=dict)
    name: str = ""
    type: str = "positional"
    valueHint: str = ""  # noqa: N815


class _Transport(_Lenient):
    type: str = "stdio"
    url: str = ""
    headers: list[_Input] = Field(default_factory=list)
    variables: dict[str, _Input] = Field(default_factory=dict)


class _Package(_Lenient):
    registryType: str  # noqa: N815
    identifier: str
    version: str = ""
    registryBaseUrl: str = ""  # noqa: N815
    runtimeHint: str = ""  # noqa: N815
    transport: _Transport = Field(default_factory=_Transport)
    runtimeArguments: list[_Input] = Field(default_factory=list)  # noqa: N815
    packageArguments: list[_Input] = Field(default_factory=list)  # noqa: N815
    environmentVariables: list[_Input] = Field(default_factory=list)  # noqa: N815


class _Server(_Lenient):
    name: str
    description: str = ""
    version: str = ""
    status: str = "active"
    packages: list[_Package] = Field(default_factory=list)
    remotes: list[_Transport] = Field(default_factory=list)


def registry_plugins(entries: Sequence[Any], place: str, origin: str) -> Iterator[Plugin | ConfigError]:
    """Each server of a registry in its latest version, or what is wrong with the entry.

    Deleted and deprecated servers, and older versions where the registry says which is the latest, are left
    out without a word: they are no mistakes.
    """
    for index, entry in enumerate(entries):
        try:
            server, official = _parts(entry, place, index)
            if official.get("isLatest", True) and official.get("status", server.status) == "active":
                yield _plugin(server, origin)
        except ConfigError as error:
            yield error


def _parts(entry: Any, place: str, index: int) -> tuple[_Server, Mapping[str, Any]]:
    """The server and what the registry itself says of it, wherever the version of its answer keeps that."""
    if not isinstance(entry, Mapping):
        raise ConfigError(f"{place}: servers[{index}] is not an object")
    server = entry.get("server", entry)
    meta = entry.get("_meta")
    official = meta.get(_OFFICIAL) if isinstance(meta, Mapping) else None
    model = validated(_Server, server, place, at=("servers", index))
    return model, official if isinstance(official, Mapping) else {}


def _plugin(server: _Server, origin: str) -> Plugin:
    name = checked_name(server.name, "a server's name")
    try:
        return Plugin(
            name,
            prose(server.description),
            _best_package(server),
            publisher=name.rpartition("/")[0],
            origin=origin,
            version=prose(server.version),
        )
    except ConfigError as error:
        raise ConfigError(f"{name}: {error.message}", hint=error.hint) from error


def _best_package(server: _Server) -> Package:
    """The package that can be started here, else the address, else the first one with what is in the way."""
    remotes = [one for one in server.remotes if one.type in ("streamable-http", "http")]
    choices = [_package(one) for one in server.packages] + [_remote(one) for one in remotes]
    usable = [one for one in choices if not one.obstacle]
    order = {kind: place for place, kind in enumerate(_PREFERRED)}
    if usable:
        return min(usable, key=lambda one: order.get(one.kind, len(order)))
    if choices:
        return choices[0]
    why = "it offers only the SSE transport" if server.remotes else "it has neither a package nor an address"
    return Package(PackageKind.REMOTE, "", obstacle=why)


def _package(model: _Package) -> Package:
    try:
        kind = PackageKind(model.registryType)
    except ValueError:
        why = f"packages of kind {model.registryType} are not supported"
        return Package(PackageKind.MODULE, prose(model.identifier), obstacle=prose(why))
    if kind not in RUNTIMES:
        raise ConfigError(f"a package of kind {kind} cannot come from a registry")
    inputs: list[Variable] = []
    options = checked_arguments(_words(model.runtimeArguments, inputs), "runtimeArguments")
    args = checked_arguments(_words(model.packageArguments, inputs), "packageArguments")
    env = tuple(_variable(one, "env") for one in model.environmentVariables)
    version = "" if model.version == _LATEST else model.version
    image = kind is PackageKind.OCI
    identifier = checked_package(model.identifier, version, image=image)
    command, line = command_line(
        kind, identifier, version, options=options, args=args, env=[one.name for one in env]
    )
    return Package(
        kind,
        identifier,
        version,
        command=command,
        args=line,
        variables=(*env, *inputs),
        obstacle=_obstacle(kind, model),
    )


def _obstacle(kind: PackageKind, model: _Package) -> str:
    home = model.registryBaseUrl.rstrip("/")
    if home and _HOMES[kind] and home not in _HOMES[kind]:
        return prose(f"its package is at {home}, where {RUNTIMES[kind]} does not look")
    if model.runtimeHint and model.runtimeHint not in (
        RUNTIMES[kind],
        "uv" if kind is PackageKind.PYPI else "",
    ):
        return prose(f"it needs {model.runtimeHint}, but Toolsight would run it with {RUNTIMES[kind]}")
    if model.transport.type != "stdio":
        return prose(f"its package uses {model.transport.type}, so you have to start it by hand")
    return ""


def _remote(model: _Transport) -> Package:
    inputs = [_variable(one, "text", name) for name, one in model.variables.items()]
    headers = [_variable(one, "header") for one in model.headers]
    url = checked_argument(model.url, "url")
    obstacle = "" if url.startswith(("https://", "http://")) else "its address is neither http nor https"
    return Package(PackageKind.REMOTE, url, url=url, variables=(*headers, *inputs), obstacle=obstacle)


def _words(arguments: Sequence[_Input], inputs: list[Variable]) -> Iterator[str]:
    """The words of the arguments; what a person has to give is noted in `inputs`, with `{name}` for it.

    What may be left out is left out.
    """
    for index, one in enumerate(arguments):
        value = one.value if one.value is not None else one.default
        inputs += [_variable(each, "text", name) for name, each in one.variables.items()]
        if value is None and not one.isRequired:
            continue
        if value is None:
            name = one.valueHint or one.name.lstrip("-") or f"argument{index + 1}"
            inputs.append(_variable(one, "text", name))
            value = f"{{{name}}}"
        if one.type == "named":
            yield one.name
        yield value


def _variable(one: _Input, place: Any, name: str = "") -> Variable:
    named = checked_variable(name or one.name)
    value = one.value if one.value is not None else one.default
    return Variable(
        named,
        prose(one.description or ""),
        one.isRequired,
        one.isSecret,
        checked_argument(value or "", f"the value of {named}"),
        place,
    )


MAX_BYTES = 64 * MEGABYTE
_KIND = "marketplace catalog"
_HINT = (
    'Write { "toolsight_marketplace": 1, "plugins": [ … ] }, or pass a server.json or a server list from an '
    "MCP registry."
)
_NOTHING: Mapping[str, str] = {}
_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


class Catalogs(Struct, frozen=True):
    """The plugins of catalogs, and what is wrong with the entries and files that were left out."""

    plugins: tuple[Plugin, ...] = ()
    problems: tuple[str, ...] = ()


def read_catalog(path: Path, variables: Mapping[str, str] = _NOTHING) -> Catalogs:
    """Read a catalog; `variables` are replaced in the command lines of Toolsight's own.

    An entry that cannot be read, or whose name was there before, is a problem and no more. Raises ConfigError
    for a file that is no catalog.
    """
    data = load_value(path, _KIND, hint=_HINT, limit=MAX_BYTES)
    plugins: dict[str, Plugin] = {}
    problems: list[str] = []
    for each in _entries(path, data, variables):
        if isinstance(each, ConfigError):
            problems.append(each.message)
        elif each.name in plugins:
            problems.append(f"{each.name} appears twice; the first entry is used")
        else:
            plugins[each.name] = each
    return Catalogs(tuple(plugins.values()), tuple(problems))


def read_catalogs(paths: Sequence[Path], variables: Mapping[Path, Mapping[str, str]]) -> Catalogs:
    """The plugins of several catalogs, and what is wrong with them; an earlier catalog's entry counts."""
    plugins: dict[str, Plugin] = {}
    problems: list[str] = []
    for path in paths:
        try:
            read = read_catalog(path, variables.get(path, _NOTHING))
        except ConfigError as error:
            problems.append(f"{error.message}. {error.hint}")
            continue
        problems += [f"{path.name}: {problem}" for problem in read.problems]
        plugins = {plugin.name: plugin for plugin in read.plugins} | plugins
    return Catalogs(tuple(plugins.values()), tuple(problems))


def _entries(path: Path, data: Any, variables: Mapping[str, str]) -> Iterator[Plugin | ConfigError]:
    place, origin = str(path), path.stem
    if isinstance(data, Mapping) and ("toolsight_marketplace" in data or "plugins" in data):
        return own_plugins(data, place, origin, variables)
    if isinstance(data, Mapping) and isinstance(data.get("servers"), list):
        return registry_plugins(data["servers"], place, origin)
    if isinstance(data, Mapping) and ("server" in data or "packages" in data or "remotes" in data):
        return registry_plugins([data], place, origin)
    raise ConfigError(f"{path} is not a {_KIND}", hint=_HINT)


def keep_catalog(folder: Path, name: str, plugins: Sequence[Plugin]) -> Path:
    """Keep imported plugins under a name, in Toolsight's own format; replaces what had the name.

    Raises ConfigError.
    """
    target = folder / f"{_PLAIN.sub('-', name).strip('-.') or 'catalog'}.json"
    data = {"toolsight_marketplace": 1, "plugins": [_written(plugin) for plugin in plugins]}
    try:
        private_folder(folder)
        with replacing(target, "w", encoding="utf-8") as file:
            file.write(json.dumps(data, indent=1))
    except OSError as error:
        raise unusable(target, error, "written") from error
    return target


def _written(plugin: Plugin) -> dict[str, Any]:
    data: dict[str, Any] = to_builtins(plugin)
    del data["origin"]
    return data
