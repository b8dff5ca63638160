"""A clock that a scenario advances, so that an hour of waiting takes no time."""

from inspector.engine.ports import Clock


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
