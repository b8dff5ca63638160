"""The real clock."""

import time


class SystemClock:
    """Wall time for records, monotonic time for durations; both in seconds."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()
