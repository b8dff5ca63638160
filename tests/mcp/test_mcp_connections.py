"""The engine's connections over real processes, nine at a time."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.core.error import ServerExited
from inspector.core.events import Event, ServerFailed, ServerReady, ToolsChanged
from inspector.core.ports import SystemClock
from inspector.core.server import Era, ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.connections import Connections
from inspector.store.memory import MemoryServerMemory
from tests.support.counting import named_characters
from tests.support.mcp_case import PATIENCE, faulty, growing, is_alive, odd


class Run:
    """Connections over the MCP adapter, and what they emitted."""

    def __init__(self, folder: Path, *specs: ServerSpec) -> None:
        self.events: list[Event] = []
        self.memory = MemoryServerMemory()
        self._news = asyncio.Event()
        self.connections = Connections(
            specs,
            McpConnector(folder),
            self.memory,
            clock=SystemClock(),
            emit=self._emit,
            count_tokens=named_characters,
            on_tools=self._news.set,
        )

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._news.clear()
                await self._news.wait()

    def ready(self) -> list[ServerReady]:
        return [event for event in self.events if isinstance(event, ServerReady)]

    def failed(self) -> dict[str, ServerFailed]:
        return {event.server: event for event in self.events if isinstance(event, ServerFailed)}


def named(spec: ServerSpec, name: str) -> ServerSpec:
    return replace(spec, name=name)


async def test_nine_servers_start_at_once_and_the_bad_ones_hold_up_nobody(tmp_path: Path) -> None:
    specs = [named(faulty(), f"good{number}") for number in range(6)]
    specs += [
        named(faulty("hang_on_start"), "hang"),
        named(faulty("crash_on_start"), "crash"),
        named(ServerSpec("", command="no-such-command"), "missing"),
    ]
    run = Run(tmp_path, *specs)
    run.connections.start()
    await run.until(lambda: len(run.ready()) == 6 and len(run.failed()) == 2)
    assert len(run.connections.tools) == 18
    assert "API_TOKEN is not set" in run.failed()["crash"].stderr_tail
    assert "no-such-command" in run.failed()["missing"].reason
    await run.connections.stop("hang")
    await run.connections.settled()
    await run.connections.aclose()


@pytest.mark.slow
async def test_no_process_is_left_after_closing(tmp_path: Path) -> None:
    run = Run(tmp_path, odd(), faulty("hang_on_start"))
    run.connections.start()
    await run.until(lambda: bool(run.ready()))
    server = int((await run.connections.call("odd", "pid", {})).text)
    helper = int((await run.connections.call("odd", "helper", {})).text)
    await run.connections.aclose()
    assert not is_alive(server)
    assert not is_alive(helper)


async def test_a_server_that_dies_in_a_call_is_failed_and_can_be_reconnected(tmp_path: Path) -> None:
    run = Run(tmp_path, odd())
    run.connections.start()
    await run.connections.settled()
    with pytest.raises(ServerExited, match="exit code 7"):
        await run.connections.call("odd", "exit", {})
    await run.until(lambda: "odd" in run.failed())
    assert run.failed()["odd"].stderr_tail == "odd: starting"
    assert run.connections.tools == ()
    await run.connections.reconnect("odd")
    assert (await run.connections.call("odd", "pid", {})).text.isdecimal()
    await run.connections.aclose()


@pytest.mark.slow
@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
async def test_a_changed_list_is_read_again_in_each_era(tmp_path: Path, era: Era) -> None:
    run = Run(tmp_path, growing(era=era))
    run.connections.start()
    await run.connections.settled()
    await run.connections.call("growing", "grow", {})
    await run.until(lambda: any(isinstance(event, ToolsChanged) for event in run.events))
    assert isinstance(run.events[-1], ToolsChanged)
    assert run.events[-1].added == ("sprout",)
    assert [tool.name for tool in run.connections.tools] == ["grow", "sprout"]
    await run.connections.aclose()


def test_importing_the_connector_imports_no_vendor() -> None:
    vendors = "('mcp', 'mcp_types', 'httpx2', 'anyio', 'pydantic')"
    code = f"import sys, inspector.mcp.client.connector; print([n for n in {vendors} if n in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


_WRITE_NOTHING = """
import asyncio, sys, warnings
from pathlib import Path
from inspector.mcp.client.connector import McpConnector
from inspector.core.error import ConnectError
from tests.support.mcp_case import faulty

async def main():
    for fault in ("noise", "crash_on_start"):
        connector = McpConnector(Path(sys.argv[1]))
        try:
            async with connector.connect(faulty(fault), era=None, on_tools_changed=print) as link:
                await link.list_tools()
                import logging
                logging.getLogger("mcp.client").warning("sdk warning")
                warnings.warn("deprecated", UserWarning)
        except ConnectError:
            pass

asyncio.run(main())
"""


@pytest.mark.slow
def test_neither_servers_nor_the_sdk_write_to_the_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WRITE_NOTHING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    log = (tmp_path / "mcp.log").read_text(encoding="utf-8")
    assert "sdk warning" in log
    assert "deprecated" in log
