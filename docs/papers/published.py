"""Tool Attention's published figures, and findings beside them."""

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from docs.papers.report import Report, Section
from docs.papers.source import Source, told
from docs.papers.testbed import TABLE_2
from inspector.core.budget import tools_tax, utilization
from inspector.core.number import percent

TITLE = "Published numbers, reproduced"


def report(sections: Sequence[Section], source: Source, command: str) -> Report:
    """The sections under a heading. `command` repeats them. The machine's name and paths are left out."""
    return Report(TITLE, heading(source, command), tuple(sections))


def heading(source: Source, command: str) -> tuple[str, ...]:
    """The heading's paragraphs: when, where and with what the report was made."""
    at = datetime.fromtimestamp(source.clock.now(), UTC)
    embedder = source.embedder
    model = f"`{embedder.name}`" if embedder is not None else "none, searches use words only"
    return (
        f"Made on {at:%Y-%m-%d} with `{command}`, on {platform.machine()} with {os.cpu_count()} processors, "
        f"{platform.system()}, Python {platform.python_version()}. Token counts and search results are the "
        "same on every machine; times are this machine's.",
        f"Tokenizer: {told(source.counter.tokenizer)}. Embedding model: {model}. "
        f"Versions: {', '.join(source.versions)}.",
        "Every section says what was measured and on what, beside the published numbers. A publication's "
        "projections are never repeated as measurements. “–” is a number that is not given or not measured.",
    )


B1, B2, B3, B4 = "B1 full schema", "B2 static pruning", "B3 simple retrieval", "B4 CLI lazy"
OURS = "Tool Attention"


class Row3(Struct, frozen=True):
    """A row of table 3. The paper calls only `tokens` and `rho` measured, and the rest projected."""

    tokens: int
    spread: int
    rho: float
    success: int
    p50: float
    p95: float
    dollars: float


class Row5(Struct, frozen=True):
    """A row of table 5: tool tokens (measured) and success (projected)."""

    tokens: int
    success: float


TABLE_3: Mapping[str, Row3] = {
    B1: Row3(47_312, 210, 0.24, 72, 4.2, 7.9, 0.21),
    B2: Row3(11_865, 145, 0.56, 58, 3.8, 7.1, 0.09),
    B3: Row3(4_082, 95, 0.78, 81, 2.2, 4.6, 0.04),
    B4: Row3(480, 30, 0.94, 88, 2.4, 5.4, 0.03),
    OURS: Row3(2_368, 85, 0.91, 94, 2.0, 4.3, 0.03),
}
# A judge's marks (mean, standard deviation, percent of at least 4), all of them projected.
TABLE_4: Mapping[str, tuple[float, float, float]] = {
    B1: (3.21, 1.04, 43.2),
    B2: (3.35, 0.98, 48.0),
    B3: (3.89, 0.81, 68.7),
    B4: (4.02, 0.77, 74.1),
    OURS: (4.43, 0.62, 87.6),
}
WHOLE, NO_GATE, NO_PRECONDITIONS = "whole", "- hallucination gate", "- preconditions"
SUMMARIES_ONLY, PHASE_1, MPNET = "- lazy loading (summaries only)", "phase 1 only, k = 0", "MPNet for MiniLM"
TF_IDF, K_5, K_20 = "TF-IDF for MiniLM", "k = 5", "k = 20"
THETA_15, THETA_40 = "threshold 0.15", "threshold 0.40"
TABLE_5: Mapping[str, Row5] = {
    WHOLE: Row5(2_368, 94.2),
    NO_GATE: Row5(2_368, 91.0),
    NO_PRECONDITIONS: Row5(2_462, 90.6),
    SUMMARIES_ONLY: Row5(0, 83.9),
    PHASE_1: Row5(4_820, 79.2),
    MPNET: Row5(2_371, 94.6),
    TF_IDF: Row5(2_410, 86.1),
    K_5: Row5(1_320, 91.4),
    K_20: Row5(4_190, 94.4),
    THETA_15: Row5(3_270, 93.9),
    THETA_40: Row5(1_480, 88.2),
}
FULL_TOKENS = 47_300
AVERAGE_TOKENS = 394
POOL = TABLE_5[PHASE_1].tokens
POOL_AND_SCHEMAS = POOL + TABLE_3[OURS].tokens
SUMMARY_TOKENS = 40
WINDOW = 200_000
TURNS = 30
FRACTURE = 0.3
BEST_THRESHOLDS = (0.22, 0.32)
CACHE_HITS, NAIVE_CACHE_HITS = 0.84, 0.22
SCALE, SCALE_RHO = 1_000, 0.87
TASKS, FAILED = 500, 29
FAILURES: Mapping[int, int] = {14: 48, 7: 24, 5: 17, 3: 11}
"""Numbers of failed tasks by cause, and their percentages according to section 7.5."""


