"""A clock that a scenario moves on, so that an hour of waiting takes no time."""

from inspector.engine.ports import Clock


class LabClock:
    """Another clock, with the seconds that were waited in front of it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waited = 0.0

    def now(self) -> float:
        return self._clock.now() + self._waited

    def monotonic(self) -> float:
        return self._clock.monotonic() + self._waited

    def wait(self, seconds: float) -> None:
        """Move on by `seconds`; a clock does not go back."""
        self._waited += max(seconds, 0.0)
