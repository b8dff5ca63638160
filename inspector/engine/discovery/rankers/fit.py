"""The confidence that a tool can do what a clause of a query asks. It decides what a search answers.

A fused score only orders tools: the best of five wrong ones is still the best. These signals are comparable
across queries: the share of the clause's idf that the tool's words cover, the highest cosine of any of its
passages, the mean cosine of its texts, that of its static vector, the length of the clause within bounds
(longer ones resemble every tool less), how much the clause resembles small talk, whether it asks for nothing,
and whether the tool's verb is another than the one asked for. Together they form a logistic model:

    p = 1 / (1 + exp(-(-16.3 + 0.7 coverage + 4.5 best cosine + 3.7 mean cosine + 5.4 static cosine
                       + 4.9 ln words - 6.9 small talk - 0.5 statement - 2.0 conflict)))

fitted to labelled requests, possible and impossible (`python -m tests.benchmark.fit_confidence`). Until the
model's vectors are there, WORDS_ALONE judges by coverage and static vectors, which need no model. Each clause
is judged by itself, and the best one counts: courtesy, padding and order change nothing. One signal overrides
the others: a clause that contains every word of a tool's name, so such a tool has at least NAMED.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from inspector.engine.discovery.rankers.ranker import Mask, Scores
from inspector.engine.discovery.term import terms

# The bounds of a clause's length in words.
SHORT, LONG = 8, 12
NAMED = 0.9


@dataclass(frozen=True)
class FitSignals:
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
    is_statement: bool = False
    conflict: Mask | None = None

    @property
    def length(self) -> float:
        """The logarithm of the number of words, within bounds."""
        return math.log(min(max(self.words, SHORT), LONG))


@dataclass(frozen=True, slots=True)
class FitModel:
    """The logistic coefficients."""

    intercept: float = -16.3
    coverage: float = 0.7
    best_cosine: float = 4.5
    mean_cosine: float = 3.7
    static_cosine: float = 5.4
    length: float = 4.9
    small_talk: float = -6.9
    statement: float = -0.5
    conflict: float = -2.0

    def probability(self, signals: FitSignals) -> Scores:
        """The probability that each tool fits (0 to 1)."""
        return probability(self.odds(signals))

    def odds(self, signals: FitSignals) -> Scores:
        """The logarithm of the odds that each tool fits."""
        of_clause = (
            self.intercept
            + self.length * signals.length
            + self.small_talk * signals.small_talk
            + self.statement * signals.is_statement
        )
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
    intercept=-15.7,
    coverage=2.0,
    best_cosine=0.0,
    mean_cosine=0.0,
    static_cosine=10.2,
    length=5.2,
    small_talk=0.0,
    statement=-1.5,
    conflict=-0.6,
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
