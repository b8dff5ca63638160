"""The three tiers of semantic tool discovery in their order (section 4): expert, system, catalog.

    expert tools    2000 + weighted keywords         (keyword-expert, section 4.1)
    system tools    1000 + keywords in both directions (keyword-system, section 4.2)
    the rest        cosine of query and summary, if it reaches the threshold (section 4.3)

A tool is in one tier only, the first that it belongs to. Of tools with the same name, those of later tiers
are left out (section 4.4). The paper gives no threshold; `discovery.iso_threshold` has one. While tools are
not embedded, the rest needs words that cover half of the query instead.
"""

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from inspector.core.ranking import Part, Score, Signal
from inspector.search.index import ToolIndex
from inspector.search.rankers.bm25 import Bm25Ranker
from inspector.search.rankers.dense import DenseRanker
from inspector.search.rankers.keyword_expert import KeywordExpertRanker
from inspector.search.rankers.keyword_system import KeywordSystemRanker
from inspector.search.rankers.ranker import Mask, Ranker, Ranking

# Above any score within a tier: a keyword score is at most 190, and a standardized value over N tools at most
# sqrt(N - 1).
TIER_STEP = 1000.0
# The share of a query that words must cover to count as a match on their own.
COVERED = 0.5


@dataclass(frozen=True, slots=True)
class Tiers:
    """The tools above the catalog: ids of expert tools (`*` and `?` match) and names of system servers."""

    expert: tuple[str, ...] = ()
    system: tuple[str, ...] = ()

    def expert_mask(self, index: ToolIndex) -> Mask:
        return np.array([any(fnmatchcase(t.id, p) for p in self.expert) for t in index.tools], bool)

    def system_mask(self, index: ToolIndex) -> Mask:
        return np.array([tool.server in self.system for tool in index.tools], bool)


_WORDS_ONLY = "words only: the tools are not embedded, so there is no relevance threshold"


@dataclass(frozen=True)
class _Tier:
    """A tier above the catalog, its tools and their ranker; `step` is what its tools get on top."""

    name: str
    step: float
    members: Mask
    ranker: Ranker


class ThreeTierRanker:
    """Expert tools, then system tools, then every other tool that is relevant enough."""

    name = "three-tier"

    def __init__(self, index: ToolIndex, lexical: Bm25Ranker, dense: DenseRanker, tiers: Tiers) -> None:
        self._index = index
        self._lexical = lexical
        self._dense = dense
        expert = tiers.expert_mask(index)
        system = tiers.system_mask(index) & ~expert
        self._rest: Mask = ~(expert | system)
        self._tiers = (
            _Tier("expert", 2 * TIER_STEP, expert, KeywordExpertRanker(index.tools)),
            _Tier("system", TIER_STEP, system, KeywordSystemRanker(index.tools)),
        )
        self._names = np.array([tool.name for tool in index.tools], dtype=object)

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query)

    def rank(self, query: str) -> Ranking:
        rest = self._relevant(query)
        values = np.where(self._rest, rest.values, 0.0)
        kept = self._rest & rest.kept
        entered: dict[int, tuple[_Tier, Ranking]] = {}
        for tier in self._tiers:
            if not tier.members.any():
                continue
            ranking = tier.ranker.rank(query)
            matched = tier.members & ranking.kept
            values[matched] = ranking.values[matched] + tier.step
            entered |= {int(position): (tier, ranking) for position in np.flatnonzero(matched)}
        kept[list(entered)] = True
        kept &= ~self._namesakes(entered)

        def explain(position: int) -> Score:
            tool_id = self._index.tools[position].id
            if position in entered:
                tier, ranking = entered[position]
                parts = (Part(Signal.TIER, tier.name, tier.step), *ranking.explain(position).parts)
                return Score(tool_id, float(values[position]), parts)
            return rest.explain(position) if self._rest[position] else Score(tool_id, 0.0)

        return Ranking(values, kept, explain, note=rest.note)

    def _relevant(self, query: str) -> Ranking:
        """The catalog's tier: by cosine or, before the tools are embedded, by words."""
        if self._index.is_semantic:
            return self._dense.rank(query)
        found = self._lexical.rank(query)
        return replace(found, kept=found.kept & (self._lexical.coverage(query) >= COVERED), note=_WORDS_ONLY)

    def _namesakes(self, entered: dict[int, tuple[_Tier, Ranking]]) -> Mask:
        """The tools whose name a tool of an earlier tier has."""
        left_out = np.zeros(len(self._names), bool)
        above = np.zeros(len(self._names), bool)
        for tier in self._tiers:
            chosen = [position for position, (own, _) in entered.items() if own is tier]
            above |= tier.members
            left_out |= ~above & np.isin(self._names, self._names[chosen])
        return left_out
