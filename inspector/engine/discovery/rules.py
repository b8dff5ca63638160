"""The rules that turn a ranking into the results of a search."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector.domain.ranking import Outcome, SearchRequest
from inspector.domain.settings import ResultForm
from inspector.domain.tag import Tags
from inspector.domain.tool import Tool

if TYPE_CHECKING:
    from inspector.engine.discovery.rankers.ranker import Mask, Ranking

# A report keeps its results and this many of the tools that missed; the rest is counted.
MISSES_KEPT = 15


@dataclass(frozen=True, slots=True)
class SearchRules:
    """At most `limit` results that are not `pinned`. `form` is that of the answer's text.

    `unmet` holds the unmet preconditions by tool. `bound` tools, which include the pinned ones, are loaded
    already. `away` tells why what has a name (a server, a tool) is away now.

    If the ranker estimates how likely tools fit, a search abstains when no tool near the top reaches
    `threshold`, and a tool below `tool_threshold` is not a result.
    """

    limit: int = 5
    threshold: float = 0.0
    tool_threshold: float = 0.0
    tags: Tags = Tags()
    unmet: Mapping[str, Sequence[str]] = field(default_factory=dict)
    bound: Collection[str] = frozenset()
    pinned: Collection[str] = frozenset()
    form: ResultForm = "full"
    away: Mapping[str, str] = field(default_factory=dict)

    def abstains(self, ranking: "Ranking") -> bool:
        """Whether it is too improbable that any tool fits."""
        return ranking.probability is not None and ranking.probability < self.threshold

    def likely(self, ranking: "Ranking", request: SearchRequest) -> "Mask":
        """The tools that the ranker keeps and finds likely enough to fit, or as similar as is asked for."""
        if ranking.fit is not None:
            return ranking.kept & (ranking.fit >= max(self.tool_threshold, request.min_similarity))
        if ranking.similarity is not None and request.min_similarity:
            return ranking.kept & (ranking.similarity >= request.min_similarity)
        return ranking.kept

    def missed(self, ranking: "Ranking", position: int) -> Outcome:
        """Why a tool is not among the likely ones."""
        return Outcome.UNLIKELY if ranking.kept[position] else Outcome.BELOW_FLOOR

    def outside(self, tool: Tool, request: SearchRequest) -> Outcome | None:
        """Why the request's filters or a precondition exclude the tool, or None."""
        if tool.id in self.unmet:
            return Outcome.PRECONDITION
        if request.server_name and tool.server != request.server_name:
            return Outcome.OTHER_SERVER
        if request.tags and self.tags.missing(tool, request.tags):
            return Outcome.OTHER_TAG
        return None


class Places:
    """The places among the results: `limit` for tools that a search can load, and as many for pinned ones.

    A pinned tool takes no place of another one. One that a search loaded before keeps its own, so that the
    same search again loads nothing more. After the last place of the others there are no more results.
    """

    def __init__(self, rules: SearchRules) -> None:
        self._pinned = rules.pinned
        self._free = {False: max(rules.limit, 0), True: max(rules.limit, 0)}

    @property
    def are_taken(self) -> bool:
        return not self._free[False]

    def take(self, tool_id: str) -> bool:
        """Whether the next best match is a result."""
        is_pinned = tool_id in self._pinned
        if self.are_taken or not self._free[is_pinned]:
            return False
        self._free[is_pinned] -= 1
        return True
