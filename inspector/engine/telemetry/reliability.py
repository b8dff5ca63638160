"""What was done about failures: breakers that opened, retries, and calls that another tool answered."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from inspector.domain.events import CallFinished, Event, Record
from inspector.domain.moment import shown_moment
from inspector.domain.number import percent
from inspector.domain.report import Table
from inspector.engine.telemetry.cell import NOTHING, Row, number_row, share_row, words
from inspector.engine.telemetry.sample import Cases

BREAKER, RETRY, SUBSTITUTE = "breaker", "retry", "substitute"
KINDS = (BREAKER, RETRY, SUBSTITUTE, CallFinished.kind)
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
        self.retried_for: Counter[str] = Counter()
        self.saved = Cases()
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
                self.retried_for[_told(event, "failure")] += 1
            case "substitute":
                self.fallbacks[(_told(event, "instead_of"), _told(event, "tool"))] += 1
            case _ if isinstance(event, CallFinished) and getattr(event, "attempts", 1) > 1:
                self.saved.add(record.session, event.ok)

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
    yield from (number_row(f"… {words(kind)}", times) for kind, times in found.retried_for.most_common())
    yield share_row("calls that a retry saved", found.saved, "call")
    yield number_row("calls that another tool answered", found.fallbacks.total())
    yield number_row("changes of breakers", found.changes.total())
    yield from (number_row(f"… to {state}", times) for state, times in found.changes.most_common())


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
