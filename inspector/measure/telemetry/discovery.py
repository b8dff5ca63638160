"""How often models search, what searches return, and what is called of it."""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from inspector.clients.miss import BacklogGroups, Miss, MissCause, SearchWatch
from inspector.core.events import (
    CallStarted,
    CatalogBuilt,
    Event,
    Record,
    RedundantSearch,
    SearchPerformed,
    SessionStarted,
    UserSaid,
)
from inspector.core.ranking import Answer
from inspector.core.turns import ACTS
from inspector.measure.telemetry.cell import Cases, Sample

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
