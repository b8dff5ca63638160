"""Measures Tool Attention, sections 5.6, 6 and 7, again on a testbed of the stated sizes."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from docs.papers.attention_table import catalog_section, main_section, scaling_section
from docs.papers.caching import (
    SECONDS_BETWEEN,
    TURN_TOKENS,
    Layout,
    Session,
    at_random,
    discovery_layout,
    full_schema,
    measured,
    native_layout,
    paper_layout,
)
from docs.papers.method import Quality
from docs.papers.published import (
    BEST_THRESHOLDS,
    CACHE_HITS,
    K_5,
    K_20,
    MPNET,
    NAIVE_CACHE_HITS,
    NO_GATE,
    NO_PRECONDITIONS,
    PHASE_1,
    SUMMARIES_ONLY,
    TABLE_5,
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
from docs.papers.report import Origin, Section, Table
from docs.papers.source import recorded
from docs.papers.study import (
    CATALOG_SIZES,
    DEFAULT,
    THRESHOLD,
    TOP_K,
    Bench,
    Measured,
    Scaled,
    Swept,
    bench,
    best,
    copied,
    discovery,
    long_task,
    methods,
    paired_f1,
    scaled,
    sweep,
)
from inspector.core.number import percent
from inspector.core.ports import TokenCounter
from inspector.search.answer.metric import SIGNIFICANT
from inspector.search.index.semantics import Embedder, StaticEmbedder

Progress = Callable[[str, int, int], None]


class Study(Struct, frozen=True, dict=True):
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
    *,
    static: StaticEmbedder | None = None,
    seeds: int | Sequence[int] = (0, 1, 2),
    tasks: int = 500,
) -> tuple[Section, ...]:
    """The sections of the report. Raises ModelError, and what `progress` raises.

    `counter` should count as the paper does (cl100k_base). Without an `embedder` nothing can be ranked, and
    the only section is what can be computed from the paper alone.
    """
    if embedder is None:
        return (_unmeasured(),)
    chosen = range(seeds) if isinstance(seeds, int) else seeds
    count = counter if callable(counter) else counter.count
    found = study(count, embedder, static=static, progress=progress, seeds=chosen, tasks=tasks)
    return sections(found, len(chosen))


def study(
    count: Callable[[str], int],
    embedder: Embedder,
    *,
    static: StaticEmbedder | None = None,
    progress: Progress,
    seeds: Sequence[int],
    tasks: int,
    sizes: Sequence[int] = CATALOG_SIZES,
) -> Study:
    """Measure everything. Raises ModelError."""
    made = bench(count, embedder, static=static, progress=progress, seeds=seeds, number=tasks)
    by_name: dict[str, Measured] = {}
    chosen = list(methods(made))
    for number, method in enumerate(chosen):
        progress(f"tasks run: {method.name}", number, len(chosen))
        by_name[method.name] = made.measured(method)
    progress("thresholds", 0, 0)
    variants, swept = _variants(made), sweep(made)
    return Study(
        bench=made,
        by_name=by_name,
        variants=variants,
        swept=swept,
        copied=copied(made),
        layouts=_layouts(made),
        scaled=scaled(made, progress, sizes),
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
            "full schema, a random definition changes every turn", full_schema(session, at_random(session))
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


_NONE = "–"


def ablation_section(
    variants: Mapping[str, Measured],
    swept: Sequence[Swept],
    layouts: Sequence[Layout],
    of: Bench,
    findings: tuple[str, ...],
) -> Section:
    tables = [_variant_table(variants, of), _sweep_table(swept)]
    if layouts:
        tables.append(_cache_table(layouts))
        stable = layouts[0]
        findings = (
            *findings,
            f"Section 5.6 gives naive injection a hit rate of {percent(NAIVE_CACHE_HITS)} because every "
            "update of the list invalidates the cache. A list that does not change has a rate of "
            f"{percent(stable.hit_rate)} here.",
        )
    return Section(
        id="attention-ablation",
        title="Tool Attention: ablation, threshold, prompt cache",
        source="Tool Attention, table 5, sections 5.2 and 5.6",
        measured=f"the gate with one thing changed, over the same {len(of.tasks):,} generated tasks; "
        "success rates are projections and not repeated",
        tables=tuple(tables),
        findings=findings,
        recorded=recorded("what deliveries and the profile `attention` cost with a prompt cache and without"),
    )


def _variant_table(variants: Mapping[str, Measured], of: Bench) -> Table:
    rows = []
    for name, published in TABLE_5.items():
        one = variants.get(WHOLE if name == NO_GATE else name)
        if name in (SUMMARIES_ONLY, PHASE_1):
            cells = ["0", f"{of.pool:,}", _NONE, _NONE, _NONE]
        elif one is None:
            cells = [_NONE] * 5
        else:
            q = one.bound
            cells = [
                f"{one.per_call.mean:,.0f} ± {one.per_call.half_width:,.0f}",
                f"{one.whole_call:,.0f}",
                f"{q.precision:.3f}",
                f"{q.recall:.3f}",
                f"{q.f1:.3f}",
            ]
        rows.append((name, *cells, f"{published.tokens:,}"))
    headers = ("variant", "phase 2", "with the pool", "precision", "recall", "F1", "published tokens")
    notes = (
        "Tokens are those of one model call, as the published ones are.",
        f"“{MPNET}”: not measured here; docs/papers/README.md compares both encoders.",
        f"“{NO_GATE}”: the gate that rejects calls does not change a request's tokens.",
        "Preconditions: tools that change something need their server among the task's scopes; a task has "
        "the scopes it needs, and each other one with probability 1/2.",
        f"TF-IDF uses the same summaries, stemmed, and the same threshold.{_words_win(variants)}",
    )
    return Table(
        "table 5, token columns", headers, tuple(rows), frozenset(range(1, 7)), notes, origin=Origin.GENERATED
    )


def _words_win(variants: Mapping[str, Measured]) -> str:
    words, vectors = variants[TF_IDF], variants[WHOLE]
    if words.bound.f1 <= vectors.bound.f1:
        return ""
    p = paired_f1(words, vectors)
    sure = "higher here" if p < SIGNIFICANT else "no significant difference here"
    return (
        f" Its F1 is {sure} ({words.bound.f1:.3f}, MiniLM {vectors.bound.f1:.3f}, paired test over tasks, p "
        f"{p:.3f}); the paper projects less success for it."
    )


def _sweep_table(swept: Sequence[Swept]) -> Table:
    top = best(swept)
    rows = tuple(
        (
            f"{one.threshold:.2f}{' (best)' if one is top else ''}",
            f"{one.quality.precision:.3f}",
            f"{one.quality.recall:.3f}",
            f"{one.quality.f1:.3f}",
            f"{one.tokens:,.0f}",
        )
        for one in swept
    )
    low, high = BEST_THRESHOLDS
    verdict = "inside" if low <= top.threshold <= high else "outside"
    notes = (
        f"Best F1 at {top.threshold:.2f}, {verdict} the published {low} to {high}; the paper's default is "
        f"{THRESHOLD}.",
    )
    headers = ("threshold", "precision", "recall", "F1", "phase 2 tokens")
    return Table("threshold sweep", headers, rows, frozenset(range(5)), notes, origin=Origin.GENERATED)


def _cache_table(layouts: Sequence[Layout]) -> Table:
    claimed = {1: percent(NAIVE_CACHE_HITS), 3: percent(CACHE_HITS)}
    rows = tuple(
        (
            one.name,
            f"{one.requests}",
            percent(one.hit_rate),
            claimed.get(index, _NONE),
            f"{one.tokens / TURNS:,.0f}",
            f"{one.billed / TURNS:,.0f}",
        )
        for index, one in enumerate(layouts)
    )
    headers = ("layout", "requests", "cache hits", "published", "input tokens/turn", "billed/turn")
    notes = (
        f"{TURNS} turns of one long task, {TURN_TOKENS} tokens of conversation per turn, "
        f"{SECONDS_BETWEEN:g} s between requests; writing costs 1.25 and reading 0.1 of the price, and a "
        "prefix is kept for 300 s. A hit rate alone says little: compare what is billed.",
        "Requests: one for each step of a turn and one for its answer; discovery also has those of its "
        "searches, whose results stay in the conversation.",
    )
    return Table(
        "prompt cache over a session", headers, rows, frozenset(range(1, 6)), notes, origin=Origin.GENERATED
    )
