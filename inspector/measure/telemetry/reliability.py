"""What was done about failures: breakers that opened, retries, and calls that another tool answered."""

from collections import Counter
from collections.abc import Iterator

from inspector.core.breaker import BreakerState, BreakerStatus, FailureKind
from inspector.core.events import BreakerChanged, CallFinished, CallRetried, Record, ToolSubstituted
from inspector.core.fold.call import breaker_status
from inspector.core.number import percent, shown_moment
from inspector.core.report import Table
from inspector.measure.telemetry.cell import NOTHING, Cases, Row, number_row, share_row, words

KINDS = tuple(each.kind for each in (BreakerChanged, CallRetried, ToolSubstituted, CallFinished))
"""The kinds of the events that are counted here."""


class ReliabilityCount:
    """Counts retries by tool, fallbacks by both tools, and breaker changes, which outlive sessions.

    `fallbacks` are the substitutes that were tried, `answered` those of them that gave an answer, be it the
    tool's own error.
    """

    def __init__(self) -> None:
        self.retries: Counter[str] = Counter()
        self.retried_for: Counter[str] = Counter()
        self.saved = Cases()
        self.fallbacks: Counter[tuple[str, str]] = Counter()
        self.answered: Counter[tuple[str, str]] = Counter()
        self._tried: dict[tuple[str, str, str], str] = {}
        self.changes: Counter[str] = Counter()
        self.breakers: dict[str, BreakerStatus] = {}

    def after(self, record: Record) -> None:
        """Count one record."""
        match record.event:
            case BreakerChanged() as event:
                self._breaker(record, event)
            case CallRetried(tool=tool, failure=failure):
                self.retries[tool] += 1
                self.retried_for[failure] += 1
            case ToolSubstituted(call_id=call, instead_of=missing, tool=tool):
                self.fallbacks[(missing, tool)] += 1
                self._tried[(record.session, call, tool)] = missing
            case CallFinished() as event:
                self._finished(record.session, event)

    def _finished(self, session: str, event: CallFinished) -> None:
        if event.attempts > 1:
            self.saved.add(session, event.ok)
        missing = self._tried.pop((session, event.call_id, event.tool), None)
        if missing is not None and (event.ok or event.failure is FailureKind.TOOL):
            self.answered[(missing, event.tool)] += 1

    def _breaker(self, record: Record, event: BreakerChanged) -> None:
        # A closed one that is reset by hand is in no other state than before.
        if event.before is not event.after or event.after is not BreakerState.CLOSED:
            self.changes[event.after] += 1
        known = self.breakers.get(event.name)
        self.breakers[event.name] = breaker_status(event, record.at, known)


def reliability_rows(found: ReliabilityCount) -> Iterator[Row]:
    """What was done about failures, in rows of facts."""
    yield number_row("retries", found.retries.total())
    yield from (number_row(f"… {words(kind)}", times) for kind, times in found.retried_for.most_common())
    yield share_row("calls saved by a retry", found.saved, "call")
    yield number_row("substitutes tried", found.fallbacks.total())
    yield number_row("… that succeeded", found.answered.total())
    yield number_row("breaker changes", found.changes.total())
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
        for one in sorted(
            found.breakers.values(), key=lambda each: (each.state is not BreakerState.OPEN, each.name)
        )
    )
    yield Table("Breakers after their latest change", headers, rows, frozenset({4, 5, 6}))
