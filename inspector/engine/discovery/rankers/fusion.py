"""The fusion behind the default ranker: words, static vectors, meaning, and the passage that matches best.

Each signal is standardized over the tools for this text (z-score) to bring it to a common scale; the score is
the weighted sum:

    0.12 z(BM25F)  +  0.08 z(BM25 of the words as written)  +  0.16 z(cosine of static vectors)
        +  0.18 z(cosine of the summary)  +  0.46 z(highest cosine of any passage)

The best passage lets a single sentence or parameter match for a tool whose summary covers more. Static
vectors are there at once: until the model's are, they and the words are all there is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.domain.ranking import Part, Score, Signal
from inspector.engine.discovery.document import PASSAGES, SUMMARY, TEXTS
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.bm25 import Bm25Ranker
from inspector.engine.discovery.rankers.ranker import Mask, Ranking, Scores

LEXICAL_ONLY = "words only"
STATIC_ONLY = "words and static vectors"
STATIC, SUMMARY_TERM, BEST = "static vectors", "summary", "best passage"


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """The weight of each standardized signal; one of weight 0 is not computed."""

    lexical: float = 0.12
    written: float = 0.08
    static: float = 0.16
    summary: float = 0.18
    best_passage: float = 0.46

    @property
    def total(self) -> float:
        return self.lexical + self.written + self.static + self.summary + self.best_passage


@dataclass(frozen=True)
class Standardised:
    """A signal, its mean and its deviation over the tools. Tools without a value count as average."""

    raw: Scores
    mean: float
    deviation: float
    weight: float

    @classmethod
    def of(cls, raw: Scores, weight: float) -> "Standardised":
        missing = np.isnan(raw)
        present = raw[~missing] if missing.any() else raw
        mean = float(present.mean()) if len(present) else 0.0
        deviation = float(present.std()) if len(present) else 0.0
        # A signal that is equal for all tools says nothing, and neither does the rounding of float32 vectors.
        if deviation < 1e-6 * max(1.0, abs(mean)):
            weight, deviation = 0.0, 1.0
        return cls(np.where(missing, mean, raw), mean, deviation, weight)

    @property
    def scale(self) -> float:
        """What one unit of the raw signal adds to the score."""
        return self.weight / self.deviation

    @property
    def values(self) -> Scores:
        return (self.raw - self.mean) * self.scale


@dataclass(frozen=True)
class Words:
    """What one list of words says of a text: its ranking, and its scores standardized."""

    ranking: Ranking
    scores: Standardised


@dataclass(frozen=True)
class Evidence:
    """The signals of one text for all tools, and the score of each tool, the sum of them.

    `cosines` are by name, those of the model only where it was asked. `text_cosine` is the mean cosine of a
    tool's texts (without parameters), 0 if they are not embedded. `absent` marks the tools that are not
    embedded yet.
    """

    words: tuple[Words, ...]
    cosines: Mapping[str, Standardised]
    values: Scores
    best_passage: NDArray[np.intp] | None = None
    text_cosine: Scores | None = None
    absent: Mask | None = None

    @property
    def best(self) -> Standardised | None:
        return self.cosines.get(BEST)

    @property
    def is_lexical(self) -> bool:
        return not self.cosines


class FusionRanker:
    """The weighted sum of standardized signals. Uses words alone while there are no vectors of any kind."""

    def __init__(
        self,
        index: ToolIndex,
        lexical: Bm25Ranker,
        weights: FusionWeights | None = None,
        *,
        written: Bm25Ranker | None = None,
        name: str = "fusion",
    ) -> None:
        """`written` ranks by the words as written; without it they have no weight."""
        self.name = name
        self._index = index
        self._lexical = lexical
        self._weights = weights or FusionWeights()
        self._lists = [(lexical, self._weights.lexical)]
        if written is not None and self._weights.written:
            self._lists.append((written, self._weights.written))

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query)

    def rank(self, query: str) -> Ranking:
        return self.ranking(self.evidence([query])[0])

    def ranking(self, evidence: Evidence) -> Ranking:
        """The scores that follow from the evidence."""
        words = evidence.words[0].ranking
        if evidence.is_lexical:
            return Ranking(words.values, words.kept, words.explain, note=self.note)
        # Keep a tool that beats the average or shares a word with the query.
        kept = (evidence.values > 0) | words.kept
        return Ranking(
            evidence.values, kept, lambda position: self._explain(position, evidence), note=self.note
        )

    def parts(self, position: int, evidence: Evidence, share: float = 1.0) -> list[Part]:
        """The parts of each signal, scaled to a share of the score; one subtracts that of an average tool."""
        alone = evidence.absent is not None and bool(evidence.absent[position])
        factor = share * (self._alone if alone else 1.0)
        parts: list[Part] = []
        average = 0.0
        for words in evidence.words:
            scale = words.scores.scale * factor
            found = words.ranking.explain(position).parts if scale else ()
            parts += [Part(part.signal, part.term, part.value * scale, part.inputs) for part in found]
            average += words.scores.mean * scale
        for name, signal in evidence.cosines.items():
            if signal.weight and (name == STATIC or not alone):
                scale = signal.scale * factor
                parts.append(self._cosine_part(name, signal, scale, position, evidence))
                average += signal.mean * scale
        return [*parts, Part(Signal.AVERAGE, "average tool", -average)]

    def evidence(self, texts: Sequence[str]) -> list[Evidence]:
        """The signals of each text; the vectors of all are compared at once."""
        wants_model = bool(self._weights.summary or self._weights.best_passage)
        vectors = [self._index.query_vector(text) for text in texts] if wants_model else []
        known = [vector for vector in vectors if vector is not None]
        compared = iter(self._index.similarities_of(known)) if known else iter(())
        cosines = [None if vector is None else next(compared) for vector in vectors] or [None] * len(texts)
        return [self._evidence(text, found) for text, found in zip(texts, cosines, strict=True)]

    def _evidence(self, text: str, cosines: Scores | None) -> Evidence:
        words = []
        for ranker, weight in self._lists:
            ranking = ranker.rank(text)
            words.append(Words(ranking, Standardised.of(ranking.values, weight)))
        signals: dict[str, Standardised] = {}
        static = self._index.static_similarities(text) if self._weights.static else None
        if static is not None:
            signals[STATIC] = Standardised.of(static, self._weights.static)
        if cosines is None:
            return Evidence(tuple(words), signals, self._sum(words, signals, None))
        absent = np.isnan(cosines[SUMMARY])
        known = np.where(np.isnan(cosines), -np.inf, cosines) if absent.any() else cosines
        best_passage = known.argmax(axis=0)
        best = np.take_along_axis(cosines, best_passage[None, :], axis=0)[0]
        signals[SUMMARY_TERM] = Standardised.of(cosines[SUMMARY], self._weights.summary)
        if self._weights.best_passage:
            signals[BEST] = Standardised.of(best, self._weights.best_passage)
        text_cosine = np.nan_to_num(cosines[TEXTS].mean(axis=0))
        values = self._sum(words, signals, absent)
        return Evidence(tuple(words), signals, values, best_passage, text_cosine, absent)

    def _sum(
        self, words: Sequence[Words], cosines: Mapping[str, Standardised], absent: Mask | None
    ) -> Scores:
        """The score of each tool."""
        alone = np.zeros(len(self._index.tools))
        for each in words:
            alone += each.scores.values
        if STATIC in cosines:
            alone += cosines[STATIC].values
        values = alone.copy()
        for name, signal in cosines.items():
            if name != STATIC:
                values += signal.values
        if absent is not None and absent.any():
            values[absent] = (alone * self._alone)[absent]
        return values

    @property
    def _alone(self) -> float:
        """The factor for what needs no model in a tool not embedded yet: as much as all signals together."""
        without = sum(weight for _ranker, weight in self._lists)
        if self._index.static is not None:
            without += self._weights.static
        return self._weights.total / without

    @property
    def note(self) -> str:
        """What there is instead of the model's vectors, and why; empty if they are there."""
        if self._index.is_semantic and self._index.semantics:
            return ""
        embedded = round(self._index.coverage * len(self._index.tools))
        why = (
            f"{embedded} of {len(self._index.tools)} tools embedded" if self._index.semantics else "no model"
        )
        has_static = self._index.static is not None and bool(self._weights.static)
        return f"{STATIC_ONLY if has_static else LEXICAL_ONLY}: {why}"

    def _explain(self, position: int, evidence: Evidence) -> Score:
        value = float(evidence.values[position])
        return Score(self._index.tools[position].id, value, tuple(self.parts(position, evidence)))

    @staticmethod
    def _cosine_part(
        name: str, signal: Standardised, scale: float, position: int, evidence: Evidence
    ) -> Part:
        cosine = float(signal.raw[position])
        term = name
        if name == BEST and evidence.best_passage is not None:
            term = f"best: {PASSAGES[int(evidence.best_passage[position])]}"
        inputs: Mapping[str, float] = {
            "cosine": cosine,
            "mean": signal.mean,
            "deviation": signal.deviation,
            "weight": signal.weight,
        }
        return Part(Signal.SEMANTIC, term, cosine * scale, inputs)
