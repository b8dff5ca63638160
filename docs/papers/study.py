"""Runs every method over the testbed's tasks: the numbers behind Tool Attention's tables."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from statistics import mean

from msgspec import Struct

from docs.papers.caching import TURN_TOKENS
from docs.papers.discovery import Discovery, Searcher
from docs.papers.method import (
    RETRIEVED,
    CommandLine,
    Fixed,
    Gated,
    KnownVectors,
    Method,
    Quality,
    Ranked,
    TaskRun,
    TurnRun,
    cosines,
    mean_quality,
    most_needed,
    quality,
    ranked,
    tf_idf,
)
from docs.papers.published import B1, B2, B3, B4, OURS, TURNS
from docs.papers.task import LONG, MULTI, SINGLE, Task, mean_overlap, tasks, texts
from docs.papers.testbed import Testbed, build_testbed
from inspector.core.budget import utilization
from inspector.core.settings import BindingSettings, ChatSettings, DiscoverySettings
from inspector.core.tool import definition, summary_pool
from inspector.schema.json_value import compact
from inspector.search.answer.metric import Estimate, clusters_of, estimate, p_value
from inspector.search.index.document import line_text, passage_texts
from inspector.search.index.embedded_text import MAX_EMBEDDED
from inspector.search.index.semantics import Embedder, StaticEmbedder

Count = Callable[[str], int]
Progress = Callable[[str, int, int], None]
THRESHOLD, TOP_K, SUMMARY_TOKENS = 0.28, 10, 60
DEFAULT, ONE_SEARCH = "Toolsight, default", "Toolsight, one search per turn"
ONLY_MISSING = "Toolsight, searches only for what is not bound"
THREE_RESULTS, EIGHT_BOUND = "Toolsight, 3 results per search", "Toolsight, 8 tools bound"
FULL_RESULTS = "Toolsight, search results with parameters"
BY_STEP = "Tool Attention, gated step by step"
# B2's tools are chosen from tasks that nothing is measured on.
HELD_OUT_SEED, HELD_OUT = 1_000_003, 200
TASK_TOKENS = TURN_TOKENS * TURNS


class Measured(Struct, frozen=True, dict=True):
    """A method over all tasks and seeds. `resident` is the tokens of its pool, `system` of the prompt."""

    name: str
    runs: Sequence[TaskRun]
    resident: int
    system: int

    @cached_property
    def tokens(self) -> Estimate:
        """Tool tokens per turn, summed over its model calls, with the pool, averaged over tasks."""
        return estimate([self._whole(run) for run in self.runs], self._clusters)

    @cached_property
    def per_call(self) -> Estimate:
        """Tool tokens of a model call without what is resident: what the paper prints per turn."""
        return estimate([run.per_call for run in self.runs], self._clusters)

    @property
    def whole_call(self) -> float:
        """The same with the pool."""
        return self.per_call.mean + self.resident

    @property
    def call_by_turn(self) -> float:
        """The same averaged over turns instead of tasks, so that long tasks weigh more."""
        return mean(turn.per_call for run in self.runs for turn in run.turns) + self.resident

    def tokens_of(self, kind: str) -> float:
        """All tokens per turn because of tools, over one kind of task. Raises StatisticsError without any."""
        return mean(self._whole(run) + run.traffic for run in self.runs if run.kind == kind)

    @cached_property
    def by_turn(self) -> float:
        """The same averaged over all turns."""
        turns = [turn for run in self.runs for turn in run.turns]
        return mean(turn.tools + turn.traffic + self.resident * turn.calls for turn in turns)

    @cached_property
    def traffic(self) -> float:
        """Tokens of searches and their results per turn, summed over its calls, averaged over tasks."""
        return mean(run.traffic for run in self.runs)

    def _whole(self, run: TaskRun) -> float:
        return run.tools + self.resident * run.calls

    @cached_property
    def _clusters(self) -> tuple[str, ...]:
        """Tasks that need the same tool, of whatever seed, are not independent."""
        return clusters_of([run.needed for run in self.runs])

    @cached_property
    def calls(self) -> float:
        return mean(run.calls for run in self.runs)

    @cached_property
    def bound(self) -> Quality:
        return mean_quality([run.bound for run in self.runs])

    @cached_property
    def found(self) -> Quality:
        return mean_quality([run.found for run in self.runs])

    @cached_property
    def whole(self) -> Quality:
        return mean_quality([run.whole for run in self.runs])

    @cached_property
    def rho(self) -> float | None:
        """Rho at turn 30 of the tasks that reach it, with everything in the context because of tools."""
        return self._rho([turn.end + self.resident for turn in self._last_calls()])

    @cached_property
    def rho_bare(self) -> float | None:
        """Rho at turn 30 without the pool and without what searches left in the conversation."""
        return self._rho([turn.last for turn in self._last_calls()])

    def _last_calls(self) -> Iterable[TurnRun]:
        return (run.turns[TURNS - 1] for run in self.runs if len(run.turns) >= TURNS)

    def _rho(self, taxes: Sequence[float]) -> float | None:
        return mean(utilization(TASK_TOKENS, tax, self.system) for tax in taxes) if taxes else None


def paired_f1(one: Measured, other: Measured) -> float:
    """The p value of a paired test of the F1 of bound tools, task by task, clustered by tool."""
    changes = [a.bound.f1 - b.bound.f1 for a, b in zip(one.runs, other.runs, strict=True)]
    return p_value(changes, clusters_of([run.needed for run in one.runs]))


class Bench(Struct, frozen=True, dict=True):
    """The testbed, the tasks, and everything that compares them; built once."""

    testbed: Testbed
    tasks: Sequence[Task]
    held_out: Sequence[Task]
    summaries: Mapping[str, str]
    pool: int
    system: int
    by_summary: Ranked
    by_schema: Ranked
    by_words: Ranked
    searcher: Searcher
    count: Count
    embedder: KnownVectors

    def measured(self, method: Method) -> Measured:
        runs = [method.run(task) for task in self.tasks]
        return Measured(method.name, runs, method.resident, self.system)

    def gated(
        self,
        name: str,
        threshold: float = THRESHOLD,
        top_k: int = TOP_K,
        *,
        ranked_by: Ranked | None = None,
        preconditions: bool = True,
        by_step: bool = False,
    ) -> Gated:
        """Tool Attention with the pool, by default with the paper's settings."""
        return Gated(
            name=name,
            ranked=ranked_by or self.by_summary,
            tokens=self.testbed.tokens,
            threshold=threshold,
            top_k=top_k,
            writing=self.testbed.writing if preconditions else frozenset(),
            resident=self.pool,
            by_step=by_step,
        )

    @cached_property
    def overlap(self) -> float:
        """The mean overlap of queries with the summaries of the tools they need."""
        return mean_overlap(self.tasks, self.summaries)


