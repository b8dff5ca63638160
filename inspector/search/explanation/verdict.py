"""Decides for any tool whether a request returns it, and if not why, by the rules of ToolSearch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from inspector.core.ranking import Answer, Hit, Outcome, SearchRequest
from inspector.core.tool import Tool
from inspector.search.explanation.standing import Standings, position_of
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.ranker import ranking_for
from inspector.search.rules import Places, SearchRules


@dataclass(frozen=True)
class Verdict:
    """A request over ranked tools; `standings` are the ranks for its query."""

    rankers: CatalogRankers
    request: SearchRequest
    standings: Standings
    rules: SearchRules

    @property
    def answer(self) -> Answer:
        """What the search may say at most; a lookup by name, server or tags is sure."""
        return Answer.FOUND if self.is_lookup else self.rules.answer(self.standings.ranking)

    @property
    def told(self) -> Answer:
        """What the search says in the end: nothing, where no result is left."""
        return self.answer if self.results else Answer.NOTHING

    @property
    def is_lookup(self) -> bool:
        """Whether names, server or tags alone answer the request, without a ranking."""
        return bool(self.named) or not self.request.query.strip()

    @cached_property
    def named(self) -> tuple[int, ...]:
        """The positions of the tools that the request names."""
        find, server = self.rankers.names.find, self.request.server_name
        tools = [tool for name in self.request.tool_names for tool in find(name, server=server)]
        return tuple(dict.fromkeys(self.rankers.index.position[tool.id] for tool in tools))

    @cached_property
    def matches(self) -> tuple[int, ...]:
        """The positions that the request could return without limit and threshold, best first."""
        tools = self.rankers.index.tools
        if self.request.is_empty or (self.is_lookup and self.request.tool_names):
            return self.named
        pool = range(len(tools)) if self.is_lookup else self.standings.kept()
        return tuple(p for p in pool if self.rules.outside(tools[p], self.request) is None)

    @cached_property
    def results(self) -> tuple[int, ...]:
        """The positions of the results; if the answer is `nothing`, of what they would have been."""
        return tuple(position for position, refused in self._placed.items() if refused is None)

    @cached_property
    def _placed(self) -> Mapping[int, Outcome | None]:
        """Of each match why it is no result, or None if it is one."""
        if self.is_lookup:
            return dict.fromkeys(self.matches)
        places, tools = Places(self.rules, self.standings.ranking), self.rankers.index.tools
        query = self.standings.ranking.read or self.request.query
        return {
            position: Outcome.WITHHELD
            if places.end is None and self.rules.withholds(tools[position], query, self.answer)
            else places.take(tools[position], position)
            for position in self.matches
        }

    def rivals(self, tool: Tool) -> Sequence[str]:
        """The matches that compete with a tool for a place, itself included, best first."""
        matches = [self.rankers.index.tools[position].id for position in self.matches]
        is_pinned = tool.id in self.rules.pinned
        return [tool_id for tool_id in matches if (tool_id in self.rules.pinned) is is_pinned]

    def missing_tags(self, tool: Tool) -> tuple[str, ...]:
        """The tags of the request that the tool does not have."""
        return self.rules.tags.missing(tool, self.request.tags)

    def cut(self, position: int) -> Outcome | None:
        """Why a tool is not returned, or None if it is; in a lookup, an unnamed tool is below the floor."""
        if position in self._placed:
            return Outcome.NOTHING_FITS if self.answer is Answer.NOTHING else self._placed[position]
        outside = self.rules.outside(self.rankers.index.tools[position], self.request)
        if outside is not None or self.is_lookup:
            return outside or Outcome.BELOW_FLOOR
        return self.rules.missed(self.standings.ranking, position)

    def rival(self, position: int) -> int | None:
        """The result directly before this one; for a tool that is not a result, the last result."""
        results = self.results
        if self.is_lookup or not results:
            return None
        if position not in results:
            return results[-1]
        index = results.index(position)
        return results[index - 1] if index else None


def hit_of(
    rankers: CatalogRankers, ranker_name: str, request: SearchRequest, tool_id: str, rules: SearchRules
) -> Hit:
    """One tool's line of a search report, however far down. Raises ToolsightError for an unknown tool."""
    position = position_of(rankers.index, tool_id)
    request = rankers.names.resolved(request)
    ranking = ranking_for(rankers.get(ranker_name), request)
    verdict = Verdict(rankers, request, Standings(ranking, rules.likely(ranking, request)), rules)
    cut = verdict.cut(position)
    found = Outcome.CLOSEST if verdict.answer is Answer.CLOSEST else Outcome.FOUND
    return Hit(verdict.standings[position].rank, ranking.explain(position), cut or found)
