"""Statistics over any number of sessions, gathered turn by turn in one pass.

What is counted has the name that it has in JSON, see `as_json`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from inspector.core.error import BreakerState, BreakerStatus
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
from inspector.features.trace.metrics.discovery import OWN, Cases, DiscoveryCount, Sample
from inspector.session.miss import BacklogGroups, unused_in

_INERTIA = (CallStarted, CallFinished, ToolLoaded, ToolEvicted, ToolRefreshed, NextPredicted)
_READ: tuple[type[Event], ...] = (
    *(SessionStarted, CatalogBuilt, UserSaid, TurnEnded, ModelRequested, ModelResponded, Failed),
    *(SearchPerformed, RedundantSearch, GateApplied, LoopDetected, CallRejected),
    *(BreakerChanged, CallRetried, ToolSubstituted, *_INERTIA),
)
KINDS = tuple(each.kind for each in _READ)
"""The kinds of events that statistics are made of."""
# What a record does not say, such as the kind of a failure.
_UNTOLD = "unknown"


class BindingCount:
    """Counts what happens to tools before a model call, and the tokens of each."""

    def __init__(self) -> None:
        self.loads, self.evictions, self.loops = Counter[str](), Counter[str](), Counter[str]()
        self.bound, self.definition_tokens, self.discovery_tokens = Sample(), Sample(), Sample()
        self.static_tokens, self.resent_tokens = Sample(), Sample()

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        for event in turn.of(ToolLoaded):
            # Older records do not say the cause.
            self.loads[event.cause or ("search" if event.place else "by hand")] += 1
        self.evictions.update(event.cause or _UNTOLD for event in turn.of(ToolEvicted))
        self.loops.update(event.counted for event in turn.of(LoopDetected))
        for call in turn.calls:
            parts = call.request.tokens
            self.bound.add(len(call.request.bound))
            self.definition_tokens.add(parts.tools + parts.meta)
            self.discovery_tokens.add(parts.discovery_tokens)
            self.static_tokens.add(call.catalog.static_tokens if call.catalog is not None else 0)
            self.resent_tokens.add(call.request.resent)


class GateCount:
    """Counts the gate's decisions (Tool Attention, section 5.7)."""

    def __init__(self) -> None:
        self.decisions = 0
        self.candidates, self.active, self.gated_out, self.below = (Sample() for _ in range(4))
        self.phase1_tokens, self.phase2_tokens, self.latency_ms = (Sample() for _ in range(3))

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        for event in turn.of(GateApplied):
            self.decisions += 1
            self.candidates.add(len(event.candidates))
            self.active.add(len(event.active))
            self.gated_out.add(len(event.gated_out))
            self.below.add(event.below)
            self.phase1_tokens.add(event.pool_tokens)
            self.phase2_tokens.add(event.tokens)
            self.latency_ms.add(event.milliseconds)


class CallUse:
    """The calls of one tool, of one server, or of all."""

    def __init__(self) -> None:
        self.calls = 0
        self.failures = Cases()
        self.failures_by_kind: Counter[str] = Counter()
        self.latency_ms = Sample()

    def finished(self, session: str, event: CallFinished) -> None:
        """Count one call."""
        self.calls += 1
        self.failures.add(session, not event.ok)
        if not event.ok:
            self.failures_by_kind[event.failure or _UNTOLD] += 1
        if event.milliseconds:
            self.latency_ms.add(event.milliseconds)


class CallCount(CallUse):
    """Counts all calls, by tool and by server, and those that never reached one."""

    def __init__(self) -> None:
        super().__init__()
        self.tools, self.servers = defaultdict[str, CallUse](CallUse), defaultdict[str, CallUse](CallUse)
        self.rejected: Counter[str] = Counter()
        self.refused = 0

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        for event in turn.of(CallFinished):
            for use in (self, self.tools[event.tool], self.servers[server_of(event.tool)]):
                use.finished(turn.session.id, event)
        rejected = turn.of(CallRejected)
        self.rejected.update(event.reason for event in rejected if not event.is_refused)
        self.refused += sum(event.is_refused for event in rejected)


