"""The rules that turn a ranking into the results of a search."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector.core.ranking import Answer, Outcome, SearchRequest
from inspector.core.settings import DiscoverySettings, ResultForm
from inspector.core.tool import Tool, destroying_word, destroys
from inspector.search.query import asking, asks_for
from inspector.search.vocabulary import Tags

if TYPE_CHECKING:
    from inspector.search.index import ToolIndex
    from inspector.search.ranker import Mask, Ranking

# A report keeps its results and this many of the tools that missed; the rest is counted.
MISSES_KEPT = 15
# How many tools come closest where none clearly fits.
CLOSEST_AT_MOST = 3
# A search that is sure returns so many, and of the others those with this share of the best score: few where
# one stands out, more where many are alike. Chosen on recorded runs of agents (docs/papers/recorded-runs.md).
SURELY, NEAR = 3, 0.5
# After the usual results only tools come with a definition of at most so many characters, some 150 tokens: a
# late place is seldom of use, and costs as much as an early one. Who wants fewer than USUAL gets no more.
USUAL, SHORT_DEFINITION = 5, 600


@dataclass(frozen=True, slots=True)
class SearchRules:
    """At most `limit` results that are not `pinned`, and `more` of a sure search. `form` is that of its text.

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
    more: int = 0

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

    def answer(self, ranking: "Ranking") -> Answer:
        """What may be said of this ranking at most, before filters leave tools out."""
        probability = ranking.probability
        if probability is None or probability >= self.threshold:
            return Answer.FOUND
        return Answer.CLOSEST if probability >= self.closest_threshold else Answer.NOTHING

    def most(self, answer: Answer) -> int:
        """The most results that an answer has; for `nothing`, those it would have had."""
        return self.limit if answer is Answer.FOUND else min(self.limit, CLOSEST_AT_MOST)

    def withholds(self, tool: Tool, query: str, answer: Answer) -> bool:
        """Whether a search leaves this tool unloaded: it destroys, and nobody asked for that.

        A search that is sure does so only if the query tells something (“the parcel has gone out”): what is
        asked for in other words than the tool's is not withheld.
        """
        asked = asking(query)
        if answer is Answer.NOTHING or (answer is Answer.FOUND and asked == query):
            return False
        return destroys(tool) and not asks_for(asked or query, tool.name, destroying_word(tool))

    def likely(self, ranking: "Ranking", request: SearchRequest) -> "Mask":
        """The tools that the ranker keeps and that are as similar as is asked for."""
        similarity = ranking.similarity if ranking.fit is None else ranking.fit
        if similarity is not None and request.min_similarity:
            return ranking.kept & (similarity >= request.min_similarity)
        return ranking.kept

    def missed(self, ranking: "Ranking", position: int) -> Outcome:
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
    after the first whose score is far below the best; late places are for short definitions.
    """

    def __init__(self, rules: SearchRules, ranking: "Ranking", index: "ToolIndex") -> None:
        answer = rules.answer(ranking)
        self._documents, at = index.documents, index.position
        self._pinned = {at[tool_id] for tool_id in rules.pinned if tool_id in at}
        most = max(rules.most(answer), 0)
        self._scores = ranking.comparable if rules.threshold and answer is Answer.FOUND else None
        self._usual = most
        if self._scores is not None and most >= USUAL:
            most += rules.more
        self._free = {False: most, True: most}
        self._taken: list[float] = []
        self.end: Outcome | None = None if most else Outcome.OVER_LIMIT

    def take(self, position: int) -> Outcome | None:
        """Take a place for the next best match; why there is none for it, or None if it is a result."""
        is_long = self._documents[position].size > SHORT_DEFINITION
        is_pinned = position in self._pinned
        if self.end is None and not is_pinned and self._is_far(position):
            self.end = Outcome.UNLIKELY
        is_late = not is_pinned and self._scores is not None and len(self._taken) >= self._usual
        if self.end is not None or not self._free[is_pinned] or (is_late and is_long):
            return self.end or Outcome.OVER_LIMIT
        self._free[is_pinned] -= 1
        if not is_pinned and self._scores is not None:
            self._taken.append(float(self._scores[position]))
        if not self._free[False]:
            self.end = Outcome.OVER_LIMIT
        return None

    def _is_far(self, position: int) -> bool:
        if self._scores is None or len(self._taken) < SURELY:
            return False
        return float(self._scores[position]) < NEAR * max(self._taken)
