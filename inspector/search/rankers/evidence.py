"""What is known of one text for every tool: the signals behind a score."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from inspector.core.number import count
from inspector.core.ranking import Part, Score, Signal
from inspector.search.document import PASSAGES, TEXTS
from inspector.search.index import ToolIndex
from inspector.search.past_use import PastUse, Use
from inspector.search.rankers.bm25 import Asked
from inspector.search.rankers.dense import Standardised
from inspector.search.rankers.ranker import Mask, Ranker, Ranking, Scores, ServerRanker
from inspector.search.rankers.three_tier import TIER_STEP

STATIC, SUMMARY_TERM, BEST = "static vectors", "summary", "best passage"


@dataclass(frozen=True, slots=True)
class Words:
    """What one list of words says of a text: its terms, its ranking, and its scores standardized."""

    asked: Asked
    ranking: Ranking
    scores: Standardised


@dataclass(frozen=True)
class Evidence:
    """The signals of one text for all tools, and the score of each tool, the sum of them.

    `cosines` are by name, those of the model only where it was asked: `passages` are all of its cosines, of
    shape (passages, tools), NaN for what is not embedded yet. `absent` marks the tools that are not embedded
    yet; None if all are.
    """

    words: tuple[Words, ...]
    cosines: Mapping[str, Standardised]
    values: Scores
    passages: NDArray[np.float32] | None = None
    absent: Mask | None = None

    @property
    def best(self) -> Standardised | None:
        return self.cosines.get(BEST)

    @property
    def is_lexical(self) -> bool:
        return not self.cosines

    @cached_property
    def text_cosine(self) -> Scores | None:
        """The mean cosine of a tool's texts (without parameters), 0 if they are not embedded."""
        if self.passages is None:
            return None
        mean: Scores = self.passages[TEXTS].mean(axis=0, dtype=np.float64)
        return mean if self.absent is None else np.nan_to_num(mean)

    def is_absent(self, positions: Sequence[int]) -> list[bool]:
        """Whether these tools are not embedded yet."""
        if self.absent is None:
            return [False] * len(positions)
        absent: list[bool] = self.absent[positions].tolist()
        return absent

    def best_passages(self, positions: Sequence[int]) -> list[str]:
        """The passage of each of these tools that has the highest cosine."""
        if self.passages is None:
            return [""] * len(positions)
        known = self.passages[:, positions]
        return [PASSAGES[number] for number in np.where(np.isnan(known), -np.inf, known).argmax(axis=0)]


_BEST = 3


class ServerPrior:
    """The servers of one index as groups of tools; what each group has in common is computed per query.

    `server_of` is the position of each tool's server in the index's `servers`.
    """

    def __init__(self, index: ToolIndex) -> None:
        number = {server: i for i, server in enumerate(index.servers)}
        count = len(index.tools)
        servers = map(attrgetter("server"), index.tools)
        self.server_of: NDArray[np.intp] = np.fromiter(map(number.__getitem__, servers), np.intp, count)
        # The tools of a server lie next to each other in this order, the servers in that of the index.
        self._order = np.argsort(self.server_of, kind="stable")
        self._sizes = np.bincount(self.server_of, minlength=len(number))
        self._starts = np.cumsum(self._sizes) - self._sizes

    @property
    def is_informative(self) -> bool:
        """Whether there is more than one server, so that servers can distinguish tools."""
        return len(self._sizes) > 1

    def best_three(self, values: Scores) -> Scores:
        """For each tool the mean of the three best values of its server, or of all if it has fewer tools.

        The values have to be finite. Only values count, not their order: equal ones are interchangeable.
        """
        if not len(values):
            return np.zeros(0)
        left = values[self._order]
        total = np.zeros(len(self._sizes))
        for taken in range(_BEST):
            best = np.maximum.reduceat(left, self._starts)
            total += np.where(self._sizes > taken, best, 0.0)
            left[self._first(left == np.repeat(best, self._sizes))] = -np.inf
        mean: Scores = total / np.minimum(self._sizes, _BEST)
        return mean[self.server_of]

    def _first(self, is_best: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The first marked place of each server; every server has one."""
        marked = np.flatnonzero(is_best)
        first: NDArray[np.intp] = marked[np.searchsorted(marked, self._starts)]
        return first


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
    """A ranker whose scores have past use added."""

    def __init__(self, ranker: Ranker, affinity: Affinity) -> None:
        self._ranker = ranker
        self._affinity = affinity

    @property
    def name(self) -> str:
        return self._ranker.name

    def terms(self, query: str) -> tuple[str, ...]:
        return self._ranker.terms(query)

    def rank(self, query: str) -> Ranking:
        return self._affinity.added(self._ranker.rank(query))


class ServerAffinityRanker(AffinityRanker):
    """The same for a ranker that looks at servers too."""

    def __init__(self, ranker: Ranker, affinity: Affinity, rank_on: Callable[[str, str], Ranking]) -> None:
        super().__init__(ranker, affinity)
        self._rank_on = rank_on

    def rank_on(self, server_query: str, query: str) -> Ranking:
        return self._affinity.added(self._rank_on(server_query, query))


def with_affinity(ranker: Ranker, affinity: Affinity) -> Ranker:
    """The ranker with past use added to its scores."""
    if isinstance(ranker, ServerRanker):
        return ServerAffinityRanker(ranker, affinity, ranker.rank_on)
    return AffinityRanker(ranker, affinity)
