"""A search from request to report: lookups, filters, the limit, what the model reads (PRD section 2.3)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from inspector.domain.catalog import Catalog
from inspector.domain.closest import closest
from inspector.domain.ranking import Hit, Outcome, Part, Score, SearchReport, SearchRequest, Signal
from inspector.domain.search_text import (
    NOTHING_ASKED,
    found_text,
    unknown_server_text,
    unknown_tools_text,
)
from inspector.domain.tool import Tool
from inspector.engine.ports import Clock
from inspector.engine.retrieval.bm25 import Bm25Ranker


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A report, the text the model reads, and the tools that are to be loaded now."""

    report: SearchReport
    text: str
    to_load: tuple[Tool, ...] = ()


class ToolSearch:
    """Searches the deferrable tools of one catalog. Build a new one when the catalog changes."""

    def __init__(self, catalog: Catalog, *, limit: int, clock: Clock) -> None:
        self._tools = catalog.deferred
        self._servers = tuple(dict.fromkeys(tool.server for tool in self._tools))
        self._ids = {tool.id: tool for tool in self._tools}
        self._pool = Catalog(self._tools)
        self._ranker = Bm25Ranker(self._tools)
        self._limit = limit
        self._clock = clock

    def run(self, request: SearchRequest, *, bound: Collection[str], load: bool = True) -> SearchAnswer:
        """Answer a request. `bound` are the tools that are loaded already; `load=False` only looks."""
        started = self._clock.monotonic()
        problem = self._problem(request)
        if problem:
            report = SearchReport(request, self._ranker.name, limit=self._limit, error=problem)
            return SearchAnswer(report, problem)
        outcome = Outcome.LOADED if load else Outcome.FOUND
        hits, missing = self._hits(request, bound, outcome)
        report = SearchReport(
            request=request,
            ranker=self._ranker.name,
            hits=hits,
            terms=self._ranker.terms(request.query),
            limit=self._limit,
            latency_ms=(self._clock.monotonic() - started) * 1000,
            error=missing if not any(hit.outcome.is_result for hit in hits) else "",
        )
        return self._answer(report, missing, load)

    def _problem(self, request: SearchRequest) -> str:
        if request.is_empty:
            return NOTHING_ASKED
        if request.server_name and request.server_name not in self._servers:
            return unknown_server_text(request.server_name, self._servers)
        return ""

    def _hits(
        self, request: SearchRequest, bound: Collection[str], outcome: Outcome
    ) -> tuple[tuple[Hit, ...], str]:
        """Names come first, a query is their fallback, a server alone lists all it has."""
        missing = ""
        if request.tool_names:
            named, missing = self._lookup(request)
            if named or not request.query.strip():
                return _listed(named, bound, outcome), missing
        if request.query.strip():
            return self._ranked(request, bound, outcome), ""
        return _listed([t for t in self._tools if t.server == request.server_name], bound, outcome), missing

    def _lookup(self, request: SearchRequest) -> tuple[list[Tool], str]:
        found: dict[str, Tool] = {}
        unknown: list[str] = []
        for name in dict.fromkeys(request.tool_names):
            tools = self._pool.named(name, server=request.server_name)
            found.update((tool.id, tool) for tool in tools)
            if not tools:
                unknown.append(name)
        pool = [tool for tool in self._tools if request.server_name in ("", tool.server)]
        near = [(name, self._closest(name, pool)) for name in unknown]
        return list(found.values()), unknown_tools_text(near)

    @staticmethod
    def _closest(name: str, pool: Sequence[Tool]) -> tuple[str, ...]:
        """Ids when the unknown name has a server in it, plain names matched and shown as ids otherwise."""
        if ":" in name:
            return closest(name, [tool.id for tool in pool])
        plain = closest(name, list(dict.fromkeys(tool.name for tool in pool)))
        return tuple(tool.id for wanted in plain for tool in pool if tool.name == wanted)[:3]

    def _ranked(self, request: SearchRequest, bound: Collection[str], outcome: Outcome) -> tuple[Hit, ...]:
        scores = sorted(self._ranker.rank(request.query), key=lambda score: -score.value)
        hits: list[Hit] = []
        found = 0
        for rank, score in enumerate(scores, start=1):
            fate = self._fate(score, request, found)
            if fate is None:
                found += 1
                fate = Outcome.ALREADY_LOADED if score.tool_id in bound else outcome
            hits.append(Hit(rank, score, fate))
        return tuple(hits)

    def _fate(self, score: Score, request: SearchRequest, found: int) -> Outcome | None:
        """Why a tool is not a result, or None if it is."""
        if request.server_name and self._ids[score.tool_id].server != request.server_name:
            return Outcome.OTHER_SERVER
        if score.value <= 0:
            return Outcome.BELOW_FLOOR
        return Outcome.OVER_LIMIT if found >= self._limit else None

    def _answer(self, report: SearchReport, missing: str, load: bool) -> SearchAnswer:
        already = [self._ids[h.tool_id] for h in report.results if h.outcome is Outcome.ALREADY_LOADED]
        fresh = [self._ids[h.tool_id] for h in report.results if h.outcome is not Outcome.ALREADY_LOADED]
        text = found_text(fresh, already) if fresh or already or not missing else ""
        return SearchAnswer(report, "\n\n".join(filter(None, [text, missing])), tuple(fresh) if load else ())


def _listed(tools: Sequence[Tool], bound: Collection[str], outcome: Outcome) -> tuple[Hit, ...]:
    """Hits of a direct lookup: each matches by name, exactly."""
    return tuple(
        Hit(
            rank,
            Score(tool.id, 1.0, (Part(Signal.EXACT, tool.name, 1.0),)),
            Outcome.ALREADY_LOADED if tool.id in bound else outcome,
        )
        for rank, tool in enumerate(tools, start=1)
    )
