"""A search from request to report: lookups, rules, what is withheld, the model's text (PRD section 2.3)."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.ports import Clock
from inspector.core.ranking import (
    MISSES_KEPT,
    Answer,
    Hit,
    Outcome,
    Part,
    Score,
    SearchReport,
    SearchRequest,
    Signal,
)
from inspector.core.settings import DiscoverySettings, ResultForm
from inspector.core.tool import Tool, destroying_verb
from inspector.search.answer.answer_text import (
    CLOSEST_ONLY,
    NOTHING_ASKED,
    SearchAnswer,
    elsewhere_text,
    matches_text,
    nothing_fits_text,
    unknown_server_text,
    unknown_tags_text,
    unknown_tools_text,
    unmet_text,
    withheld_text,
)
from inspector.search.index.name_index import NameIndex
from inspector.search.index.query import asking, asks_for, parse
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import Tags
from inspector.search.ranker.ranker import Mask, Ranker, Ranking, ranking_for

# How many tools come closest where none clearly fits.
CLOSEST_AT_MOST = 5
# How many tools a text names without loading them.
_NAMED = 3
# A search that is sure returns so many, and of the others those with this share of the best score: few where
# one stands out, more where many are alike. Chosen on recorded runs of agents (docs/papers/recorded-runs.md).
SURELY, NEAR = 3, 0.5
# After the usual results only tools come with a definition of at most so many characters, some 150 tokens: a
# late place is seldom of use, and costs as much as an early one. Who wants fewer than USUAL gets no more.
USUAL, SHORT_DEFINITION = 5, 600


class SearchRules(Struct, frozen=True):
    """At most `limit` results that are not `pinned`, and `more` of a sure search. `form` is that of its text.

    `unmet` holds the unmet preconditions by tool. `bound` tools, which include the pinned ones, are loaded
    already. `away` tells why what has a name (a server, a tool) is away now. Without `withholds`, as in a
    client's own search, tools that destroy are found as others are.

    If the ranker estimates how likely tools fit, the likeliest one near the top decides: from `threshold` on
    the answer is `found`, from `closest_threshold` on `closest`. Without a `threshold` it is always `found`.
    """

    limit: int = 5
    threshold: float = 0.0
    closest_threshold: float = 0.0
    tags: Tags = Tags()
    unmet: Mapping[str, Sequence[str]] = field(default_factory=dict)
    bound: Collection[str] = frozenset()
    pinned: Collection[str] = frozenset()
    form: ResultForm = "full"
    away: Mapping[str, str] = field(default_factory=dict)
    more: int = 0
    withholds: bool = True

    @classmethod
    def of(cls, settings: DiscoverySettings) -> "SearchRules":
        """The rules of these settings."""
        return cls(
            settings.max_search_results,
            settings.min_probability,
            settings.min_closest,
            form=settings.results,
            more=settings.more_results,
        )

    def answer(self, ranking: Ranking) -> Answer:
        """What may be said of this ranking at most, before filters leave tools out."""
        probability = ranking.probability
        if probability is None or probability >= self.threshold:
            return Answer.FOUND
        return Answer.CLOSEST if probability >= self.closest_threshold else Answer.NOTHING

    def most(self, answer: Answer) -> int:
        """The most results that an answer has; for `nothing`, those it would have had."""
        return self.limit if answer is Answer.FOUND else min(self.limit, CLOSEST_AT_MOST)

    def likely(self, ranking: Ranking, request: SearchRequest) -> Mask:
        """The tools that the ranker keeps and that are as similar as is asked for."""
        similarity = ranking.similarity if ranking.fit is None else ranking.fit
        if similarity is not None and request.min_similarity:
            return ranking.kept & (similarity >= request.min_similarity)
        return ranking.kept

    def missed(self, ranking: Ranking, position: int) -> Outcome:
        """Why a tool is not among the likely ones."""
        return Outcome.UNLIKELY if ranking.kept[position] else Outcome.BELOW_FLOOR

    def outside(self, tool: Tool, request: SearchRequest) -> Outcome | None:
        """Why the request's filters or a precondition exclude the tool, or None."""
        if self.unmet and tool.id in self.unmet:
            return Outcome.PRECONDITION
        if request.server_name and tool.server != request.server_name:
            return Outcome.OTHER_SERVER
        if request.tags and self.tags.missing(tool, request.tags):
            return Outcome.OTHER_TAG
        return None


