"""Reads files of plugins of any known format, and keeps what was imported."""

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from inspector.config.file import MEGABYTE, load_value, unusable
from inspector.core.error import ConfigError
from inspector.core.plugin import Plugin
from inspector.core.redaction import open_private, private_folder
from inspector.registry.marketplace.own import own_plugins
from inspector.registry.marketplace.server_json import registry_plugins

MAX_BYTES = 64 * MEGABYTE
MOST_PLUGINS = 20_000
_KIND = "marketplace catalog"
_HINT = (
    'Write { "toolsight_marketplace": 1, "plugins": [ … ] }, or pass a server.json or a server list from an '
    "MCP registry."
)
_NOTHING: Mapping[str, str] = {}
_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """What a file offers: its plugins, and what is wrong with each entry that was left out."""

    path: str
    plugins: tuple[Plugin, ...]
    problems: tuple[str, ...] = ()


def read_catalog(path: Path, variables: Mapping[str, str] = _NOTHING) -> CatalogFile:
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
        elif len(plugins) >= MOST_PLUGINS:
            raise ConfigError(
                f"{path} has more than {MOST_PLUGINS:,} plugins", hint="Split it, or leave some out."
            )
        else:
            plugins[each.name] = each
    return CatalogFile(str(path), tuple(plugins.values()), tuple(problems))


def read_catalogs(
    paths: Sequence[Path], variables: Mapping[Path, Mapping[str, str]]
) -> tuple[tuple[Plugin, ...], tuple[str, ...]]:
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
    return tuple(plugins.values()), tuple(problems)


def _entries(path: Path, data: Any, variables: Mapping[str, str]) -> Iterator[Plugin | ConfigError]:
    place, origin = str(path), path.stem
    if isinstance(data, Mapping) and ("toolsight_marketplace" in data or "plugins" in data):
        return own_plugins(data, place, origin, variables)
    if isinstance(data, Mapping) and isinstance(data.get("servers"), list):
        return registry_plugins(data["servers"], place, origin)
    if isinstance(data, Mapping) and ("server" in data or "packages" in data or "remotes" in data):
        return registry_plugins([data], place, origin)
    if isinstance(data, list):
        pages = [each for each in data if isinstance(each, Mapping) and isinstance(each.get("servers"), list)]
        if pages:
            return registry_plugins([one for page in pages for one in page["servers"]], place, origin)
        return registry_plugins(data, place, origin)
    raise ConfigError(f"{path} is not a {_KIND}", hint=_HINT)


def keep_catalog(folder: Path, name: str, plugins: Sequence[Plugin]) -> Path:
    """Keep imported plugins under a name, in Toolsight's own format; replaces what had the name.

    Raises ConfigError.
    """
    target = folder / f"{_PLAIN.sub('-', name).strip('-.') or 'catalog'}.json"
    data = {"toolsight_marketplace": 1, "plugins": [_written(plugin) for plugin in plugins]}
    new = folder / f".{secrets.token_hex(4)}.tmp"
    try:
        private_folder(folder)
        with open_private(new, "w", encoding="utf-8") as file:
            file.write(json.dumps(data, indent=1))
        new.replace(target)
    except OSError as error:
        raise unusable(target, error, "written") from error
    finally:
        with suppress(OSError):
            new.unlink()
    return target


def kept_catalogs(folder: Path) -> list[Path]:
    """The imported catalogs, by name."""
    return sorted(folder.glob("*.json"))


def _written(plugin: Plugin) -> dict[str, Any]:
    data = asdict(plugin)
    del data["origin"]
    return data
