"""How soon a server's tools are listed again after it announced a change."""

from collections.abc import Callable

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
