"""Every ranker over every data set, and the bars the default has to reach: `make bench-retrieval`.

Writes the report to the file that is named, by default `docs/retrieval.md`; progress goes to stdout. The
published data sets are read from the folder beside the checkout; without it only the project's own are
measured. The first run embeds every tool, which takes minutes; vectors are kept in `.benchmark`.
"""

import argparse
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from inspector.adapters.clock import SystemClock
from inspector.cli.bench.report import p_text, standing_lines
from inspector.domain.evaluation import EvalSet
from inspector.domain.number import percent
from inspector.domain.settings import DiscoverySettings
from inspector.engine.discovery.rankers.ranker_list import RANKERS
from inspector.engine.measure.difference import difference
from inspector.engine.measure.ranker_bench import DataSet, Measured, RankerBench
from inspector.engine.measure.report import markdown
from inspector.engine.measure.standing import standings
from tests.benchmark import fit_abstention, fit_fusion, speed
from tests.benchmark.data import DATA, OWN, POOL, PUBLISHED, ROOT, among_others, own, published, semantics
from tests.benchmark.output import say

TIE = 0.01
_SPEED = "## Speed and size"
_SPEED_BAR = "| 10,000 tools"
MEAN_BAR = 0.82
REFERENCE = "z-fusion"
SINGLE = tuple(name for name in RANKERS if name not in {"hybrid", "rrf", "z-fusion", "regex"})
MEASURED = tuple(name for name in RANKERS if name != "regex")
# Comparing every query with every tool letter by letter takes up to a second a query in a large catalog.
SLOW = frozenset({"fuzzy", "fuzzy-repaired"})
SLOW_TOOLS = 500
# They choose a server first, which needs servers to choose from.
STAGED = frozenset({"two-stage", "two-stage-product"})


@dataclass(frozen=True, slots=True)
class Bar:
    """One promise and whether it holds."""

    what: str
    measured: str
    holds: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "retrieval.md")
    parser.add_argument(
        "--speed", action="store_true", help="measure speed again, keep the rest of the report"
    )
    arguments = parser.parse_args()
    output, bars = arguments.output, list[Bar]()
    if arguments.speed:
        output.write_text(_with_speed(output.read_text(encoding="utf-8"), bars), encoding="utf-8")
        _finish(bars)
    sections = [own_section()]
    if DATA.is_dir():
        sections.insert(0, published_section(bars))
        sections.append(abstention_section(bars))
    sections.append(speed_section(bars))
    output.write_text("\n\n".join([*_heading(bars), *sections]) + "\n", encoding="utf-8")
    _finish(bars)


def _finish(bars: Sequence[Bar]) -> NoReturn:
    for bar in bars:
        say(f"{'holds ' if bar.holds else 'BROKEN'}  {bar.what}: {bar.measured}")
    sys.exit(0 if all(bar.holds for bar in bars) else 1)


def _with_speed(report: str, bars: list[Bar]) -> str:
    """The report with its speed measured anew."""
    kept, _old = report.split(_SPEED)
    section = speed_section(bars)
    lines = [line for line in kept.rstrip().splitlines() if not line.startswith(_SPEED_BAR)]
    last_bar = max(number for number, line in enumerate(lines) if line.endswith(("| yes |", "| **no** |")))
    lines[last_bar + 1 : last_bar + 1] = map(_row, bars)
    return "\n".join(lines) + f"\n\n{section}\n"


def _row(bar: Bar) -> str:
    return f"| {bar.what} | {bar.measured} | {'yes' if bar.holds else '**no**'} |"


def _heading(bars: Sequence[Bar]) -> list[str]:
    machine = f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    rows = "\n".join(map(_row, bars))
    return [
        "# How well and how fast the rankers find tools",
        f"Written by `make bench-retrieval` on {datetime.now(UTC):%Y-%m-%d} ({machine}, 2 cores shared with "
        "other work). With the packaged int8 MiniLM, quality is the same on every machine; times are not.",
        f"## Bars\n\n| bar | measured | holds |\n|---|---|---|\n{rows}",
    ]


