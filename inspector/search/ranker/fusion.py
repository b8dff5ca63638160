"""Intent-Schema Overlap (Tool Attention, section 4.2, equation 5): cosines, plain and standardised.

`iso` compares with the tool's line in the summary pool, as published; `dense` with everything it says of
itself.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from itertools import zip_longest

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple
from numpy.typing import NDArray

from inspector.core.ranking import Part, Score, Signal
from inspector.search.index.document import PASSAGES, SUMMARY, TEXTS, Vector
from inspector.search.index.phrasebook import Phrase
from inspector.search.index.tool_index import ToolIndex, words_alone
from inspector.search.ranker.bm25 import Asked, AskedTerm, Bm25Ranker
from inspector.search.ranker.ranker import Mask, Ranking, Scores, Standardised

STATIC, SUMMARY_TERM, BEST, MEANT = "static vectors", "summary", "best passage", "what near phrases mean"


class Words(Struct, frozen=True):
    """What one list of words says of a text: its terms, its ranking, and its scores standardized."""

    asked: Asked
    ranking: Ranking
    scores: Standardised


class Unread(Struct, frozen=True, dict=True):
    """The cosines of a text without the phrasebook, by name, and the phrase that it is read like."""

    phrase: Phrase
    cosines: Mapping[str, Scores]
    passages: NDArray[np.float32] | None

    @cached_property
    def means(self) -> Mapping[str, float]:
        """The mean of each over the tools."""
        means = ((name, float(values.mean()), values) for name, values in self.cosines.items())
        # Where nothing is missing, which is usual, this is four times as fast.
        return {name: float(np.nanmean(values)) if math.isnan(mean) else mean for name, mean, values in means}


class Evidence(Struct, frozen=True, dict=True):
    """The signals of one text for all tools, and the score of each tool, the sum of them.

    `cosines` are by name, those of the model only where it was asked: `passages` are all of its cosines, of
    shape (passages, tools), NaN for what is not embedded yet. `absent` marks the tools that are not embedded
    yet; None if all are. `compare` finds what the phrasebook changed, for explanations alone.
    """

    words: tuple[Words, ...]
    cosines: Mapping[str, Standardised]
    values: Scores
    passages: NDArray[np.float32] | None = None
    absent: Mask | None = None
    compare: Callable[[], Unread | None] = lambda: None

    @cached_property
    def unread(self) -> Unread | None:
        """None where no phrasebook was read."""
        return self.compare()

    def usual(self, name: str) -> float:
        """The mean of a signal over the tools, without the phrasebook."""
        return self.cosines[name].mean if self.unread is None else self.unread.means.get(name, 0.0)

    def moved(self, name: str, position: int) -> float:
        """What a signal adds to a tool's score, beyond what it adds to all by the phrasebook."""
        signal = self.cosines[name]
        return (float(signal.raw[position]) - signal.mean + self.usual(name)) * signal.scale

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

    def best_passage(self, position: int) -> str:
        """The passage of a tool that has the highest cosine, without the phrasebook."""
        passages = self.passages if self.unread is None else self.unread.passages
        if passages is None:
            return ""
        known = passages[:, position].tolist()
        return PASSAGES[
            max(range(len(known)), key=lambda at: -math.inf if math.isnan(known[at]) else known[at])
        ]


# The fusion behind the default ranker: words, static vectors, meaning, and the passage that matches best.
#
# Each signal is standardized over the tools for this text (z-score) to bring it to a common scale; the
# score is the weighted sum:
#
#     0.06 z(BM25F)  +  0.11 z(BM25 of the words as written)  +  0.18 z(cosine of static vectors)
#         +  0.22 z(cosine of the summary)  +  0.43 z(highest cosine of any passage)
#
# Without a model the phrasebook's words count too, those of the phrases that static vectors find near:
#
#     0.09 z(BM25F)  +  0.18 z(BM25 of the words as written)  +  0.64 z(cosine of static vectors)
#         +  0.09 z(BM25F of what near phrases mean)
#
# The best passage lets a single sentence or parameter match for a tool whose summary covers more. Static
# vectors are there at once: until the model's are, they and the words are all there is.


class FusionWeights(Struct, frozen=True):
    """The weight of each standardized signal; one of weight 0 is not computed."""

    lexical: float = 0.06
    written: float = 0.11
    static: float = 0.18
    summary: float = 0.22
    best_passage: float = 0.43
    meant: float = 0.0

    @property
    def total(self) -> float:
        return math.fsum(astuple(self))


WITHOUT_MODEL = FusionWeights(0.09, 0.18, 0.64, summary=0.0, best_passage=0.0, meant=0.09)


