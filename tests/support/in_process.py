"""The demo servers in this process: a whole connection without the child process and its pipes."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from mcp.client._memory import InMemoryTransport
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer

from inspector.core.error import ConnectError
from inspector.core.server import ServerSpec
from inspector.mcp.client.host import Channel, Streams
from inspector.mcp.client.process import StdioChannel
from inspector.mcp.client.reader import Reader
from inspector.mcp.frame import StderrLog
from inspector.mcp.reaper import Reaper
from tests.support import skill_server
from tests.support.mcp_case import SERVERS

AnyServer = MCPServer[Any] | Server[Any]
# Every connector has a thread of its own, and all of them import here.
_IMPORTING = Lock()
_FAULTY = SERVERS / "faulty.py"


class MemoryChannel:
    """A channel to a server that runs in this process."""

    def __init__(self, server: AnyServer) -> None:
        self.ended = asyncio.Event()
        self._server = server

    @asynccontextmanager
    async def transport(self) -> AsyncGenerator[Streams, None]:
        async with InMemoryTransport(self._server) as streams:
            yield streams

    def diagnose(self, causes: list[BaseException]) -> ConnectError | None:  # noqa: ARG002
        return None

    def stderr_tail(self) -> str:
        return ""


def channel(
    spec: ServerSpec,
    environment: Mapping[str, str],
    stderr: StderrLog,
    reader: Reader,
    reaper: Reaper | None,
) -> Channel:
    """Replaces `StdioChannel`: the demo's and the one of skills run here, faulty.py and others do not."""
    if spec.args[:1] == (skill_server.__file__,):
        return MemoryChannel(skill_server.serving(*spec.args[1:]))
    script = Path(spec.args[-1]) if spec.command == sys.executable and spec.args else _FAULTY
    if script.parent != SERVERS or script == _FAULTY:
        return StdioChannel(spec, environment, stderr, reader, reaper)
    return MemoryChannel(started(script, spec.env))


def started(script: Path, variables: Mapping[str, str]) -> AnyServer:
    """A script's server, run with these variables and its own modules.

    It is cached, because a server that is started again with the same variables finds its old state anyway.
    """
    with _IMPORTING:
        return _started(script, frozenset(variables.items()))


@cache
def _started(script: Path, variables: frozenset[tuple[str, str]]) -> AnyServer:
    spec = spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    with _own_modules(script.parent), pytest.MonkeyPatch.context() as patch:
        for name, value in variables:
            patch.setenv(name, value)
        module = sys.modules[script.stem] = module_from_spec(spec)
        spec.loader.exec_module(module)
        if "_state" in sys.modules:
            # Cache the folder now: tools ask for it when they are called, after the variable has changed.
            sys.modules["_state"].state_dir()
    server: AnyServer = module.server
    return server


@cache
def fixture_module(name: str) -> Any:
    """The module of a server that comes with Toolsight."""
    with _IMPORTING, _own_modules(SERVERS):
        return import_module(name)


@contextmanager
def _own_modules(folder: Path) -> Iterator[None]:
    """Import from the folder, and remove its modules again before the next server."""
    names = {path.stem for path in folder.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)
