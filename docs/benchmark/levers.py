"""What each part of the default ranker's fusion adds: the section "Levers" of docs/papers/retrieval.md.

`python -m docs.benchmark.levers` prints it. Each lever is turned off while the others stay on. Queries are
embedded once for all variants and runs, so nothing here says how fast anything is. With `descriptions` it
prints what sentences on limits, use and examples add: docs/papers/README.md has that table.
"""

import math
import random
import re
import sys
from collections.abc import Callable, Collection, Sequence
from itertools import cycle

from msgspec import Struct
from msgspec.structs import replace

from docs.benchmark import say
from docs.benchmark.data import DATA, OWN, POOL, PUBLISHED, among_others, everyday, own, prepared, published
from inspector.access.reach import EvalCase, EvalSet
from inspector.core.number import percent
from inspector.core.ports import SystemClock
from inspector.core.settings import DiscoverySettings
from inspector.core.text import sentences
from inspector.core.tool import Tool
from inspector.features.bench.ranker_bench import difference
from inspector.features.bench.run import DEPTH, Run, run_bench, summarise
from inspector.search.answer.metric import Estimate, clusters, estimate, ndcg_at, recall_at
from inspector.search.answer.search import SearchRules
from inspector.search.index.query import ParsedQuery, parse
from inspector.search.ranker.bm25 import AS_WRITTEN, Bm25Ranker
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.fusion import FusionRanker, FusionWeights
from inspector.search.ranker.hybrid import HybridRanker
from inspector.search.ranker.query_fusion import QueryFusion, QueryWeights
from inspector.search.ranker.ranker import Ranker


class Variant(Struct, frozen=True):
    """The weights of a hybrid ranker."""

    fusion: FusionWeights = FusionWeights()
    query: QueryWeights = QueryWeights()
    reads: bool = True

    def over(self, rankers: CatalogRankers) -> HybridRanker:
        """Such a ranker over the index of `rankers`, which it shares all else with."""
        index = rankers.index
        written = Bm25Ranker(index, AS_WRITTEN, name="words as written")
        fusion = FusionRanker(index, rankers.lexical, self.fusion, written=written, reads=self.reads)
        return HybridRanker(
            index,
            lexical=rankers.lexical,
            whole=QueryFusion(index, fusion, rankers.server_prior, self.query),
            names=rankers.names,
            tiers=rankers.tiers,
        )


NO_STEPS = Variant(query=QueryWeights(step=0.0))


def run(ranker: Ranker, rankers: CatalogRankers, evalset: EvalSet, *, depth: int = DEPTH) -> Run:
    """A ranker over the index of `rankers` on every request."""
    return run_bench(
        ranker,
        evalset,
        rankers.index,
        rules=SearchRules.of(rankers.settings),
        clock=SystemClock(),
        progress=lambda _done, _total: None,
        cancelled=lambda: False,
        depth=depth,
    )


def added_text(estimate: Estimate) -> str:
    """A difference with its interval, bold if that is without 0."""
    text = f"{estimate.mean:+.4f}"
    is_clear = estimate.low > 0 or estimate.high < 0
    interval = f"[{estimate.low:+.3f}, {estimate.high:+.3f}]"
    return f"{f'**{text}**' if is_clear else text} {interval}".replace("-", "−")


# Requests joined to long tasks, with and without steps: part of the section "Levers".
#
# The tasks are made up. They show whether the share of the steps is large enough, and nothing about what
# people write.
SHORTEST, LONGEST = 3, 8
_SEED = 5


class Recalled(Struct, frozen=True):
    """Recall@10 of each task with and without steps."""

    dataset: str
    tasks: tuple[EvalCase, ...]
    with_steps: tuple[float, ...]
    without: tuple[float, ...]

    @property
    def added(self) -> Estimate:
        return estimate([a - b for a, b in zip(self.with_steps, self.without, strict=True)])


