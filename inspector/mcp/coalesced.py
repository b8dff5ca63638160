"""One call for many requests: a hundred servers that get ready rebuild the catalog a few times."""

import asyncio
from collections.abc import Callable

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
