"""Servers of tests, and their faults."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import uvicorn

from inspector.config.configuration import Configuration
from inspector.core.events import Event, Record
from inspector.core.ports import SystemClock
from inspector.core.server import Era, ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import Opening, ServerLink, Unattended
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench
from inspector.store.server_memory import SqliteServerMemory
from inspector.store.store import SqliteStore
from tests.support.fakes import CharacterCounter, FixedApprover, MemoryPrices, ToldModel, says
from tests.support.memory_vectors import MemoryVectors

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


@asynccontextmanager
async def opened(
    folder: Path,
    spec: ServerSpec,
    *,
    era: Era | None = None,
    on_tools_changed: Callable[[], None] = lambda: None,
) -> AsyncGenerator[ServerLink, None]:
    """Open a connection; the test limits how long it waits."""
    connector = McpConnector(folder, tries_older=True)
    async with connector.connect(spec, Opening(era, on_tools_changed)) as link:
        yield link


class Listener(Unattended):
    """Toolsight's side of a connection, which keeps what is recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []

    def note(self, event: Event) -> None:
        self.events.append(event)


@asynccontextmanager
async def serving(app: Any) -> AsyncGenerator[str, None]:
    """Serve an ASGI app on a free local port, and yield its origin.

    The socket listens before the server runs, so there is no need to wait for it.
    """
    # With its protocol, or asyncio would let each answer wait for the client's acknowledgement: 40 ms.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=0)
        server = _PromptServer(config)
        running = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.ended.set()
            await asyncio.wait({running}, timeout=PATIENCE)


class _PromptServer(uvicorn.Server):
    """Ends at once: uvicorn's own looks ten times a second whether it should, and waits as long again."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.ended.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:  # noqa: ARG002
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for task in self.server_state.tasks:
            task.cancel()


def is_alive(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    try:
        return bool(psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD))
    except psutil.NoSuchProcess:
        return False


SESSION = "faults"


@dataclass(slots=True)
class FaultCase:
    """The session, the file that switches the fault, and the processes that it started."""

    bench: Workbench
    switch: Path
    folder: Path
    pids: set[int] = field(default_factory=set)

    def turn(self, fault: str) -> None:
        """From now on the server has this fault."""
        self.switch.write_text(fault, encoding="utf-8")

    def look(self) -> set[int]:
        """Note the processes that run now, and return them."""
        found = running(str(self.folder))
        self.pids |= found
        return found

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the stream has what makes the condition hold."""
        news = asyncio.Event()
        stop = self.bench.subscribe(lambda _record: news.set())
        try:
            async with asyncio.timeout(PATIENCE):
                while not condition():
                    news.clear()
                    await news.wait()
        finally:
            stop()

    def events(self, kind: str) -> list[Record]:
        return self.bench.records((kind,))


def spec(folder: Path, name: str, fault: str = "", **seconds: float) -> ServerSpec:
    """A server whose command line names the folder, by which its process is found."""
    script = folder / "faulty.py"
    if not script.exists():
        script.symlink_to(SERVERS / "faulty.py")
    return ServerSpec(
        name,
        command=sys.executable,
        args=(str(script),),
        env={"FAULT": fault, "FAULT_FILE": str(folder / f"{name}.fault")},
        defer_loading=True,
        trust_annotations=True,
        connect_timeout=seconds.get("connect_timeout", PATIENCE),
        call_timeout=seconds.get("call_timeout", PATIENCE),
    )


@asynccontextmanager
async def session(folder: Path, fault: str = "", **seconds: float) -> AsyncGenerator[FaultCase, None]:
    """A session that is connected, in which something was said and a tool of the healthy server was loaded.

    `seconds` are the time limits of the faulty one.
    """
    specs = (spec(folder, "healthy"), spec(folder, "faulty", fault, **seconds))
    with SqliteStore(folder / "t.db") as store:
        memory = SqliteServerMemory(folder / "t.db")
        connector = McpConnector(folder / "logs")
        ports = Ports(
            connector,
            store,
            memory,
            SystemClock(),
            FixedApprover(),
            model_for=lambda _: ToldModel(says("Hello."), says("Still here.")),
            counter_for=lambda _: CharacterCounter(),
            embedder_for=lambda _: None,
            vectors=MemoryVectors(),
            prices=MemoryPrices(),
            wire=connector,
        )
        configuration = Configuration("faults.json", specs)
        settings = {"discovery.auto": "always"}
        async with Workbench(
            configuration, ports, model="told", session_id=SESSION, values=settings
        ) as bench:
            case = FaultCase(bench, folder / "faulty.fault", folder)
            bench.connect()
            await bench.chat("Hello")
            await bench.wait_connected()
            case.look()
            bench.load("healthy:echo")
            yield case
        memory.close()


def running(token: str) -> set[int]:
    """The processes whose command line or environment has a text."""
    found: set[int] = set()
    for process in psutil.process_iter():
        if process.pid != os.getpid() and is_alive(process.pid):
            with suppress(psutil.Error):
                said = [*process.cmdline(), *process.environ().values()]
                if any(token in text for text in said):
                    found.add(process.pid)
    return found
