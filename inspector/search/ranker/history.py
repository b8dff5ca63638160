"""What past use in earlier sessions on this machine adds to scores."""

from dataclasses import replace

import numpy as np

from inspector.core.number import count
from inspector.core.ranking import Part, Score, SearchRequest, Signal
from inspector.search.index.past_use import PastUse, Use
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.fusion import Standardised
from inspector.search.ranker.ranker import TIER_STEP, Ranker, Ranking, Scores, ranking_for

#     bonus  =  weight * deviation * prior         prior  =  min(1, log(1 + uses / A) / log(1 + FULL / A))
#
# Each persona has an affinity profile (semantic tool discovery, section 13, "cross-session tool learning"):
# how likely a call of it is one of this tool, (uses + A) / (C + N A), from `uses` of its C calls over N
# tools, and A imagined calls of each (the Dirichlet prior of Zhai & Lafferty 2004). A prior enters a score as
# its logarithm (Kraaij, Westerveld & Hiemstra 2002). Taken against a tool that was never used, A / (C + N A),
# everything but the tool's own uses cancels out: what else was used, or how many tools there are, moves no
# score. FULL uses earn the whole prior, more earn no more.
#
# `deviation` is that of the query's scores over the tools, without tiers, so that one weight means the same
# for every ranker. Only tools that the ranker keeps gain something, whether any tool fits is decided without
# it, and a tool that nobody used keeps its score: it is passed only by tools that were closer to it than
# weight * deviation.
IMAGINED, FULL = 1.0, 20.0


class Affinity:
    """Adds to the scores of one catalog's tools what a persona's past use of them says."""

    def __init__(self, index: ToolIndex, past: PastUse, weight: float) -> None:
        """`weight` is what FULL uses add, in deviations of a query's scores."""
        self._past = past
        self._weight = weight
        self._uses: dict[int, Use] = {
            index.position[tool]: use for tool, use in past.uses.items() if tool in index.position
        }
        weights = np.zeros(len(index.tools))
        for position, use in self._uses.items():
            weights[position] = use.weight
        self._priors = priors(weights)

    def added(self, base: Ranking) -> Ranking:
        """The ranking with past use; the same one if there is none of its tools."""
        if self._past.problem:
            note = f"past use ignored: {self._past.problem}"
            return replace(base, note="; ".join(filter(None, (base.note, note))))
        low = Standardised.of(base.values[base.values < TIER_STEP / 2], self._weight)
        unit = low.weight * low.deviation
        gains = np.where(base.kept, unit * self._priors, 0.0)
        if not gains.any():
            return base
        values = base.values + gains

        def explain(position: int) -> Score:
            score = base.explain(position)
            if not gains[position]:
                return score
            part = self._part(position, float(gains[position]), low.deviation)
            return Score(score.tool_id, float(values[position]), (*score.parts, part))

        return replace(base, values=values, explain=explain, likeliest=base.probability)

    def _part(self, position: int, gain: float, deviation: float) -> Part:
        use = self._uses[position]
        inputs = {
            "uses": float(use.count),
            "by age": use.weight,
            "prior": float(self._priors[position]),
            "weight": self._weight,
            "spread": deviation,
            "full": FULL / IMAGINED,
        }
        return Part(Signal.AFFINITY, f"used {count(use.count, 'time')} by {self._past.persona}", gain, inputs)


def priors(uses: Scores) -> Scores:
    """The prior of each number of uses: 0 for none, 1 from FULL on."""
    found: Scores = np.minimum(np.log1p(uses / IMAGINED) / np.log1p(FULL / IMAGINED), 1.0)
    return found


class AffinityRanker:
    """A ranker whose scores have past use added; it looks at servers if that one does."""

    def __init__(self, ranker: Ranker, affinity: Affinity) -> None:
        self.name = ranker.name
        self.terms = ranker.terms
        self._ranker = ranker
        self._affinity = affinity

    def rank(self, query: str) -> Ranking:
        return self._affinity.added(self._ranker.rank(query))

    def rank_on(self, server_query: str, query: str) -> Ranking:
        request = SearchRequest(query, server_query=server_query)
        return self._affinity.added(ranking_for(self._ranker, request))