def bench(
    counter: Count,
    embedder: Embedder,
    *,
    static: StaticEmbedder | None = None,
    progress: Progress,
    seeds: Sequence[int],
    number: int,
) -> Bench:
    """Embed and compare everything. Raises ModelError."""
    count = lru_cache(maxsize=None)(counter)
    made = build_testbed(count)
    all_tasks = [task for seed in seeds for task in tasks(made, number, seed)]
    summaries = {tool.id: line_text(tool) for tool in made.tools}
    schemas = [compact(definition(tool)["function"])[:MAX_EMBEDDED] for tool in made.tools]
    passages = [text for tool in made.tools for text in passage_texts(tool)]
    asked = texts(all_tasks)
    known = KnownVectors(embedder)
    everything = [*summaries.values(), *schemas, *passages, *asked]
    known.learn(everything, partial(progress, "texts embedded"))
    ids, lines = list(summaries), list(summaries.values())
    compared = [*asked, *lines]
    return Bench(
        testbed=made,
        tasks=all_tasks,
        held_out=tasks(made, HELD_OUT, HELD_OUT_SEED),
        summaries=summaries,
        pool=count(summary_pool(made.tools, SUMMARY_TOKENS, count)),
        system=count(ChatSettings().system_prompt),
        by_summary=ranked(cosines(known, compared, lines), compared, ids),
        by_schema=ranked(cosines(known, asked, schemas), asked, ids),
        by_words=ranked(tf_idf(asked, lines), asked, ids),
        searcher=Searcher(made, known, static=static),
        count=count,
        embedder=known,
    )


