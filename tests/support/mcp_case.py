"""What the MCP adapters' tests share: specs of local servers, and a way to open a connection."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn

from inspector.core.server import Era, ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import ServerLink

ROOT = Path(__file__).resolve().parents[2]
SERVERS = ROOT / "fixtures" / "servers"
SUPPORT = ROOT / "tests" / "support"
PATIENCE = 15.0


def python(script: Path, name: str = "server", **options: Any) -> ServerSpec:
    """The spec of a server in a Python file."""
    return ServerSpec(name, command=sys.executable, args=(str(script),), **options)


def faulty(fault: str = "", **options: Any) -> ServerSpec:
    return python(SERVERS / "faulty.py", "faulty", env={"FAULT": fault}, **options)


def odd(**options: Any) -> ServerSpec:
    return python(SUPPORT / "mcp_odd_server.py", "odd", **options)


def growing(**options: Any) -> ServerSpec:
    return python(SUPPORT / "mcp_growing_server.py", "growing", **options)


@asynccontextmanager
async def opened(
    folder: Path,
    spec: ServerSpec,
    *,
    era: Era | None = None,
    on_tools_changed: Callable[[], None] = lambda: None,
) -> AsyncGenerator[ServerLink, None]:
    """Open a connection; the test limits how long it waits."""
    connector = McpConnector(folder)
    async with connector.connect(spec, era=era, on_tools_changed=on_tools_changed) as link:
        yield link


@asynccontextmanager
async def serving(app: Any) -> AsyncGenerator[str, None]:
    """Serve an ASGI app on a free local port, and yield its origin.

    The socket listens before the server runs, so there is no need to wait for it.
    """
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=0)
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = server.force_exit = True
            await asyncio.wait({running}, timeout=PATIENCE)


def is_alive(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        if Path("/proc/self").exists():
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    return state not in "ZX"
