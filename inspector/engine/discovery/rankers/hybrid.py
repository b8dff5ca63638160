"""The default ranker: tiers (semantic tool retrieval, section 4), with the catalog tier ranked by the fusion.

Tools that the query names exactly come first, then expert tools, then tools of system servers, then the rest.
An expert or system tool leads only if its words cover a good part of the query; otherwise it competes in the
catalog like any other.
"""

from dataclasses import dataclass

import numpy as np

from inspector.domain.ranking import Part, Score, Signal
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.name_index import NameIndex
from inspector.engine.discovery.rankers.bm25 import Bm25Ranker
from inspector.engine.discovery.rankers.fit import NAMED, FitModel, FitSignals, is_named
from inspector.engine.discovery.rankers.fusion import Evidence, FusionRanker
from inspector.engine.discovery.rankers.keyword_expert import KeywordExpertRanker
from inspector.engine.discovery.rankers.keyword_system import KeywordSystemRanker
from inspector.engine.discovery.rankers.ranker import LOOKED_AT, Mask, Ranker, Ranking, Scores
from inspector.engine.discovery.rankers.tier import COVERED, TIER_STEP, Tiers
from inspector.engine.discovery.term import split_words, terms
from inspector.engine.discovery.vocabulary import MAX_QUERY_LENGTH

_EXACT_LEVEL = 3


@dataclass(frozen=True)
class _Tier:
    """A tier above the catalog: its tools and their ranker. The catalog has `level` 0."""

    name: str
    level: int
    members: Mask
    ranker: Ranker


class HybridRanker:
    """Exact names, expert tools, system tools, then the fusion, with the probability that any tool fits."""

    name = "hybrid"

    def __init__(
        self,
        index: ToolIndex,
        *,
        lexical: Bm25Ranker,
        fusion: FusionRanker,
        names: NameIndex,
        tiers: Tiers | None = None,
        fit: FitModel | None = None,
    ) -> None:
        self._index = index
        self._lexical = lexical
        self._fusion = fusion
        self._names = names
        self._fit = fit or FitModel()
        self._tiers = _tiers(index, tiers or Tiers())

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query)

    def rank(self, query: str) -> Ranking:
        evidence = self._fusion.evidence(query)
        base = self._fusion.ranking(evidence)
        fit = self._probabilities(query, evidence)
        values, kept = base.values.copy(), base.kept.copy()
        placed: dict[int, tuple[str, float, Ranking]] = {}
        for tier in self._tiers:
            ranking = tier.ranker.rank(query)
            entered = tier.members & ranking.kept & (self._lexical.coverage(query) >= COVERED)
            values[entered] = ranking.values[entered] + tier.level * TIER_STEP
            placed |= {int(p): (tier.name, tier.level * TIER_STEP, ranking) for p in np.flatnonzero(entered)}
        for position in self._names.positions(query):
            values[position] = base.values[position] + _EXACT_LEVEL * TIER_STEP
            placed[position] = ("exact name", _EXACT_LEVEL * TIER_STEP, base)
            kept[position] = True
            if fit is not None:
                fit[position] = 1.0
        kept[list(placed)] = True

        def explain(position: int) -> Score:
            if position not in placed:
                return base.explain(position)
            name, step, ranking = placed[position]
            parts = (Part(Signal.TIER, name, step), *ranking.explain(position).parts)
            return Score(self._index.tools[position].id, float(values[position]), parts)

        ranking = Ranking(values, kept, explain, fit, base.note)
        if fit is not None:
            named = self.named(ranking, query)
            fit[named] = np.maximum(fit[named], NAMED)
        return ranking

    def named(self, found: Ranking, query: str) -> list[int]:
        """The positions of the top tools whose full names the query contains."""
        query_terms = frozenset(terms(query[:MAX_QUERY_LENGTH]))
        return [p for p in found.order(LOOKED_AT) if is_named(self._index.tools[p].name, query_terms)]

    def _probabilities(self, query: str, evidence: Evidence) -> Scores | None:
        """How likely each tool fits; for a tool not embedded yet, the share of words it covers."""
        signals = self._signals(query, evidence)
        if signals is None or evidence.absent is None:
            return None
        return np.where(evidence.absent, signals.coverage, self._fit.probability(signals))

    def signals(self, query: str) -> FitSignals | None:
        """The signals behind each tool's probability; None while searches use words alone."""
        return self._signals(query, self._fusion.evidence(query))

    def _signals(self, query: str, evidence: Evidence) -> FitSignals | None:
        if evidence.best is None or evidence.text_cosine is None:
            return None
        words = len(split_words(query[:MAX_QUERY_LENGTH]))
        return FitSignals(self._lexical.coverage(query), evidence.best.raw, evidence.text_cosine, words)


def _tiers(index: ToolIndex, tiers: Tiers) -> tuple[_Tier, ...]:
    """The tiers from lowest to highest; a tool in both counts as an expert tool."""
    used = []
    if tiers.system:
        used.append(_Tier("system", 1, tiers.system_mask(index), KeywordSystemRanker(index.tools)))
    if tiers.expert:
        used.append(_Tier("expert", 2, tiers.expert_mask(index), KeywordExpertRanker(index.tools)))
    return tuple(used)
