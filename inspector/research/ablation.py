"""The tables of Tool Attention's ablation, threshold sweep and prompt cache."""

from collections.abc import Mapping, Sequence

from inspector.core.number import percent
from inspector.core.report import Origin, Section, Table
from inspector.measure.paired import SIGNIFICANT
from inspector.research.caching import SECONDS_BETWEEN, TURN_TOKENS, Layout
from inspector.research.published import (
    BEST_THRESHOLDS,
    CACHE_HITS,
    MPNET,
    NAIVE_CACHE_HITS,
    NO_GATE,
    PHASE_1,
    SUMMARIES_ONLY,
    TABLE_5,
    TF_IDF,
    TURNS,
    WHOLE,
)
from inspector.research.recorded import recorded
from inspector.research.study import THRESHOLD, Bench, Measured, Swept, best, paired_f1

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
        f"“{MPNET}”: not measured; that model is not available offline.",
        f"“{NO_GATE}”: the gate that rejects calls does not change a request's tokens.",
        "Preconditions: tools that change something need their server among the task's scopes; a task has "
        "the scopes it needs, and each other one with probability 1/2.",
        f"TF-IDF uses the same summaries, stemmed, and the same threshold.{_words_win(variants)}",
    )
    return Table(
        "table 5, token columns", headers, tuple(rows), frozenset(range(1, 7)), notes, Origin.GENERATED
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
    return Table("threshold sweep", headers, rows, frozenset(range(5)), notes, Origin.GENERATED)


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
        "prompt cache over a session", headers, rows, frozenset(range(1, 6)), notes, Origin.GENERATED
    )
