"""The default ranker: tiers (semantic tool retrieval, section 4), with the catalog tier ranked by the fusion.

In the catalog tier tools that destroy something nobody asks for come last among equals.

Tools that the query names exactly come first, then expert tools, then tools of system servers, then the rest.
An expert or system tool leads only if its words cover a good part of the query; otherwise it competes in the
catalog like any other.
"""

import math
from collections.abc import Collection, Sequence
from functools import cached_property, lru_cache
from itertools import chain, compress

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from inspector.core.ranking import Part, Score, Signal
from inspector.core.tool import destroying_verb
from inspector.search.index.document import ABSENT
from inspector.search.index.name_index import NameIndex
from inspector.search.index.query import Clause, ParsedQuery, asked_action, asking, asks_for, parse
from inspector.search.index.tool_index import ToolIndex
from inspector.search.index.vocabulary import MAX_QUERY_LENGTH, split_words, terms, written_words
from inspector.search.ranker.bm25 import Bm25Ranker
from inspector.search.ranker.fusion import STATIC, Evidence
from inspector.search.ranker.keyword import COVERED, Tiers
from inspector.search.ranker.query_fusion import QueryEvidence, QueryFusion
from inspector.search.ranker.ranker import LOOKED_AT, TIER_STEP, Mask, Ranking, Scores, best_first

# The confidence that a tool can do what a clause of a query asks. It decides what a search answers.

# The bounds of a clause's length in words.
SHORT, LONG = 8, 12
NAMED = 0.9


class FitSignals(Struct, frozen=True, dict=True):
    """The signals of each tool for one clause of `words` words. Coverage is 0 to 1, cosines -1 to 1.

    Cosines are None while there are no such vectors. `small_talk` is how much closer the clause is to small
    talk than to requests (-2 to 2); `conflict` marks the tools whose verb is another.
    """

    coverage: Scores
    words: int
    best_cosine: Scores | None = None
    mean_cosine: Scores | None = None
    static_cosine: Scores | None = None
    small_talk: float = 0.0
    conflict: Mask | None = None

    @property
    def length(self) -> float:
        """The logarithm of the number of words, within bounds."""
        return math.log(min(max(self.words, SHORT), LONG))


class FitModel(Struct, frozen=True):
    """The logistic coefficients."""

    intercept: float = -14.4
    coverage: float = 1.0
    best_cosine: float = 4.4
    mean_cosine: float = 8.2
    static_cosine: float = 3.2
    length: float = 3.2
    small_talk: float = -5.8
    conflict: float = -1.9

    def odds(self, signals: FitSignals) -> Scores:
        """The logarithm of the odds that each tool fits."""
        of_clause = self.intercept + self.length * signals.length + self.small_talk * signals.small_talk
        of_tools = (
            (self.best_cosine, signals.best_cosine),
            (self.mean_cosine, signals.mean_cosine),
            (self.static_cosine, signals.static_cosine),
            (self.conflict, signals.conflict),
        )
        odds = self.coverage * signals.coverage + of_clause
        for weight, signal in of_tools:
            if signal is not None:
                odds += weight * signal
        return odds


# Small talk is told by the model's vectors.
WORDS_ALONE = FitModel(
    intercept=-16.3,
    coverage=2.4,
    best_cosine=0.0,
    mean_cosine=0.0,
    static_cosine=16.2,
    length=4.2,
    small_talk=0.0,
    conflict=-1.8,
)


def probability(odds: Scores) -> Scores:
    """The probability (0 to 1) for the logarithm of odds."""
    found: Scores = 1 / (1 + np.exp(-odds))
    return found


def is_named(tool_name: str, query_terms: Collection[str]) -> bool:
    """Whether the query contains every word of a tool's name; one-word names do not count."""
    words = _name_terms(tool_name)
    return len(words) > 1 and words.issubset(query_terms)


@lru_cache(maxsize=16_384)
def _name_terms(tool_name: str) -> frozenset[str]:
    return frozenset(terms(tool_name))


_EXACT_STEP = 3 * TIER_STEP
# Of a query of more clauses, those with the rarest words that tools have are judged.
MAX_CLAUSES = 16


# What a tool loses that nobody asks for, in units of the fusion's score: a single signal can't make it first,
# several can.
UNASKED = 0.3


