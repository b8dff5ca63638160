"""Measures Tool Attention, sections 5.6, 6 and 7, again on a testbed of the stated sizes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

from inspector.core.ports import TokenCounter
from inspector.core.report import Section, Table
from inspector.core.settings import DiscoverySettings, GateSettings, ManifestSettings
from inspector.core.summary_pool import summary_pool
from inspector.core.tool import Tool, definition
from inspector.measure.bootstrap import clusters
from inspector.measure.paired import p_value
from inspector.research.accuracy import ablation_section
from inspector.research.attention_table import catalog_section, main_section, scaling_section
from inspector.research.caching import (
    Layout,
    Session,
    at_random,
    discovery_layout,
    full_schema,
    measured,
    native_layout,
    paper_layout,
)
from inspector.research.labelled import (
    Answers,
    RequestSet,
    everything,
    gated,
    index_of,
    request_sets,
    searched,
)
from inspector.research.method import Quality
from inspector.research.published import (
    K_5,
    K_20,
    NO_PRECONDITIONS,
    TF_IDF,
    THETA_15,
    THETA_40,
    TURNS,
    WHOLE,
    ablation_findings,
    catalog_findings,
    main_findings,
    scaling_findings,
)
from inspector.research.scaling import CATALOG_SIZES, Scaled, scaled
from inspector.research.source import Source, Steps
from inspector.research.study import (
    DEFAULT,
    THRESHOLD,
    TOP_K,
    Bench,
    Measured,
    Swept,
    bench,
    copied,
    discovery,
    long_task,
    methods,
    sweep,
)
from inspector.search.answer_text import found_text
from inspector.search.ports import Embedder, StaticEmbedder
from inspector.tokens.manifest import entries, fitted_manifest, search_tools_definition
from inspector.tokens.measure import BudgetMeter

HEADERS = (
    "requests",
    "method",
    "tools given",
    "tokens of the call",
    "of all calls",
    "precision",
    "recall",
    "F1 [95 % interval]",
)


@dataclass(frozen=True, slots=True)
class Sent:
    """Tokens because of tools: in the model call that can call the tool, and in all calls up to it."""

    call: float
    until: float


def request_table(source: Source, meter: BudgetMeter, steps: Steps) -> Table:
    """Static binding, the gate and one search over every set of labelled requests.

    Raises ToolsightError and Stopped.
    """
    rows, notes = [], []
    for one in request_sets(source):
        possible = tuple(case for case in one.cases if case.is_possible)
        if not possible:
            continue
        asked = RequestSet(one.name, one.catalog, possible)
        index = index_of(asked, source, steps, lined=True)
        gate = gated(asked, index, source.clock, steps)
        search = searched(asked, index, source.clock, steps)
        rows += list(_rows(asked, (everything(asked), gate, search), _Tokens(asked, meter)))
        notes.append(_compared(asked, gate, search))
    return Table(
        "Requests over real catalogs, one at a time",
        HEADERS,
        tuple(rows),
        frozenset(range(2, 8)),
        (
            "Labelled requests that some tool fits, each in a session of its own. Tokens are definitions, "
            "summary pool or meta-tool with manifest, and the text of the search.",
            "A search needs a model call before the one that calls the tool, the gate and static binding "
            "need none: compare “of all calls”; and each call has the rest of the conversation, too.",
            *notes,
        ),
    )


class _Tokens:
    """What each method's answers cost over one catalog."""

    def __init__(self, asked: RequestSet, meter: BudgetMeter) -> None:
        tools = asked.catalog.tools
        self._meter = meter
        self._by_id: Mapping[str, Tool] = {tool.id: tool for tool in tools}
        found = fitted_manifest(entries(tools, asked.catalog.summaries), ManifestSettings(), meter.text)
        self._meta = search_tools_definition(found.text)
        self._first = sum(meter.entries([self._meta]))
        self._pool = meter.text(summary_pool(tools, GateSettings().summary_tokens, meter.text))

    def static(self, answers: Answers) -> Sent:
        return self._mean([self._definitions(given) for given in answers.given])

    def gate(self, answers: Answers) -> Sent:
        return self._mean([self._pool + self._definitions(given) for given in answers.given])

    def search(self, answers: Answers) -> Sent:
        calls = [self._searched(given) for given in answers.given]
        return Sent(mean(calls), mean(calls) + self._first)

    def _searched(self, given: frozenset[str]) -> int:
        tools = [self._by_id[tool_id] for tool_id in sorted(given)]
        text = found_text(tools, (), brief=DiscoverySettings().results == "brief")
        sent = [self._meta, *map(definition, tools)]
        return sum(self._meter.entries(sent)) + self._meter.text(text)

    def _definitions(self, given: frozenset[str]) -> int:
        return self._meter.static([self._by_id[tool_id] for tool_id in sorted(given)])

    @staticmethod
    def _mean(tokens: Sequence[int]) -> Sent:
        return Sent(mean(tokens), mean(tokens))


def _rows(asked: RequestSet, answers: Sequence[Answers], tokens: _Tokens) -> Iterator[tuple[str, ...]]:
    static, gate, search = answers
    sent = (tokens.static(static), tokens.gate(gate), tokens.search(search))
    for one, cost in zip(answers, sent, strict=True):
        f1 = one.f1
        yield (
            f"{asked.name}: {len(asked.cases)}, {len(asked.catalog.tools)} tools",
            one.method,
            f"{one.tools_given:.1f}",
            f"{cost.call:,.0f}",
            f"{cost.until:,.0f}",
            f"{mean(q.precision for q in one.qualities):.3f}",
            f"{mean(q.recall for q in one.qualities):.3f}",
            f"{f1.mean:.3f} [{f1.low:.3f}, {f1.high:.3f}]",
        )


