"""The fusion behind the default ranker: words, meaning, and the passage that best matches the query.

Each signal is standardized over the tools for this query (z-score) to bring it to a common scale; the score
is the weighted sum:

    0.21 z(BM25F)  +  0.22 z(cosine of the summary)  +  0.57 z(highest cosine of any passage)

The best passage lets a single sentence or parameter match for a tool whose summary covers more. The weights
come from a listwise softmax fit (`python -m tests.benchmark.fit_fusion`); with each data set left out in turn
they stay within 0.07 of these.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.domain.ranking import Part, Score, Signal
from inspector.engine.discovery.document import PASSAGES, SUMMARY, TEXTS
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.bm25 import Bm25Ranker
from inspector.engine.discovery.rankers.ranker import Mask, Ranking, Scores

LEXICAL_ONLY = "words only"


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """The weight of each standardized signal."""

    lexical: float = 0.21
    summary: float = 0.22
    best_passage: float = 0.57


@dataclass(frozen=True)
class Standardised:
    """A signal, its mean and its deviation over the tools. Tools without a value count as average."""

    raw: Scores
    mean: float
    deviation: float
    weight: float

    @classmethod
    def of(cls, raw: Scores, weight: float) -> "Standardised":
        present = raw[~np.isnan(raw)]
        mean = float(present.mean()) if len(present) else 0.0
        deviation = float(present.std()) if len(present) else 0.0
        # A signal that is equal for all tools carries no information, and neither does its rounding error.
        if deviation < 1e-9 * max(1.0, abs(mean)):
            weight, deviation = 0.0, 1.0
        return cls(np.where(np.isnan(raw), mean, raw), mean, deviation, weight)

    @property
    def scale(self) -> float:
        """What one unit of the raw signal adds to the score."""
        return self.weight / self.deviation

    @property
    def values(self) -> Scores:
        return (self.raw - self.mean) * self.scale


@dataclass(frozen=True)
class Evidence:
    """The signals of one query for all tools; without a query vector only the lexical one.

    `text_cosine` is the mean cosine of a tool's texts (without parameters), 0 if they are not embedded.
    `absent` marks the tools that are not embedded yet.
    """

    lexical_ranking: Ranking
    lexical: Standardised
    summary: Standardised | None = None
    best: Standardised | None = None
    best_passage: NDArray[np.intp] | None = None
    text_cosine: Scores | None = None
    absent: Mask | None = None

    @property
    def semantic(self) -> tuple[tuple[str, Standardised], ...]:
        named = (("summary", self.summary), ("best passage", self.best))
        return tuple((name, signal) for name, signal in named if signal is not None)


class FusionRanker:
    """The weighted sum of standardized signals. Uses words alone until the tools are embedded."""

    def __init__(
        self,
        index: ToolIndex,
        lexical: Bm25Ranker,
        weights: FusionWeights | None = None,
        *,
        name: str = "fusion",
    ) -> None:
        self.name = name
        self._index = index
        self._lexical = lexical
        self._weights = weights or FusionWeights()

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query)

    def rank(self, query: str) -> Ranking:
        return self.ranking(self.evidence(query))

    def ranking(self, evidence: Evidence) -> Ranking:
        """The scores that follow from the evidence."""
        if not evidence.semantic:
            return self._lexical_only(evidence.lexical_ranking)
        values = evidence.lexical.values.copy()
        for _name, signal in evidence.semantic:
            values += signal.values
        if evidence.absent is not None:
            values[evidence.absent] = (evidence.lexical.values * self._alone)[evidence.absent]
        # Keep a tool that beats the average or shares a word with the query.
        kept = (values > 0) | evidence.lexical_ranking.kept
        return Ranking(values, kept, lambda position: self._explain(position, values, evidence))

    def evidence(self, query: str) -> Evidence:
        """The signals of a query."""
        ranking = self._lexical.rank(query)
        lexical = Standardised.of(ranking.values, self._weights.lexical)
        vector = self._index.query_vector(query)
        if vector is None:
            return Evidence(ranking, lexical)
        cosines = self._index.similarities(vector)
        known = np.where(np.isnan(cosines), -np.inf, cosines)
        best_passage = known.argmax(axis=0)
        best = np.take_along_axis(cosines, best_passage[None, :], axis=0)[0]
        return Evidence(
            lexical_ranking=ranking,
            lexical=lexical,
            summary=Standardised.of(cosines[SUMMARY], self._weights.summary),
            best=Standardised.of(best, self._weights.best_passage) if self._weights.best_passage else None,
            best_passage=best_passage,
            text_cosine=np.nan_to_num(cosines[TEXTS].mean(axis=0)),
            absent=np.isnan(cosines[SUMMARY]),
        )

    @property
    def _alone(self) -> float:
        """The factor for words in a tool not embedded yet: they count as much as all signals together."""
        weights = self._weights
        return (weights.lexical + weights.summary + weights.best_passage) / weights.lexical

    def _lexical_only(self, ranking: Ranking) -> Ranking:
        embedded = round(self._index.coverage * len(self._index.tools))
        why = (
            f"{embedded} of {len(self._index.tools)} tools embedded" if self._index.semantics else "no model"
        )
        note = f"{LEXICAL_ONLY}: {why}"
        return Ranking(ranking.values, ranking.kept, ranking.explain, note=note)

    def _explain(self, position: int, values: Scores, evidence: Evidence) -> Score:
        """Each signal's own parts, scaled; one line subtracts the score of an average tool."""
        alone = evidence.absent is not None and bool(evidence.absent[position])
        lexical = evidence.lexical.scale * (self._alone if alone else 1.0)
        parts = [
            Part(part.signal, part.term, part.value * lexical, part.inputs)
            for part in (evidence.lexical_ranking.explain(position).parts if lexical else ())
        ]
        average = evidence.lexical.mean * lexical
        for name, signal in () if alone else evidence.semantic:
            if signal.weight:
                parts.append(self._semantic_part(name, signal, position, evidence))
                average += signal.mean * signal.scale
        parts.append(Part(Signal.AVERAGE, "average tool", -average))
        return Score(self._index.tools[position].id, float(values[position]), tuple(parts))

    @staticmethod
    def _semantic_part(name: str, signal: Standardised, position: int, evidence: Evidence) -> Part:
        cosine = float(signal.raw[position])
        term = name
        if signal is evidence.best and evidence.best_passage is not None:
            term = f"best: {PASSAGES[int(evidence.best_passage[position])]}"
        inputs: Mapping[str, float] = {
            "cosine": cosine,
            "mean": signal.mean,
            "deviation": signal.deviation,
            "weight": signal.weight,
        }
        return Part(Signal.SEMANTIC, term, cosine * signal.scale, inputs)