def methods(of: Bench) -> Iterable[Method]:
    """The methods of table 3, and discovery as Toolsight does it."""
    made = of.testbed
    yield Fixed(B1, frozenset(made.tokens), made.tokens)
    yield Fixed(B2, most_needed(of.held_out), made.tokens)
    yield Gated(B3, of.by_schema, made.tokens, top_k=RETRIEVED)
    yield CommandLine(made, of.count, B4)
    yield of.gated(OURS)
    yield of.gated(BY_STEP, by_step=True)
    yield discovery(of, DEFAULT)
    yield Discovery(ONE_SEARCH, made, searcher=of.searcher, count=of.count, by_step=False)
    yield Discovery(ONLY_MISSING, made, searcher=of.searcher, count=of.count, only_missing=True)
    yield Discovery(
        THREE_RESULTS,
        made,
        searcher=of.searcher,
        count=of.count,
        settings=DiscoverySettings(max_search_results=3),
    )
    yield Discovery(
        EIGHT_BOUND, made, searcher=of.searcher, count=of.count, binding=BindingSettings(capacity=8)
    )
    yield Discovery(
        FULL_RESULTS, made, searcher=of.searcher, count=of.count, settings=DiscoverySettings(results="full")
    )


def discovery(of: Bench, name: str) -> Discovery:
    """This program with its default settings."""
    return Discovery(name, of.testbed, searcher=of.searcher, count=of.count)


def copied(of: Bench) -> Mapping[str, Quality]:
    """The retrieval quality if every query were a copy of its tool's summary."""
    settings = DiscoverySettings()
    gate, search = [], []
    for tool_id, line in of.summaries.items():
        active = of.by_summary.active(line, THRESHOLD, TOP_K)
        answer = of.searcher.search(line, (), settings)
        gate.append(quality(frozenset(active), frozenset({tool_id})))
        results = frozenset(hit.tool_id for hit in answer.report.results)
        search.append(quality(results, frozenset({tool_id})))
    return {OURS: mean_quality(gate), DEFAULT: mean_quality(search)}


class Swept(Struct, frozen=True):
    """A threshold, and Tool Attention's results with it. `tokens` are those of phase 2, of one model call."""

    threshold: float
    quality: Quality
    tokens: float


def sweep(of: Bench) -> tuple[Swept, ...]:
    """Section 5.2: thresholds from 0.10 to 0.50 in steps of 0.02."""
    swept = []
    for step in range(10, 51, 2):
        gated = of.measured(of.gated(f"{step}", step / 100))
        swept.append(Swept(step / 100, gated.bound, mean(run.per_call for run in gated.runs)))
    return tuple(swept)


def best(swept: Sequence[Swept]) -> Swept:
    """The threshold with the highest F1; the lowest of ties."""
    return max(swept, key=lambda one: (one.quality.f1, -one.threshold))


def long_task(of: Bench) -> Task | None:
    """The first task that reaches turn 30."""
    return next((t for t in of.tasks if t.kind == LONG and len(t.turns) >= TURNS), None)


# Tokens and utilization as the catalog grows (Tool Attention, section 7.4), on catalogs of the same mix.
#
# The catalogs are nested: a larger one has all the tools of a smaller one. The gate ranks by its summaries
# as always, and here so does simple retrieval. Discovery searches by words alone, because embedding every
# passage of 1,000 tools would take minutes; words alone tell less well what fits than vectors.
CATALOG_SIZES = (50, 100, 200, 500, 1000)
_TASKS = 60
# Short tasks, so that the size of a catalog is all that changes.
_SHARES = {SINGLE: 2 / 3, MULTI: 1 / 3}


class Scaled(Struct, frozen=True):
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
    progress: Progress,
    sizes: Sequence[int] = CATALOG_SIZES,
) -> tuple[Scaled, ...]:
    """Measure every method at every size. Raises ModelError."""
    results: list[Scaled] = []
    for size in sizes:
        made = build_testbed(of.count, total=size)
        sample = tasks(made, _TASKS, 0, _SHARES)
        lines = [line_text(tool) for tool in made.tools]
        of.embedder.learn([*lines, *texts(sample)], partial(progress, f"texts embedded for {size} tools"))
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
