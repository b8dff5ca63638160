"""Fits the probability that a tool fits: `python -m docs.benchmark.fit_confidence`.

Logistic regression over the clauses of labelled requests: of each request the likeliest pair of a clause and
one of its first tools counts, found again after each fit (multiple instance learning: Andrews et al. 2002,
“MI-SVM”). Possible and impossible requests weigh the same, as do the catalogs; within the impossible ones far
requests outweigh small talk, and that near misses. Every second request of a kind is fitted,
and every everyday request of the fitted servers; none of the demo's or of the reported vendors'.
`python -m docs.benchmark.abstention` and `everyday` ask the others. Printed: the coefficients, and what they
answer in the other half.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from docs.benchmark import say
from docs.benchmark.data import (
    CATALOGS,
    FITTED,
    PUBLISHED,
    REPORTED,
    REPORTED_VENDORS,
    everyday,
    judged,
    prepared,
    untimed_semantics,
)
from inspector.access.reach import EvalCase, EvalSet
from inspector.core.settings import DiscoverySettings
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.hybrid import WORDS_ALONE, FitModel, FitSignals, HybridRanker

NAMES = (
    "coverage",
    "best_cosine",
    "mean_cosine",
    "static_cosine",
    "length",
    "small_talk",
    "conflict",
)
WEIGHTS: Mapping[str, float] = {"possible": 1.0, "far": 1.0, "small-talk": 0.6, "near-miss": 0.6}
ROUNDS, STEPS, SHRINKAGE = 8, 25, 1e-3
# The shares of possible requests that are found (of others than everyday ones), and that get any answer (of
# everyday ones). With these some half of the everyday ones are found, and few of those that no tool serves.
FOUND, ANSWERED = 0.83, 0.98


class Request(Struct, frozen=True, dict=True):
    """The signals of the first tools of each clause of a request, one row each."""

    catalog: str
    case: EvalCase
    rows: NDArray[np.float64]
    is_fitted: bool


def requests(*, by_words: bool = False) -> list[Request]:
    """Every request of the catalogs, and the possible ones of the other published sets.

    `by_words` as they look while the model's vectors are not there.
    """
    found = []
    sets = [judged(catalog) for catalog in dict.fromkeys((*CATALOGS, *PUBLISHED)) if catalog not in REPORTED]
    for evalset in (*map(_unreported, sets), *map(everyday, FITTED)):
        catalog = evalset.name
        bare = ToolIndex(evalset.tools, semantics=untimed_semantics())
        index = bare if by_words else prepared(evalset).index
        hybrid = CatalogRankers(index, DiscoverySettings()).hybrid
        seen: dict[str, int] = {}
        for case in evalset.cases:
            number = seen[case.kind] = seen.get(case.kind, -1) + 1
            is_fitted = number % 2 == 0 or catalog.startswith("everyday")
            kind = "possible" if case.is_possible else case.kind
            found.append(Request(catalog, replace(case, kind=kind), _rows(hybrid, case.query), is_fitted))
    return found


def _unreported(evalset: EvalSet) -> EvalSet:
    """The set without the tools of reported vendors, and without the requests that need one."""
    tools = tuple(tool for tool in evalset.tools if tool.server not in REPORTED_VENDORS)
    known = {tool.id for tool in tools}
    cases = tuple(case for case in evalset.cases if all(group <= known for group in case.relevant))
    return EvalSet(evalset.name, tools, cases)


def _rows(hybrid: HybridRanker, query: str) -> NDArray[np.float64]:
    rows = []
    for clause in hybrid.parsed(query).clauses:
        signals, order = hybrid.signals(clause)
        assert signals is not None
        rows += [row(signals, position) for position in order]
    return np.array(rows)


def row(signals: FitSignals, position: int) -> list[float]:
    """The signals of one tool in the order of NAMES."""
    conflict = signals.conflict is not None and bool(signals.conflict[position])
    cosines = (signals.best_cosine, signals.mean_cosine, signals.static_cosine)
    return [
        float(signals.coverage[position]),
        *(0.0 if cosine is None else float(cosine[position]) for cosine in cosines),
        signals.length,
        signals.small_talk,
        float(conflict),
    ]


def fit(requests: Sequence[Request]) -> NDArray[np.float64]:
    """Intercept and coefficients."""
    everything = np.concatenate([request.rows for request in requests])
    mean, deviation = everything.mean(axis=0), everything.std(axis=0) + 1e-9
    scaled = [(request.rows - mean) / deviation for request in requests]
    possible = np.array([request.case.is_possible for request in requests], float)
    weights = _weights(requests)
    found = np.zeros(len(NAMES) + 1)
    found[1 + NAMES.index("static_cosine")] = 1.0
    for _ in range(ROUNDS):
        likeliest = np.array([rows[np.argmax(rows @ found[1:])] for rows in scaled])
        found = _logistic_fit(np.column_stack([np.ones(len(likeliest)), likeliest]), possible, weights, found)
    slopes = found[1:] / deviation
    return np.concatenate([[found[0] - slopes @ mean], slopes])


def _weights(requests: Sequence[Request]) -> NDArray[np.float64]:
    """Catalogs weigh the same, kinds as WEIGHTS says, possible and impossible requests half each."""
    groups = [(request.catalog, request.case.is_possible) for request in requests]
    kinds = [request.case.kind for request in requests]
    weights = np.array(
        [WEIGHTS[kind] / groups.count(group) for kind, group in zip(kinds, groups, strict=True)]
    )
    possible = np.array([request.case.is_possible for request in requests])
    for side in (possible, ~possible):
        weights[side] *= 0.5 / weights[side].sum()
    return weights


def _logistic_fit(
    rows: NDArray[np.float64],
    possible: NDArray[np.float64],
    weights: NDArray[np.float64],
    start: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Newton's method; the intercept is not shrunk."""
    shrinkage = np.diag([0.0, *[SHRINKAGE] * (rows.shape[1] - 1)])
    found = start.copy()
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(rows @ found)))
        gradient = rows.T @ (weights * (p - possible)) + shrinkage @ found
        hessian = rows.T @ ((weights * p * (1 - p))[:, None] * rows) + shrinkage + 1e-9 * np.eye(len(found))
        found = found - np.linalg.solve(hessian, gradient)
    return found


