"""Shows the progress of long work on a terminal, and stops it between two steps."""

import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from inspector.core.number import duration
from inspector.core.ports import Clock
from widgets import visible

_EVERY_SECONDS = 0.1
_BACK_AND_CLEAR = "\r\x1b[K"


class Progress:
    """One line on stderr that is redrawn; prints nothing if stderr is not a terminal."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._is_shown = sys.stderr.isatty()
        self._what = ""
        self._first = (0, 0.0)
        self._drawn = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `what` are done; a total of 0 is unknown."""
        now = self._clock.monotonic()
        is_new = what != self._what
        if is_new:
            self._what, self._first = what, (done, now)
        if is_new or now - self._drawn >= _EVERY_SECONDS:
            self._drawn = now
            self._draw(f"{what}  {done}/{total}{self._remaining(done, total, now)}" if total else what)

    def clear(self) -> None:
        """Clear the line for what is printed next."""
        self._draw("")

    def _remaining(self, done: int, total: int, now: float) -> str:
        first, since = self._first
        if done <= first:
            return ""
        return f"  about {duration((now - since) / (done - first) * (total - done))} left"

    def _draw(self, text: str) -> None:
        if self._is_shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"{_BACK_AND_CLEAR}{visible(text, newlines=False)[:width]}")
            sys.stderr.flush()


class Cancellation:
    """Calling it returns whether Ctrl+C was pressed."""

    def __init__(self) -> None:
        self.requested = False

    def __call__(self) -> bool:
        return self.requested


@contextmanager
def cancellation() -> Iterator[Cancellation]:
    """The first Ctrl+C asks the work to stop after its current step; the second interrupts it."""
    state = Cancellation()
    before = signal.getsignal(signal.SIGINT)

    def stop(_number: int, _frame: FrameType | None) -> None:
        state.requested = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, stop)
    try:
        yield state
    finally:
        signal.signal(signal.SIGINT, before)
