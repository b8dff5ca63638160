"""Which tools a request returns, and what cut the others: the rules of ToolSearch for any one tool."""

from dataclasses import dataclass
from functools import cached_property

from inspector.domain.ranking import Outcome, SearchRequest
from inspector.domain.tool import Tool
from inspector.engine.discovery.explanation.standing import Standings
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.rules import SearchRules


@dataclass(frozen=True)
class Verdict:
    """A request over ranked tools; `standings` are those for the query."""

    rankers: CatalogRankers
    request: SearchRequest
    standings: Standings
    rules: SearchRules

    @property
    def has_abstained(self) -> bool:
        """Whether the ranking found it too improbable that any tool fits."""
        return not self.is_lookup and self.rules.abstains(self.standings.ranking)

    @property
    def is_lookup(self) -> bool:
        """Whether the request is answered by names, server or tags alone, without a ranking."""
        return bool(self.named) or not self.request.query.strip()

    @cached_property
    def named(self) -> tuple[int, ...]:
        """Positions of the tools that the request asks for by name."""
        find, server = self.rankers.names.find, self.request.server_name
        found = [tool for name in self.request.tool_names for tool in find(name, server=server)]
        return tuple(dict.fromkeys(self.rankers.index.position[tool.id] for tool in found))

    @cached_property
    def matches(self) -> tuple[int, ...]:
        """Positions of what the request could return were there no limit and no threshold, the best first."""
        tools = self.rankers.index.tools
        if self.request.is_empty or (self.is_lookup and self.request.tool_names):
            return self.named
        pool = range(len(tools)) if self.is_lookup else self.standings.kept()
        return tuple(p for p in pool if self.rules.outside(tools[p], self.request) is None)

    @property
    def results(self) -> tuple[int, ...]:
        """Positions of what takes the places of results; when it abstained, of what would have."""
        return self.matches if self.is_lookup else self.matches[: max(self.rules.limit, 0)]

    def missing_tags(self, tool: Tool) -> tuple[str, ...]:
        """The tags of the request that the tool's server does not carry."""
        carried = self.rules.tags.get(tool.server, ())
        return tuple(tag for tag in dict.fromkeys(self.request.tags) if tag not in carried)

    def cut(self, position: int) -> Outcome | None:
        """Why a tool is not returned, None where it is; what a lookup does not name is below its floor."""
        if position in self.results:
            return Outcome.ABSTAINED if self.has_abstained else None
        if position in self.matches:
            return Outcome.OVER_LIMIT
        outside = self.rules.outside(self.rankers.index.tools[position], self.request)
        if outside is not None or self.is_lookup:
            return outside or Outcome.BELOW_FLOOR
        return self.rules.missed(self.standings.ranking, position)

    def rival(self, position: int) -> int | None:
        """Of a tool with a place the one directly before it, of any other the one with the last place."""
        results = self.results
        if self.is_lookup or not results:
            return None
        if position not in results:
            return results[-1]
        index = results.index(position)
        return results[index - 1] if index else None
