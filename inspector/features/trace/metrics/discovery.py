"""How often models search, what searches return and what is called of it, and every routing decision."""

import hashlib
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from inspector.core.events import GateApplied, ModelRequested, Record, SearchPerformed
from inspector.core.ranking import Answer, Outcome
from inspector.core.turns import Search, Session, ToolCall, Turn
from inspector.features.trace.metrics.otel import plain
from inspector.features.trace.metrics.sample import Cases, Sample
from inspector.session.miss import Miss, MissCause

OWN = "toolsight"
"""Who a session is of that was not imported."""
_NEWEST = 200


@dataclass(frozen=True, slots=True)
class Selection:
    """A tool that was called, at the search that found it: the newest one before the call.

    `score` is None where a transcript tells the order alone, and for a tool that was looked up. `candidates`
    is how many tools were ranked.
    """

    session: str
    seq: int
    query: str
    tool: str
    rank: int
    score: float | None
    ranker: str
    candidates: int


@dataclass(slots=True)
class RankerScores:
    """The scores of one ranker's results: of the tools that were called, and of those that were not."""

    scores_of_called: Sample = field(default_factory=Sample)
    scores_of_others: Sample = field(default_factory=Sample)
    latency_ms: Sample = field(default_factory=Sample)


@dataclass(slots=True)
class Frequency:
    """How often one agent searched under one toolset: over sessions, turns and searches."""

    agent: str
    toolset: str
    sessions: int = 0
    turns: int = 0
    searches: int = 0
    unused: int = 0


@dataclass(slots=True)
class _Result:
    """A tool that a search returned; `selection` is what it is once it is called.

    `is_ranked` says that a ranker put it where it is.
    """

    selection: Selection
    is_ranked: bool
    is_called: bool = False


class DiscoveryCount:
    """Counts searches and their use: a call in the same session counts at the newest search that found it."""

    def __init__(self) -> None:
        self.searches = self.lookups = self.by_hand = self.errors = 0
        self.candidates, self.returned, self.latency_ms = Sample(), Sample(), Sample()
        self.turns_with_a_search, self.used, self.redundant = Cases(), Cases(), Cases()
        self.ranked_first, self.ranked_in_three = Cases(), Cases()
        self.answers = {answer: Cases() for answer in Answer}
        self.without_a_use: Counter[MissCause] = Counter()
        self.by_agent: dict[tuple[str, str], Frequency] = {}
        self.rankers: dict[str, RankerScores] = {}
        self.newest_selections: deque[Selection] = deque(maxlen=_NEWEST)
        self._results: list[_Result] = []
        self._newest: dict[str, _Result] = {}
        self._counted: Frequency | None = None

    def settle(self) -> None:
        """Count what a session that is over leaves open: the results that nobody called."""
        for result in self._results:
            one = result.selection
            self.used.add(one.session, result.is_called)
            if not result.is_called and one.score is not None:
                self._scores(one.ranker).scores_of_others.add(one.score)
        self._results, self._newest, self._counted = [], {}, None

    def add(self, turn: Turn, missed: Sequence[Miss]) -> None:
        """Count one turn, and what it `missed`: for its agent, and for the toolset that it ended under."""
        searches = turn.searches
        self.by_hand += len(turn.of(SearchPerformed)) - len(searches)
        if turn.said is not None or searches:
            frequency = self._frequency(turn.session)
            frequency.turns += turn.said is not None
            frequency.searches += len(searches)
            frequency.unused += len(missed)
        if turn.said is not None:
            self.turns_with_a_search.add(turn.session.id, bool(searches))
        self.without_a_use.update(miss.cause for miss in missed)
        for act in turn.acts:
            if isinstance(act, Search):
                self._search(act)
            elif isinstance(act, ToolCall):
                self._call(act.event.tool)

    def _frequency(self, session: Session) -> Frequency:
        key = (session.agent or OWN, session.toolset)
        known = self.by_agent.setdefault(key, Frequency(*key))
        known.sessions += known is not self._counted
        self._counted = known
        return known

    def _search(self, search: Search) -> None:
        record, report = search.record, search.event.report
        self.searches += 1
        self.errors += bool(report.error)
        self.lookups += report.is_lookup
        self.redundant.add(record.session, search.redundant is not None)
        self.returned.add(len(report.results))
        for answer, cases in self.answers.items():
            if not report.error:
                cases.add(record.session, report.answer is answer)
        has_scores = not (report.unscored or report.is_lookup or report.error)
        if has_scores:
            self.candidates.add(report.scored)
            self.latency_ms.add(report.latency_ms)
            self._scores(report.ranker).latency_ms.add(report.latency_ms)
        for hit in report.results:
            score = hit.score.value if has_scores else None
            at = (record.session, record.seq, report.request.query or report.request.label())
            found = Selection(*at, hit.tool_id, hit.rank, score, report.ranker, report.scored)
            self._newest[hit.tool_id] = _Result(found, not report.is_lookup)
            self._results.append(self._newest[hit.tool_id])

    def _call(self, tool: str) -> None:
        result = self._newest.get(tool)
        if result is None or result.is_called:
            return
        result.is_called, one = True, result.selection
        self.newest_selections.append(one)
        if result.is_ranked:
            self.ranked_first.add(one.session, one.rank == 1)
            self.ranked_in_three.add(one.session, one.rank <= 3)
        if one.score is not None:
            self._scores(one.ranker).scores_of_called.add(one.score)

    def _scores(self, ranker: str) -> RankerScores:
        return self.rankers.setdefault(ranker, RankerScores())


