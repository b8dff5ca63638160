"""Statistics over any number of sessions, gathered record by record in one pass."""

from collections import Counter
from collections.abc import Iterable

from inspector.domain.events import (
    CallFinished,
    CallRejected,
    CallStarted,
    CatalogBuilt,
    Event,
    Failed,
    GateApplied,
    LoopDetected,
    ModelRequested,
    ModelResponded,
    Record,
    RedundantSearch,
    SearchPerformed,
    SessionStarted,
    ToolEvicted,
    ToolLoaded,
    TurnEnded,
    UserSaid,
)
from inspector.engine.telemetry.binding import BindingCount, GateCount
from inspector.engine.telemetry.call import CallCount
from inspector.engine.telemetry.discovery import OWN, DiscoveryCount
from inspector.engine.telemetry.inertia import KINDS as INERTIA_KINDS, InertiaCount
from inspector.engine.telemetry.reliability import KINDS as RELIABILITY_KINDS, ReliabilityCount

_READ: tuple[type[Event], ...] = (
    *(SessionStarted, CatalogBuilt, UserSaid, TurnEnded, ModelRequested, ModelResponded, Failed),
    *(SearchPerformed, RedundantSearch, ToolLoaded, ToolEvicted, GateApplied, LoopDetected),
    *(CallStarted, CallFinished, CallRejected),
)
KINDS = (*(event.kind for event in _READ), *RELIABILITY_KINDS, *INERTIA_KINDS)
"""The kinds of events that statistics are made of."""


class Telemetry:
    """What the records so far add up to. The records of a session come one after another, in order.

    Nothing of a session is kept but numbers, the queries of the backlog, and the newest selections.
    """

    def __init__(self) -> None:
        self.discovery = DiscoveryCount()
        self.calls = CallCount()
        self.binding = BindingCount()
        self.gate = GateCount()
        self.reliability = ReliabilityCount()
        self.inertia = InertiaCount()
        self.sessions = self.records = self.turns = 0
        self.agents: Counter[str] = Counter()
        self.profiles: Counter[str] = Counter()
        self.first, self.last = 0.0, 0.0
        self._session = ""
        self._agent = ""

    def after(self, record: Record) -> None:
        """Count one record."""
        if record.session != self._session or not self.records:
            self._begin(record)
        self.records += 1
        self.first = min(self.first, record.at)
        self.last = max(self.last, record.at)
        match record.event:
            case SessionStarted() as event:
                self._started(event)
            case UserSaid():
                self.turns += 1
        for part in (
            self.discovery,
            self.calls,
            self.binding,
            self.gate,
            self.reliability,
            self.inertia,
        ):
            part.after(record)

    def _begin(self, record: Record) -> None:
        self._session, self._agent = record.session, OWN
        self.sessions += 1
        self.agents[OWN] += 1
        self.first = record.at if self.sessions == 1 else self.first
        self.discovery.begin()
        self.binding.begin()
        self.inertia.begin()

    def _started(self, event: SessionStarted) -> None:
        agent = event.origin.agent if event.origin else OWN
        self.agents[self._agent] -= 1
        self.agents[agent] += 1
        self._agent = agent
        if event.profile:
            self.profiles[event.profile] += 1

    def end(self) -> "Telemetry":
        """Count what the last session leaves open, and return itself: nothing may come after it."""
        self.discovery.settle()
        self.agents += Counter()
        return self


def telemetry(records: Iterable[Record]) -> Telemetry:
    """The statistics of one or more sessions in sequence."""
    gathered = Telemetry()
    for record in records:
        gathered.after(record)
    return gathered.end()
