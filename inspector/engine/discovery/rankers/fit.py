"""How likely it is that a tool can do what a query asks: what abstention goes by.

A fused score only orders tools: the best of five wrong ones is still the best. These signals mean the same
thing from query to query: how much of the query's idf the tool's words cover, the highest cosine of any of
its passages, the mean cosine of its texts, and the length of the query, because the more a request tells
the less any tool resembles it. Together they are a logistic model:

    p = 1 / (1 + exp(-(-11.9 + 2.2 coverage + 8.6 best cosine + 7.0 mean cosine + 2.75 ln words)))

fitted to labelled search requests, possible and impossible, both kinds weighing the same
(`python -m tests.benchmark.fit_abstention`). Words alone do not tell: without vectors there is no
probability. One thing tells whatever the rest says: a request with every word of a tool's name in it (52 of
the 53 labelled ones that have are possible), so such a tool fits with NAMED at least.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from inspector.engine.discovery.rankers.ranker import Scores
from inspector.engine.discovery.term import terms

# A shorter query counts as this long: "weather" is no worse a request than "weather forecast today".
SHORT = 3
NAMED = 0.9


@dataclass(frozen=True)
class FitSignals:
    """What is known of each tool for one query of `words` words. Coverage is 0 to 1, cosines -1 to 1."""

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
        """For each tool, 0 to 1."""
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
    """Whether a query has every word of a name in it; a name of one word is a word like any other."""
    words = set(terms(tool_name))
    return len(words) > 1 and words.issubset(query_terms)