# Every routing decision with the fields of Tool Attention, section 5.7: what a dashboard can read.
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """Which tools a model call gets, and why: by the gate, or by a search of the model before it.

    `turn_id` is the model call that it was for; None if none came. Phase 1 is what is there before a tool is
    chosen (manifest or summaries), phase 2 the definitions. The hash is that of the query's vector or, of a
    search, its text. `active_set`, of a search, is what the next model call was sent.
    """

    session: str
    at: float
    source: Literal["gate", "search"]
    turn_id: int | None
    query_embedding_hash: str
    candidates: tuple[str, ...]
    scores: tuple[float, ...]
    gated_out_by_state: tuple[str, ...]
    active_set: tuple[str, ...]
    phase1_tokens: int | None
    phase2_tokens: int | None
    latency_ms: float
    p50_latency_ms: float


class RoutingLog:
    """Makes decisions of turns."""

    def __init__(self) -> None:
        self._session: Session | None = None
        self._latency = Sample()

    def of(self, turn: Turn) -> list[RoutingDecision]:
        """The decisions in one turn, in the order in which the model calls made use of them."""
        if turn.session is not self._session:
            self._session, self._latency = turn.session, Sample()
        found = []
        for record in turn.records:
            if isinstance(record.event, GateApplied):
                found.append((record.seq, _gated(record, record.event)))
        for search in turn.searches:
            self._latency.add(search.event.report.latency_ms)
            later = bisect_right(turn.calls, search.record.seq, key=lambda call: call.record.seq)
            call = turn.calls[later] if later < len(turn.calls) else None
            used = call.record.seq if call is not None else turn.records[-1].seq
            request = call.request if call is not None else None
            found.append((used, _searched(search, request, self._latency.at(0.5) or 0.0)))
        return [decision for _, decision in sorted(found, key=lambda one: one[0])]


def _gated(record: Record, event: GateApplied) -> RoutingDecision:
    return RoutingDecision(
        *(record.session, record.at, "gate", event.call, event.query_hash),
        candidates=tuple(one.tool for one in event.candidates),
        scores=tuple(one.score for one in event.candidates),
        gated_out_by_state=event.gated_out,
        active_set=event.active,
        phase1_tokens=event.pool_tokens,
        phase2_tokens=event.tokens,
        latency_ms=event.milliseconds,
        p50_latency_ms=event.p50_milliseconds,
    )


def _searched(search: Search, request: ModelRequested | None, median: float) -> RoutingDecision:
    record, report = search.record, search.event.report
    query = plain(report.request.query or report.request.label())
    parts = request.tokens if request is not None else None
    return RoutingDecision(
        *(record.session, record.at, "search", request.call if request is not None else None),
        query_embedding_hash=hashlib.sha256(query.encode()).hexdigest()[:_DIGITS],
        candidates=tuple(hit.tool_id for hit in report.hits),
        scores=() if report.unscored else tuple(hit.score.value for hit in report.hits),
        gated_out_by_state=tuple(hit.tool_id for hit in report.hits if hit.outcome is Outcome.PRECONDITION),
        active_set=request.bound if request is not None else (),
        phase1_tokens=parts.meta + parts.manifest + parts.pool if parts is not None else None,
        phase2_tokens=parts.tools if parts is not None else None,
        latency_ms=report.latency_ms,
        p50_latency_ms=median,
    )
