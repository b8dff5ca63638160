"""Writes into a client's file which tools of its servers its model gets.

tool_lists.toml has what each client reads, as far as it was looked up.
"""

import os
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, convert

from inspector.cli.client_file import encoded, text_of
from inspector.clients.client import find_client
from inspector.clients.name import sent_name
from inspector.config.client import client_files, is_there
from inspector.config.client_format import load_file, named, place_of, servers_in
from inspector.config.text_edit import entry_at, with_item
from inspector.core.error import ConfigError
from inspector.features.agents.unused import ServerWaste
from inspector.schema.json_value import as_list

_ALL = "*"


class ToolListRule(Struct, frozen=True):
    """What a client reads, and where that was looked up; tool_lists.toml explains the fields."""

    title: str
    kind: Literal["allow", "deny", "each"]
    keys: tuple[str, ...]
    source: str
    off: tuple[str, bool] | None = None
    empty: bool = False
    root: bool = False
    whole: bool = False
    file: str = ""
    moved: str = ""

    def files(self) -> Iterator[Path]:
        """The client's files on this machine that may be written."""
        known = client_files(Path.home(), Path.cwd(), sys.platform, os.environ)
        if not self.file:
            yield from (one.path for one in known if one.client == self.title and is_there(one))
        else:
            moved = os.environ.get(self.moved)
            path = Path(moved, Path(self.file).name) if moved else Path.home() / self.file
            yield from [path] if path.is_file() else []


@cache
def tool_list_rules() -> Mapping[str, ToolListRule]:
    """The rules by the client's name."""
    text = (Path(__file__).parent / "tool_lists.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), dict[str, ToolListRule])


def narrowed(client: str, servers: Sequence[ServerWaste]) -> Iterator[tuple[Path, bytes]]:
    """The client's files that change, with lists that keep every tool that was called.

    Raises ConfigError if a file cannot be read, or is written in a way that only a person can edit.
    """
    rule = tool_list_rules()[client]
    for path in rule.files():
        items, text = _items(client, servers, load_file(path)), text_of(path)
        try:
            for keys, value in items.items():
                text = with_item(text, keys, value, path.suffix)
        except (KeyError, ValueError) as error:
            hint = "Edit it by hand: the report has the lists."
            raise ConfigError(f"{path} is written in a way that Toolsight cannot edit", hint=hint) from error
        if items:
            yield path, encoded(path, text)


def _items(
    client: str, servers: Sequence[ServerWaste], data: Mapping[str, Any]
) -> dict[tuple[str, ...], Any]:
    """What changes in a file, by keys. What a person left out already stays out."""
    rule, entries, items = tool_list_rules()[client], named(servers_in(data)), dict[tuple[str, ...], Any]()
    for server in servers:
        entry = (*place_of(data), server.server)
        if not rule.file and not isinstance(entries.get(server.server), dict):
            continue
        keys = rule.keys if rule.root else (*entry, *rule.keys)
        had = items.get(keys, entry_at(data, keys[:-1]).get(keys[-1]))
        names = _names(client, server)
        if not server.called and rule.off is not None:
            items[*entry, rule.off[0]] = rule.off[1]
        elif rule.kind == "each":
            items |= {(*keys, name): "deny" for name in names}
        elif rule.kind == "deny":
            items[keys] = [*as_list(had), *(name for name in names if name not in as_list(had))]
        elif had is None or _ALL in as_list(had) or not (had or rule.empty):
            items |= {keys: list(server.called)} if server.called or rule.empty else {}
        else:
            # Gemini CLI may have arguments behind a name.
            left = [one for one in as_list(had) if str(one).partition("(")[0] in server.called]
            items |= {keys: left} if left or rule.empty else {}
    return {keys: value for keys, value in items.items() if entry_at(data, keys[:-1]).get(keys[-1]) != value}


def _names(client: str, server: ServerWaste) -> list[str]:
    """The unused tools as the file names them, or the name for all tools of the server."""
    rule, names = tool_list_rules()[client], find_client(client).names
    if not rule.root:
        return [tool.name for tool in server.unused]
    if not server.called and rule.whole:
        return [sent_name(names, server.server, "").removesuffix("__")]
    return [sent_name(names, server.server, tool.name) for tool in server.unused]