class FusionRanker:
    """The weighted sum of standardized signals. Uses words alone while there are no vectors of any kind."""

    def __init__(
        self,
        index: ToolIndex,
        lexical: Bm25Ranker,
        weights: FusionWeights | None = None,
        *,
        written: Bm25Ranker | None = None,
        reads: bool = False,
        name: str = "fusion",
    ) -> None:
        """`written` ranks by the words as written; without it they have no weight.

        One that `reads` moves the vectors of requests by the phrasebook.
        """
        self.name = name
        self._reads = reads
        self._index = index
        self._lexical = lexical
        self._weights = weights or FusionWeights()
        self._without_model = WITHOUT_MODEL if reads else self._weights
        self._lists = [lexical] if written is None else [lexical, written]

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query)

    def rank(self, query: str) -> Ranking:
        return self.ranking(self.evidence([query])[0])

    def ranking(self, evidence: Evidence) -> Ranking:
        """The scores that follow from the evidence."""
        words = evidence.words[0].ranking
        if evidence.is_lexical:
            return Ranking(words.values, words.kept, words.explain, note=words_alone(self._index))
        # Keep a tool that beats the average or shares a word with the query.
        kept = (evidence.values > 0) | words.kept

        def explain(position: int) -> Score:
            parts = tuple(self.parts(position, [evidence]))
            return Score(self._index.ids[position], float(evidence.values[position]), parts)

        return Ranking(evidence.values, kept, explain, note=words_alone(self._index))

    def parts(self, position: int, wordings: Sequence[Evidence], share: float = 1.0) -> list[Part]:
        """The parts of each signal for a tool, scaled to a share of the score for each of the wordings.

        One of the parts subtracts that of an average tool.
        """
        (is_absent,) = wordings[0].is_absent([position])
        factor = share * (self._alone if is_absent else 1.0)
        found: list[Part] = []
        average = 0.0
        for number, ranker in enumerate(self._lists):
            scales: dict[str, tuple[AskedTerm, float]] = {}
            for words in (evidence.words[number] for evidence in wordings):
                scale = words.scores.scale * factor
                average += scale * words.scores.mean
                for term in words.asked if words.scores.weight else ():
                    scales[term.term] = (term, scales.get(term.term, (term, 0.0))[1] + scale)
            found += ranker.parts(scales.values(), position)
        read: dict[str, float] = {}
        # Of a tool that is not embedded yet only the words and the static vector count.
        for name in (name for name in wordings[0].cosines if name == STATIC or not is_absent):
            weighted = [evidence for evidence in wordings if evidence.cosines[name].weight]
            parts = [] if name == MEANT else [_cosine_part(name, one, position, factor) for one in weighted]
            found += [_mean(parts, len(wordings))] if parts else []
            for evidence, own in zip_longest(weighted, parts):
                average += evidence.usual(name) * evidence.cosines[name].scale * factor
                if evidence.unread is not None:
                    phrase = str(evidence.unread.phrase)
                    moved = evidence.moved(name, position) * factor - (own.value if own else 0.0)
                    read[phrase] = read.get(phrase, 0.0) + moved
        found += (Part(Signal.PHRASE, phrase, value) for phrase, value in read.items())
        return [*found, Part(Signal.AVERAGE, "average tool", -average)]

    def evidence(
        self, texts: Sequence[str], made_of: Mapping[str, Sequence[str]] | None = None
    ) -> list[Evidence]:
        """The signals of each text; all are compared at once. `made_of`: see Semantics.meanings."""
        wants_model = bool(self._weights.summary or self._weights.best_passage)
        vectors = self._index.query_vectors(texts, made_of) if wants_model else None
        if vectors is None:
            return self._evidence(texts, [])
        # A blank text has no vector.
        said = [number for number, vector in enumerate(vectors) if vector is not None]
        found = [vector for vector in vectors if vector is not None]
        compared = self._evidence([texts[n] for n in said], found) if found else []
        of = dict(zip(said, compared, strict=True))
        return [of.get(number) or self._evidence([text], [])[0] for number, text in enumerate(texts)]

    def _evidence(self, texts: Sequence[str], vectors: Sequence[Vector]) -> list[Evidence]:
        """`vectors` are those of the texts, or none."""
        static = self._index.static if self._weights.static else None
        said = static.embed(texts) if static is not None else None
        moved = self._index.phrasebook.read(vectors) if self._reads else vectors
        # Of shape (texts, passages, tools).
        cosines = self._index.similarities_of(moved) if vectors else None
        asked = [ranker.asked(texts) for ranker in self._lists]
        rankings = [
            [ranker.ranking(of_text) for of_text in of_list]
            for ranker, of_list in zip(self._lists, asked, strict=True)
        ]
        of_words, named = self._cosines(said, cosines, read=self._reads)
        raw = np.concatenate(
            [
                *(ranking.values[None] for of_list in rankings for ranking in of_list),
                *(values for values, _weight in named.values()),
            ],
            dtype=np.float64,
        )
        weights = [*of_words, *(weight for _values, weight in named.values())]
        signals = Standardised.each(raw, np.repeat(weights, len(texts)).tolist())
        absent = self._index.absent if cosines is not None else None
        found = []
        for number in range(len(texts)):
            scores = signals[number :: len(texts)]
            words = tuple(
                Words(terms[number], of_list[number], own)
                for terms, of_list, own in zip(asked, rankings, scores, strict=False)
            )
            own = dict(zip(named, scores[len(words) :], strict=True))
            passages = cosines[number] if cosines is not None else None
            values = self._sum(words, own, absent)
            vector = vectors[number] if vectors else None
            unmoved = passages if vector is not None and moved[number] is vector else None
            compare = partial(self._unread, None if said is None else said[number], vector, unmoved, own)
            found.append(Evidence(words, own, values, passages, absent, compare))
        return found

    def _unread(
        self,
        said: Vector | None,
        vector: Vector | None,
        passages: NDArray[np.float32] | None,
        own: Mapping[str, Standardised],
    ) -> Unread | None:
        """What a text's cosines are without the phrasebook, by its static vector and the model's.

        Those with `passages` are known if the phrasebook left the vector as it is.
        """
        phrase = self._index.phrasebook.like(vector, said) if self._reads and own else None
        if phrase is None:
            return None
        if passages is None and vector is not None:
            passages = self._index.similarities_of([vector])[0]
        cosines = None if passages is None else passages[None]
        _weights, named = self._cosines(None if said is None else said[None], cosines, read=False)
        raw = {name: rows[0].astype(np.float64) for name, (rows, _weight) in named.items()}
        return Unread(phrase, raw, passages)

    def _cosines(
        self, said: NDArray[np.float32] | None, cosines: NDArray[np.float32] | None, *, read: bool
    ) -> tuple[Sequence[float], Mapping[str, tuple[NDArray[np.floating], float]]]:
        """The weights of the lists of words; the cosines of each name, of shape (texts, tools), and theirs.

        `said` are the texts' static vectors. What near phrases mean in words stands among the cosines.
        """
        found: dict[str, tuple[NDArray[np.floating], float]] = {}
        lacks_model = cosines is None and said is not None
        weights = self._without_model if lacks_model else self._weights
        if said is not None:
            found[STATIC] = (self._index.static_similarities_of(said, read=read), weights.static)
        if cosines is not None:
            found[SUMMARY_TERM] = (cosines[:, SUMMARY], weights.summary)
            if weights.best_passage:
                found[BEST] = (np.fmax.reduce(cosines, axis=1), weights.best_passage)
        elif weights.meant and read and said is not None:
            meant = map(self._index.phrasebook.meant, said)
            found[MEANT] = (np.array([self._lexical.weighted(words) for words in meant]), weights.meant)
        return (weights.lexical, weights.written)[: len(self._lists)], found

    def _sum(
        self, words: Sequence[Words], cosines: Mapping[str, Standardised], absent: Mask | None
    ) -> Scores:
        """The score of each tool."""
        values = words[0].scores.values
        for each in words[1:]:
            values += each.scores.values
        if STATIC in cosines:
            values += cosines[STATIC].values
        without = None if absent is None else values[absent] * self._alone
        for name, signal in cosines.items():
            if name != STATIC:
                values += signal.values
        if without is not None:
            values[absent] = without
        return values

    @property
    def _alone(self) -> float:
        """The factor for what needs no model in a tool not embedded yet: as much as all signals together."""
        without = sum((self._weights.lexical, self._weights.written)[: len(self._lists)])
        if self._index.static is not None:
            without += self._weights.static
        return self._weights.total / without


