"""Discovery accuracy (semantic tool discovery, section 11.3, equation 4): requests first, then scenarios."""

import statistics
from collections.abc import Mapping, Sequence

from inspector.core.number import percent
from inspector.core.report import Origin, Section, Table
from inspector.core.settings import DiscoverySettings
from inspector.measure.paired import SIGNIFICANT
from inspector.research.caching import SECONDS_BETWEEN, TURN_TOKENS, Layout
from inspector.research.labelled import Answers, RequestSet, index_of, request_sets, searched
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
from inspector.research.source import PlayedScenario, Source, Steps, recorded
from inspector.research.study import THRESHOLD, Bench, Measured, Swept, best, paired_f1

# Section 11.3: the median over production sessions.
PUBLISHED = 0.7
_SCRIPTED = (
    "The scripts name the tools that are called, and most are about a guard or a limit: what they use of "
    "what they find was written down, not chosen."
)


def accuracy(source: Source, steps: Steps) -> Section:
    """Equation 4 over labelled requests and every shipped scenario. Raises ToolsightError and Stopped."""
    asked = [
        (one, searched(one, index_of(one, source, steps), source.clock, steps))
        for one in request_sets(source)
    ]
    played = source.played(steps)
    tables = (_table(played), _median(played))
    return Section(
        id="accuracy",
        title="Discovery accuracy",
        source="semantic tool discovery, section 11.3, equation 4",
        measured=(
            "|discovered and used| / |discovered|. Over real catalogs: one search with the default settings "
            "for each labelled request, this project's own or those that came with the catalog, for an agent "
            "that calls each tool that it found and that the request needs, and no other. No model was used: "
            "it is the most that such a search allows, not what a model makes of it"
        ),
        tables=(_requests(asked), *tables) if asked else tables,
        findings=(
            "The paper reads .7 as “70% of the tools that searches surface are used”; a median over "
            "sessions does not give a share of tools: half of the sessions may be far below it.",
        ),
        recorded=recorded("equation 4 over what agents searched for and then called (column “used”)"),
    )


def _requests(asked: Sequence[tuple[RequestSet, Answers]]) -> Table:
    results = DiscoverySettings().max_search_results
    headers = (
        "requests",
        "number",
        "no tool fits",
        "discovered",
        "of them needed",
        "share [95 % interval]",
        "median",
        "median, paper",
    )
    return Table(
        "Requests over real catalogs",
        headers,
        tuple(_request_row(one, answers) for one, answers in asked),
        frozenset(range(1, len(headers))),
        (
            f"Most requests need one tool, and a search returns up to {results}: with {results} results the "
            f"accuracy is then {1 / results:.2f} at most. Whatever is found for a request that no tool fits "
            "counts as not used. Intervals are clustered by tool.",
        ),
    )


def _request_row(one: RequestSet, answers: Answers) -> tuple[str, ...]:
    share = answers.share
    return (
        f"{one.name}, {len(one.catalog.tools)} tools",
        f"{len(one.cases):,}",
        f"{sum(not case.is_possible for case in one.cases):,}",
        f"{answers.discovered:,}",
        f"{answers.used:,}",
        "–" if share is None else f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]",
        _number(answers.median),
        f"{PUBLISHED:g}",
    )


def _table(played: Sequence[PlayedScenario]) -> Table:
    headers = ("scenario", "searches", "discovered", "of them used", "accuracy")
    return Table(
        f"the {len(played)} shipped scenarios, played on the demo's servers",
        headers,
        tuple(map(_row, played)),
        frozenset(range(1, 5)),
        origin=Origin.CALIBRATION,
        why=_SCRIPTED,
    )


def _row(one: PlayedScenario) -> tuple[str, ...]:
    state = one.state
    used = len(state.discovered & state.used)
    return one.name, f"{state.searches}", f"{len(state.discovered)}", f"{used}", _number(state.accuracy)


def _median(played: Sequence[PlayedScenario]) -> Table:
    accuracies = [one.state.accuracy for one in played if one.state.accuracy is not None]
    discovered = sum(len(one.state.discovered) for one in played)
    used = sum(len(one.state.discovered & one.state.used) for one in played)
    rows = (
        (
            f"median of the {len(accuracies)} scenarios that discovered something",
            f"{PUBLISHED:g}",
            _number(statistics.median(accuracies) if accuracies else None),
        ),
        ("share of all discovered tools", "–", _number(used / discovered if discovered else None)),
    )
    headers = ("accuracy", "paper", "measured")
    return Table("equation 4 over the scenarios", headers, rows, frozenset({1, 2}), origin=Origin.CALIBRATION)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


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
