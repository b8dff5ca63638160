"""A server that is only a file: the stored answer to `tools/list`, which can be searched but not called."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from inspector.core.error import ConfigError, ConnectError
from inspector.core.message import ToolResult
from inspector.core.ports import ClientSide, Connector, ServerLink
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.tool import Tool
from inspector.mcp.recorded_link import RecordedLink
from inspector.mcp.tool_file import read_definitions

NO_SERVER = "This is a stored listing: there is no server to call. Start the server itself to call its tools."


class WithStoredListings:
    """A Connector that reads the specs with a `listing`, and leaves all others to another Connector."""

    def __init__(self, others: Connector) -> None:
        self._others = others

    @asynccontextmanager
    async def connect(
        self,
        spec: ServerSpec,
        *,
        era: Era | None,
        on_tools_changed: Callable[[], None],
        client: ClientSide | None = None,
    ) -> AsyncGenerator[ServerLink, None]:
        """See `Connector`."""
        if spec.listing:
            tools, info = await asyncio.to_thread(_tools, spec), ServerInfo(spec.name, protocol="stored")
            yield RecordedLink(info, tools, otherwise=ToolResult(NO_SERVER, is_error=True))
            return
        opening = self._others.connect(spec, era=era, on_tools_changed=on_tools_changed, client=client)
        async with opening as link:
            yield link


def _tools(spec: ServerSpec) -> tuple[Tool, ...]:
    """The tools of the file, as those of one server; of two with the same name the first counts."""
    try:
        found = read_definitions([Path(spec.listing)])
    except ConfigError as error:
        raise ConnectError(error.message, hint=error.hint) from error
    named = {tool.name: replace(tool, server=spec.name) for tool in reversed(found)}
    return tuple(reversed(named.values()))
