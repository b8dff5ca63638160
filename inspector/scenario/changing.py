"""Changes the tools of servers during a session, and lets calls fail, as a scenario says.

The servers may be real.
"""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from inspector.core.closest import closest
from inspector.core.error import ConfigError, ServerExited, ToolsightError
from inspector.core.message import ToolResult
from inspector.core.ports import ToolListing
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.tool import Tool
from inspector.mcp.port import ClientSide, Connector, ServerLink, ignored
from inspector.scenario.scenario import CatalogChange, Fault
from inspector.schema.json_value import JsonObject

_NO_ANSWER = "The scenario added this tool: no server answers it."


class ChangingConnector:
    """Wraps a connector, applies changes to its tool listings in their order, and lets calls fail."""

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self._changes: list[CatalogChange] = []
        self._links: dict[str, _ChangingLink] = {}
        self._away: dict[str, tuple[Tool, ...]] = {}
        self._faults: dict[str, tuple[Fault, int]] = {}

    def fail(self, fault: Fault) -> None:
        """Let a server's next calls fail, in place of what it was to fail with before."""
        self._faults[fault.server] = (fault, fault.times)

    def fault(self, server: str, tool: str) -> ToolsightError | None:
        """What a call fails with, if it is to fail; asked once a call."""
        fault, left = self._faults.get(server, (None, 0))
        if fault is None or not left or fault.tool not in ("", tool):
            return None
        self._faults[server] = (fault, left - 1)
        return fault.error(tool)

    @asynccontextmanager
    async def connect(
        self,
        spec: ServerSpec,
        *,
        era: Era | None,
        on_tools_changed: Callable[[], None],
        client: ClientSide | None = None,
    ) -> "AsyncGenerator[_ChangingLink, None]":
        """See `Connector`. A server that reconnects keeps its earlier changes."""
        opening = self._connector.connect(spec, era=era, on_tools_changed=on_tools_changed, client=client)
        async with opening as link:
            changing = _ChangingLink(link, on_tools_changed, partial(self.fault, spec.name))
            changing.changes = [change for change in self._changes if change.server == spec.name]
            self._links[spec.name] = changing
            try:
                yield changing
            finally:
                if self._links.get(spec.name) is changing:
                    del self._links[spec.name]
                    self._away[spec.name] = changing.listed

    def change(self, change: CatalogChange) -> bool:
        """Change a server's tools; return whether its list differs now, which it then announces.

        A server that is away has the change once it is back. Raises ConfigError and changes nothing if the
        server was never connected or has no such tool.
        """
        link = self._links.get(change.server)
        if link is None and change.server in self._away:
            self._away[change.server] = _after(self._away[change.server], change)
            self._changes.append(change)
            return False
        if link is None:
            near = ", ".join(closest(change.server, self._links) or sorted(self._links)) or "none"
            raise ConfigError(
                f"the server '{change.server}' is not connected, so its tools cannot change",
                hint=f"Connected: {near}.",
            )
        differs = link.apply(change)
        self._changes.append(change)
        return differs


class _ChangingLink:
    """A ServerLink that applies the changes to its listings and answers for the tools they add."""

    def __init__(
        self,
        link: ServerLink,
        on_tools_changed: Callable[[], None],
        fault: Callable[[str], ToolsightError | None],
    ) -> None:
        self._fault = fault
        self.changes: list[CatalogChange] = []
        self._link = link
        self._on_tools_changed = on_tools_changed
        self.listed: tuple[Tool, ...] = ()

    @property
    def info(self) -> ServerInfo:
        return self._link.info

    def apply(self, change: CatalogChange) -> bool:
        """Apply a change to the last list. Raises ConfigError for a tool that is not in it."""
        after = _after(self.listed, change)
        differs = after != self.listed
        self.changes.append(change)
        self.listed = after
        if differs:
            self._on_tools_changed()
        return differs

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        listing = await self._link.list_tools(progress)
        tools = listing.tools
        for change in self.changes:
            tools = changed(tools, change)
        self.listed = tools
        return replace(listing, tools=tools)

    async def call(self, tool: str, arguments: JsonObject, *, timeout: float) -> ToolResult:
        if error := self._fault(tool):
            raise error
        for change in reversed(self.changes):
            for added in change.add:
                if added.id == f"{change.server}:{tool}":
                    return ToolResult(added.answer or _NO_ANSWER, is_error=not added.answer)
        return await self._link.call(tool, arguments, timeout=timeout)

    async def wait_closed(self) -> ServerExited:
        return await self._link.wait_closed()

    def stderr_tail(self) -> str:
        return self._link.stderr_tail()


def changed(tools: Iterable[Tool], change: CatalogChange) -> tuple[Tool, ...]:
    """A server's tools after a change; removals come first, so that the change may add the same id again."""
    kept = {tool.id: tool for tool in tools if tool.id not in change.remove}
    for tool_id, description in change.describe.items():
        if tool_id in kept:
            kept[tool_id] = replace(kept[tool_id], description=description)
    for tool_id, schema in change.parameters.items():
        if tool_id in kept:
            kept[tool_id] = replace(kept[tool_id], input_schema=schema)
    for added in change.add:
        name = added.id.removeprefix(f"{change.server}:")
        kept[added.id] = Tool(change.server, name, added.description)
    return tuple(kept.values())


def _after(tools: tuple[Tool, ...], change: CatalogChange) -> tuple[Tool, ...]:
    """The tools after a change. Raises ConfigError for a tool that is not among them."""
    _require(tools, change)
    return changed(tools, change)


def _require(tools: Iterable[Tool], change: CatalogChange) -> None:
    known = [tool.id for tool in tools]
    for tool_id in (*change.remove, *change.describe, *change.parameters):
        if tool_id not in known:
            near = ", ".join(closest(tool_id, known) or known) or "none"
            raise ConfigError(f"there is no tool '{tool_id}' to change", hint=f"Tools: {near}.")
