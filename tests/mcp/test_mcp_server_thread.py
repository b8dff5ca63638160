"""The servers' event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.core.server import ServerSpec
from inspector.mcp.client.connector import McpConnector, ServerThread
from inspector.mcp.port import Opening

# Seconds that anything here may take on a busy machine.
PATIENCE = 10


@pytest.fixture
def thread() -> ServerThread:
    return ServerThread()


async def current() -> threading.Thread:
    return threading.current_thread()


class Slow:
    """Work in the thread that goes on for as long as it may not end, whether it is cancelled or not."""

    def __init__(self) -> None:
        self.here = asyncio.get_running_loop()
        self.began, self.cleans = asyncio.Event(), asyncio.Event()
        self.ended = threading.Event()
        self.may_end: Callable[[], Any] = lambda: None
        self.thread = threading.current_thread()

    async def work(self) -> str:
        there, free = asyncio.get_running_loop(), asyncio.Event()
        self.thread = threading.current_thread()
        self.may_end = lambda: there.call_soon_threadsafe(free.set)
        self.here.call_soon_threadsafe(self.began.set)
        try:
            await asyncio.Event().wait()
        finally:
            self.here.call_soon_threadsafe(self.cleans.set)
            await free.wait()
            self.ended.set()
        raise AssertionError

    @asynccontextmanager
    async def cancelled(self, thread: ServerThread) -> AsyncGenerator[asyncio.Task[str], None]:
        """A caller that was cancelled while the work, which is cancelled too, still goes on."""
        async with asyncio.timeout(PATIENCE):
            caller = asyncio.create_task(thread.run(self.work()))
            await self.began.wait()
            caller.cancel()
            await self.cleans.wait()
            try:
                yield caller
            finally:
                self.may_end()


async def test_work_whose_caller_was_cancelled_twice_still_ends_and_the_thread_after_it(
    thread: ServerThread,
) -> None:
    slow = Slow()
    with thread:
        async with slow.cancelled(thread) as caller:
            caller.cancel()
            await asyncio.wait({caller})
            assert not slow.ended.is_set()
            thread.__exit__(None, None, None)
            # A new thread serves who comes now, and waits for nothing.
            with thread:
                assert await thread.run(current()) is not slow.thread
            assert not slow.ended.is_set()
        slow.thread.join(PATIENCE)
        assert slow.ended.is_set()
        assert not slow.thread.is_alive()
        thread.__enter__()


async def test_a_server_that_opens_as_its_caller_is_cancelled_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, closed = threading.Event(), threading.Event()

    class Link:
        info = None

        async def close(self) -> None:
            closed.set()

    async def open_link(*_: object, **__: object) -> Link:
        opened.set()
        return Link()

    monkeypatch.setattr("inspector.mcp.client.link.open_link", open_link)
    connector = McpConnector(tmp_path)

    async def connect() -> None:
        async with connector.connect(ServerSpec("a", "a"), Opening()):
            raise AssertionError

    caller = asyncio.create_task(connect())
    # The caller goes on as far as it can; then this loop stands still until the server is open.
    await asyncio.sleep(0)
    assert opened.wait(PATIENCE)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert closed.is_set()


async def test_work_that_cancels_itself_cancels_its_caller(thread: ServerThread) -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    with thread, pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(PATIENCE):
            await thread.run(give_up())


async def test_no_thread_waits_for_a_process_that_runs(thread: ServerThread) -> None:
    async def started() -> list[asyncio.subprocess.Process]:
        pipe = asyncio.subprocess.PIPE
        return [await asyncio.create_subprocess_exec("cat", stdin=pipe, stdout=pipe) for _ in range(5)]

    async def ended(processes: list[asyncio.subprocess.Process]) -> list[int | None]:
        for each in processes:
            await each.communicate(b"")
        return [each.returncode for each in processes]

    with thread:
        await thread.run(current())
        before = set(threading.enumerate())
        processes = await thread.run(started())
        # Threads of other tests may end meanwhile.
        assert set(threading.enumerate()) <= before
        async with asyncio.timeout(PATIENCE):
            assert await thread.run(ended(processes)) == [0] * 5
