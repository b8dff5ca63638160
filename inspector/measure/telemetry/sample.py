"""Numbers that were seen, and shares of cases: both keep a few bytes a number, however many there are."""

from array import array

from inspector.measure.bootstrap import effective_size_of
from inspector.measure.report import Share
from inspector.search.metric import percentile


class Sample:
    """Numbers of one kind, such as latencies; their percentiles are exact."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values = array("d")

    def add(self, value: float) -> None:
        """Count one more."""
        self._values.append(value)

    @property
    def count(self) -> int:
        return len(self._values)

    @property
    def total(self) -> float:
        return sum(self._values)

    @property
    def mean(self) -> float | None:
        """The mean; None without numbers."""
        return self.total / self.count if self._values else None

    def at(self, share: float) -> float | None:
        """The value below which `share` (0 to 1) of the numbers lie; None without numbers."""
        return percentile(self._values, share) if self._values else None


class Cases:
    """How often something held, by session: cases of one session are not independent of one another."""

    __slots__ = ("_held", "_session", "_sizes")

    def __init__(self) -> None:
        self._held, self._sizes = array("q"), array("q")
        self._session = ""

    def add(self, session: str, held: int, cases: int = 1) -> None:
        """Count `cases` more of a session, of which `held` did. A session's cases come one after another."""
        if session != self._session or not self._sizes:
            self._session = session
            self._held.append(0)
            self._sizes.append(0)
        self._held[-1] += held
        self._sizes[-1] += cases

    @property
    def held(self) -> int:
        return sum(self._held)

    @property
    def count(self) -> int:
        return sum(self._sizes)

    @property
    def share(self) -> Share | None:
        """The share with its Wilson interval; None without cases.

        Sessions are the clusters. Where only one session has any, its cases stand for themselves.
        """
        cases = self.count
        if not cases:
            return None
        pairs = [(held, size) for held, size in zip(self._held, self._sizes, strict=True) if size]
        size = effective_size_of(pairs) if len(pairs) > 1 else None
        return Share(self.held, cases, size)