# Half of the last digit that rho is printed with.
_ROUNDING = 0.005


def table_2_total() -> int:
    """The sum of tools times tokens over the servers of table 2."""
    return sum(size.tools * size.tokens for size in TABLE_2)


def implied_task(rho: float, tax: float, system: float = 0.0) -> float:
    """The C_task that equation 3 needs for that rho: rho / (1 - rho) (T_tax + C_sys)."""
    return rho / (1 - rho) * (tax + system)


class Span(Struct, frozen=True):
    """The least and the most that a rounded figure can mean."""

    low: float
    high: float


def implied_tasks() -> Mapping[str, Span]:
    """The possible C_task of each row of table 3, by equation 3 without a system prompt and rounded rho."""
    return {
        name: Span(
            implied_task(row.rho - _ROUNDING, row.tokens), implied_task(row.rho + _ROUNDING, row.tokens)
        )
        for name, row in TABLE_3.items()
    }


def fitted_context() -> tuple[float, float]:
    """The C_task and C_sys that give the rho of both B1 and B4 in table 3: two equations, two unknowns."""
    first, last = TABLE_3[B1], TABLE_3[B4]
    a, b = (row.rho / (1 - row.rho) for row in (first, last))
    system = (a * first.tokens - b * last.tokens) / (b - a)
    return implied_task(first.rho, first.tokens, system), system


def scaling_rho(tools: int, window: int = WINDOW) -> float:
    """Section 7.4: 1 / (1 + 400 N / C_max)."""
    return 1 / (1 + 400 * tools / window)


def fracture_tools(window: int = WINDOW) -> float:
    """The number of tools at which the formula of section 7.4 gives the fracture's rho, 0.3."""
    return (1 / FRACTURE - 1) * window / 400


def catalog_findings() -> tuple[str, ...]:
    total = table_2_total()
    tools = sum(size.tools for size in TABLE_2)
    return (
        f"Table 2 adds up to {total:,} tokens ({total / tools:.0f} per tool), not to the {FULL_TOKENS:,} "
        f"({AVERAGE_TOKENS} per tool) that are printed below it and in table 3.",
        f"The {TABLE_3[B1].tokens:,} ± {TABLE_3[B1].spread} of the full schema are the same for every task "
        "of a catalog: a bootstrap over tasks gives ± 0, so the interval is that of something else.",
        "Section 6.6 says that all experiments use seed 42; table 3 says that it is a mean over 3 seeds.",
    )


def main_findings() -> tuple[str, ...]:
    row, full, retrieval = TABLE_3[OURS], TABLE_3[B1], TABLE_3[B3]
    least = min(FAILURES)
    cut, whole = 1 - row.tokens / full.tokens, 1 - POOL_AND_SCHEMAS / full.tokens
    return (
        f"The {row.tokens:,} tokens of Tool Attention leave out the summary pool that is always in the "
        f"context ({POOL:,}, table 5): together they are {POOL_AND_SCHEMAS:,}, a cut of {percent(whole, 1)}, "
        f"not {percent(cut, 1)}. Simple retrieval, with {retrieval.tokens:,} and no pool, is then smaller.",
        f"Section 7.1 says that simple retrieval is three to four times the phase 2 of Tool Attention; "
        f"{retrieval.tokens:,} / {row.tokens:,} is {retrieval.tokens / row.tokens:.2f}.",
        *_rho_findings(),
        *_session_findings(),
        f"Section 7.5 analyzes {FAILED} failed tasks and section 5.5 counts a model's recoveries, but "
        "according to section 6.1 no model was run and success is a projection. "
        f"(Its {least} of {FAILED} are {percent(least / FAILED)}, not {FAILURES[least]} %.)",
    )