class ModelCount:
    """Counts model calls that were answered, and whatever else failed."""

    def __init__(self) -> None:
        self.calls = self.errors = 0
        self.latency_ms = Sample()

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        for answer in turn.of(ModelResponded):
            self.calls += 1
            if answer.milliseconds:
                self.latency_ms.add(answer.milliseconds)
        self.errors += len(turn.of(Failed))


class ReliabilityCount:
    """Counts retries by tool, substitutes by both tools, and breaker changes, which outlive sessions."""

    def __init__(self) -> None:
        self.retries: Counter[str] = Counter()
        self.retries_by_failure: Counter[str] = Counter()
        self.saved_by_a_retry = Cases()
        self.fallbacks: Counter[str] = Counter()
        self.breaker_changes: Counter[str] = Counter()
        self.breakers: dict[str, BreakerStatus] = {}

    def add(self, turn: Turn) -> None:
        """Count one turn."""
        session = turn.session.id
        for retry in turn.of(CallRetried):
            self.retries[retry.tool] += 1
            self.retries_by_failure[retry.failure] += 1
        self.fallbacks.update(f"{one.tool} for {one.instead_of}" for one in turn.of(ToolSubstituted))
        for event in turn.of(CallFinished):
            if event.attempts > 1:
                self.saved_by_a_retry.add(session, event.ok)
        if turn.of(BreakerChanged):
            for record in turn.records:
                if isinstance(record.event, BreakerChanged):
                    self._breaker(record.at, record.event)

    def _breaker(self, at: float, event: BreakerChanged) -> None:
        # A closed one that is reset by hand is in no other state than before.
        if event.before is not event.after or event.after is not BreakerState.CLOSED:
            self.breaker_changes[event.after] += 1
        self.breakers[event.name] = breaker_status(event, at, self.breakers.get(event.name))


_TOP = 3


class InertiaCount:
    """Counts predictions, which of them came true, and which tools that were bound ahead were called.

    Only a session's first use of a tool is scored: a tool that was called before is bound as a rule.
    """

    def __init__(self) -> None:
        self.predictions = 0
        self.predicted_first, self.predicted_in_three = Cases(), Cases()
        self.bound_ahead_and_called = Cases()
        self.begin()

    def begin(self) -> None:
        """Another session begins."""
        self._called = ""
        self._said: NextPredicted | None = None
        self._used: set[str] = set()
        self._waiting: set[str] = set()

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
                self.bound_ahead_and_called.add(session, 0)
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
            guessed = [one.tool for one in said.predicted]
            self.predicted_first.add(session, tool in guessed[:1])
            self.predicted_in_three.add(session, tool in guessed[:_TOP])
        if tool in self._waiting:
            self._waiting.discard(tool)
            self.bound_ahead_and_called.add(session, 1, 0)
        self._called = tool


class Telemetry:
    """What the turns so far add up to. The turns of a session come one after another, in order.

    Nothing of a session is kept but numbers and the queries of the backlog.
    """

    def __init__(self) -> None:
        self.discovery, self.calls, self.model = DiscoveryCount(), CallCount(), ModelCount()
        self.binding, self.gate = BindingCount(), GateCount()
        self.reliability, self.inertia = ReliabilityCount(), InertiaCount()
        self.backlog = BacklogGroups()
        self.sessions = self.events = self.turns = 0
        self.agents: Counter[str] = Counter({OWN: 0})
        self.profiles: Counter[str] = Counter()
        self.turn_outcomes: Counter[str] = Counter()
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
        self.first = min(self.first, *at) if self.events else min(at)
        self.last = max(self.last, *at)
        self.events += len(at)
        self.turns += turn.said is not None
        self.profiles.update(event.profile for event in turn.of(SessionStarted) if event.profile)
        self.turn_outcomes.update([turn.outcome] if turn.outcome else ())
        missed = tuple(unused_in(turn))
        for miss in missed:
            self.backlog.add(miss)
        self.discovery.add(turn, missed)
        for count in (self.calls, self.model, self.binding, self.gate, self.reliability, self.inertia):
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
