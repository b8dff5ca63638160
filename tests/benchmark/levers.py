"""What each part of the default ranker's fusion adds: the section "Levers" of docs/papers/retrieval.md.

`python -m tests.benchmark.levers` prints it. Each lever is turned off while the others stay on. Queries are
embedded once for all variants and runs, so nothing here says how fast anything is.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.access.reach import EvalSet
from inspector.core.number import percent
from inspector.core.settings import DiscoverySettings
from inspector.measure.bootstrap import Estimate
from inspector.measure.run import summarise
from inspector.measure.standing import difference
from inspector.search.query import ParsedQuery, parse
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.fusion import FusionWeights
from inspector.search.rankers.query_fusion import QueryWeights
from tests.benchmark.data import DATA, OWN, POOL, PUBLISHED, among_others, own, prepared, published
from tests.benchmark.long_task import long_task_section
from tests.benchmark.output import say
from tests.benchmark.variant import NO_STEPS, Variant, added_text, run

WITHOUT = {
    "typed literals": Variant(query=QueryWeights(literals=False)),
    "words as written": Variant(FusionWeights(written=0.0)),
    "static vectors": Variant(FusionWeights(static=0.0)),
    "steps": NO_STEPS,
    "server prior": Variant(query=QueryWeights(server=0.0)),
    # The fusion before there were any, with its own weights.
    "all five": Variant(
        FusionWeights(lexical=0.21, written=0.0, static=0.0, summary=0.22, best_passage=0.57),
        QueryWeights(step=0.0, server=0.0, literals=False),
    ),
}


@dataclass(frozen=True, slots=True)
class Levers:
    """nDCG@10 on one data set, and what each lever of WITHOUT adds to it.

    `literals` and `steps` are the shares of requests that have any.
    """

    dataset: str
    ndcg: float
    added: dict[str, Estimate]
    literals: float
    steps: float


def levers_on(evalset: EvalSet) -> Levers:
    """Every variant on one data set."""
    rankers = CatalogRankers(prepared(evalset).index, DiscoverySettings())
    full = run(Variant(), rankers, evalset)
    ndcg = summarise(full, evalset).ndcg_10
    assert ndcg is not None
    added = {}
    for lever, variant in WITHOUT.items():
        found = difference(run(variant, rankers, evalset), full, evalset)
        assert found is not None
        added[lever] = found.mean
    say(f"{evalset.name}: levers measured")
    return Levers(
        evalset.name,
        ndcg.mean,
        added,
        _share(evalset, lambda query: len(query.wordings) > 1),
        _share(evalset, lambda query: bool(query.steps)),
    )


def _share(evalset: EvalSet, holds: Callable[[ParsedQuery], bool]) -> float:
    return sum(holds(parse(case.query)) for case in evalset.cases) / len(evalset.cases)


def mean_of(what: str, found: Sequence[Levers]) -> Levers:
    """Each set weighs the same. The sets are independent, so the variances of their means add up."""
    n = len(found)
    added = {}
    for lever in WITHOUT:
        estimates = [one.added[lever] for one in found]
        mean = sum(one.mean for one in estimates) / n
        half = math.hypot(*(one.half_width for one in estimates)) / n
        added[lever] = Estimate(mean, mean - half, mean + half)
    return Levers(
        what,
        sum(one.ndcg for one in found) / n,
        added,
        sum(one.literals for one in found) / n,
        sum(one.steps for one in found) / n,
    )


def levers_section() -> str:
    """Markdown: a table with the mean of each group of sets below it, and the long tasks."""
    found = []
    for group, evalsets in _groups().items():
        rows = [levers_on(evalset) for evalset in evalsets]
        found += [*rows, mean_of(group, rows)]
    lines = [
        "## Levers",
        "",
        "What each part of `hybrid` adds to nDCG@10: the whole minus the same without that part, request by "
        "request, with 95 % intervals (bootstrap; requests that need the same tool are one cluster). Bold: "
        "the interval is without 0. `typed literals` reads a request with literals in a second wording too, "
        "`words as written` is BM25 over all words, none cut to its stem, `steps` ranks what is asked for "
        "one by one, `server prior` counts a server's best tools. `all five` compares with the fusion that "
        "had none of them, 0.21 BM25F, 0.22 summary and 0.57 best passage. The weights were chosen with the "
        "published sets in view.",
        "",
        f"| data set | with literals | with steps | hybrid | {' | '.join(WITHOUT)} |",
        f"|---|--:|--:|--:|{'--:|' * len(WITHOUT)}",
        *map(_row, found),
        "",
        long_task_section(),
    ]
    return "\n".join(lines)


def _groups() -> dict[str, list[EvalSet]]:
    if not DATA.is_dir():
        return {"**mean**": [own(name) for name in OWN if not name.startswith(POOL)]}
    alone = [published(name) for name in PUBLISHED]
    return {
        "**mean of the four**": alone,
        "**mean among the pool**": [among_others(evalset) for evalset in alone],
        "**mean of our own**": [own(name) for name in OWN],
    }


def _row(found: Levers) -> str:
    cells = " | ".join(added_text(estimate) for estimate in found.added.values())
    shares = f"{percent(found.literals)} | {percent(found.steps)}"
    return f"| {found.dataset} | {shares} | {found.ndcg:.4f} | {cells} |"


def main() -> None:
    say(levers_section())


if __name__ == "__main__":
    main()