def _rho_findings() -> tuple[str, ...]:
    spans = implied_tasks()
    ranges = "; ".join(f"{name} {span.low:,.0f} to {span.high:,.0f}" for name, span in spans.items())
    task, system = fitted_context()
    row = TABLE_3[OURS]
    bare, pooled = (utilization(task, tax, system) for tax in (row.tokens, POOL_AND_SCHEMAS))
    return (
        "The rho values of table 3 need a different C_task in every group of rows (equation 3, C_sys 0): "
        f"{ranges}. At the same turn of the same tasks there can be only one C_task.",
        f"C_task {task:,.0f} and C_sys {system:,.0f} give the rho of B1 and B4. With them Tool Attention has "
        f"{bare:.2f}, not {row.rho}; with the pool in the context it has {pooled:.2f}.",
    )


def _session_findings() -> tuple[str, ...]:
    row = TABLE_3[B1]
    tax = tools_tax(row.tokens, TURNS)
    needed = implied_task(row.rho, tax)
    task = implied_task(row.rho, row.tokens)
    filled = (task + row.tokens) / WINDOW
    return (
        f"Equation 3 uses the tax of a whole session (equation 2). At turn {TURNS} that is {tax:,.0f} "
        f"tokens: a rho of {row.rho} needs {needed:,.0f} tokens of task in a window of {WINDOW:,}. Only the "
        "tax of one request gives the printed values, so rho is computed with it here.",
        f"A rho below {FRACTURE} is said to equal a window that is more than 70 % full. The rho of B1, "
        f"{row.rho}, fills {percent(filled)} of {WINDOW:,} tokens.",
    )


def ablation_findings() -> tuple[str, ...]:
    none, phase_1 = TABLE_5[SUMMARIES_ONLY], TABLE_5[PHASE_1]
    return (
        f"Two rows of table 5 leave only the summaries in the context: “{SUMMARIES_ONLY}” with "
        f"{none.tokens} tokens and {none.success} %, “{PHASE_1}” with {phase_1.tokens:,} and "
        f"{phase_1.success} %. The first, like all other rows, does not count the pool; the second does.",
        f"Removing phase 2 raises the tokens from {TABLE_3[OURS].tokens:,} to {phase_1.tokens:,} in that "
        f"table. Counted the same way it is {POOL_AND_SCHEMAS:,} to {phase_1.tokens:,}, and k = 5 is "
        f"{TABLE_5[K_5].tokens + POOL:,}, not {TABLE_5[K_5].tokens:,}.",
    )


def scaling_findings() -> tuple[str, ...]:
    task, system = fitted_context()
    summaries = SUMMARY_TOKENS * SCALE
    held = utilization(task, summaries + TABLE_3[OURS].tokens, system)
    needed = implied_task(SCALE_RHO, summaries + TABLE_3[OURS].tokens, system)
    return (
        f"1 / (1 + 400 N / C_max) is {scaling_rho(50):.2f} at N = 50 in a window of {WINDOW:,}: no fracture. "
        f"It falls to {FRACTURE} at N = {fracture_tools():,.0f}; for N = 50 the window would have to be "
        f"{WINDOW * 50 / fracture_tools():,.0f} tokens. At N = 120 it gives {scaling_rho(120):.2f}, but "
        f"table 3 prints {TABLE_3[B1].rho}.",
        f"Summaries of {SUMMARY_TOKENS} tokens add up to {summaries:,} at N = {SCALE:,}. With the C_task of "
        f"table 3 ({task:,.0f}) rho is {held:.2f}; the claimed {SCALE_RHO} needs {needed:,.0f} tokens of "
        f"task, more than a window of {WINDOW:,}. The pool grows in proportion to N, not to its logarithm.",
    )