def published_section(bars: list[Bar]) -> str:
    """The published sets, each alone and among the pool."""
    sets = [published(name) for name in PUBLISHED]
    sets += [among_others(evalset) for evalset in sets]
    measured = measure([DataSet(evalset, DiscoverySettings()) for evalset in sets])
    bars += quality_bars(measured)
    return "\n\n".join(
        [
            "## Published data sets\n\nnDCG@10. Sets with more than 600 requests are sampled down to 600. "
            f"`+ pool` adds the {len(sets[-1].tools) - len(sets[3].tools)} tools of {POOL} as distractors. "
            "`z-fusion` is the reference: 0.3 z(BM25 over all texts in one field) + 1.0 z(cosine). `fuzzy` "
            f"compares letter by letter and is left out for more than {SLOW_TOOLS} tools. `two-stage` is "
            "left out where every tool that the requests need is of one server without a name (bfcl, "
            "metatool): there is no server to choose.",
            grid(measured),
            claims(measured),
            "### Weights fitted with the tested set left out",
            left_out_table(),
            "### All measures",
            markdown([one.row for one in measured]).rstrip(),
        ]
    )


def own_section() -> str:
    """The project's own requests over the demo and, where it is there, the pool."""
    names = OWN if DATA.is_dir() else [name for name in OWN if not name.startswith(POOL)]
    measured = measure([DataSet(own(name), DiscoverySettings()) for name in names])
    return "\n\n".join(
        [
            "## The project's own requests\n\n`demo_search` and `pool_docker_search` are what an agent types "
            "into a search; `demo` and `pool_docker` are what a person says to an assistant: indirect, with "
            "names and numbers, sometimes several steps at once.",
            grid(measured),
            claims(measured),
            markdown([one.row for one in measured]).rstrip(),
        ]
    )


def measure(datasets: Sequence[DataSet]) -> list[Measured]:
    def report(what: str, done: int, total: int) -> None:
        if done == total:
            say(f"{datetime.now(UTC):%H:%M:%S}  {what}")

    found: list[Measured] = []
    for dataset in datasets:
        bench = RankerBench(measurable(dataset.evalset), semantics, SystemClock(), report, lambda: False)
        found += bench.measure([dataset])
    return found


def measurable(evalset: EvalSet) -> list[str]:
    """The rankers that a data set says something about, in reasonable time.

    If all tools that the requests need are of one server, choosing a server first is never right or wrong:
    bfcl and metatool have one without a name, and among the pool they measure whether that is recognized.
    """
    needed = {tool_id for case in evalset.cases for group in case.relevant for tool_id in group}
    servers = {tool.server for tool in evalset.tools if tool.id in needed}
    left_out = set(SLOW) if len(evalset.tools) > SLOW_TOOLS else set[str]()
    if len(servers) < 2:
        left_out |= STAGED
    return [name for name in MEASURED if name not in left_out]


def ndcg(measured: Sequence[Measured]) -> dict[tuple[str, str], float]:
    """nDCG@10 by data set and ranker."""
    return {
        (one.row.dataset, one.row.ranker): one.row.summary.ndcg_10.mean
        for one in measured
        if one.row.summary.ndcg_10 is not None
    }


def grid(measured: Sequence[Measured]) -> str:
    """Rankers as rows, data sets as columns; bold: the best, and what a paired test cannot tell from it."""
    values = ndcg(measured)
    sets = list(dict.fromkeys(dataset for dataset, _ranker in values))
    best = {one.dataset: {one.best, *one.tied} for one in standings(measured)}
    lines = [f"| ranker | {' | '.join(sets)} | mean |", f"|---|{'--:|' * (len(sets) + 1)}"]
    for ranker in MEASURED:
        row = {dataset: values[dataset, ranker] for dataset in sets if (dataset, ranker) in values}
        cells = [_cell(row.get(dataset), is_best=ranker in best.get(dataset, ())) for dataset in sets]
        mean = f"{sum(row.values()) / len(row):.3f}" if len(row) == len(sets) else "–"
        lines.append(f"| {ranker} | {' | '.join(cells)} | {mean} |")
    return "\n".join(lines)


def _cell(value: float | None, *, is_best: bool) -> str:
    if value is None:
        return "–"
    return f"**{value:.3f}**" if is_best else f"{value:.3f}"


def claims(measured: Sequence[Measured]) -> str:
    """What the tables say about which ranker is better."""
    return "\n".join(f"- {line}" for line in standing_lines(standings(measured)))


def quality_bars(measured: Sequence[Measured]) -> list[Bar]:
    values = ndcg(measured)
    tested = {(one.row.dataset, one.row.ranker): one for one in measured}
    bars = [_quality_bar(values, tested, name, REFERENCE) for name in PUBLISHED]
    mean = sum(values[name, "hybrid"] for name in PUBLISHED) / len(PUBLISHED)
    bars.append(Bar(f"mean nDCG@10 of the four at least {MEAN_BAR}", f"{mean:.4f}", mean >= MEAN_BAR))
    return bars + [_quality_bar(values, tested, f"{name} + pool") for name in PUBLISHED]


