"""What was done about failures: retries, substituted tools, and breakers that opened."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from inspector.domain.events import Record
from inspector.domain.report import Table
from inspector.engine.telemetry.cell import Row, number_row


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


def reliability_rows(found: ReliabilityCount) -> Iterator[Row]:
    """What was done about failures, in rows of facts."""
    for what, kinds in (("retries", found.retries), ("calls answered by another tool", found.fallbacks)):
        if kinds:
            yield number_row(what, kinds.total())


def breaker_tables(found: ReliabilityCount) -> Iterator[Table]:
    """The breakers, as their newest changes left them."""
    if found.breakers:
        rows = tuple((one.key, one.state) for one in found.breakers.values())
        yield Table("Breakers", ("breaker", "state"), rows)


def reliability_json(found: ReliabilityCount) -> dict[str, Any]:
    """All of it, for programs."""
    return {
        "retries": dict(found.retries),
        "breakers": [asdict(one) for one in found.breakers.values()],
    }
