"""What statistics are made of; how often models search, what searches return, what is called of it."""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from inspector.core.events import SearchPerformed
from inspector.core.number import Share, effective, percentile
from inspector.core.ranking import Answer
from inspector.core.turns import Search, Session, ToolCall, Turn
from inspector.session.miss import Miss, MissCause


class Sample:
    """Numbers of one kind, such as latencies; their percentiles are exact."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values = array("d")

    def add(self, value: float) -> None:
        """Count one more."""
        self._values.append(value)

    @property
    def count(self) -> int:
        return len(self._values)

    @property
    def mean(self) -> float | None:
        """The mean; None without numbers."""
        return sum(self._values) / self.count if self._values else None

    def at(self, share: float) -> float | None:
        """The value below which `share` (0 to 1) of the numbers lie; None without numbers."""
        return percentile(self._values, share) if self._values else None


class Cases:
    """How often something held, by session: cases of one session are not independent of one another."""

    __slots__ = ("_held", "_session", "_sizes")

    def __init__(self) -> None:
        self._held, self._sizes = array("q"), array("q")
        self._session = ""

    def add(self, session: str, held: int, cases: int = 1) -> None:
        """Count `cases` more of a session, of which `held` did. A session's cases come one after another."""
        if session != self._session or not self._sizes:
            self._session = session
            self._held.append(0)
            self._sizes.append(0)
        self._held[-1] += held
        self._sizes[-1] += cases

    @property
    def held(self) -> int:
        return sum(self._held)

    @property
    def count(self) -> int:
        return sum(self._sizes)

    @property
    def share(self) -> Share | None:
        """The share with its Wilson interval; None without cases.

        Sessions are the clusters. Where only one session has any, its cases stand for themselves.
        """
        cases = self.count
        if not cases:
            return None
        held = [one for one, size in zip(self._held, self._sizes, strict=True) if size]
        sizes = [*filter(None, self._sizes)]
        size = effective(held, sizes, self.held / cases) if len(sizes) > 1 else None
        return Share(self.held, cases, size)


def as_json(counted: Any) -> Any:
    """What programs read of anything counted; of a count the attributes without an underscore are the keys.

    Shares have the bounds of their 95 % interval.
    """
    match counted:
        case Sample():
            quantiles = {f"p{percent}": counted.at(percent / 100) for percent in (50, 95, 99)}
            return {"n": counted.count, "mean": counted.mean, **quantiles}
        case Cases():
            share = counted.share
            bounds = (share.value, share.low, share.high) if share is not None else (None, None, None)
            told = dict(zip(("share", "low", "high"), bounds, strict=True))
            return {"count": counted.held, "of": counted.count, **told}
        case Mapping():
            return {key: as_json(one) for key, one in counted.items()}
        case list() | tuple():
            return list(map(as_json, counted))
        case str() | int() | float() | None:
            return counted
    names = counted.__struct_fields__ if isinstance(counted, Struct) else vars(counted)
    return {name: as_json(getattr(counted, name)) for name in names if not name.startswith("_")}


OWN = "toolsight"
"""Who a session is of that was not imported."""


class RankerScores(Struct):
    """The scores of one ranker's results: of the tools that were called, and of those that were not."""

    scores_of_called: Sample = field(default_factory=Sample)
    scores_of_others: Sample = field(default_factory=Sample)


class Frequency(Struct):
    """How often one agent searched under one toolset: over sessions, turns and searches."""

    agent: str
    toolset: str
    sessions: int = 0
    turns: int = 0
    searches: int = 0
    unused: int = 0


class _Result(Struct):
    """A tool that a search returned. `score` is None for one that was looked up, or that has none.

    `is_ranked` says that a ranker put it where it is.
    """

    session: str
    rank: int
    score: float | None
    ranker: str
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
        self._results: list[_Result] = []
        self._newest: dict[str, _Result] = {}
        self._counted: Frequency | None = None

    def settle(self) -> None:
        """Count what a session that is over leaves open: the results that nobody called."""
        for one in self._results:
            self.used.add(one.session, one.is_called)
            if not one.is_called and one.score is not None:
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
        results, said = report.results, report.answer
        self.searches += 1
        self.errors += bool(report.error)
        self.lookups += report.is_lookup
        self.redundant.add(record.session, search.redundant is not None)
        self.returned.add(len(results))
        for answer, cases in self.answers.items():
            if not report.error:
                cases.add(record.session, said is answer)
        has_scores = not (report.unscored or report.is_lookup or report.error)
        if has_scores:
            self.candidates.add(report.scored)
            self.latency_ms.add(report.latency_ms)
        for hit in results:
            score = hit.score.value if has_scores else None
            found = _Result(record.session, hit.rank, score, report.ranker, not report.is_lookup)
            self._newest[hit.tool_id] = found
            self._results.append(found)

    def _call(self, tool: str) -> None:
        one = self._newest.get(tool)
        if one is None or one.is_called:
            return
        one.is_called = True
        if one.is_ranked:
            self.ranked_first.add(one.session, one.rank == 1)
            self.ranked_in_three.add(one.session, one.rank <= 3)
        if one.score is not None:
            self._scores(one.ranker).scores_of_called.add(one.score)

    def _scores(self, ranker: str) -> RankerScores:
        return self.rankers.setdefault(ranker, RankerScores())
