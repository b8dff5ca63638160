"""Statistics over any number of sessions, gathered record by record in one pass."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from inspector.core.error import BreakerState, BreakerStatus, FailureKind
from inspector.core.events import (
    BreakerChanged,
    CallFinished,
    CallRejected,
    CallRetried,
    CallStarted,
    CatalogBuilt,
    Event,
    Failed,
    GateApplied,
    LoopDetected,
    ModelRequested,
    ModelResponded,
    NextPredicted,
    Record,
    SessionStarted,
    ToolEvicted,
    ToolLoaded,
    ToolRefreshed,
    ToolSubstituted,
    TurnEnded,
    UserSaid,
)
from inspector.core.fold.call import breaker_status
from inspector.core.tool import server_of
from inspector.measure.telemetry.cell import Cases, Sample
from inspector.measure.telemetry.discovery import KINDS as DISCOVERY, OWN, DiscoveryCount


def _kinds(*events: type[Event]) -> tuple[str, ...]:
    return tuple(each.kind for each in events)


_BINDING = _kinds(ToolLoaded, ToolEvicted, LoopDetected, CatalogBuilt, ModelRequested)
_GATE = _kinds(GateApplied)
_CALLS = _kinds(CallFinished, CallRejected, ModelResponded, Failed, TurnEnded)
_RELIABILITY = _kinds(BreakerChanged, CallRetried, ToolSubstituted, CallFinished)
_INERTIA = _kinds(NextPredicted, UserSaid, CallStarted, CallFinished, ToolLoaded, ToolRefreshed, ToolEvicted)
KINDS = tuple(
    dict.fromkeys((SessionStarted.kind, *DISCOVERY, *_CALLS, *_BINDING, *_GATE, *_RELIABILITY, *_INERTIA))
)
"""The kinds of events that statistics are made of."""
_UNKNOWN = "unknown"


class BindingCount:
    """Counts what happens to tools before a model call, and the tokens of each."""

    def __init__(self) -> None:
        self.loads: Counter[str] = Counter()
        self.evictions: Counter[str] = Counter()
        self.loops: Counter[str] = Counter()
        self.definitions, self.discovery, self.request = Sample(), Sample(), Sample()
        self.static = Sample()
        self.bound, self.resent = Sample(), Sample()
        self._static = 0

    def begin(self) -> None:
        """Another session begins."""
        self._static = 0

    def after(self, record: Record) -> None:
        """Count one record."""
        match record.event:
            case ToolLoaded() as event:
                # Older records do not say the cause.
                self.loads[event.cause or ("search" if event.place else "by hand")] += 1
            case ToolEvicted(cause=cause):
                self.evictions[cause or _UNKNOWN] += 1
            case LoopDetected(counted=counted):
                self.loops[counted] += 1
            case CatalogBuilt(static_tokens=tokens):
                self._static = tokens
            case ModelRequested(tokens=parts, bound=bound) as event:
                self.definitions.add(parts.tools + parts.meta)
                self.discovery.add(parts.discovery_tokens)
                self.request.add(parts.input)
                self.static.add(self._static)
                self.bound.add(len(bound))
                self.resent.add(event.resent)


class GateCount:
    """Counts the gate's decisions (Tool Attention, section 5.7)."""

    def __init__(self) -> None:
        self.candidates, self.active, self.gated_out, self.below = (Sample() for _ in range(4))
        self.latency, self.pool_tokens, self.tokens = (Sample() for _ in range(3))

    def after(self, record: Record) -> None:
        """Count one record."""
        if isinstance(event := record.event, GateApplied):
            self.candidates.add(len(event.candidates))
            self.active.add(len(event.active))
            self.gated_out.add(len(event.gated_out))
            self.below.add(event.below)
            self.latency.add(event.milliseconds)
            self.pool_tokens.add(event.pool_tokens)
            self.tokens.add(event.tokens)


UNTOLD = "unknown"
"""The kind of a failure in a record that does not say it."""


