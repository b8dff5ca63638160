"""Estimates how likely it is that a tool can do what a query asks. Abstention is based on it.

A fused score only orders tools: the best of five wrong ones is still the best. These signals are comparable
across queries: the share of the query's idf that the tool's words cover, the highest cosine of any of its
passages, the mean cosine of its texts, and the length of the query, because longer requests resemble every
tool less. Together they form a logistic model:

    p = 1 / (1 + exp(-(-11.9 + 2.2 coverage + 8.6 best cosine + 7.0 mean cosine + 2.75 ln words)))

fitted to labelled requests, possible and impossible, with equal weight for both kinds (`python -m
tests.benchmark.fit_abstention`). Words alone are not enough: without vectors there is no probability. One
signal overrides the others: a request that contains every word of a tool's name (52 of the 53 labelled
requests that do are possible), so such a tool's probability is at least NAMED.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from inspector.engine.discovery.rankers.ranker import Scores
from inspector.engine.discovery.term import terms

# Shorter queries count as this many words: "weather" is as good a request as "weather forecast today".
SHORT = 3
NAMED = 0.9


@dataclass(frozen=True)
class FitSignals:
    """The signals of each tool for one query of `words` words. Coverage is 0 to 1, cosines -1 to 1."""

    coverage: Scores
    best_cosine: Scores
    mean_cosine: Scores
    words: int


@dataclass(frozen=True, slots=True)
class FitModel:
    """The logistic coefficients."""

    intercept: float = -11.9
    coverage: float = 2.2
    best_cosine: float = 8.6
    mean_cosine: float = 7.0
    log_words: float = 2.75

    def probability(self, signals: FitSignals) -> Scores:
        """The probability that each tool fits (0 to 1)."""
        logit = (
            self.intercept
            + self.coverage * signals.coverage
            + self.best_cosine * signals.best_cosine
            + self.mean_cosine * signals.mean_cosine
            + self.log_words * math.log(max(signals.words, SHORT))
        )
        probability: Scores = 1 / (1 + np.exp(-logit))
        return probability


def is_named(tool_name: str, query_terms: Collection[str]) -> bool:
    """Whether the query contains every word of a tool's name; one-word names do not count."""
    words = set(terms(tool_name))
    return len(words) > 1 and words.issubset(query_terms)
