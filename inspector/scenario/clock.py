"""A clock that a scenario advances, so that an hour of waiting takes no time."""

import asyncio

from inspector.core.ports import Clock

_MOMENT = 0.05


class LabClock:
    """Wraps a clock and adds the seconds waited."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waited = 0.0

    def now(self) -> float:
        return self._clock.now() + self._waited

    def monotonic(self) -> float:
        return self._clock.monotonic() + self._waited

    def wait(self, seconds: float) -> None:
        """Advance by `seconds`; negative values are ignored."""
        self._waited += max(seconds, 0.0)

    async def sleep(self, seconds: float) -> None:
        """Advance by `seconds`, and let others work for a moment: servers may be real."""
        self.wait(seconds)
        await asyncio.sleep(min(seconds, _MOMENT))
