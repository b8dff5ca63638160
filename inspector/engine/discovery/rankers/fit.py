"""Estimates how likely it is that a tool can do what a clause of a query asks. Abstention is based on it.

A fused score only orders tools: the best of five wrong ones is still the best. These signals are comparable
across queries: the share of the clause's idf that the tool's words cover, the highest cosine of any of its
passages, the mean cosine of its texts, the length of the clause within bounds (longer ones resemble every
tool less), how much the clause resembles small talk, whether it asks for nothing, and whether the tool's verb
is another than the one asked for. Together they form a logistic model:

    p = 1 / (1 + exp(-(-12.45 + 3.0 coverage + 8.1 best cosine + 8.1 mean cosine + 2.7 ln words
                       - 5.6 small talk - 1.6 statement - 3.1 conflict)))

fitted to labelled requests, possible and impossible (`python -m tests.benchmark.fit_abstention`). Each clause
is judged by itself, and the best one counts: courtesy, padding and order change nothing. Words alone are not
enough: without vectors there is no probability. One signal overrides the others: a clause that contains every
word of a tool's name, so such a tool's probability is at least NAMED.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from inspector.engine.discovery.rankers.ranker import Mask, Scores
from inspector.engine.discovery.term import terms

# The bounds of a clause's length in words.
SHORT, LONG = 3, 12
NAMED = 0.9


@dataclass(frozen=True)
class FitSignals:
    """The signals of each tool for one clause of `words` words. Coverage is 0 to 1, cosines -1 to 1.

    `small_talk` is how much closer the clause is to small talk than to requests (-2 to 2); `conflict` marks
    the tools whose verb is another.
    """

    coverage: Scores
    best_cosine: Scores
    mean_cosine: Scores
    words: int
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

    intercept: float = -12.45
    coverage: float = 3.0
    best_cosine: float = 8.1
    mean_cosine: float = 8.1
    length: float = 2.7
    small_talk: float = -5.6
    statement: float = -1.6
    conflict: float = -3.1

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
        odds = self.coverage * signals.coverage
        odds += self.best_cosine * signals.best_cosine
        odds += self.mean_cosine * signals.mean_cosine
        odds += of_clause
        if signals.conflict is not None:
            odds += self.conflict * signals.conflict
        return odds


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