def _cosine_part(name: str, evidence: Evidence, position: int, factor: float) -> Part:
    """What the cosine of one name adds to a tool's score, times a factor, without the phrasebook."""
    signal, unread = evidence.cosines[name], evidence.unread
    cosine = float((signal.raw if unread is None else unread.cosines[name])[position])
    term = f"best: {evidence.best_passage(position)}" if name == BEST else name
    inputs = {"mean": evidence.usual(name), "deviation": signal.deviation, "weight": signal.weight}
    return Part(Signal.SEMANTIC, term, cosine * signal.scale * factor, {"cosine": cosine, **inputs})


def _mean(parts: Sequence[Part], wordings: int) -> Part:
    """One part for the cosines of several wordings, with inputs such that the same formula holds.

    The mean of the wordings' cosine / deviation is cosine / deviation again with a mean of the cosines, each
    weighted by 1 / deviation, and the harmonic mean of the deviations.
    """
    first = parts[0]
    if wordings == 1:
        return first
    weights = [1 / part.inputs["deviation"] for part in parts]
    total = math.fsum(weights)
    means = {
        name: math.fsum([w * part.inputs[name] for w, part in zip(weights, parts, strict=True)]) / total
        for name in ("cosine", "mean")
    }
    inputs = {**first.inputs, **means, "deviation": wordings / total, "wordings": float(wordings)}
    return Part(first.signal, first.term, math.fsum([part.value for part in parts]), inputs)
