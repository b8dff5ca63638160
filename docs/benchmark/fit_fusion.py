"""Fits the weights of the fusion: `python -m docs.benchmark.fit_fusion`.

A listwise softmax: for each request the probability of a tool is the softmax of its score over the best
CANDIDATES of the shipped weights, and the likelihood of the right tools is maximised, every data set
weighing the same. A request is read as it is: without a second wording, steps or servers. Printed are the
weights fitted with each data set left out and what they reach on that one, the weights over all, scaled to
add up to 1, and the shipped ones. The signals resemble each other, so that the fit says little about each:
weights far apart reach much the same.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, replace
from numpy.typing import NDArray

from docs.benchmark import say
from docs.benchmark.data import PUBLISHED, among_others, prepared, published
from inspector.access.reach import EvalSet
from inspector.core.settings import DiscoverySettings
from inspector.search.answer.metric import ndcg_at
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.fusion import (
    BEST,
    STATIC,
    SUMMARY_TERM,
    Evidence,
    FusionRanker,
    FusionWeights,
)
from inspector.search.ranker.ranker import Standardised

CANDIDATES = 150
# Those of a search with a model.
NAMES = tuple(name for name in FusionWeights.__struct_fields__ if name != "meant")
SIGNALS = len(NAMES)
ROUNDS, RATE, SHRINKAGE = 150, 0.05, 1e-3
Weights = NDArray[np.float64]


class Request(Struct, frozen=True, dict=True):
    """The standardised signals of the candidates (rows), which of them are right, and their ids."""

    signals: NDArray[np.float64]
    right: NDArray[np.float64]
    ids: tuple[str, ...]
    relevant: tuple[frozenset[str], ...]


def requests_of(evalset: EvalSet) -> list[Request]:
    """Every request with a tool that fits, as signals."""
    index = prepared(evalset).index
    ranker = CatalogRankers(index, DiscoverySettings()).fusion
    return [_request(index, ranker, c.query, c.relevant) for c in evalset.cases if c.is_possible]


def _request(
    index: ToolIndex, ranker: FusionRanker, query: str, relevant: tuple[frozenset[str], ...]
) -> Request:
    evidence = ranker.evidence([query])[0]
    chosen = ranker.ranking(evidence).order(CANDIDATES)
    columns = [
        replace(signal, weight=1.0 if signal.weight else 0.0).values[chosen] for signal in _signals(evidence)
    ]
    ids = tuple(index.tools[position].id for position in chosen)
    wanted = frozenset[str]().union(*relevant)
    return Request(np.stack(columns, axis=1), np.array([float(i in wanted) for i in ids]), ids, relevant)


def _signals(evidence: Evidence) -> tuple[Standardised, ...]:
    """In the order of FusionWeights."""
    lexical, written = (words.scores for words in evidence.words)
    return (lexical, written, *(evidence.cosines[name] for name in (STATIC, SUMMARY_TERM, BEST)))


def fit(sets: Sequence[Sequence[Request]]) -> Weights:
    """Weights that add up to 1, by Adam on the mean gradient over the data sets."""
    weights = np.ones(SIGNALS)
    first, second = np.zeros(SIGNALS), np.zeros(SIGNALS)
    for step in range(1, ROUNDS + 1):
        gradient = np.mean([_gradient(requests, weights) for requests in sets], axis=0) + SHRINKAGE * weights
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        weights = weights - RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    scaled: Weights = weights / weights.sum()
    return scaled


def _gradient(requests: Sequence[Request], weights: Weights) -> Weights:
    total = np.zeros(SIGNALS)
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
    sets = {name: requests_of(published(name)) for name in PUBLISHED}
    shipped = np.array(astuple(FusionWeights())[:SIGNALS])
    for what, weights in (("over all", fit(list(sets.values()))), ("shipped", shipped)):
        found = "  ".join(f"{name} {reached(requests, weights):.4f}" for name, requests in sets.items())
        say(f"{what:<19} weights {np.round(weights, 3)}  nDCG@10 {found}")


if __name__ == "__main__":
    main()
