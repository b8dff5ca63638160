"""Resources and prompts of all servers, as one server has them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from mcp import MCPError
from mcp.types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from inspector.core.error import ToolsightError
from inspector.core.tool import Tool
from inspector.features.gateway.asking import Waiting
from inspector.features.gateway.entries import Names
from inspector.mcp.reading import Offers, declares
from inspector.schema.json_value import JsonObject, as_list, as_object, as_text
from inspector.session.workbench import Workbench

Method = Callable[[Waiting], Awaitable[JsonObject]]
_MOST_PAGES = 100


class ServerOffers:
    """Lists them together, and asks the server that has one. Only who sees all of a server sees its own."""

    def __init__(self, bench: Workbench, names: Names) -> None:
        self._bench = bench
        self._names = names
        # By what a client asks for: a URI, or the name of a prompt as listed.
        self._places: dict[str, tuple[str, str]] = {}
        self.methods: Mapping[str, Method] = {
            "resources/list": self._lists("resources", "resources", "uri"),
            "resources/templates/list": self._lists("resources", "resourceTemplates", "uriTemplate"),
            "prompts/list": self._lists("prompts", "prompts", "name"),
            **dict.fromkeys(
                ("resources/read", "resources/subscribe", "resources/unsubscribe"), self._resource
            ),
            "prompts/get": self._prompt,
            "completion/complete": self._complete,
            "logging/setLevel": self._level,
        }

    def _of(self, capability: str) -> dict[str, Offers]:
        """What can be asked of each server that has it."""
        servers = self._bench.state.servers.values()
        having = [one.name for one in servers if one.info is not None and declares(one.info, capability)]
        found = {name: self._bench.offers(name) for name in having}
        return {name: offers for name, offers in found.items() if offers is not None}

    def _lists(self, capability: str, key: str, id_: str) -> Method:
        async def listed(waiting: Waiting) -> JsonObject:
            each = self._of(capability)
            pages = await asyncio.gather(
                *(_all(offers, waiting.context.method, key) for offers in each.values())
            )
            entries = []
            for server, found in zip(each, pages, strict=True):
                for entry in found:
                    own = as_text(entry.get(id_))
                    shown = self._names.of(Tool(server, own)) if key == "prompts" else own
                    if own and self._places.setdefault(f"{key} {shown}", (server, own))[0] == server:
                        entries.append({**entry, id_: shown})
            return {key: entries}

        return listed

    async def _resource(self, waiting: Waiting) -> JsonObject:
        """Ask the server that listed the URI; for one of a template, each until one has it."""
        params = as_object(waiting.context.params)
        uri, each = as_text(params.get("uri")), self._of("resources")
        known = self._places.get(f"resources {uri}")
        servers = [known[0]] if known is not None and known[0] in each else list(each)
        why = f"no server has the resource {uri}"
        for server in servers:
            waiting.server = server
            try:
                return await _asked(each[server], waiting, {"uri": uri})
            except ToolsightError as error:
                why = error.message
        is_modern = waiting.context.protocol_version in MODERN_PROTOCOL_VERSIONS
        raise MCPError(INVALID_PARAMS if is_modern else _NOT_FOUND, why, {"uri": uri})

    async def _prompt(self, waiting: Waiting) -> JsonObject:
        params = as_object(waiting.context.params)
        offers, waiting.server, name = self._having("prompts", as_text(params.get("name")))
        asked = {"name": name, "arguments": as_object(params.get("arguments"))}
        return await _asked(offers, waiting, asked)

    async def _complete(self, waiting: Waiting) -> JsonObject:
        params = as_object(waiting.context.params)
        ref = as_object(params.get("ref"))
        capability, key, at = "prompts", "prompts", "name"
        if ref.get("type") == "ref/resource":
            capability, key, at = "resources", "resourceTemplates", "uri"
        offers, waiting.server, own = self._having(capability, as_text(ref.get(at)), key)
        asked: dict[str, Any] = {"ref": {**ref, at: own}, "argument": params.get("argument")}
        if "context" in params:
            asked["context"] = params["context"]
        return await _asked(offers, waiting, asked)

    async def _level(self, waiting: Waiting) -> JsonObject:
        """Every server that logs gets the level; one that refuses it keeps its own."""
        params = {"level": as_object(waiting.context.params).get("level")}
        for offers in self._of("logging").values():
            with suppress(ToolsightError):
                await _asked(offers, waiting, params)
        return {}

    def _having(self, capability: str, shown: str, key: str = "") -> tuple[Offers, str, str]:
        """What can be asked, the server that has it, and its own name of it. Raises MCPError."""
        each = self._of(capability)
        place = self._places.get(f"{key or capability} {shown}")
        if place is None and len(each) == 1:
            place = (next(iter(each)), shown)
        if place is None or place[0] not in each:
            raise MCPError(INVALID_PARAMS, f"no server has {shown}: list again what there is")
        return each[place[0]], *place


_NOT_FOUND = -32002


async def _asked(offers: Offers, waiting: Waiting, params: JsonObject) -> JsonObject:
    """The answer of a server to the client's request. Raises ToolsightError."""
    return await offers.link.request(waiting.context.method, params, timeout=offers.seconds)


async def _all(offers: Offers, method: str, key: str) -> list[JsonObject]:
    """All pages of a server; those before one that cannot be read, and none of a server without this list."""
    found: list[JsonObject] = []
    params: dict[str, Any] = {}
    for _ in range(_MOST_PAGES):
        try:
            page = await offers.link.request(method, params, timeout=offers.seconds)
        except ToolsightError:
            return found
        found += map(as_object, as_list(page.get(key)))
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return found
        params = {"cursor": cursor}
    return found
