"""Fits the probability that a tool fits: `python -m tests.benchmark.fit_abstention`.

Logistic regression over the signals of the likeliest of the tools that the ranker puts first, on the
project's own search requests over two catalogs; possible and impossible requests weigh the same. Near misses
and what users say to an assistant are held out whole. Printed: the coefficients over all, and what models
fitted on random halves answer in the other halves at the shipped threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inspector.domain.settings import DiscoverySettings
from inspector.engine.discovery.rankers.catalog_rankers import CatalogRankers
from inspector.engine.discovery.rankers.fit import SHORT, FitModel
from inspector.engine.discovery.rankers.hybrid import HybridRanker
from inspector.engine.discovery.rankers.ranker import LOOKED_AT
from tests.benchmark.data import OWN, own, prepared
from tests.benchmark.output import say

HALVES = 40
ROUNDS, RATE, SHRINKAGE = 800, 0.5, 0.01
FITTED = frozenset({"search", "impossible"})


@dataclass(frozen=True)
class Sample:
    """One row a request: signals, whether it names a tool, whether one fits, the data set and the kind."""

    signals: NDArray[np.float64]
    named: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    groups: tuple[tuple[str, str], ...]

    @property
    def fitted(self) -> NDArray[np.bool_]:
        return np.array([name.endswith("_search") and kind in FITTED for name, kind in self.groups])


def read() -> Sample:
    """The signals of the likeliest of the first tools for every request of the project's own sets."""
    rows, named, possible, groups = [], [], [], []
    for name in OWN:
        evalset = own(name)
        hybrid = CatalogRankers(prepared(evalset).index, DiscoverySettings()).hybrid
        for case in evalset.cases:
            rows.append(_signals(hybrid, case.query))
            named.append(bool(hybrid.named(hybrid.rank(case.query), case.query)))
            possible.append(case.is_possible)
            groups.append((name, case.kind))
    return Sample(np.array(rows), np.array(named), np.array(possible), tuple(groups))


def _signals(hybrid: HybridRanker, query: str) -> list[float]:
    signals = hybrid.signals(query)
    assert signals is not None
    likely = FitModel().probability(signals)
    first = max(hybrid.rank(query).order(LOOKED_AT), key=lambda position: float(likely[position]))
    return [
        float(signals.coverage[first]),
        float(signals.best_cosine[first]),
        float(signals.mean_cosine[first]),
        float(np.log(max(signals.words, SHORT))),
    ]


def fit(signals: NDArray[np.float64], possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Intercept and coefficients on the signals' own scales."""
    mean, deviation = signals.mean(axis=0), signals.std(axis=0)
    rows = np.column_stack([np.ones(len(signals)), (signals - mean) / deviation])
    balance = np.where(possible, 0.5 / possible.mean(), 0.5 / (1 - possible.mean()))
    weights = np.zeros(rows.shape[1])
    for _ in range(ROUNDS):
        gradient = rows.T @ (balance * (_logistic(rows @ weights) - possible)) / len(rows)
        gradient[1:] += SHRINKAGE * weights[1:]
        weights -= RATE * gradient
    slopes = weights[1:] / deviation
    return np.concatenate([[weights[0] - slopes @ mean], slopes])


def probability(coefficients: NDArray[np.float64], signals: NDArray[np.float64]) -> NDArray[np.float64]:
    return _logistic(coefficients[0] + signals @ coefficients[1:])


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    values: NDArray[np.float64] = 1 / (1 + np.exp(-x))
    return values


def held_out(sample: Sample, threshold: float) -> Mapping[tuple[str, str, bool], float]:
    """By data set, kind and whether a tool fits: the share answered, over HALVES random halves."""
    answered: dict[tuple[str, str, bool], list[float]] = {}
    for seed in range(HALVES):
        chosen = np.flatnonzero(sample.fitted)
        np.random.default_rng(seed).shuffle(chosen)
        train, test = chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]
        coefficients = fit(sample.signals[train], sample.possible[train])
        for i in (*test, *np.flatnonzero(~sample.fitted)):
            key = (*sample.groups[i], bool(sample.possible[i]))
            likely = probability(coefficients, sample.signals[i][None])[0]
            answered.setdefault(key, []).append(float(sample.named[i] or likely >= threshold))
    return {key: float(np.mean(values)) for key, values in answered.items()}


def halves(sample: Sample, threshold: float) -> tuple[float, float]:
    """The shares of impossible and of possible search requests answered in the halves held out."""
    shares = held_out(sample, threshold)
    counts = {key: sum(g == key[:2] for g in sample.groups) for key in shares}
    fitted = [key for key in shares if key[0].endswith("_search") and key[1] in FITTED]

    def share(possible: bool) -> float:
        keys = [key for key in fitted if key[2] is possible]
        return sum(shares[key] * counts[key] for key in keys) / sum(counts[key] for key in keys)

    return share(False), share(True)


def main() -> None:
    sample, threshold = read(), DiscoverySettings().min_probability
    names = ("intercept", "coverage", "best cosine", "mean cosine", "ln words")
    over_all = fit(sample.signals[sample.fitted], sample.possible[sample.fitted])
    say("fitted   " + ", ".join(f"{n} {c:.2f}" for n, c in zip(names, over_all, strict=True)))
    say(f"shipped  {FitModel()}")
    say(f"answered at a threshold of {threshold}, models fitted on the other half ({HALVES} halves):")
    for (name, kind, possible), share in held_out(sample, threshold).items():
        say(f"  {name:<20}{kind:<12}{'possible' if possible else 'no tool fits':<14}{share:7.1%}")


if __name__ == "__main__":
    main()
