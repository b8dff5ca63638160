"""Statistics over any number of sessions, gathered record by record in one pass."""

from collections import Counter
from collections.abc import Callable, Iterable

from inspector.core.events import Record, SessionStarted, UserSaid
from inspector.measure.telemetry import binding, call, discovery, inertia, reliability

KINDS = tuple(
    dict.fromkeys(
        (
            *(SessionStarted.kind, *discovery.KINDS, *call.KINDS, *binding.KINDS, *binding.GATE_KINDS),
            *(*reliability.KINDS, *inertia.KINDS),
        )
    )
)
"""The kinds of events that statistics are made of."""


class Telemetry:
    """What the records so far add up to. The records of a session come one after another, in order.

    Nothing of a session is kept but numbers, the queries of the backlog, and the newest selections.
    """

    def __init__(self) -> None:
        self.discovery = discovery.DiscoveryCount()
        self.calls = call.CallCount()
        self.binding = binding.BindingCount()
        self.gate = binding.GateCount()
        self.reliability = reliability.ReliabilityCount()
        self.inertia = inertia.InertiaCount()
        self.sessions = self.records = self.turns = 0
        self.agents: Counter[str] = Counter()
        self.profiles: Counter[str] = Counter()
        self.first, self.last = 0.0, 0.0
        self._session = ""
        self._agent = ""
        self._by_kind: dict[str, list[Callable[[Record], None]]] = {}
        for kinds, count in (
            (discovery.KINDS, self.discovery.after),
            (call.KINDS, self.calls.after),
            (binding.KINDS, self.binding.after),
            (binding.GATE_KINDS, self.gate.after),
            (reliability.KINDS, self.reliability.after),
            (inertia.KINDS, self.inertia.after),
        ):
            for kind in kinds:
                self._by_kind.setdefault(kind, []).append(count)

    def after(self, record: Record) -> None:
        """Count one record."""
        if record.session != self._session or not self.records:
            self._begin(record)
        self.records += 1
        self.first = min(self.first, record.at)
        self.last = max(self.last, record.at)
        if record.kind == UserSaid.kind:
            self.turns += 1
        elif isinstance(record.event, SessionStarted):
            self._started(record.event)
        for count in self._by_kind.get(record.kind, ()):
            count(record)

    def _begin(self, record: Record) -> None:
        self._session, self._agent = record.session, discovery.OWN
        self.sessions += 1
        self.agents[discovery.OWN] += 1
        self.first = record.at if self.sessions == 1 else self.first
        self.discovery.begin()
        self.binding.begin()
        self.inertia.begin()

    def _started(self, event: SessionStarted) -> None:
        agent = event.origin.agent if event.origin else discovery.OWN
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