def logit(request: Request, coefficients: NDArray[np.float64]) -> float:
    return float((coefficients[0] + request.rows @ coefficients[1:]).max())


def at_thresholds(coefficients: NDArray[np.float64], requests: Sequence[Request]) -> NDArray[np.float64]:
    """The same order, stretched and shifted so that both shipped thresholds do what they are for.

    The higher one keeps FOUND of the possible requests other than everyday ones, the lower one ANSWERED of
    the everyday ones; each is the mean of the catalogs, whose shares differ.
    """
    settings = DiscoverySettings()
    wanted = [_logit(value) for value in (settings.min_probability, settings.min_closest)]
    cuts = [_cut(coefficients, requests, share, everyday=share is ANSWERED) for share in (FOUND, ANSWERED)]
    stretched = coefficients * (wanted[0] - wanted[1]) / (cuts[0] - cuts[1])
    stretched[0] += wanted[0] - cuts[0] * (wanted[0] - wanted[1]) / (cuts[0] - cuts[1])
    return stretched


def _cut(
    coefficients: NDArray[np.float64], requests: Sequence[Request], share: float, *, everyday: bool
) -> float:
    """The logit that this share of the possible requests reaches."""
    possible: dict[str, list[float]] = {}
    for request in requests:
        if request.case.is_possible and request.catalog.startswith("everyday") is everyday:
            possible.setdefault(request.catalog, []).append(logit(request, coefficients))
    cuts = np.sort(np.concatenate([np.array(logits) for logits in possible.values()]))
    kept = np.mean([(np.array(logits)[:, None] >= cuts).mean(axis=0) for logits in possible.values()], axis=0)
    return float(cuts[np.flatnonzero(kept >= share)[-1]])


def _logit(probability: float) -> float:
    return float(np.log(probability / (1 - probability)))


def main() -> None:
    report(requests(), FitModel())
    report(requests(by_words=True), WORDS_ALONE)


def report(found: Sequence[Request], shipped: FitModel) -> None:
    fitted = [request for request in found if request.is_fitted]
    coefficients = at_thresholds(fit(fitted), fitted)
    names = ("intercept", *NAMES)
    say("fitted   " + ", ".join(f"{n} {c:.2f}" for n, c in zip(names, coefficients, strict=True)))
    say(f"shipped  {shipped}")
    cut = _logit(DiscoverySettings().min_probability)
    for kind in WEIGHTS:
        shares = []
        for catalog in dict.fromkeys(request.catalog for request in found):
            asked = [r for r in found if not r.is_fitted and (r.catalog, r.case.kind) == (catalog, kind)]
            if asked:
                share = np.mean([logit(r, coefficients) >= cut for r in asked])
                shares.append(float(share))
                say(f"  {kind:<12}{catalog:<13}{share:7.1%} of {len(asked)} answered")
        say(f"  {kind:<12}{'mean':<13}{np.mean(shares):7.1%}")


if __name__ == "__main__":
    main()
