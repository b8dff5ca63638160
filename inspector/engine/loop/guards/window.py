"""The latest calls within a span, and how many of them are equal."""

from collections import Counter, deque
from collections.abc import Callable

KEPT_CALLS = 1024
CallKey = tuple[str, str]


class CallWindow:
    """The latest (tool, hash) pairs with their positions, in seconds or calls, and counts of equal ones."""

    def __init__(self) -> None:
        self._calls: deque[tuple[float, CallKey]] = deque()
        self._counts: Counter[CallKey] = Counter()

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: CallKey, at: float, span: float) -> int:
        """Add a call at `at`, drop those more than `span` before it, and return the count of equal ones."""
        self._calls.append((at, call))
        self._counts[call] += 1
        while at - self._calls[0][0] > span or len(self._calls) > KEPT_CALLS:
            self._drop_oldest()
        return self._counts[call]

    def forget(self, gone: Callable[[CallKey], bool]) -> None:
        """Drop the calls for which this holds."""
        self._calls = deque(kept for kept in self._calls if not gone(kept[1]))
        self._counts = Counter(call for _, call in self._calls)

    def _drop_oldest(self) -> None:
        _, call = self._calls.popleft()
        self._counts[call] -= 1
        if not self._counts[call]:
            del self._counts[call]
