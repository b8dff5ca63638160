"""The rules that turn a ranking into the results of a search."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector.domain.contradiction import destroying_word, destroys
from inspector.domain.ranking import Answer, Outcome, SearchRequest
from inspector.domain.settings import DiscoverySettings, ResultForm
from inspector.domain.tag import Tags
from inspector.domain.tool import Tool
from inspector.engine.discovery.query.action import asks_for

if TYPE_CHECKING:
    from inspector.engine.discovery.rankers.ranker import Mask, Ranking

# A report keeps its results and this many of the tools that missed; the rest is counted.
MISSES_KEPT = 15
# How many tools come closest where none clearly fits.
CLOSEST_AT_MOST = 3
# A result is at least this share as likely to fit as the likeliest tool: few where one stands out.
SHARE_OF_BEST = 0.3
_NO_TAGS = Tags()


@dataclass(frozen=True, slots=True)
class SearchRules:
    """At most `limit` results that are not `pinned`. `form` is that of the answer's text.

    `unmet` holds the unmet preconditions by tool. `bound` tools, which include the pinned ones, are loaded
    already. `away` tells why what has a name (a server, a tool) is away now.

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

    @classmethod
    def of(cls, settings: DiscoverySettings, tags: Tags = _NO_TAGS) -> "SearchRules":
        """The rules of these settings."""
        return cls(
            settings.max_search_results,
            settings.min_probability,
            settings.min_closest,
            tags,
            form=settings.results,
        )

    def answer(self, ranking: "Ranking") -> Answer:
        """What may be said of this ranking at most, before filters leave tools out."""
        probability = ranking.probability
        if probability is None or probability >= self.threshold:
            return Answer.FOUND
        return Answer.CLOSEST if probability >= self.closest_threshold else Answer.NOTHING

    def most(self, answer: Answer) -> int:
        """The most results that an answer has; for `nothing`, those it would have had."""
        return self.limit if answer is Answer.FOUND else min(self.limit, CLOSEST_AT_MOST)

    def withholds(self, tool: Tool, request: SearchRequest, answer: Answer) -> bool:
        """Whether an unsure search leaves this tool unloaded: it destroys, and nobody asked for that."""
        if answer is not Answer.CLOSEST or not destroys(tool):
            return False
        return not asks_for(request.query, tool.name, destroying_word(tool))

    def likely(self, ranking: "Ranking", request: SearchRequest) -> "Mask":
        """The tools that the ranker keeps and finds likely enough to fit, or as similar as is asked for."""
        if ranking.fit is not None:
            relative = SHARE_OF_BEST * (ranking.probability or 0.0) if self.threshold else 0.0
            return ranking.kept & (ranking.fit >= max(relative, request.min_similarity))
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
    """The places among the results: `most` for tools that a search can load, and as many for pinned ones.

    A pinned tool takes no place of another one. One that a search loaded before keeps its own, so that the
    same search again loads nothing more. After the last place of the others there are no more results.
    """

    def __init__(self, rules: SearchRules, answer: Answer) -> None:
        self._pinned = rules.pinned
        most = max(rules.most(answer), 0)
        self._free = {False: most, True: most}

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
