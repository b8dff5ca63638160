"""Lookups of tools by their names, in any spelling."""

from collections.abc import Collection, Mapping
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from inspector.core.ranking import SearchRequest
from inspector.core.text import closest
from inspector.core.tool import Tool
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import name_key

_PREFIX = "mcp"


class NameIndex:
    """Exact and nearly exact lookups: case, separators and a server or `mcp__` prefix are ignored."""

    def __init__(self, index: ToolIndex) -> None:
        self._tools, self._servers, self._name_hashes = index.tools, index.servers, index.name_hashes

    def find(self, name: str, *, server: str = "") -> tuple[Tool, ...]:
        """The tools that `name` refers to, in catalog order; an exact id or wire name refers to one only."""
        exact = self._exact.get(name)
        positions = (exact,) if exact is not None else self.positions(name)
        return tuple(self._tools[p] for p in positions if server in ("", self._tools[p].server))

    def positions(self, name: str) -> tuple[int, ...]:
        """The positions of the tools with this name, with or without a server or `mcp` prefix."""
        key = name_key(name)
        matches = self._by_key(key)
        for start in (key, key.removeprefix(_PREFIX)):
            for length, servers in self._servers_by_length.items():
                server = servers.get(start[:length], ())
                positions = self._by_key(start[length:]) if server else []
                matches += [p for p in positions if self._tools[p].server in server]
        return tuple(sorted(set(matches)))

    def resolved(self, request: SearchRequest) -> SearchRequest:
        """The request with the server that its `server_name` refers to in any spelling, if there is one."""
        name, key = request.server_name, name_key(request.server_name)
        if not key or name in self._server_keys:
            return request
        keys = (key, key.removeprefix(_PREFIX))
        named = [server for server, known in self._server_keys.items() if known in keys]
        return replace(request, server_name=named[0]) if len(named) == 1 else request

    def closest(self, name: str, *, server: str = "") -> tuple[str, ...]:
        """Ids of the tools whose names are most similar to an unknown name, best first."""
        pool = [tool for tool in self._tools if server in ("", tool.server)]
        if ":" in name or "__" in name:
            return closest(name, [tool.id for tool in pool])
        plain = closest(name, list(dict.fromkeys(tool.name for tool in pool)))
        return tuple(tool.id for wanted in plain for tool in pool if tool.name == wanted)[:3]

    @cached_property
    def _exact(self) -> Mapping[str, int]:
        by_wire_name = {tool.wire_name: position for position, tool in enumerate(self._tools)}
        return by_wire_name | {tool.id: position for position, tool in enumerate(self._tools)}

    @cached_property
    def _server_keys(self) -> Mapping[str, str]:
        return {server: name_key(server) for server in self._servers}

    @cached_property
    def _servers_by_length(self) -> Mapping[int, Mapping[str, Collection[str]]]:
        """The servers of each key, by its length: a query begins with few of all keys."""
        found: dict[int, dict[str, set[str]]] = {}
        for server, key in self._server_keys.items():
            if key:
                found.setdefault(len(key), {}).setdefault(key, set()).add(server)
        return found

    def _by_key(self, key: str) -> list[int]:
        """The positions of the tools whose name has this key: to look at all is cheaper than a mapping."""
        if not key:
            return []
        alike = np.flatnonzero(self._name_hashes == hash(key)).tolist()
        return [position for position in alike if name_key(self._tools[position].name) == key]
