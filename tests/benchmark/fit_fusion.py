"""Fits the weights of the fusion: `python -m tests.benchmark.fit_fusion`.

A listwise softmax: for each request the probability of a tool is the softmax of its score over the best
CANDIDATES of the shipped weights, and the likelihood of the right tools is maximised, every data set
weighing the same. Printed are the weights fitted with each data set left out, what they reach on that one,
and the weights over all, scaled to add up to 1: what FusionWeights ships.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from inspector.domain.evaluation import EvalSet
from inspector.domain.metric import ndcg_at
from inspector.engine.discovery.index import ToolIndex
from inspector.engine.discovery.rankers.bm25 import Bm25Ranker
from inspector.engine.discovery.rankers.fusion import FusionRanker, FusionWeights
from tests.benchmark.data import PUBLISHED, among_others, prepared, published
from tests.benchmark.output import say

CANDIDATES = 150
ROUNDS, RATE, SHRINKAGE = 150, 0.05, 1e-3
Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Request:
    """The standardised signals of the candidates (rows), which of them are right, and their ids."""

    signals: NDArray[np.float64]
    right: NDArray[np.float64]
    ids: tuple[str, ...]
    relevant: tuple[frozenset[str], ...]


def requests_of(evalset: EvalSet) -> list[Request]:
    """Every request with a tool that fits, as signals."""
    index = prepared(evalset).index
    ranker = FusionRanker(index, Bm25Ranker(index))
    return [_request(index, ranker, c.query, c.relevant) for c in evalset.cases if c.is_possible]


def _request(
    index: ToolIndex, ranker: FusionRanker, query: str, relevant: tuple[frozenset[str], ...]
) -> Request:
    evidence = ranker.evidence(query)
    assert evidence.summary is not None
    assert evidence.best is not None
    chosen = ranker.ranking(evidence).order(CANDIDATES)
    columns = [
        replace(signal, weight=1.0 if signal.weight else 0.0).values[chosen]
        for signal in (evidence.lexical, evidence.summary, evidence.best)
    ]
    ids = tuple(index.tools[position].id for position in chosen)
    wanted = frozenset[str]().union(*relevant)
    return Request(np.stack(columns, axis=1), np.array([float(i in wanted) for i in ids]), ids, relevant)


def fit(sets: Sequence[Sequence[Request]]) -> Weights:
    """Weights that add up to 1, by Adam on the mean gradient over the data sets."""
    weights = np.ones(3)
    first, second = np.zeros(3), np.zeros(3)
    for step in range(1, ROUNDS + 1):
        gradient = np.mean([_gradient(requests, weights) for requests in sets], axis=0) + SHRINKAGE * weights
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        weights = weights - RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    scaled: Weights = weights / weights.sum()
    return scaled


def _gradient(requests: Sequence[Request], weights: Weights) -> Weights:
    total = np.zeros(3)
    for request in requests:
        if request.right.any():
            scores = request.signals @ weights
            likely = np.exp(scores - scores.max())
            total += request.signals.T @ (likely / likely.sum() - request.right / request.right.sum())
    return total / len(requests)


def reached(requests: Sequence[Request], weights: Weights) -> float:
    """Mean nDCG@10 of the candidates in the order of these weights."""
    values = []
    for request in requests:
        order = np.argsort(-(request.signals @ weights), kind="stable")[:10]
        values.append(ndcg_at(10, [request.ids[i] for i in order], request.relevant))
    return float(np.mean(values))


def left_out() -> dict[str, tuple[Weights, float, float]]:
    """By data set: the weights fitted without it, and what they reach on it, alone and among the pool."""
    sets = {name: requests_of(published(name)) for name in PUBLISHED}
    found = {}
    for name in PUBLISHED:
        weights = fit([sets[other] for other in PUBLISHED if other != name])
        pooled = requests_of(among_others(published(name)))
        found[name] = (weights, reached(sets[name], weights), reached(pooled, weights))
    return found


def main() -> None:
    for name, (weights, alone, pooled) in left_out().items():
        say(
            f"without {name:<11} weights {np.round(weights, 3)}  "
            f"nDCG@10 {alone:.4f}  among the pool {pooled:.4f}"
        )
    over_all = fit([requests_of(published(name)) for name in PUBLISHED])
    say(f"over all            weights {np.round(over_all, 3)}")
    say(f"shipped             {FusionWeights()}")


if __name__ == "__main__":
    main()