class Unasked:
    """The tools of one index that destroy or end something, by the verb that says so."""

    def __init__(self, index: ToolIndex) -> None:
        self._tools = index.tools
        self._by_verb: dict[str, list[int]] = {}
        for position in np.flatnonzero(index.destroys).tolist():
            self._by_verb.setdefault(destroying_verb(index.tools[position]), []).append(position)

    def last(self, base: Ranking, query: str) -> Ranking:
        """The ranking with UNASKED subtracted from each of these tools that the query does not ask for."""
        # What is merely told (“the parcel has gone out”) asks for nothing.
        asked = asking(query) or query
        positions = list(chain.from_iterable(self._positions(asked, verb) for verb in self._by_verb))
        if not positions:
            return base
        values, unasked = base.values.copy(), frozenset(positions)
        values[positions] -= UNASKED

        def explain(position: int) -> Score:
            score = base.explain(position)
            if position not in unasked:
                return score
            part = Part(Signal.UNASKED, destroying_verb(self._tools[position]), -UNASKED)
            return Score(score.tool_id, float(values[position]), (*score.parts, part))

        return replace(base, values=values, explain=explain)

    def _positions(self, asked: str, verb: str) -> Sequence[int]:
        """The tools with this verb that nobody asks for."""
        positions = self._by_verb[verb]
        # Where no word asks for the verb, the words of names, which count for nothing, need no look.
        if not asks_for(asked, "", verb):
            return positions
        return [position for position in positions if not asks_for(asked, self._tools[position].name, verb)]


