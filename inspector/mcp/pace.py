"""How fast servers are started, listed again and reported: none keeps another, or the keys, waiting."""

import asyncio
from collections.abc import Callable

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

    async def begin(self) -> "Slot":
        """Wait until a server may be started."""
        self._waiting += 1
        self._calm.clear()
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._calm.set()
        return Slot(self._free)

    async def calm(self) -> None:
        """Wait until no server waits for its start."""
        await self._calm.wait()


class Slot:
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


FIRST = 0.05
"""Seconds in which a burst of notifications counts as one."""
LONGEST_PAUSE = 10.0


class ChangePace:
    """The pause before each listing: short for a server that rarely tells, longer the more it does.

    Each listing within `LONGEST_PAUSE` seconds of the one before doubles the pause, so that a server that
    tells a hundred times a second is listed every ten; one that was quiet for so long begins anew.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._pause = FIRST
        self._last: float | None = None

    def pause(self) -> float:
        """Seconds to wait before the listing that is due now; it counts as done after them."""
        now = self._clock()
        is_again = self._last is not None and now - self._last < LONGEST_PAUSE
        self._pause = min(self._pause * 2, LONGEST_PAUSE) if is_again else FIRST
        self._last = now + self._pause
        return self._pause


# The share of the event loop's time that the calls may take while requests keep coming.
_SHARE = 0.1
LONGEST = 1.0
"""Seconds that a request waits at most."""


class Coalesced:
    """Calls `act` soon after a request: in the loop's next round, or after a pause if it was just called.

    The pause grows with what a call takes, up to a second, so that keys are answered however slow it is.
    """

    def __init__(self, act: Callable[[], None]) -> None:
        self.act = act
        self._is_requested = False
        self._timer: asyncio.TimerHandle | None = None
        self._free_at = 0.0

    def soon(self) -> None:
        """Request a call."""
        self._is_requested = True
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._free_at, loop.time()), self.now)

    def now(self) -> None:
        """Call at once if that was requested since the last call; one that fails stays requested."""
        if not self._is_requested:
            return
        self.drop()
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            self.act()
        except BaseException:
            self._is_requested = True
            raise
        finally:
            ended = clock()
            self._free_at = ended + min((ended - began) / _SHARE, LONGEST)

    def drop(self) -> None:
        """Forget the request."""
        self._is_requested = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