def _compared(asked: RequestSet, gate: Answers, search: Answers) -> str:
    changes = [b.f1 - a.f1 for a, b in zip(gate.qualities, search.qualities, strict=True)]
    p = p_value(changes, clusters(asked.cases))
    return (
        f"{asked.name}: F1 of the search less that of the gate {mean(changes):+.3f}; paired test over "
        f"requests, clustered by tool, p {p:.4f}."
    )


Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Study:
    """Everything that was measured. `by_name` has the methods, `variants` those of table 5, in order."""

    bench: Bench
    by_name: Mapping[str, Measured]
    variants: Mapping[str, Measured]
    swept: tuple[Swept, ...]
    copied: Mapping[str, Quality]
    layouts: tuple[Layout, ...]
    scaled: tuple[Scaled, ...]


def attention_sections(
    counter: TokenCounter | Callable[[str], int],
    embedder: Embedder | None,
    progress: Progress = lambda _what, _done, _total: None,
    stopped: Callable[[], bool] = lambda: False,
    *,
    static: StaticEmbedder | None = None,
    seeds: int | Sequence[int] = (0, 1, 2),
    tasks: int = 500,
) -> tuple[Section, ...]:
    """The sections of the report; none if it was stopped. Raises ModelError.

    `counter` should count as the paper does (cl100k_base). Without an `embedder` nothing can be ranked, and
    the only section is what can be computed from the paper alone.
    """
    if embedder is None:
        return (_unmeasured(),)
    chosen = range(seeds) if isinstance(seeds, int) else seeds
    count = counter if callable(counter) else counter.count
    found = study(
        count, embedder, static=static, progress=progress, stopped=stopped, seeds=chosen, tasks=tasks
    )
    return sections(found, len(chosen)) if found is not None else ()


def study(
    count: Callable[[str], int],
    embedder: Embedder,
    *,
    static: StaticEmbedder | None = None,
    progress: Progress,
    stopped: Callable[[], bool],
    seeds: Sequence[int],
    tasks: int,
    sizes: Sequence[int] = CATALOG_SIZES,
) -> Study | None:
    """Measure everything; None where it was stopped. Raises ModelError."""
    made = bench(
        count, embedder, static=static, progress=progress, stopped=stopped, seeds=seeds, number=tasks
    )
    if made is None:
        return None
    by_name: dict[str, Measured] = {}
    chosen = list(methods(made))
    for number, method in enumerate(chosen):
        if stopped():
            return None
        progress(f"tasks run: {method.name}", number, len(chosen))
        by_name[method.name] = made.measured(method)
    progress("thresholds", 0, 0)
    variants, swept = _variants(made), sweep(made)
    grown = scaled(made, progress, stopped, sizes)
    if grown is None:
        return None
    return Study(
        bench=made,
        by_name=by_name,
        variants=variants,
        swept=swept,
        copied=copied(made),
        layouts=_layouts(made),
        scaled=grown,
    )


def _variants(of: Bench) -> Mapping[str, Measured]:
    """The rows of table 5 that change the gate's settings."""
    gates = (
        of.gated(WHOLE),
        of.gated(NO_PRECONDITIONS, preconditions=False),
        of.gated(TF_IDF, ranked_by=of.by_words),
        of.gated(K_5, top_k=5),
        of.gated(K_20, top_k=20),
        of.gated(THETA_15, 0.15),
        of.gated(THETA_40, 0.40),
    )
    return {gate.name: of.measured(gate) for gate in gates}


def _layouts(of: Bench) -> tuple[Layout, ...]:
    """Section 5.6 over the first turns of a long task; empty if no task is long enough."""
    task = long_task(of)
    if task is None:
        return ()
    tokens = of.testbed.tokens
    session = Session(tokens, of.system, of.pool, task.turns[:TURNS])
    first = next(iter(tokens))
    searched = discovery(of, DEFAULT)

    def active(text: str) -> Sequence[str]:
        return of.by_summary.active(text, THRESHOLD, TOP_K)

    return (
        measured("full schema, the list never changes", full_schema(session)),
        measured(
            "full schema, a random definition changes every turn",
            full_schema(session, at_random(session)),
        ),
        measured(
            "full schema, the first definition changes every turn", full_schema(session, lambda _: first)
        ),
        measured("Tool Attention, schemas before the user's message", paper_layout(session, active)),
        measured("Tool Attention, schemas in tools[]", native_layout(session, active)),
        measured(f"{DEFAULT} (append)", discovery_layout(session, searched, task)),
        measured("Toolsight, call_tool", discovery_layout(session, searched, task, searched.proxy)),
    )


def sections(of: Study, seeds: int) -> tuple[Section, ...]:
    """A study's sections, with the findings about the paper's own figures."""
    return (
        replace(main_section(of.by_name, of.bench), findings=main_findings()),
        replace(catalog_section(of.bench, of.copied, seeds), findings=catalog_findings()),
        ablation_section(of.variants, of.swept, of.layouts, of.bench, ablation_findings()),
        replace(scaling_section(of.scaled), findings=scaling_findings()),
    )


def _unmeasured() -> Section:
    findings = (*catalog_findings(), *main_findings(), *ablation_findings(), *scaling_findings())
    return Section(
        id="attention",
        title="Tool Attention",
        source="Tool Attention, sections 5.6, 6 and 7",
        measured="nothing, for lack of an embedding model",
        tables=(),
        findings=findings,
    )