class HybridRanker:
    """Exact names, expert tools, system tools, then the fusion, with the probability that any tool fits."""

    name = "hybrid"

    def __init__(
        self,
        index: ToolIndex,
        *,
        lexical: Bm25Ranker,
        whole: QueryFusion,
        names: NameIndex,
        tiers: Tiers | None = None,
        fit: FitModel | None = None,
    ) -> None:
        self._index = index
        self._lexical = lexical
        self._whole = whole
        self._names = names
        self._fit = fit or FitModel()
        # Of a tool's tiers the highest that it enters counts.
        self._tiers = list((tiers or Tiers()).of(index))[::-1]

    def terms(self, query: str) -> tuple[str, ...]:
        return self._lexical.terms(query)

    def rank(self, query: str) -> Ranking:
        parsed = self.parsed(query)
        evidence = self._whole.evidence(parsed)
        read = parsed.wordings[0]
        base = self._unasked.last(self._whole.ranking(evidence), read)
        fit, likeliest = self._probabilities(evidence)
        values, kept = base.values.copy(), base.kept.copy()
        placed: dict[int, tuple[str, float, Ranking]] = {}
        for tier in self._tiers:
            ranking = tier.ranker.rank(query)
            entered = tier.members & ranking.kept & (self._lexical.coverage(query) >= COVERED)
            values[entered] = ranking.values[entered] + tier.step
            placed |= {int(p): (tier.name, tier.step, ranking) for p in np.flatnonzero(entered)}
        for position in self._names.positions(query):
            values[position] = base.values[position] + _EXACT_STEP
            placed[position] = ("exact name", _EXACT_STEP, base)
            kept[position] = True
            if fit is not None:
                fit[position] = likeliest = 1.0
        kept[list(placed)] = True

        def explain(position: int) -> Score:
            if position not in placed:
                return base.explain(position)
            name, step, ranking = placed[position]
            parts = (Part(Signal.TIER, name, step), *ranking.explain(position).parts)
            return Score(self._index.ids[position], float(values[position]), parts)

        return Ranking(values, kept, explain, fit, base.note, likeliest, comparable=base.values, read=read)

    def _probabilities(self, evidence: QueryEvidence) -> tuple[Scores | None, float | None]:
        """How likely each tool fits any clause, and how likely it is that any tool does.

        The latter is that of the likeliest among the first LOOKED_AT tools of a clause, whatever the other
        clauses are about.
        """
        judged = [self._judged(clause, evidence.of[clause.text]) for clause in evidence.parsed.clauses]
        found = [each for each in judged if each is not None]
        if not found or not len(self._index.tools):
            return None, None
        # The probability grows with its logarithmic odds: one exponential is enough for all clauses.
        tools = probability(np.max([each.odds for each in found], axis=0))
        absent = evidence.whole.absent
        if absent is not None:
            covered = np.max([each.coverage for each in found], axis=0)
            tools[absent] = covered[absent]
        named = [position for each in found for position in each.named]
        tools[named] = np.maximum(tools[named], NAMED)
        return tools, max(each.likeliest for each in found)

    def parsed(self, query: str) -> ParsedQuery:
        """The query with at most MAX_CLAUSES clauses, whatever their order is: each has to be embedded."""
        parsed = parse(self._spelt(query[:MAX_QUERY_LENGTH]))
        if len(parsed.clauses) <= MAX_CLAUSES:
            return parsed

        def rarity(clause: Clause) -> tuple[float, str]:
            return -float(self._lexical.rank(clause.text).values.max(initial=0.0)), clause.text

        return replace(parsed, clauses=tuple(sorted(parsed.clauses, key=rarity)[:MAX_CLAUSES]))

    def _spelt(self, query: str) -> str:
        """The query with words corrected that no tool and no model knows; as it is without a model."""
        semantics = self._index.semantics
        if semantics is None or not self._index.is_semantic:
            return query
        return semantics.spelling.corrected(query, self._has, lambda: self._words)

    @cached_property
    def _unasked(self) -> Unasked:
        return Unasked(self._index)

    @cached_property
    def _words(self) -> frozenset[str]:
        """The words of tools and phrases as written; the vocabulary may hold those of former tools too."""
        is_used = self._index.word_postings.document_frequencies > 0
        return self._said.union(compress(self._index.vocabulary, is_used.tolist()))

    @cached_property
    def _said(self) -> frozenset[str]:
        phrases = self._index.own_phrases
        return frozenset(chain.from_iterable(written_words(phrase.request) for phrase in phrases))

    def _has(self, word: str) -> bool:
        """Whether it is one of these words, for a look at few of them."""
        number = self._index.vocabulary.get(word, ABSENT)
        return word in self._said or self._index.word_postings.document_frequency(number) > 0

    def _judged(self, clause: Clause, evidence: Evidence) -> "_Judged | None":
        """How likely each tool fits a clause; for a tool not embedded yet, the share of words it covers."""
        signals = self._signals(clause, evidence)
        if signals is None:
            return None
        fit = self._fit if signals.best_cosine is not None else WORDS_ALONE
        odds = fit.odds(signals)
        first = best_first(evidence.values, LOOKED_AT)
        absent = evidence.is_absent(first)
        likely = np.where(absent, signals.coverage[first], probability(odds[first]))
        clause_terms = frozenset(terms(clause.text))
        named = [position for position in first if is_named(self._index.tools[position].name, clause_terms)]
        likeliest = float(likely.max(initial=NAMED if named else 0.0))
        return _Judged(odds, signals.coverage, named, likeliest)

    def signals(self, clause: Clause) -> tuple[FitSignals | None, list[int]]:
        """The signals behind each tool's probability, and the clause's first LOOKED_AT tools.

        There are no signals without vectors of any kind.
        """
        evidence = self._whole.evidence_of(clause.text)
        return self._signals(clause, evidence), best_first(evidence.values, LOOKED_AT)

    def _signals(self, clause: Clause, evidence: Evidence) -> FitSignals | None:
        static = evidence.cosines.get(STATIC)
        if evidence.is_lexical:
            return None
        asked, offered = asked_action(clause.text), self._index.offered
        return FitSignals(
            self._lexical.covered(evidence.words[0].asked),
            len(split_words(clause.text)),
            evidence.best.raw if evidence.best is not None else None,
            evidence.text_cosine,
            static.raw if static is not None else None,
            small_talk=self._index.small_talk(clause.text),
            conflict=(offered != 0) & (offered & asked == 0) if asked else None,
        )


class _Judged(Struct, frozen=True):
    """How likely each tool fits a clause, as the logarithm of the odds, and the likeliest of its first tools.

    `coverage` is the share of the clause's words, `named` are the first tools whose name the clause has.
    """

    odds: Scores
    coverage: Scores
    named: list[int]
    likeliest: float
