"""What was done about failures: retries, substituted tools, and breakers that opened."""

from collections import Counter
from dataclasses import dataclass

from inspector.domain.events import Record


@dataclass(frozen=True, slots=True)
class BreakerStanding:
    """A breaker as its newest change left it. Times are in seconds since 1970, UTC."""

    session: str
    key: str
    state: str
    since: float


class ReliabilityCount:
    """Counts retries, fallbacks and changes of breakers."""

    def __init__(self) -> None:
        self.retries: Counter[str] = Counter()
        self.fallbacks: Counter[tuple[str, str]] = Counter()
        self.changes: Counter[str] = Counter()
        self.breakers: dict[str, BreakerStanding] = {}

    def begin(self) -> None:
        """Another session begins."""

    def after(self, record: Record) -> None:
        """Count one record."""
