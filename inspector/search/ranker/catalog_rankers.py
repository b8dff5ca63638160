"""All rankers by name, built over one index on demand."""

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
from msgspec.structs import replace

from inspector.core.number import count
from inspector.core.ranking import Part, Score, SearchRequest, Signal
from inspector.core.settings import DiscoverySettings
from inspector.search.index.name_index import NameIndex
from inspector.search.index.past_use import NOTHING_USED, PastUse, Use
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.bm25 import AS_WRITTEN, Bm25Ranker, Bm25Settings, PrdBm25Ranker
from inspector.search.ranker.client_ranker import CodexRanker, FuzzyRanker
from inspector.search.ranker.dense import (
    DenseRanker,
    RrfRanker,
    Stages,
    TwoStageProductRanker,
    TwoStageRanker,
)
from inspector.search.ranker.fusion import FusionRanker, FusionWeights
from inspector.search.ranker.hybrid import HybridRanker
from inspector.search.ranker.keyword import KeywordExpertRanker, KeywordSystemRanker, ThreeTierRanker, Tiers
from inspector.search.ranker.pattern import CopilotRanker, PatternRanker
from inspector.search.ranker.query_fusion import QueryFusion, ServerPrior
from inspector.search.ranker.ranker import TIER_STEP, Ranker, Ranking, Scores, Standardised, ranking_for
from inspector.search.ranker.ranker_list import require_ranker
from inspector.search.ranker.step_ranker import ClaudeCodeRanker, DroidRanker, QwenCodeRanker
from inspector.search.ranker.vibe_ranker import VibeRanker

# The reference against which the fusion is measured: one field, two signals.
_Z_FUSION_FIELDS = {Signal.NAME: 2.0, Signal.DESCRIPTION: 1.0, Signal.PARAMETERS: 1.0, Signal.SERVER: 1.0}
_Z_FUSION_WEIGHTS = FusionWeights(lexical=0.3, written=0.0, static=0.0, summary=1.0, best_passage=0.0)
# VS Code takes every positive similarity.
_ABOVE_ZERO = 1e-9
# One text of all that the Anthropic API says it searches; the constants are assumed.
_ANTHROPIC = Bm25Settings(
    {Signal.NAME: 1.0, Signal.DESCRIPTION: 1.0, Signal.PARAMETERS: 1.0, Signal.SERVER: 0.0},
    k1=1.2,
    per_field=False,
)


# What past use in earlier sessions on this machine adds to scores.
#
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


class CatalogRankers:
    """The rankers of one index; rankers with a common part share one instance of it."""

    def __init__(self, index: ToolIndex, settings: DiscoverySettings, used: PastUse = NOTHING_USED) -> None:
        """What was `used` counts in the configured ranker alone, with the weight that the settings say."""
        self.index = index
        self.settings = settings
        self.used = used
        self._built: dict[str, Ranker] = {}

    def get(self, name: str) -> Ranker:
        """The ranker of that name as searches use it. Raises ToolsightError."""
        ranker = self.plain(name)
        if name != self.settings.ranker or not self.settings.affinity:
            return ranker
        return AffinityRanker(ranker, self._affinity)

    def plain(self, name: str) -> Ranker:
        """The ranker of that name without what was used before. Raises ToolsightError."""
        if name not in self._built:
            self._built[name] = _BUILDERS[require_ranker(name)](self)
        return self._built[name]

    @cached_property
    def _affinity(self) -> Affinity:
        return Affinity(self.index, self.used, self.settings.affinity)

    @cached_property
    def names(self) -> NameIndex:
        return NameIndex(self.index)

    @cached_property
    def lexical(self) -> Bm25Ranker:
        return Bm25Ranker(self.index)

    @cached_property
    def hybrid(self) -> HybridRanker:
        return HybridRanker(
            self.index,
            lexical=self.lexical,
            whole=QueryFusion(self.index, self.fusion, self.server_prior),
            names=self.names,
            tiers=self.tiers,
        )

    @cached_property
    def fusion(self) -> FusionRanker:
        written = Bm25Ranker(self.index, AS_WRITTEN, name="words as written")
        return FusionRanker(self.index, self.lexical, written=written, reads=True)

    @cached_property
    def stages(self) -> Stages:
        return Stages(self.index, self.lexical, self.server_prior)

    @cached_property
    def server_prior(self) -> ServerPrior:
        return ServerPrior(self.index)

    @property
    def tiers(self) -> Tiers:
        return Tiers(self.settings.expert_tools, self.settings.system_servers)

    @cached_property
    def dense(self) -> DenseRanker:
        return DenseRanker(self.index, threshold=self.settings.iso_threshold)

    def z_fusion(self) -> FusionRanker:
        lexical = Bm25Ranker(self.index, Bm25Settings(_Z_FUSION_FIELDS, per_field=False))
        return FusionRanker(self.index, lexical, _Z_FUSION_WEIGHTS, name="z-fusion")


_BUILDERS: Mapping[str, Callable[["CatalogRankers"], Ranker]] = {
    "hybrid": lambda r: r.hybrid,
    "bm25": lambda r: r.lexical,
    "dense": lambda r: r.dense,
    "iso": lambda r: DenseRanker(r.index, threshold=r.settings.iso_threshold, lines=True),
    "rrf": lambda r: RrfRanker(r.index, r.lexical),
    "z-fusion": lambda r: r.z_fusion(),
    "two-stage": lambda r: TwoStageRanker(r.stages),
    "two-stage-product": lambda r: TwoStageProductRanker(r.stages),
    "three-tier": lambda r: ThreeTierRanker(r.index, r.lexical, r.dense, r.tiers),
    "keyword-expert": lambda r: KeywordExpertRanker(r.index.tools),
    "keyword-system": lambda r: KeywordSystemRanker(r.index.tools),
    "fuzzy": lambda r: FuzzyRanker(r.index.tools),
    "claude-code": lambda r: ClaudeCodeRanker(r.index.tools),
    "codex": lambda r: CodexRanker(r.index.tools, r.index.instructions),
    "qwen-code": lambda r: QwenCodeRanker(r.index.tools),
    "droid": lambda r: DroidRanker(r.index.tools),
    "vibe": lambda r: VibeRanker(r.index.tools),
    "copilot-cli": lambda r: CopilotRanker(r.index.tools),
    "vscode": lambda r: DenseRanker(r.index, threshold=_ABOVE_ZERO, name="vscode"),
    "anthropic-bm25": lambda r: Bm25Ranker(r.index, _ANTHROPIC, name="anthropic-bm25"),
    "prd-bm25": lambda r: PrdBm25Ranker(r.index.tools),
    "regex": lambda r: PatternRanker(r.index.tools),
}
