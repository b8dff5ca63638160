"""MCP over stdio and streamable HTTP, as a `Connector`.

Importing this module is cheap. Importing the SDK takes about a second, and happens in the servers' thread
when the first connection is opened.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.error import ServerExited
from inspector.core.frame import FrameLog
from inspector.core.message import ToolResult
from inspector.core.ports import ClientSide, Clock, ServerLink, SystemClock, ToolListing, ignored
from inspector.core.server import Era, ServerSpec
from inspector.mcp.client.log import StderrLog, quiet_sdk
from inspector.mcp.client.server_thread import ServerThread
from inspector.mcp.process.record import NoRegistry, Registry
from inspector.schema.json_value import JsonObject

if TYPE_CHECKING:
    from inspector.mcp.client.link import McpLink

_DISTRIBUTION = "toolsight"


class McpConnector:
    """Opens connections with the MCP SDK, and keeps what is exchanged over them."""

    def __init__(
        self,
        log_dir: Path,
        environment: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        registry: Registry | None = None,
    ) -> None:
        """`log_dir` is for the servers' stderr and the SDK's log; `environment` defaults to `os.environ`.

        Without a `registry` nobody ends the servers of a killed process.
        """
        self._log_dir = log_dir
        self._clock = clock or SystemClock()
        self._registry = registry or NoRegistry()
        self._frames: defaultdict[str, FrameLog] = defaultdict(FrameLog)
        self._environment = os.environ if environment is None else environment
        self._prepared = False
        self._thread = ServerThread()

    def frames(self, server: str) -> FrameLog:
        """See `Wire`."""
        return self._frames[server]

    @asynccontextmanager
    async def connect(
        self,
        spec: ServerSpec,
        *,
        era: Era | None,
        on_tools_changed: Callable[[], None],
        client: ClientSide | None = None,
    ) -> AsyncGenerator[ServerLink, None]:
        """See `Connector`. Raises ConnectTimeout after `spec.connect_timeout` seconds."""
        if not self._prepared:
            self._prepared = True
            quiet_sdk(self._log_dir)
        here, stderr = asyncio.get_running_loop(), StderrLog(self._log_dir, spec.name)
        frames = self._frames[spec.name]

        is_due = False

        def changed() -> None:
            # A server may say so any number of times before it is looked at.
            nonlocal is_due
            if not is_due:
                is_due = True
                here.call_soon_threadsafe(tell)

        def tell() -> None:
            nonlocal is_due
            is_due = False
            on_tools_changed()

        opened: list[McpLink] = []

        async def open_there() -> None:
            # Kept where it is opened: a caller that is cancelled in this moment is not told of it.
            opened.append(await self._open(spec, era, stderr, changed, frames, (client, here)))

        with self._thread as thread:
            try:
                await thread.run(open_there())
                yield _Link(opened[0], thread)
            finally:
                try:
                    for link in opened:
                        await thread.run(link.close())
                finally:
                    stderr.close()

    async def _open(
        self,
        spec: ServerSpec,
        era: Era | None,
        stderr: StderrLog,
        on_tools_changed: Callable[[], None],
        frames: FrameLog,
        client: tuple[ClientSide | None, asyncio.AbstractEventLoop],
    ) -> "McpLink":
        from inspector.mcp.client.link import eras_to_try, open_link
        from inspector.mcp.client.recorder import Recorder
        from inspector.mcp.client.server_request import ServerRequests

        return await open_link(
            spec,
            eras=eras_to_try(spec, era),
            environment=self._environment,
            stderr=stderr,
            on_tools_changed=on_tools_changed,
            version=_version(),
            new_recorder=lambda: Recorder(frames, self._clock),
            registry=self._registry,
            requests=ServerRequests(spec.name, *client),
        )


class _Link:
    """A link of the servers' thread, for use in any other."""

    def __init__(self, link: "McpLink", thread: ServerThread) -> None:
        self.info = link.info
        self._link = link
        self._thread = thread

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        here = asyncio.get_running_loop()

        def told(count: int) -> None:
            here.call_soon_threadsafe(progress, count)

        return await self._thread.run(self._link.list_tools(told))

    async def call(self, tool: str, arguments: JsonObject, *, timeout: float) -> ToolResult:
        return await self._thread.run(self._link.call(tool, arguments, timeout=timeout))

    async def wait_closed(self) -> ServerExited:
        return await self._thread.run(self._link.wait_closed())

    def stderr_tail(self) -> str:
        return self._link.stderr_tail()


@cache
def _version() -> str:
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0"