def joined(evalset: EvalSet) -> EvalSet:
    """Tasks of 3 to 8 requests; each request is in one task at most."""
    cases = [case for case in evalset.cases if case.is_possible]
    random.Random(_SEED).shuffle(cases)
    tasks = list[EvalCase]()
    start = 0
    for size in cycle(range(SHORTEST, LONGEST + 1)):
        if start + size > len(cases):
            return EvalSet(evalset.name, evalset.tools, tuple(tasks))
        tasks.append(_joined(cases[start : start + size]))
        start += size
    raise AssertionError


def _joined(cases: Sequence[EvalCase]) -> EvalCase:
    first, *others = (case.query.rstrip(" .?!") for case in cases)
    text = ", then ".join([first, *(_lowered(query) for query in others)])
    return EvalCase(cases[0].id, f"{text}.", tuple(group for case in cases for group in case.relevant))


def _lowered(text: str) -> str:
    """With a small first letter, except in an abbreviation."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def recalled(evalset: EvalSet) -> Recalled:
    tasks = joined(evalset)
    rankers = CatalogRankers(prepared(tasks).index, DiscoverySettings())
    found = [
        tuple(
            recall_at(DEPTH, one.ranked, case.relevant)
            for one, case in zip(run(variant.over(rankers), rankers, tasks).cases, tasks.cases, strict=True)
        )
        for variant in (Variant(), NO_STEPS)
    ]
    return Recalled(evalset.name, tasks.cases, *found)


def long_task_section() -> str:
    """Markdown: one table."""
    sets = [own("demo_search")]
    if DATA.is_dir():
        sets = [published("azure_mcp"), *sets, own("pool_docker_search")]
    lines = [
        "### Long tasks",
        "",
        f"For calibration only: {SHORTEST} to {LONGEST} requests of a set made into one (“…, then …, then "
        "…”). They show whether the share of the steps is large enough, and nothing about what people write. "
        "Recall@10 counts the tools of all requests in a task.",
        "",
        "| data set | tasks | steps found of tools asked for | R@10 | R@10 without steps | steps add |",
        "|---|--:|--:|--:|--:|--:|",
        *(_task_row(recalled(evalset)) for evalset in sets),
    ]
    return "\n".join(lines)


def _task_row(found: Recalled) -> str:
    n = len(found.tasks)
    steps = sum(len(parse(task.query).steps) for task in found.tasks) / n
    asked = sum(len(task.relevant) for task in found.tasks) / n
    return (
        f"| {found.dataset} | {n} | {steps:.1f} of {asked:.1f} | {sum(found.with_steps) / n:.3f} | "
        f"{sum(found.without) / n:.3f} | {added_text(found.added)} |"
    )


WITHOUT = {
    "typed literals": Variant(query=QueryWeights(literals=False)),
    "words as written": Variant(FusionWeights(written=0.0)),
    "static vectors": Variant(FusionWeights(static=0.0)),
    "steps": NO_STEPS,
    "server prior": Variant(query=QueryWeights(server=0.0)),
    "phrasebook": Variant(reads=False),
    # The fusion before there were any, with its own weights.
    "all six": Variant(
        FusionWeights(lexical=0.21, written=0.0, static=0.0, summary=0.22, best_passage=0.57),
        QueryWeights(step=0.0, server=0.0, literals=False),
        reads=False,
    ),
}


class Levers(Struct, frozen=True):
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
    full = run(Variant().over(rankers), rankers, evalset)
    ndcg = summarise(full, evalset).ndcg_10
    assert ndcg is not None
    added = {}
    for lever, variant in WITHOUT.items():
        found = difference(run(variant.over(rankers), rankers, evalset), full, evalset)
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
        "one by one, `server prior` counts a server's best tools, `phrasebook` moves a request's vectors to "
        "where tools say such things. `all six` compares with the fusion that had none of them, 0.21 BM25F, "
        "0.22 summary and 0.57 best passage. The weights were chosen with the "
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


# What sentences on limits, on when to use a tool, and with examples add to its ranking.
#
# Which ones those are is a rule over words, for measuring only. The first says what a tool does and stays.
_ADVICE = re.compile(
    r"\b(use (this|it|when|for|only|if)|useful (for|when|to)|when (you|the user|asked)|if you|only|at most"
    r"|at least|up to|maximum|limit(s|ed)?|cannot|can't|does not|doesn't|not supported|must|required?|instead"
    r"|prefer|before|for example|examples?|such as|e\.g)\b",
    re.IGNORECASE,
)
_FOLDS = 5
# Recall@5 and nDCG@10, by the id of the request.
_Scores = dict[str, tuple[float, float]]


def plainer(tool: Tool) -> Tool:
    """The tool without such sentences, the same object if it has none."""
    first, *others = sentences(tool.description) or [""]
    kept = [sentence for sentence in others if not _ADVICE.search(sentence)]
    return tool if len(kept) == len(others) else replace(tool, description=" ".join([first, *kept]))


def _advice_row(evalset: EvalSet) -> str:
    """What they add: where a fifth of these tools had lost theirs, then where all had."""
    changed = [tool.id for tool in evalset.tools if plainer(tool) is not tool]
    own = [case for case in evalset.cases if _needs(case, changed)]
    if not own:
        return ""
    others = [case for case in evalset.cases if case.is_possible and case not in own]
    full, none = _scores(evalset, ()), _scores(evalset, changed)
    fifth = dict(full)
    random.Random(_SEED).shuffle(changed)
    for part in (changed[fold::_FOLDS] for fold in range(_FOLDS)):
        fifth |= _scores(replace(evalset, cases=tuple(case for case in own if _needs(case, part))), part)
    cells = (_advice_adds(own, full, fifth), _advice_adds(own, full, none), _advice_adds(others, full, none))
    return f"| {evalset.name} | {len(changed)} | {len(own)} | {' | '.join(cells)} |"


def _needs(case: EvalCase, tools: Collection[str]) -> bool:
    return any(not group.isdisjoint(tools) for group in case.relevant)


def _scores(evalset: EvalSet, plain: Collection[str]) -> _Scores:
    """Of each possible request, if the `plain` tools have no such sentences."""
    tools = tuple(plainer(tool) if tool.id in plain else tool for tool in evalset.tools)
    changed = replace(evalset, tools=tools)
    rankers = CatalogRankers(prepared(changed).index, DiscoverySettings())
    found = run(rankers.hybrid, rankers, changed)
    pairs = zip(changed.cases, found.cases, strict=True)
    return {
        case.id: (recall_at(5, one.ranked, case.relevant), ndcg_at(DEPTH, one.ranked, case.relevant))
        for case, one in pairs
        if case.is_possible
    }


def _advice_adds(cases: Sequence[EvalCase], before: _Scores, after: _Scores) -> str:
    values = [[before[case.id][at] - after[case.id][at] for case in cases] for at in (0, 1)]
    return "; ".join(added_text(estimate(row, clusters(cases))) for row in values) if cases else "–"


def print_advice() -> None:
    """Markdown: a row a set, with recall@5 and then nDCG@10 in each cell."""
    sets = [own("demo_search"), own("demo")]
    if DATA.is_dir():
        vendors = (everyday(name) for name in ("vendors_reported", "vendors_fitted"))
        sets = [*map(published, PUBLISHED), *sets, *map(own, OWN[2:]), *vendors]
    head = "data set | tools | requests | others keep theirs | all lose theirs | requests for other tools"
    say(f"| {head} |\n|---|{'--:|' * 5}")
    for row in filter(None, map(_advice_row, sets)):
        say(row)


def main() -> None:
    if "descriptions" in sys.argv[1:]:
        print_advice()
    else:
        say(levers_section())


if __name__ == "__main__":
    main()
