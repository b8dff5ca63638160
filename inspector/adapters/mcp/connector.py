"""MCP over stdio and streamable HTTP, as the engine's `Connector`.

Importing this module is cheap. Importing the SDK takes about a second, and happens in a thread when the first
connection is opened.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.adapters.clock import SystemClock
from inspector.adapters.mcp.log import StderrFile, quiet_sdk
from inspector.adapters.process.registration import NoRegistry, Registry
from inspector.domain.frame import FrameLog
from inspector.domain.server import Era, ServerSpec
from inspector.engine.ports import Clock

if TYPE_CHECKING:
    from inspector.adapters.mcp.link import McpLink

_DISTRIBUTION = "toolsight"
_LINK_MODULE = "inspector.adapters.mcp.link"


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

    def frames(self, server: str) -> FrameLog:
        """See `Wire`."""
        return self._frames[server]

    @asynccontextmanager
    async def connect(
        self, spec: ServerSpec, *, era: Era | None, on_tools_changed: Callable[[], None]
    ) -> "AsyncGenerator[McpLink, None]":
        """See `Connector`. Raises ConnectTimeout after `spec.connect_timeout` seconds."""
        if not self._prepared:
            self._prepared = True
            quiet_sdk(self._log_dir)
        await asyncio.to_thread(import_module, _LINK_MODULE)
        from inspector.adapters.mcp.link import eras_to_try, open_link
        from inspector.adapters.mcp.recorder import Recorder

        stderr = StderrFile(self._log_dir, spec.name)
        try:
            link = await open_link(
                spec,
                eras=eras_to_try(spec, era),
                environment=self._environment,
                stderr=stderr,
                on_tools_changed=on_tools_changed,
                version=_version(),
                new_recorder=lambda: Recorder(self._frames[spec.name], self._clock),
                registry=self._registry,
            )
            try:
                yield link
            finally:
                await link.close()
        finally:
            stderr.close()


def _version() -> str:
    try:
        return metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "0"
