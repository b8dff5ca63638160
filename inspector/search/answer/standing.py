"""Where tools stand in a ranking, and what a search makes of it: whole, by step, under several rankers."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.access.reach import EvalCase
from inspector.core.error import ToolsightError
from inspector.core.ranking import Answer, Hit, Outcome, SearchRequest
from inspector.core.tool import Tool
from inspector.search.answer.search import Places, SearchRules
from inspector.search.index.query import parse
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker import Mask, Ranking, ranking_for


class Standing(Struct, frozen=True):
    """A tool's rank from 1 among all tools, its score, and whether it can be returned."""

    rank: int
    value: float
    kept: bool


class Standings:
    """The rank of every tool in an index, by position, and the tools from best to worst."""

    def __init__(self, ranking: Ranking, returned: Mask | None = None) -> None:
        """`returned` marks the tools that a search can return; by default those that the ranker keeps."""
        self.ranking = ranking
        self._returned = ranking.kept if returned is None else returned
        self.order: NDArray[np.intp] = np.array(ranking.order(), np.intp)
        self._ranks = np.zeros(len(self.order), np.intp)
        self._ranks[self.order] = np.arange(1, len(self.order) + 1)

    def __getitem__(self, position: int) -> Standing:
        value, kept = self.ranking.values[position], self._returned[position]
        return Standing(int(self._ranks[position]), float(value), bool(kept))

    def kept(self, count: int | None = None) -> list[int]:
        """The positions of the first `count` tools that can be returned, best first."""
        positions = self.order[self._returned[self.order]]
        return [int(position) for position in positions[: None if count is None else max(count, 0)]]


def position_of(index: ToolIndex, tool_id: str) -> int:
    """A tool's position in the index. Raises ToolsightError for an unknown id."""
    position = index.position.get(tool_id)
    if position is None:
        raise ToolsightError(
            f"there is no tool '{tool_id}' in the search index",
            hint="The index contains only tools that a search can find.",
        )
    return position


class Verdict(Struct, frozen=True, dict=True):
    """A request over ranked tools; `standings` are the ranks for its query."""

    rankers: CatalogRankers
    request: SearchRequest
    standings: Standings
    rules: SearchRules

    @classmethod
    def of(cls, rankers: CatalogRankers, name: str, request: SearchRequest, rules: SearchRules) -> "Verdict":
        """The request as that ranker ranks the tools. Raises ToolsightError, or ModelError; see `why_not`."""
        request = rankers.names.resolved(request)
        ranking = ranking_for(rankers.get(name), request)
        return cls(rankers, request, Standings(ranking, rules.likely(ranking, request)), rules)

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
        places = Places(self.rules, self.standings.ranking, self.rankers.index, self.request.query)
        return {position: places.take(position) for position in self.matches}

    def rivals(self, tool: Tool) -> Sequence[str]:
        """The matches that compete with a tool for a place, itself included, best first."""
        matches = [self.rankers.index.ids[position] for position in self.matches]
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
    verdict = Verdict.of(rankers, ranker_name, request, rules)
    cut, standings = verdict.cut(position), verdict.standings
    found = Outcome.CLOSEST if verdict.answer is Answer.CLOSEST else Outcome.FOUND
    return Hit(standings[position].rank, standings.ranking.explain(position), cut or found)


def missed_in(
    case: EvalCase, rankers: CatalogRankers, ranker_name: str, rules: SearchRules
) -> tuple[str, ...]:
    """The tools of a labelled request that rank behind others: the best of each group of alternatives."""
    position = rankers.index.position
    standings = Verdict.of(rankers, ranker_name, SearchRequest(case.query), rules).standings
    there = (sorted(tool_id for tool_id in group if tool_id in position) for group in case.relevant)
    best = [min(group, key=lambda tool_id: standings[position[tool_id]].rank) for group in there if group]
    return tuple(one for one in best if standings[position[one]].rank > len(case.relevant))


class StepSearch(Struct, frozen=True):
    """The ids that a search for `text` returns, best first.

    `probability` is how likely it is that any tool fits, None if the ranker does not estimate it. `note` says
    what the ranker had to do without.
    """

    text: str
    tool_ids: tuple[str, ...]
    probability: float | None = None
    answer: Answer = Answer.FOUND
    note: str = ""


class Steps(Struct, frozen=True):
    """The search for the whole request and the searches for its steps, in order.

    `only_steps` holds tools that a step finds but the whole request does not, in step order; `only_whole` the
    reverse.
    """

    whole: StepSearch
    steps: tuple[StepSearch, ...]
    only_steps: tuple[str, ...]
    only_whole: tuple[str, ...]


def by_step(rankers: CatalogRankers, ranker_name: str, text: str, rules: SearchRules) -> Steps:
    """Search for `text` as a whole and step by step.

    Raises ToolsightError for an unknown ranker, ModelError if a text cannot be embedded.
    """
    whole = _search(rankers, ranker_name, text, rules)
    steps = tuple(_search(rankers, ranker_name, step, rules) for step in parse(text).steps or (text,))
    found = dict.fromkeys(tool_id for step in steps for tool_id in step.tool_ids)
    return Steps(
        whole,
        steps,
        tuple(tool_id for tool_id in found if tool_id not in whole.tool_ids),
        tuple(tool_id for tool_id in whole.tool_ids if tool_id not in found),
    )


def _search(rankers: CatalogRankers, ranker_name: str, text: str, rules: SearchRules) -> StepSearch:
    verdict = Verdict.of(rankers, ranker_name, SearchRequest(text), rules)
    ranking = verdict.standings.ranking
    positions = () if verdict.told is Answer.NOTHING else verdict.results
    tool_ids = tuple(rankers.index.ids[position] for position in positions)
    return StepSearch(text, tool_ids, ranking.probability, verdict.told, ranking.note)


ROWS = 30


class ComparedTool(Struct, frozen=True):
    """One tool; `standings` are parallel to the comparison's `names`."""

    tool_id: str
    standings: tuple[Standing, ...]


class RankerComparison(Struct, frozen=True):
    """`rows` are in the order of the first ranker; `notes` say what each ranker had to do without.

    `probabilities` are each ranker's estimates that any tool fits, None for rankers that do not estimate.
    """

    query: str
    names: tuple[str, ...]
    rows: tuple[ComparedTool, ...]
    notes: tuple[str, ...]
    probabilities: tuple[float | None, ...]


def compare_rankers(
    rankers: CatalogRankers, query: str, names: Sequence[str], *, rows: int = ROWS
) -> RankerComparison:
    """The tools among the first `rows` results of any ranker, with their standings in every ranker.

    A ranker named twice counts once. Raises ToolsightError for an unknown ranker, ModelError if the query
    cannot be embedded.
    """
    found = {name: standings_under(rankers, query, name) for name in dict.fromkeys(names)}
    shown = {position for standings in found.values() for position in standings.kept(rows)}
    first = next(iter(found.values()), None)
    ordered = [int(p) for p in first.order if int(p) in shown] if first is not None else []
    return RankerComparison(
        query,
        tuple(found),
        tuple(
            ComparedTool(rankers.index.ids[position], tuple(p[position] for p in found.values()))
            for position in ordered
        ),
        tuple(standings.ranking.note for standings in found.values()),
        tuple(standings.ranking.probability for standings in found.values()),
    )


def standings_under(rankers: CatalogRankers, query: str, name: str) -> Standings:
    """Every tool's standing under one ranker. Raises ToolsightError for an unknown ranker."""
    return Standings(rankers.get(name).rank(query))