def _quality_bar(
    values: dict[tuple[str, str], float],
    tested: dict[tuple[str, str], Measured],
    dataset: str,
    *references: str,
) -> Bar:
    hybrid = values[dataset, "hybrid"]
    rivals = {r: values[dataset, r] for r in (*SINGLE, *references) if (dataset, r) in values}
    best = max(rivals, key=lambda ranker: rivals[ranker])
    rival, own = tested[dataset, best], tested[dataset, "hybrid"]
    found = difference(rival.run, own.run, own.evalset)
    p = found.p_value if found is not None else 1.0
    beside = f" (z-fusion {rivals[REFERENCE]:.4f})" if REFERENCE in references and best != REFERENCE else ""
    return Bar(
        f"{dataset}: hybrid at or above {'all others' if references else 'every single ranker'}, ties {TIE}",
        f"{hybrid:.4f} against {best} {rivals[best]:.4f}{beside}, paired test p {p_text(p)}",
        hybrid >= rivals[best] - TIE,
    )


def left_out_table() -> str:
    lines = [
        "| left out | lexical | summary | best passage | nDCG@10 on it | + pool |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, (weights, alone, pooled) in fit_fusion.left_out().items():
        cells = " | ".join(f"{weight:.2f}" for weight in weights)
        lines.append(f"| {name} | {cells} | {alone:.4f} | {pooled:.4f} |")
    return "\n".join(lines)


def abstention_section(bars: list[Bar]) -> str:
    sample, threshold = fit_abstention.read(), DiscoverySettings().min_probability
    impossible, possible = fit_abstention.halves(sample, threshold)
    bars.append(
        Bar(
            "impossible searches answered at most 10 %, possible ones at least 90 %, on held-out halves",
            f"{percent(impossible, 1)} and {percent(possible, 1)}",
            impossible <= 0.1 and possible >= 0.9,
        )
    )
    rows = [
        f"| {name} | {kind} | {'yes' if fits else 'no'} | "
        f"{sum(g == (name, kind) for g in sample.groups)} | {percent(share, 1)} |"
        for (name, kind, fits), share in fit_abstention.held_out(sample, threshold).items()
    ]
    return (
        f"## Abstaining\n\nShare of requests answered at the threshold {threshold}: models are fitted on one "
        f"random half of the search requests and asked about the other; the mean of {fit_abstention.HALVES} "
        "halves. Near misses name something that a server is for (“archive Gmail messages” when Gmail can "
        "only be searched) and are in no half, and neither is what people say to an assistant: there a "
        "similar tool looks right, and the share answered shows how often.\n\n"
        "| data set | kind | a tool fits | requests | answered |\n|---|---|---|--:|--:|\n" + "\n".join(rows)
    )


def speed_section(bars: list[Bar]) -> str:
    found = []
    for count in speed.SIZES:
        say(f"speed at {count:,} tools")
        found.append(speed.in_fresh_process(count))
    at = next(s for s in found if s.tools == 10_000)
    bars += [
        Bar(
            "10,000 tools: hybrid search no slower than rank_bm25.get_scores alone",
            f"{at.hybrid_ms:.1f} ms against {at.get_scores_ms:.1f} ms, ratio {at.ratio:.2f}",
            at.ratio <= 1,
        ),
        Bar("10,000 tools: end to end p50 below 40 ms", f"{at.end_to_end_ms:.1f} ms", at.end_to_end_ms < 40),
        Bar("10,000 tools: a change is found within 100 ms", f"{at.change_ms:.0f} ms", at.change_ms <= 100),
        Bar("10,000 tools: index memory below 150 MB", f"{at.live_mb:.0f} MB", at.live_mb < 150),
    ]
    rows = "\n".join(
        f"| {s.tools:,} | {s.build_s:.2f} | {s.get_scores_ms:.2f} | {s.hybrid_ms:.2f} | {s.ratio:.2f} | "
        f"{s.end_to_end_ms:.1f} | {s.change_ms:.0f} | {s.live_mb:.0f} | {s.resident_mb:.0f} |"
        for s in found
    )
    return (
        f"{_SPEED}\n\nGenerated tools of realistic length, random vectors of MiniLM's length, medians "
        f"of {speed.QUERIES} queries. `hybrid` is a whole search with its explanations but without embedding "
        "the query; `end to end` includes it. `build` leaves out the model. `change` is from a changed tool "
        "list to a search that finds the new tool. `live` is the memory of the index, `resident` how much "
        "the process grew while building it.\n\n"
        "| tools | build s | get_scores ms | hybrid ms | ratio | end to end ms | change ms | live MB | "
        f"resident MB |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n{rows}"
    )


if __name__ == "__main__":
    main()
