"""The gateway in a client's file in place of its servers, which stand in a copy that the gateway reads."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from inspector.cli.client_file import files_of
from inspector.config.client_format import load_file, named, place_of, servers_in
from inspector.config.text_edit import YAML, entry_at, parsed, with_item
from inspector.core.error import ConfigError

NAME = "toolsight"
_TABLE = r"^[ \t]*\[{section}\.[^\n]*\n(?:(?![ \t]*\[)[^\n]*\n?)*"


class Place(Struct, frozen=True):
    """A client's file, the keys that lead to its servers, and where the copy of the file is or would be."""

    path: Path
    section: tuple[str, ...]
    copy: Path

    @property
    def is_changed(self) -> bool:
        """Whether the gateway stands there."""
        return NAME in named(servers_in(load_file(self.path))) and self.copy.is_file()


def place(client: str | None, config: Path | None, folder: Path) -> Place:
    """The one file of a client with servers, or the file that is named; copies are in `folder`.

    Raises ConfigError.
    """
    found = [one.path for one in files_of(client, config) if named(servers_in(load_file(one.path)))]
    if len(found) > 1:
        told = ", ".join(map(str, found))
        raise ConfigError(f"{client} has servers in several files: {told}", hint="Name one with --config.")
    if not found:
        raise ConfigError(
            f"{config or client} has no servers", hint="`toolsight audit` lists those there are."
        )
    [path] = found
    if path.suffix in YAML:
        hint = "Let one entry there start `toolsight gateway --config FILE`, with FILE a copy of it."
        raise ConfigError(f"{path} is YAML, in which only you can replace servers", hint=hint)
    digest = sha256(str(path.absolute()).encode()).hexdigest()[:12]
    return Place(path, place_of(load_file(path)), folder / digest / path.name)


def placed(text: str, where: Place, words: Sequence[str]) -> str:
    """The text of the client's file with one server, which starts these words. Raises ConfigError."""
    entry: dict[str, object] = {"command": words[0], "args": list(words[1:])}
    if where.section[-1] == "mcp":
        entry = {"type": "local", "command": list(words)}
    try:
        if where.path.suffix == ".toml":
            return _toml(text, where.section, entry)
        return with_item(text, where.section, {NAME: entry})
    except (KeyError, ValueError):
        hint = "Replace them by hand."
        raise ConfigError(
            f"the servers in {where.path} are written in a way of their own", hint=hint
        ) from None


def _toml(text: str, section: tuple[str, ...], entry: dict[str, object]) -> str:
    """The text without the tables of its servers, and with one at the end."""
    name = re.escape(".".join(section))
    rest = re.sub(_TABLE.format(section=name), "", text, flags=re.MULTILINE)
    # What JSON writes of texts and lists of them is TOML, too.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()]
    table = "\n".join([f"[{'.'.join(section)}.{NAME}]", *lines])
    changed = f"{rest.rstrip()}\n\n{table}\n".lstrip("\n")
    wanted = parsed(text, ".toml")
    above = entry_at(wanted, section[:-1]) if len(section) > 1 else wanted
    above[section[-1]] = {NAME: entry}
    if parsed(changed, ".toml") != wanted:
        raise KeyError(NAME)
    return changed


def removed(text: str, where: Place, original: str) -> str:
    """The text with the client's own servers again: the original, if nothing else has changed since.

    Raises ConfigError.
    """
    words = words_in(where)
    if placed(original, where, words) == text:
        return original
    servers = servers_in(parsed(original, where.path.suffix))
    try:
        return with_item(text, where.section, servers, where.path.suffix)
    except (KeyError, ValueError):
        hint = f"Your servers are in {where.copy}."
        raise ConfigError(f"{where.path} has changed since, and only you can edit it", hint=hint) from None


def words_in(where: Place) -> list[str]:
    """The words that the gateway's entry starts."""
    entry = named(servers_in(load_file(where.path)))[NAME]
    started, arguments = entry.get("command"), entry.get("args", [])
    return [*started, *arguments] if isinstance(started, list) else [str(started), *arguments]


def require_absent(where: Place) -> None:
    """Raise ConfigError if the gateway stands there."""
    if where.is_changed:
        hint = f"`toolsight gateway remove --config {where.path}` takes it out."
        raise ConfigError(f"the gateway is in {where.path} already", hint=hint)
