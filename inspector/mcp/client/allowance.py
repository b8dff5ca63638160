"""How much a server may send unasked, and how long it then has to wait."""

import time
from collections.abc import Callable

MESSAGES, MESSAGES_A_SECOND = 1_000, 200
REQUEST = 20
"""As how many messages a request counts: each is answered, over HTTP by a POST that our own wait for."""
BYTES, BYTES_A_SECOND = 8_000_000, 1_000_000
# A flood gets a fifth of the thread that reads: other servers share the thread, and the screen its processor.
_REST = 4.0
_LONGEST_PAUSE = 0.2


class Allowance:
    """So many messages and bytes at once, and so many more each second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock()
        self._messages, self._bytes = float(MESSAGES), float(BYTES)

    @property
    def is_left(self) -> bool:
        """Whether a short message would be let through."""
        self._refill()
        return self._messages >= 1 and self._bytes > 0

    def take(self, size: int, count: int = 1) -> bool:
        """Let a message of this size through, or not; it may count as several."""
        self._refill()
        if self._messages < count or self._bytes < size:
            return False
        self._messages -= count
        self._bytes -= size
        return True

    def _refill(self) -> None:
        now = self._clock()
        passed, self._at = now - self._at, now
        self._messages = min(self._messages + passed * MESSAGES_A_SECOND, MESSAGES)
        self._bytes = min(self._bytes + passed * BYTES_A_SECOND, BYTES)


def pause_after(seconds: float) -> float:
    """How long to read nothing after a part of a flood took these seconds to read."""
    return min(seconds * _REST, _LONGEST_PAUSE)
