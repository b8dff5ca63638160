"""How often models search, what searches return and what is called of it, and every routing decision."""

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from inspector.clients.miss import BacklogGroups, Miss, MissCause, SearchWatch
from inspector.core.events import (
    CallStarted,
    CatalogBuilt,
    Event,
    GateApplied,
    ModelRequested,
    Record,
    RedundantSearch,
    SearchPerformed,
    SessionStarted,
    TurnEnded,
    UserSaid,
)
from inspector.core.ranking import Answer, Outcome
from inspector.core.turns import ACTS
from inspector.measure.telemetry.cell import Cases, Sample
from inspector.measure.telemetry.otel import plain

OWN = "toolsight"
"""Who a session is of that was not imported."""
_NEWEST = 200
KINDS = (*ACTS, *(each.kind for each in (SessionStarted, CatalogBuilt, RedundantSearch)))
"""The kinds of events that are counted here."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A tool that was called, at the search that found it: the newest one before the call.

    `score` is None where a transcript tells the order alone. `candidates` is how many tools were ranked.
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

    called: Sample = field(default_factory=Sample)
    others: Sample = field(default_factory=Sample)
    latency: Sample = field(default_factory=Sample)


@dataclass(slots=True)
class Frequency:
    """How often one agent searched under one toolset: over sessions, turns and searches."""

    sessions: int = 0
    turns: int = 0
    searches: int = 0
    unused: int = 0


@dataclass(slots=True)
class _Result:
    """A tool that a search returned; `selection` is what it is once it is called."""

    selection: Selection
    is_called: bool = False


class DiscoveryCount:
    """Counts searches and their use: a call in the same session counts at the newest search that found it."""

    def __init__(self) -> None:
        self.searches = self.by_hand = self.errors = 0
        self.candidates, self.returned, self.latency = Sample(), Sample(), Sample()
        self.turns, self.used, self.unused, self.first, self.third = (Cases() for _ in range(5))
        self.redundant = Cases()
        self.answers = {answer: Cases() for answer in Answer}
        self.causes: Counter[MissCause] = Counter()
        self.by_agent: dict[tuple[str, str], Frequency] = {}
        self.rankers: dict[str, RankerScores] = {}
        self.backlog = BacklogGroups()
        self.selections: deque[Selection] = deque(maxlen=_NEWEST)
        self._watch = SearchWatch()
        self._results: list[_Result] = []
        self._newest: dict[str, _Result] = {}
        self._key, self._is_counted = (OWN, ""), False
        self._turn: str | None = None
        self._searched = self._may_be_redundant = False

    @property
    def most_kept(self) -> int:
        """How many selections are kept, the newest."""
        return _NEWEST

    def begin(self) -> None:
        """Another session begins."""
        self.settle()
        self._key, self._is_counted = (OWN, ""), False

    def settle(self) -> None:
        """Count what the session so far leaves open: its last turn, and the results that nobody called."""
        self._end_turn()
        self._may_be_redundant = False
        self._note(self._watch.end())
        for result in self._results:
            one = result.selection
            self.used.add(one.session, result.is_called)
            if not result.is_called and one.score is not None:
                self._scores(one.ranker).others.add(one.score)
        self._results, self._newest = [], {}

    def after(self, record: Record) -> None:
        """Count one record."""
        self._note(self._watch.after(record))
        event = record.event
        match event:
            case SearchPerformed(by="model"):
                self._search(record, event)
            case SearchPerformed():
                self.by_hand += 1
            case CallStarted(tool=tool, by="model"):
                self._call(tool)
            case RedundantSearch() if self._may_be_redundant:
                self.redundant.add(record.session, 1, 0)
                self._may_be_redundant = False
            case UserSaid():
                self._end_turn()
                self._turn = record.session
            case _:
                self._place(event)

    def _place(self, event: Event) -> None:
        """Whose session it is, and under which toolset."""
        match event:
            case SessionStarted():
                self._key = (event.origin.agent if event.origin else OWN, event.toolset)
                self._is_counted = False
            case CatalogBuilt(toolset=toolset) if toolset != self._key[1]:
                self._key, self._is_counted = (self._key[0], toolset), False

    def _frequency(self) -> Frequency:
        known = self.by_agent.setdefault(self._key, Frequency())
        if not self._is_counted:
            known.sessions += 1
            self._is_counted = True
        return known

    def _search(self, record: Record, event: SearchPerformed) -> None:
        report, results = event.report, event.report.results
        self.searches += 1
        self._frequency().searches += 1
        self._searched = True
        self.errors += bool(report.error)
        self.redundant.add(record.session, 0, 1)
        self._may_be_redundant = True
        self.returned.add(len(results))
        for answer, cases in self.answers.items():
            cases.add(record.session, report.answer is answer)
        if not report.unscored:
            self.candidates.add(report.scored)
            self.latency.add(report.latency_ms)
            self._scores(report.ranker).latency.add(report.latency_ms)
        for hit in results:
            score = None if report.unscored else hit.score.value
            at = (record.session, record.seq, report.request.query or report.request.label())
            found = Selection(*at, hit.tool_id, hit.rank, score, report.ranker, report.scored)
            self._newest[hit.tool_id] = _Result(found)
            self._results.append(self._newest[hit.tool_id])

    def _call(self, tool: str) -> None:
        result = self._newest.get(tool)
        if result is None or result.is_called:
            return
        result.is_called, one = True, result.selection
        self.selections.append(one)
        self.first.add(one.session, one.rank == 1)
        self.third.add(one.session, one.rank <= 3)
        if one.score is not None:
            self._scores(one.ranker).called.add(one.score)

    def _scores(self, ranker: str) -> RankerScores:
        return self.rankers.setdefault(ranker, RankerScores())

    def _end_turn(self) -> None:
        if self._turn is not None:
            self.turns.add(self._turn, self._searched)
            self._frequency().turns += 1
        self._turn, self._searched = None, False

    def _note(self, missed: Iterable[Miss]) -> None:
        for miss in missed:
            self.causes[miss.cause] += 1
            self._frequency().unused += 1
            self.backlog.add(miss)


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
    """Makes decisions of records; one of a search comes with the model call after it."""

    def __init__(self) -> None:
        self._session = ""
        self._waiting: list[RoutingDecision] = []
        self._latency = Sample()

    def after(self, record: Record) -> Iterator[RoutingDecision]:
        """The decisions that are complete with this record."""
        if record.session != self._session:
            yield from self.end()
            self._session, self._latency = record.session, Sample()
        match record.event:
            case GateApplied() as event:
                yield _gated(record, event)
            case SearchPerformed(by="model") as event:
                self._latency.add(event.report.latency_ms)
                self._waiting.append(_searched(record, event, self._latency.at(0.5) or 0.0))
            case ModelRequested(tokens=parts) as event:
                first = parts.meta + parts.manifest + parts.pool
                for one in self._taken():
                    yield replace(
                        one,
                        turn_id=event.call,
                        active_set=event.bound,
                        phase1_tokens=first,
                        phase2_tokens=parts.tools,
                    )
            case UserSaid() | TurnEnded():
                yield from self.end()

    def end(self) -> Iterator[RoutingDecision]:
        """The decisions that no model call came after."""
        yield from self._taken()

    def _taken(self) -> list[RoutingDecision]:
        waiting, self._waiting = self._waiting, []
        return waiting


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


def _searched(record: Record, event: SearchPerformed, median: float) -> RoutingDecision:
    report = event.report
    query = plain(report.request.query or report.request.label())
    return RoutingDecision(
        *(record.session, record.at, "search", None),
        query_embedding_hash=hashlib.sha256(query.encode()).hexdigest()[:_DIGITS],
        candidates=tuple(hit.tool_id for hit in report.hits),
        scores=() if report.unscored else tuple(hit.score.value for hit in report.hits),
        gated_out_by_state=tuple(hit.tool_id for hit in report.hits if hit.outcome is Outcome.PRECONDITION),
        active_set=(),
        phase1_tokens=None,
        phase2_tokens=None,
        latency_ms=report.latency_ms,
        p50_latency_ms=median,
    )


def decisions(records: Iterable[Record]) -> Iterator[RoutingDecision]:
    """The routing decisions of one or more sessions in sequence."""
    log = RoutingLog()
    for record in records:
        yield from log.after(record)
    yield from log.end()
