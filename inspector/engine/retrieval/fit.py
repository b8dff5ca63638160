"""How likely it is that a tool can do what a query asks: what abstention goes by.

A fused score only orders tools: the best of five wrong ones is still the best. These signals mean the same
thing from query to query: how much of the query's idf the tool's words cover, the highest cosine of any of
its passages, the mean cosine of its texts, and the length of the query, because the more a request tells
the less any tool resembles it. Together they are a logistic model:

    p = 1 / (1 + exp(-(-11.3 + 2.1 coverage + 8.5 best cosine + 6.4 mean cosine + 2.6 ln words)))

fitted to labelled search requests, possible and impossible, both kinds weighing the same
(`python -m tests.benchmark.fit_abstention`). Words alone do not tell: without vectors there is no
probability.
"""

import math
from dataclasses import dataclass

import numpy as np

from inspector.engine.retrieval.ranker import Scores

# A shorter query counts as this long: "weather" is no worse a request than "weather forecast today".
SHORT = 3


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

    intercept: float = -11.3
    coverage: float = 2.1
    best_cosine: float = 8.5
    mean_cosine: float = 6.4
    log_words: float = 2.6

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
