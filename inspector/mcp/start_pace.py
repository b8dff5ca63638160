"""How fast servers are started: a hundred at once keep one another, and the keys, waiting."""

import asyncio

_AT_ONCE = 3
# Seconds after which a start no longer keeps others waiting: it may be downloading something.
_PATIENCE = 0.1


class StartPace:
    """Lets a few servers start at a time."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0
        self._calm = asyncio.Event()
        self._calm.set()

    async def begin(self) -> "Start":
        """Wait until a server may be started."""
        self._waiting += 1
        self._calm.clear()
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._calm.set()
        return Start(self._free)

    async def calm(self) -> None:
        """Wait until no server waits for its start."""
        await self._calm.wait()


class Start:
    """A server that is being started, until `end` or for a moment."""

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free: asyncio.Semaphore | None = free
        self._timer = asyncio.get_running_loop().call_later(_PATIENCE, self.end)

    def end(self) -> None:
        """Let another server start; a second call does nothing."""
        self._timer.cancel()
        if self._free is not None:
            self._free.release()
            self._free = None
