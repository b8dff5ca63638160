"""What was done about failures: breakers that opened, retries, and calls that another tool answered."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from inspector.domain.events import Event, Record
from inspector.domain.moment import shown_moment
from inspector.domain.number import percent
from inspector.domain.report import Table
from inspector.engine.telemetry.cell import NOTHING, Row, counted, number_row

BREAKER, RETRY, FALLBACK = "breaker", "retry", "fallback"
KINDS = (BREAKER, RETRY, FALLBACK)
"""The kinds of the events that are counted here."""
OPEN = "open"


@dataclass(frozen=True, slots=True)
class BreakerStanding:
    """A breaker as its newest change left it. Times are in seconds since 1970, UTC.

    `name` is a tool's id or a server's name; `until` is when a call may try an open one, 0 if one may now.
    `opened` is how often it opened.
    """

    session: str
    name: str
    state: str
    since: float
    until: float = 0.0
    why: str = ""
    failure_rate: float = 0.0
    calls: int = 0
    opened: int = 0


class ReliabilityCount:
    """Counts retries by tool, fallbacks by both tools, and changes of breakers, which outlive sessions."""

    def __init__(self) -> None:
        self.retries: Counter[str] = Counter()
        self.fallbacks: Counter[tuple[str, str]] = Counter()
        self.changes: Counter[str] = Counter()
        self.breakers: dict[str, BreakerStanding] = {}

    def after(self, record: Record) -> None:
        """Count one record."""
        event = record.event
        match record.kind:
            case "breaker":
                self._breaker(record, event)
            case "retry":
                self.retries[_told(event, "tool")] += 1
            case "fallback":
                self.fallbacks[(_told(event, "tool"), _told(event, "substitute"))] += 1

    def _breaker(self, record: Record, event: Event) -> None:
        name, state = _told(event, "tool") or _told(event, "server"), _told(event, "after")
        known = self.breakers.get(name)
        pause = float(getattr(event, "cool_down", 0.0))
        self.changes[state] += 1
        self.breakers[name] = BreakerStanding(
            session=record.session,
            name=name,
            state=state,
            since=record.at,
            until=record.at + pause if state == OPEN else 0.0,
            why=_told(event, "why"),
            failure_rate=float(getattr(event, "failure_rate", 0.0)),
            calls=int(getattr(event, "calls", 0)),
            opened=(known.opened if known is not None else 0) + (state == OPEN),
        )


def _told(event: Event, name: str) -> str:
    return str(getattr(event, name, ""))


def reliability_rows(found: ReliabilityCount) -> Iterator[Row]:
    """What was done about failures, in rows of facts."""
    yield number_row("retries", found.retries.total())
    yield number_row("calls that another tool answered", found.fallbacks.total())
    if found.changes:
        yield ("changes of breakers", f"{found.changes.total():,}", "", counted(found.changes))


def breaker_tables(found: ReliabilityCount) -> Iterator[Table]:
    """The breakers, as their newest changes left them."""
    if not found.breakers:
        return
    headers = ("breaker", "state", "since (UTC)", "tried again", "failure rate", "of calls", "opened", "why")
    rows = tuple(
        (
            *(one.name, one.state, shown_moment(one.since, "%Y-%m-%d %H:%M:%S")),
            shown_moment(one.until, "%H:%M:%S") if one.until else NOTHING,
            percent(one.failure_rate) if one.calls else NOTHING,
            *(f"{one.calls:,}", f"{one.opened:,}", one.why),
        )
        for one in sorted(found.breakers.values(), key=lambda each: (each.state != OPEN, each.name))
    )
    yield Table("Breakers, as their newest changes left them", headers, rows, frozenset({4, 5, 6}))


def reliability_json(found: ReliabilityCount) -> dict[str, Any]:
    """All of it, for programs."""
    return {
        "retries": dict(found.retries),
        "fallbacks": [
            {"tool": tool, "substitute": other, "calls": number}
            for (tool, other), number in found.fallbacks.items()
        ],
        "breaker_changes": dict(found.changes),
        "breakers": [asdict(one) for one in found.breakers.values()],
    }