class Places:
    """The places among the results: `most` for tools that a search can load, and as many for pinned ones.

    A pinned tool takes no place of another one. One that a search loaded before keeps its own, so that the
    same search again loads nothing more. After the last place of the others there are no more results, nor
    after the first whose score is far below the best; late places are for short definitions. Nothing is
    loaded beside a pinned tool that clearly does what is asked.
    """

    def __init__(self, rules: SearchRules, ranking: Ranking, index: ToolIndex, query: str) -> None:
        answer = rules.answer(ranking)
        self._documents, at = index.documents, index.position
        self._guards, self._query = rules.withholds and answer is not Answer.NOTHING, ranking.read or query
        self._bound, self._leader = rules.bound, _clearly_first(ranking)
        self._pinned = {at[tool_id] for tool_id in rules.pinned if tool_id in at}
        most = max(rules.most(answer), 0)
        self._scores = ranking.comparable if rules.threshold and answer is Answer.FOUND else None
        self._usual = most
        if self._scores is not None and most >= USUAL:
            most += rules.more
        self._pinned_winner = self._winner(ranking) if self._scores is not None else None
        self._free = {False: most, True: most}
        self._taken: list[float] = []
        self.end: Outcome | None = None if most else Outcome.OVER_LIMIT

    def take(self, position: int) -> Outcome | None:
        """Take a place for the next best match; why there is none for it, or None if it is a result."""
        is_pinned = position in self._pinned
        if self.end is None and not is_pinned and self._is_far(position):
            self.end = Outcome.UNLIKELY
        is_withheld = self.end is None and self._withholds(position)
        is_late = not is_pinned and self._scores is not None and len(self._taken) >= self._usual
        is_full = self.end is not None or not self._free[is_pinned]
        if not is_withheld and (is_full or (is_late and self._documents[position].size > SHORT_DEFINITION)):
            return self.end or Outcome.OVER_LIMIT
        if not is_pinned and self._scores is not None:
            self._taken.append(float(self._scores[position]))
        if is_withheld:
            return Outcome.WITHHELD
        self._free[is_pinned] -= 1
        if not self._free[False]:
            self.end = Outcome.OVER_LIMIT
        if position == self._pinned_winner:
            self.end = Outcome.PINNED_FITS
        return None

    def _winner(self, ranking: Ranking) -> int | None:
        """The best match of a search that is sure, if it is pinned and does all that is asked."""
        first = next(iter(ranking.order(1)), None)
        return first if first in self._pinned and not parse(self._query).steps else None

    def _withholds(self, position: int) -> bool:
        """Whether a search leaves this tool unloaded: it destroys, and nobody clearly asked for that.

        What comes first by a clear margin is asked for, in whatever words; but not by what is merely told
        (“the parcel has gone out”).
        """
        tool = self._documents[position].tool
        if not self._guards or tool.id in self._bound or not (verb := destroying_verb(tool)):
            return False
        asked = asking(self._query)
        if position == self._leader and asked == self._query:
            return False
        return not asks_for(asked or self._query, tool.name, verb)

    def _is_far(self, position: int) -> bool:
        if self._scores is None or len(self._taken) < SURELY:
            return False
        return float(self._scores[position]) < NEAR * max(self._taken)


def _clearly_first(ranking: Ranking) -> int | None:
    """The position of the best tool, if no other has half its score."""
    scores = ranking.values if ranking.comparable is None else ranking.comparable
    order = ranking.order(2)
    best, *others = [float(scores[position]) for position in order] or [0.0]
    return order[0] if best > 0 and all(other <= NEAR * best for other in others) else None


