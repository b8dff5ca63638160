"""The event loop of the servers, in a thread of its own: what they send keeps no key waiting."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


class ServerThread:
    """Runs coroutines for other event loops; the thread is there as long as `with` blocks use it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        with self._lock:
            self._users += 1
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                Thread(target=_run, args=(self._loop,), name="servers", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` in the thread. If the caller is cancelled, so is the work, and its end is awaited."""
        there, here = self._loop, asyncio.get_running_loop()
        assert there is not None
        ended: asyncio.Future[T] = here.create_future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(there.create_task(work))
            tasks[0].add_done_callback(tell)

        def tell(task: asyncio.Task[T]) -> None:
            # The caller's loop may be closed by now.
            with suppress(RuntimeError):
                here.call_soon_threadsafe(_settle, ended, task)

        there.call_soon_threadsafe(begin)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            there.call_soon_threadsafe(lambda: tasks[0].cancel())
            await asyncio.wait({ended})
            raise


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        # What still ends a process, though its caller would not wait, is let end.
        loop.run_until_complete(_rest(loop))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _rest(loop: asyncio.AbstractEventLoop) -> None:
    while others := asyncio.all_tasks(loop) - {asyncio.current_task()}:
        await asyncio.wait(others)


def _settle(future: "asyncio.Future[T]", task: "asyncio.Task[T]") -> None:
    if future.done():
        return
    if task.cancelled():
        future.cancel()
    elif (error := task.exception()) is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())
