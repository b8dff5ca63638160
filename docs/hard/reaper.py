"""What it costs that nothing is left behind: the reaper's memory and start, and servers with and without it.

`python -m docs.hard.reaper`. The servers are 107 times `cat`, started at once, which is the least that a
server can take; and the light Python server, up to its tools.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import psutil

from inspector.core.ports import SystemClock
from inspector.core.server import ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.client.process import StdioChannel
from inspector.mcp.client.reader import Reader, Recorder
from inspector.mcp.frame import FrameLog, StderrLog
from inspector.mcp.port import Opening
from inspector.mcp.reaper import Reaper
from tests.support import light_server

_SERVERS, _LISTED, _ROUNDS = 107, 12, 9
_TARGET = 1.1


async def started(folder: Path, reaper: Reaper | None) -> float:
    """Seconds until 107 processes are there."""
    async with AsyncExitStack() as stack:
        reader = Reader(Recorder(FrameLog(), SystemClock()), lambda: None)
        specs = [ServerSpec(f"s{number}", command="cat") for number in range(_SERVERS)]
        channels = [
            StdioChannel(spec, os.environ, StderrLog(folder, "log"), reader, reaper) for spec in specs
        ]
        began = time.perf_counter()
        await asyncio.gather(*(stack.enter_async_context(channel.transport()) for channel in channels))
        return time.perf_counter() - began


async def listed(folder: Path, reaper: Reaper | None) -> float:
    """Seconds until a dozen light servers have told their tools."""
    connector = McpConnector(folder, reaper=reaper)

    async def one(number: int) -> None:
        spec = ServerSpec(f"s{number}", command=sys.executable, args=(light_server.__file__,))
        async with connector.connect(spec, Opening()) as link:
            await link.list_tools()

    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(_LISTED)))
    return time.perf_counter() - began


def compared(measure: Callable[[Path, Reaper | None], Awaitable[float]]) -> tuple[float, float]:
    """The medians with and without a reaper, in turns; each round has a new one, as a new app has."""
    with_one, without = [], []
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(_once(measure, Path(name), None))
        for _ in range(_ROUNDS):
            reaper = Reaper()
            with_one.append(asyncio.run(_once(measure, Path(name), reaper)))
            reaper.close()
            without.append(asyncio.run(_once(measure, Path(name), None)))
    return statistics.median(with_one), statistics.median(without)


async def _once(
    measure: Callable[[Path, Reaper | None], Awaitable[float]], folder: Path, reaper: Reaper | None
) -> float:
    return await measure(folder, reaper)


def reaper_cost() -> tuple[float, int]:
    """Milliseconds until the first server may be started, and what the waiting reaper has in kB."""
    taken, kilobytes = [], 0
    for _ in range(_ROUNDS):
        reaper = Reaper()
        began = time.perf_counter()
        reaper.prepare()
        taken.append((time.perf_counter() - began) * 1000)
        kilobytes = max(kilobytes, psutil.Process(reaper.pid).memory_info().rss // 1024)
        reaper.close()
    return statistics.median(taken), kilobytes


def main() -> int:
    """Print the medians; the exit code is 1 if a dozen servers take more than a tenth longer."""
    milliseconds, kilobytes = reaper_cost()
    spawned, bare = compared(started)
    ready, alone = compared(listed)
    sys.stdout.write(
        f"reaper: {kilobytes / 1024:.1f} MB, and {milliseconds:.1f} ms before the first server\n"
        f"{_SERVERS} x `cat` started: {spawned * 1000:.0f} ms, without {bare * 1000:.0f} ms, "
        f"ratio {spawned / bare:.2f}\n"
        f"{_LISTED} servers listed: {ready * 1000:.0f} ms, without {alone * 1000:.0f} ms, "
        f"ratio {ready / alone:.2f} (target {_TARGET})\n"
    )
    return 0 if ready / alone <= _TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