class ToolSearch(Struct, frozen=True, dict=True):
    """Searches one index with one ranker."""

    _index: ToolIndex
    _names: NameIndex
    _ranker: Ranker
    _rules: SearchRules
    _clock: Clock

    def run(self, request: SearchRequest, *, load: bool = True, misses: int = MISSES_KEPT) -> SearchAnswer:
        """Answer a request; with `load=False` nothing is loaded."""
        request = self._with_known_tags(self._names.resolved(request))
        problem = self._problem(request)
        if problem:
            report = SearchReport(request, self._ranker.name, limit=self._rules.limit, error=problem)
            return SearchAnswer(report, problem)
        outcome = Outcome.LOADED if load else Outcome.FOUND
        named, missing = self._lookup(request)
        if request.query.strip() and not named:
            report = self._ranked(request, outcome, misses)
        else:
            report = self._listed(request, named, outcome)
        return self._answer(report, missing, load)

    def _problem(self, request: SearchRequest) -> str:
        if request.is_empty:
            return NOTHING_ASKED
        if request.server_name and request.server_name not in self._index.servers:
            if request.server_name in self._rules.away:
                return self._rules.away[request.server_name]
            return unknown_server_text(request.server_name, self._index.servers)
        unknown = [tag for tag in request.tags if tag not in self._tags]
        return unknown_tags_text(unknown, self._tags) if unknown else ""

    @cached_property
    def _tags(self) -> Collection[str]:
        """The tags of the tools that are searched, in order."""
        return self._rules.tags.known(self._index.tools)

    def _with_known_tags(self, request: SearchRequest) -> SearchRequest:
        """The request with tags as they are spelt here, whatever their case."""
        spelt = {tag.casefold(): tag for tag in self._tags} if request.tags else {}
        return replace(request, tags=tuple(spelt.get(tag.casefold(), tag) for tag in request.tags))

    def _lookup(self, request: SearchRequest) -> tuple[list[Tool], str]:
        """The tools requested by name, and the text about names that match no tool here."""
        matches: dict[str, Tool] = {}
        near: list[tuple[str, tuple[str, ...]]] = []
        other: list[str] = []
        for name in dict.fromkeys(request.tool_names):
            tools = self._names.find(name, server=request.server_name)
            matches.update((tool.id, tool) for tool in tools)
            others = () if tools else self._names.find(name)
            if others:
                other.append(elsewhere_text(name, request.server_name, [tool.server for tool in others]))
            elif not tools and name in self._rules.away:
                other.append(self._rules.away[name])
            elif not tools:
                near.append((name, self._names.closest(name, server=request.server_name)))
        return list(matches.values()), "\n".join(filter(None, [*other, unknown_tools_text(near)]))

    def _listed(self, request: SearchRequest, named: Sequence[Tool], outcome: Outcome) -> SearchReport:
        """A lookup without ranking: the named tools, or all tools of the server or tags."""
        tools = named
        if not request.tool_names:
            outside = (Outcome.OTHER_SERVER, Outcome.OTHER_TAG)
            tools = [t for t in self._index.tools if self._rules.outside(t, request) not in outside]
        hits = tuple(
            Hit(
                rank,
                Score(tool.id, 1.0, (Part(Signal.EXACT, tool.name, 1.0),)),
                self._listed_outcome(tool, outcome),
            )
            for rank, tool in enumerate(tools, start=1)
        )
        return SearchReport(request, self._ranker.name, hits, limit=self._rules.limit, scored=len(hits))

    def _listed_outcome(self, tool: Tool, outcome: Outcome) -> Outcome:
        if tool.id in self._rules.unmet:
            return Outcome.PRECONDITION
        return Outcome.ALREADY_LOADED if tool.id in self._rules.bound else outcome

    def _ranked(self, request: SearchRequest, outcome: Outcome, misses: int) -> SearchReport:
        started = self._clock.monotonic()
        ranking = ranking_for(self._ranker, request)
        order = self._order(request, ranking, misses)
        latency = (self._clock.monotonic() - started) * 1000
        return SearchReport(
            request,
            self._ranker.name,
            tuple(self._hits(request, ranking, order=order, outcome=outcome, misses=misses)),
            terms=self._ranker.terms(ranking.read or request.query),
            limit=self._rules.limit,
            latency_ms=latency,
            scored=len(ranking.values),
            probability=ranking.probability,
            threshold=self._rules.threshold,
            closest_threshold=self._rules.closest_threshold,
            note=ranking.note,
        )

    def _order(self, request: SearchRequest, ranking: Ranking, misses: int) -> Sequence[int]:
        """The tools, best first: as many as a report holds, or all if some may be filtered out."""
        if not (request.server_name or request.tags or self._rules.unmet):
            position = self._index.position
            pinned = [position[tool_id] for tool_id in self._rules.pinned if tool_id in position]
            first = ranking.order(self._rules.limit + self._rules.more + misses + len(pinned))
            likely = self._rules.likely(ranking, request).copy()
            likely[pinned] = False
            if int(np.count_nonzero(likely[first])) >= min(
                self._rules.limit + self._rules.more, int(np.count_nonzero(likely))
            ):
                return first
        return ranking.order()

    def _hits(
        self, request: SearchRequest, ranking: Ranking, *, order: Sequence[int], outcome: Outcome, misses: int
    ) -> list[Hit]:
        """The results and the first `misses` other tools, each with what happened to it."""
        found: list[tuple[int, int, Outcome]] = []
        answer = self._rules.answer(ranking)
        outcome = _of_results(answer, outcome)
        likely, missed = self._rules.likely(ranking, request), 0
        places = Places(self._rules, ranking, self._index, request.query)
        for rank, position in enumerate(order, start=1):
            tool = self._index.tools[position]
            actual = self._rules.outside(tool, request)
            if actual is None and not likely[position]:
                actual = self._rules.missed(ranking, position)
            elif actual is None and (refused := places.take(position)):
                actual = outcome if answer is Answer.NOTHING else refused
            elif actual is None:
                is_bound = outcome.is_result and self._index.ids[position] in self._rules.bound
                actual = Outcome.ALREADY_LOADED if is_bound else outcome
            missed += not actual.is_result
            if actual.is_result or missed <= misses:
                found.append((rank, position, actual))
            elif places.end is not None:
                break
        scores = [ranking.explain(position) for _rank, position, _actual in found]
        return [
            Hit(rank, score, actual) for (rank, _position, actual), score in zip(found, scores, strict=True)
        ]

    def _answer(self, report: SearchReport, missing: str, load: bool) -> SearchAnswer:
        already = self._tools(report, Outcome.ALREADY_LOADED)
        fresh = self._tools(report, Outcome.LOADED, Outcome.FOUND, Outcome.CLOSEST)
        withheld = self._tools(report, Outcome.WITHHELD)[:_NAMED]
        if report.nothing_fits or (withheld and not report.results):
            text = nothing_fits_text(self._tools(report, Outcome.NOTHING_FITS)[:_NAMED])
        else:
            closed = {
                tool.id: self._rules.unmet[tool.id]
                for tool in self._tools(report, Outcome.PRECONDITION)
                if report.request.tool_names or not report.request.query.strip()
            }
            missing = "\n".join(filter(None, [missing, unmet_text(closed)]))
            has_matches = fresh or already or not missing
            text = matches_text(report, fresh, already, form=self._rules.form) if has_matches else ""
        if missing and not report.results:
            report = replace(report, error=missing)
        caution = CLOSEST_ONLY if report.answer is Answer.CLOSEST else ""
        missing = "\n\n".join(filter(None, [withheld_text(withheld), missing]))
        full_text = "\n\n".join(filter(None, [caution, text, missing]))
        to_load = tuple(fresh) if load else ()
        return SearchAnswer(
            report=report,
            text=full_text,
            to_load=to_load,
            already=tuple(already),
            missing=missing,
            caution=caution,
            form=self._rules.form,
        )

    def _tools(self, report: SearchReport, *outcomes: Outcome) -> list[Tool]:
        return [
            self._index.tools[self._index.position[h.tool_id]] for h in report.hits if h.outcome in outcomes
        ]


def _of_results(answer: Answer, outcome: Outcome) -> Outcome:
    """What the tools come to that would be `outcome` if the search were sure."""
    if answer is Answer.NOTHING:
        return Outcome.NOTHING_FITS
    return Outcome.CLOSEST if (answer, outcome) == (Answer.CLOSEST, Outcome.FOUND) else outcome
