"""Requests joined to long tasks, with and without steps: part of the section "Levers".

The tasks are made up. They show whether the share of the steps is large enough, and nothing about what people
write.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

from inspector.access.reach import EvalCase, EvalSet
from inspector.core.settings import DiscoverySettings
from inspector.measure.bootstrap import Estimate, estimate
from inspector.measure.run import DEPTH
from inspector.search.metric import recall_at
from inspector.search.query import parse
from inspector.search.rankers.catalog_rankers import CatalogRankers
from tests.benchmark.data import DATA, own, prepared, published
from tests.benchmark.output import say
from tests.benchmark.variant import NO_STEPS, Variant, added_text, run

SHORTEST, LONGEST = 3, 8
_SEED = 5


@dataclass(frozen=True, slots=True)
class Recalled:
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
            for one, case in zip(run(variant, rankers, tasks).cases, tasks.cases, strict=True)
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
        *(_row(recalled(evalset)) for evalset in sets),
    ]
    return "\n".join(lines)


def _row(found: Recalled) -> str:
    n = len(found.tasks)
    steps = sum(len(parse(task.query).steps) for task in found.tasks) / n
    asked = sum(len(task.relevant) for task in found.tasks) / n
    return (
        f"| {found.dataset} | {n} | {steps:.1f} of {asked:.1f} | {sum(found.with_steps) / n:.3f} | "
        f"{sum(found.without) / n:.3f} | {added_text(found.added)} |"
    )


def main() -> None:
    say(long_task_section())


if __name__ == "__main__":
    main()
