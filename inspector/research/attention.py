"""Measures Tool Attention, sections 5.6, 6 and 7, again on a testbed of the stated sizes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from inspector.core.ports import TokenCounter
from inspector.core.report import Section
from inspector.research.ablation import ablation_section
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
from inspector.research.finding import (
    ablation_findings,
    catalog_findings,
    main_findings,
    scaling_findings,
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
)
from inspector.research.scaling import SIZES, Scaled, scaled
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
from inspector.search.ports import Embedder, StaticEmbedder

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
    sizes: Sequence[int] = SIZES,
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
