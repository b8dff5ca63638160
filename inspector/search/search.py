"""A search from request to report: lookups, filters, the limit, the model's text (PRD section 2.3)."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from inspector.core.ports import Clock
from inspector.core.ranking import Answer, Hit, Outcome, Part, Score, SearchReport, SearchRequest, Signal
from inspector.core.tool import Tool
from inspector.search.answer_text import (
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
from inspector.search.index import NameIndex, ToolIndex
from inspector.search.ranker import Ranker, Ranking, ranking_for
from inspector.search.rules import CLOSEST_AT_MOST, MISSES_KEPT, Places, SearchRules


class ToolSearch:
    """Searches one index with one ranker."""

    def __init__(
        self, index: ToolIndex, names: NameIndex, ranker: Ranker, rules: SearchRules, clock: Clock
    ) -> None:
        self._index = index
        self._names = names
        self._ranker = ranker
        self._rules = rules
        self._clock = clock

    def run(
        self,
        request: SearchRequest,
        *,
        load: bool = True,
        misses: int = MISSES_KEPT,
    ) -> SearchAnswer:
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
            Hit(rank, _by_name(tool), self._listed_outcome(tool, outcome))
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
        self,
        request: SearchRequest,
        ranking: Ranking,
        *,
        order: Sequence[int],
        outcome: Outcome,
        misses: int,
    ) -> list[Hit]:
        """The results and the first `misses` other tools, each with what happened to it."""
        found: list[tuple[int, int, Outcome]] = []
        answer = self._rules.answer(ranking)
        outcome = _of_results(answer, outcome)
        likely, missed, query = self._rules.likely(ranking, request), 0, ranking.read or request.query
        places = Places(self._rules, ranking, self._index)
        for rank, position in enumerate(order, start=1):
            tool = self._index.tools[position]
            actual = self._rules.outside(tool, request)
            if actual is None and not likely[position]:
                actual = self._rules.missed(ranking, position)
            elif actual is None and places.end is None and self._rules.withholds(tool, query, answer):
                actual = Outcome.WITHHELD
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
        scores = ranking.explained([position for _rank, position, _actual in found])
        return [
            Hit(rank, score, actual) for (rank, _position, actual), score in zip(found, scores, strict=True)
        ]

    def _answer(self, report: SearchReport, missing: str, load: bool) -> SearchAnswer:
        already = self._tools(report, Outcome.ALREADY_LOADED)
        fresh = self._tools(report, Outcome.LOADED, Outcome.FOUND, Outcome.CLOSEST)
        withheld = self._tools(report, Outcome.WITHHELD)[:CLOSEST_AT_MOST]
        if report.nothing_fits or (withheld and not report.results):
            near = self._tools(report, Outcome.NOTHING_FITS, Outcome.WITHHELD)[:CLOSEST_AT_MOST]
            text = nothing_fits_text(near)
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
        if report.results:
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


def _by_name(tool: Tool) -> Score:
    return Score(tool.id, 1.0, (Part(Signal.EXACT, tool.name, 1.0),))
