"""Tokens and utilization as the catalog grows (Tool Attention, section 7.4), on catalogs of the same mix.

The catalogs are nested: a larger one has all the tools of a smaller one. The gate ranks by its summaries as
always, and here so does simple retrieval. Discovery searches by words alone, because embedding every passage
of 1,000 tools would take minutes; words alone tell less well what fits than vectors.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean

from inspector.core.budget import utilization
from inspector.core.summary_pool import summary_pool
from inspector.research.criterion import cosines, ranked
from inspector.research.discovery import Discovery, Searcher
from inspector.research.method import CommandLine, Fixed, Gated, Method, most_needed
from inspector.research.published import B1, B2, B3, B4, OURS
from inspector.research.study import (
    DEFAULT,
    HELD_OUT,
    HELD_OUT_SEED,
    SUMMARY_TOKENS,
    TASK_TOKENS,
    THRESHOLD,
    TOP_K,
    Bench,
)
from inspector.research.task import MULTI, SINGLE, Task, tasks, texts
from inspector.research.testbed import Testbed, build_testbed
from inspector.search.document import line_text

CATALOG_SIZES = (50, 100, 200, 500, 1000)
_TASKS = 60
# Short tasks, so that the size of a catalog is all that changes.
_SHARES = {SINGLE: 2 / 3, MULTI: 1 / 3}


@dataclass(frozen=True, slots=True)
class Scaled:
    """A method at a catalog size: tokens per turn, and rho with the C_task of turn 30 of a long task.

    `tokens` is summed over a turn's model calls; rho is that of its last one. Both include everything that is
    there because of tools: definitions, pool, manifest, searches.
    """

    name: str
    tools: int
    tokens: float
    rho: float


def scaled(
    of: Bench,
    progress: Callable[[str, int, int], None],
    stopped: Callable[[], bool],
    sizes: Sequence[int] = CATALOG_SIZES,
) -> tuple[Scaled, ...] | None:
    """Measure every method at every size; None if it was stopped. Raises ModelError."""
    results: list[Scaled] = []
    for size in sizes:
        made = build_testbed(of.count, total=size)
        sample = tasks(made, _TASKS, 0, _SHARES)
        lines = [line_text(tool) for tool in made.tools]
        report = partial(progress, f"texts embedded for {size} tools")
        if not of.embedder.learn([*lines, *texts(sample)], report, stopped):
            return None
        results += [_at(size, method, sample, of.system) for method in _methods(of, made, sample, lines)]
    return tuple(results)


def _methods(of: Bench, made: Testbed, sample: Sequence[Task], lines: Sequence[str]) -> Iterable[Method]:
    asked, ids = texts(sample), [tool.id for tool in made.tools]
    by_summary = ranked(cosines(of.embedder, asked, lines), asked, ids)
    held_out = tasks(made, HELD_OUT, HELD_OUT_SEED, _SHARES)
    pool = of.count(summary_pool(made.tools, SUMMARY_TOKENS, of.count))
    yield Fixed(B1, frozenset(made.tokens), made.tokens)
    yield Fixed(B2, most_needed(held_out), made.tokens)
    yield Gated(B3, by_summary, made.tokens)
    yield CommandLine(made, of.count, B4)
    yield Gated(
        name=OURS,
        ranked=by_summary,
        tokens=made.tokens,
        threshold=THRESHOLD,
        top_k=TOP_K,
        writing=made.writing,
        resident=pool,
    )
    yield Discovery(DEFAULT, made, searcher=Searcher(made, None), count=of.count)


def _at(size: int, method: Method, sample: Sequence[Task], system: int) -> Scaled:
    runs = [method.run(task) for task in sample]
    tokens = mean(run.tools + run.traffic + method.resident * run.calls for run in runs)
    last = mean(run.end for run in runs) + method.resident
    return Scaled(method.name, size, tokens, utilization(TASK_TOKENS, last, system))