@dataclass(slots=True)
class CallUse:
    """The calls of one tool or one server; `kinds` are those of its failures."""

    calls: Cases = field(default_factory=Cases)
    kinds: Counter[str] = field(default_factory=Counter)
    latency: Sample = field(default_factory=Sample)

    def add(self, session: str, event: CallFinished) -> None:
        """Count one call."""
        self.calls.add(session, not event.ok)
        if not event.ok:
            self.kinds[event.failure or UNTOLD] += 1
        if event.milliseconds:
            self.latency.add(event.milliseconds)


class CallCount:
    """Counts calls by tool and by server, and what never reached one."""

    def __init__(self) -> None:
        self.all = CallUse()
        self.tools: dict[str, CallUse] = {}
        self.servers: dict[str, CallUse] = {}
        self.rejected: Counter[str] = Counter()
        self.model = Sample()
        self.model_calls = self.errors = 0
        self.outcomes: Counter[str] = Counter()

    def after(self, record: Record) -> None:
        """Count one record."""
        match record.event:
            case CallFinished(tool=tool) as event:
                for known, name in ((self.tools, tool), (self.servers, server_of(tool))):
                    known.setdefault(name, CallUse()).add(record.session, event)
                self.all.add(record.session, event)
            case CallRejected(reason=reason):
                self.rejected[reason] += 1
            case ModelResponded(milliseconds=took):
                self.model_calls += 1
                if took:
                    self.model.add(took)
            case Failed():
                self.errors += 1
            case TurnEnded(outcome=outcome):
                self.outcomes[outcome] += 1

    @property
    def kinds(self) -> Mapping[str, int]:
        """The failures of all tools by their kind."""
        return self.all.kinds


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


# Only a session's first use of a tool is scored: a tool that was called before is bound as a rule.
RULES = {
    "order_1": "what follows the last call",
    "most_used": "most used overall",
    "same_server": "most used on the same server",
}
_TOP = 3


class InertiaCount:
    """Counts predictions, which of them came true, and which tools that were bound ahead were called."""

    def __init__(self) -> None:
        self.predictions = 0
        self.first = {rule: Cases() for rule in RULES}
        self.three = {rule: Cases() for rule in RULES}
        self.ahead = Cases()
        self._called = ""
        self._said: NextPredicted | None = None
        self._used: set[str] = set()
        self._waiting: set[str] = set()

    def begin(self) -> None:
        """Another session begins."""
        self._called, self._said = "", None
        self._used, self._waiting = set(), set()

    def after(self, record: Record) -> None:
        """Count one record."""
        event = record.event
        match event:
            case UserSaid():
                # Another task, which begins with no call.
                self._called, self._said = "", None
            case CallStarted(tool=tool, by="model"):
                self._call(record.session, tool)
            case CallFinished(tool=tool):
                self._used.add(tool)
            case ToolLoaded(tool=tool, cause="inertia"):
                self.ahead.add(record.session, 0)
                self._waiting.add(tool)
            case ToolEvicted(tool=tool) | ToolRefreshed(tool=tool):
                # What is searched for after all was not of use for being ahead.
                self._waiting.discard(tool)
            case NextPredicted():
                self.predictions += 1
                self._said = event

    def _call(self, session: str, tool: str) -> None:
        said = self._said
        if said is not None and tool not in self._used and said.after == self._called:
            for rule in RULES:
                named = _named(said, rule)
                self.first[rule].add(session, tool in named[:1])
                self.three[rule].add(session, tool in named[:_TOP])
        if tool in self._waiting:
            self._waiting.discard(tool)
            self.ahead.add(session, 1, 0)
        self._called = tool


def _named(said: NextPredicted, rule: str) -> tuple[str, ...]:
    """The tools that a rule would have said, most likely first."""
    if rule == "order_1":
        return tuple(one.tool for one in said.predicted)
    return said.most_used if rule == "most_used" else said.same_server


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
        self._by_kind: dict[str, list[Callable[[Record], None]]] = {}
        for kinds, count in (
            (DISCOVERY, self.discovery.after),
            (_CALLS, self.calls.after),
            (_BINDING, self.binding.after),
            (_GATE, self.gate.after),
            (_RELIABILITY, self.reliability.after),
            (_INERTIA, self.inertia.after),
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
