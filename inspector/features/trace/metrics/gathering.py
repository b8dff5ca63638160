"""Statistics over any number of sessions, gathered record by record in one pass."""

from collections import Counter
from collections.abc import Iterable, Mapping
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
    RedundantSearch,
    SearchPerformed,
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
from inspector.core.turns import Session, Turn
from inspector.features.trace.metrics.cell import Cases, Sample
from inspector.features.trace.metrics.discovery import OWN, DiscoveryCount

_INERTIA = (CallStarted, CallFinished, ToolLoaded, ToolEvicted, ToolRefreshed, NextPredicted)
_READ: tuple[type[Event], ...] = (
    *(SessionStarted, CatalogBuilt, UserSaid, TurnEnded, ModelRequested, ModelResponded, Failed),
    *(SearchPerformed, RedundantSearch, GateApplied, LoopDetected, CallRejected),
    *(BreakerChanged, CallRetried, ToolSubstituted, *_INERTIA),
)
KINDS = tuple(each.kind for each in _READ)
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

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        for event in turn.of(ToolLoaded):
            # Older records do not say the cause.
            self.loads[event.cause or ("search" if event.place else "by hand")] += 1
        self.evictions.update(event.cause or _UNKNOWN for event in turn.of(ToolEvicted))
        self.loops.update(event.counted for event in turn.of(LoopDetected))
        for call in turn.calls:
            parts = call.request.tokens
            self.definitions.add(parts.tools + parts.meta)
            self.discovery.add(parts.discovery_tokens)
            self.request.add(parts.input)
            self.static.add(call.catalog.static_tokens if call.catalog is not None else 0)
            self.bound.add(len(call.request.bound))
            self.resent.add(call.request.resent)


class GateCount:
    """Counts the gate's decisions (Tool Attention, section 5.7)."""

    def __init__(self) -> None:
        self.candidates, self.active, self.gated_out, self.below = (Sample() for _ in range(4))
        self.latency, self.pool_tokens, self.tokens = (Sample() for _ in range(3))

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        for event in turn.of(GateApplied):
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
        self.refused = 0
        self.model = Sample()
        self.model_calls = self.errors = 0
        self.outcomes: Counter[str] = Counter()

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        for event in turn.of(CallFinished):
            for known, name in ((self.tools, event.tool), (self.servers, server_of(event.tool))):
                known.setdefault(name, CallUse()).add(turn.session.id, event)
            self.all.add(turn.session.id, event)
        rejected = turn.of(CallRejected)
        self.rejected.update(event.reason for event in rejected if not event.is_refused)
        self.refused += sum(event.is_refused for event in rejected)
        for answer in turn.of(ModelResponded):
            self.model_calls += 1
            if answer.milliseconds:
                self.model.add(answer.milliseconds)
        self.errors += len(turn.of(Failed))
        if turn.outcome:
            self.outcomes[turn.outcome] += 1

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

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        session = turn.session.id
        for retry in turn.of(CallRetried):
            self.retries[retry.tool] += 1
            self.retried_for[retry.failure] += 1
        for event in turn.of(ToolSubstituted, CallFinished):
            if isinstance(event, ToolSubstituted):
                self.fallbacks[(event.instead_of, event.tool)] += 1
                self._tried[(session, event.call_id, event.tool)] = event.instead_of
            elif isinstance(event, CallFinished):
                self._finished(session, event)
        if turn.of(BreakerChanged):
            for record in turn.records:
                if isinstance(record.event, BreakerChanged):
                    self._breaker(record, record.event)

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

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        if turn.said is not None:
            # Another task, which begins with no call.
            self._called, self._said = "", None
        for event in turn.of(*_INERTIA):
            self._after(turn.session.id, event)

    def _after(self, session: str, event: Event) -> None:
        match event:
            case CallStarted(tool=tool, by="model"):
                self._call(session, tool)
            case CallFinished(tool=tool):
                self._used.add(tool)
            case ToolLoaded(tool=tool, cause="inertia"):
                self.ahead.add(session, 0)
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
            graph = tuple(one.tool for one in said.predicted)
            for rule, named in zip(RULES, (graph, said.most_used, said.same_server), strict=True):
                self.first[rule].add(session, tool in named[:1])
                self.three[rule].add(session, tool in named[:_TOP])
        if tool in self._waiting:
            self._waiting.discard(tool)
            self.ahead.add(session, 1, 0)
        self._called = tool


class Telemetry:
    """What the turns so far add up to. The turns of a session come one after another, in order.

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
        self.agents: Counter[str] = Counter({OWN: 0})
        self.profiles: Counter[str] = Counter()
        self.first, self.last = 0.0, 0.0
        self._session: Session | None = None

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        if turn.session is not self._session:
            self._settle()
            self._session = turn.session
            self.sessions += 1
            self.inertia.begin()
        at = [record.at for record in turn.records]
        self.first = min(self.first, *at) if self.records else min(at)
        self.last = max(self.last, *at)
        self.records += len(at)
        self.turns += turn.said is not None
        self.profiles.update(event.profile for event in turn.of(SessionStarted) if event.profile)
        for count in (self.discovery, self.calls, self.binding, self.gate, self.reliability, self.inertia):
            count.add(turn)

    def _settle(self) -> None:
        if self._session is not None:
            self.discovery.settle()
            self.agents[self._session.agent or OWN] += 1

    def end(self) -> "Telemetry":
        """Count what the last session leaves open, and return itself: nothing may come after it."""
        self._settle()
        self.agents += Counter()
        return self


def telemetry(told: Iterable[Turn]) -> Telemetry:
    """The statistics of the turns of one or more sessions in sequence."""
    gathered = Telemetry()
    for turn in told:
        gathered.add(turn)
    return gathered.end()
