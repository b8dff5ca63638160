"""Every ranker over every data set, and the bars the default has to reach: `make bench-retrieval`.

Writes the report to a file, by default `docs/papers/retrieval.md`; progress goes to stdout. Only the section
about speed depends on the machine; `make numbers` measures all others. The published data sets are read from
the folder beside the checkout; without it only the project's own are measured. The first run embeds every
tool, which takes minutes; vectors are kept in `.benchmark`.
"""

import argparse
import platform
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import NoReturn

from docs.benchmark import fit_fusion, peers, say, speed
from docs.benchmark.abstention import abstention_section, served_section
from docs.benchmark.bars import (
    SPEED_PREFIXES,
    Bar,
    answer_bars,
    everyday_bars,
    ndcg,
    quality_bars,
    speed_bars,
)
from docs.benchmark.data import (
    DATA,
    OWN,
    POOL,
    PUBLISHED,
    REPORTED,
    ROOT,
    among_others,
    own,
    published,
    semantics,
)
from docs.benchmark.everyday import everyday_section, got
from docs.benchmark.levers import levers_section
from docs.benchmark.row_table import markdown
from docs.benchmark.vocabulary import vocabulary_section
from inspector.access.reach import EvalSet
from inspector.core.ports import SystemClock
from inspector.core.settings import DiscoverySettings
from inspector.features.bench.command import standing_lines
from inspector.features.bench.ranker_bench import DataSet, Measured, RankerBench, standings
from inspector.search.ranker.ranker_list import INFO

_SPEED = "## Speed and size"
SIGNALS = tuple(name.replace("_", " ") for name in fit_fusion.NAMES)
MEASURED = tuple(name for name, info in INFO.items() if info.matching != "pattern")
# Comparing every query with every tool letter by letter takes up to a second a query in a large catalog.
SLOW = frozenset({"fuzzy"})
SLOW_TOOLS = 500
AMONG = " + pool"
# Choosing a server first needs servers to choose from.
STAGED = frozenset({"two-stage-product"})

_OF_WHAT = (
    "Of 8 steps among 10,000 tools on 2 cores, the model takes some 15 ms (two batches of four short "
    "texts, each on a processor), the product of their vectors with all 40,000 of the tools (61 MB) 8, "
    "and everything else 11. The model and numpy's linear algebra have one thread each; our own share "
    "what is large, and wait without turning."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "papers" / "retrieval.md")
    parser.add_argument(
        "--speed", action="store_true", help="measure speed again, keep the rest of the report"
    )
    parser.add_argument("--quality", action="store_true", help="measure all but the speed, and keep that")
    arguments = parser.parse_args()
    output, bars = arguments.output, list[Bar]()
    if arguments.speed:
        output.write_text(_with_speed(output.read_text(encoding="utf-8"), bars), encoding="utf-8")
        _finish(bars)
    if not DATA.is_dir():
        say("only the project's own sets are measured: `make data` fetches the published ones")
    sections = [own_section(), levers_section()]
    if DATA.is_dir():
        sections = [published_section(bars), *sections, *answer_sections(bars)]
    if arguments.quality:
        speed_text, speed_rows = _kept_speed(output.read_text(encoding="utf-8"))
    else:
        timed = list[Bar]()
        speed_text, speed_rows = speed_section(timed), [bar.row for bar in timed]
        bars += timed
    rows = dict.fromkeys((*(bar.row for bar in bars), *speed_rows))
    output.write_text("\n\n".join([*_heading(rows), *sections, speed_text]) + "\n", encoding="utf-8")
    _finish(bars)


def _finish(bars: Sequence[Bar]) -> NoReturn:
    for bar in bars:
        say(f"{'holds ' if bar.holds else 'BROKEN'}  {bar.what}: {bar.measured}")
    sys.exit(0 if all(bar.holds for bar in bars) else 1)


def _with_speed(report: str, bars: list[Bar]) -> str:
    """The report with its speed measured anew."""
    kept, _old = report.split(_SPEED)
    section = speed_section(bars)
    lines = [line for line in kept.rstrip().splitlines() if not line.startswith(SPEED_PREFIXES)]
    last_bar = max(number for number, line in enumerate(lines) if line.endswith(("| yes |", "| **no** |")))
    lines[last_bar + 1 : last_bar + 1] = [bar.row for bar in bars]
    return "\n".join(lines) + f"\n\n{section}\n"


def _kept_speed(report: str) -> tuple[str, list[str]]:
    """The section about speed of an earlier report, and its bars."""
    before, speed = report.split(_SPEED)
    return _SPEED + speed.rstrip(), [line for line in before.splitlines() if line.startswith(SPEED_PREFIXES)]


def _heading(rows: Iterable[str]) -> list[str]:
    return [
        "# How well and how fast the rankers find tools",
        "Written by `make bench-retrieval`. With the packaged int8 MiniLM, quality is the same on every "
        "machine; times are not.",
        "## Bars\n\n| bar | measured | holds |\n|---|---|---|\n" + "\n".join(rows),
    ]


def published_section(bars: list[Bar]) -> str:
    """The published sets, each alone and among the pool, and what other projects find in them."""
    sets = [published(name) for name in PUBLISHED]
    sets += [among_others(evalset) for evalset in sets]
    measured = measure([DataSet(evalset, DiscoverySettings()) for evalset in sets])
    bars += quality_bars(measured)
    return "\n\n".join(
        [
            "## Published data sets\n\nnDCG@10. Sets with more than 600 requests are sampled down to 600. "
            f"`+ pool` adds the {len(sets[-1].tools) - len(sets[3].tools)} tools of {POOL} as distractors. "
            "`z-fusion` is the reference: 0.3 z(BM25 over all texts in one field) + 1.0 z(cosine). `fuzzy` "
            f"compares letter by letter and is left out for more than {SLOW_TOOLS} tools. "
            "`two-stage-product` is left out where every tool that the requests need is of one server "
            "without a name (bfcl, metatool): there is no server to choose.",
            grid(measured),
            claims(measured),
            "### Weights fitted with the tested set left out\n\nThe fusion alone, over requests as they are: "
            "one wording, no steps, no servers. The shipped weights are others.",
            left_out_table(),
            "### All measures",
            markdown([one.row for one in measured]).rstrip(),
            peers.section(measured),
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


def grid(measured: Sequence[Measured]) -> str:
    """Rankers as rows, data sets as columns; bold: the best, and what a paired test cannot tell from it.

    Sets with the pool's tools have a mean of their own.
    """
    values = ndcg(measured)
    sets = list(dict.fromkeys(dataset for dataset, _ranker in values))
    best = {one.dataset: {one.best, *one.tied} for one in standings(measured)}
    pooled = [dataset for dataset in sets if dataset.endswith(AMONG)]
    means = {"mean": [dataset for dataset in sets if dataset not in pooled]}
    if pooled:
        means[f"mean{AMONG}"] = pooled
    lines = [f"| ranker | {' | '.join((*sets, *means))} |", f"|---|{'--:|' * (len(sets) + len(means))}"]
    for ranker in MEASURED:
        row = {dataset: values[dataset, ranker] for dataset in sets if (dataset, ranker) in values}
        cells = [_cell(row.get(dataset), is_best=ranker in best.get(dataset, ())) for dataset in sets]
        for over in means.values():
            mean = fmean(row[dataset] for dataset in over) if row.keys() >= set(over) else None
            cells.append(_cell(mean, is_best=False))
        lines.append(f"| {ranker} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(value: float | None, *, is_best: bool) -> str:
    if value is None:
        return "–"
    return f"**{value:.3f}**" if is_best else f"{value:.3f}"


def claims(measured: Sequence[Measured]) -> str:
    """What the tables say about which ranker is better."""
    return "\n".join(f"- {line}" for line in standing_lines(standings(measured)))


def left_out_table() -> str:
    lines = [
        f"| left out | {' | '.join(SIGNALS)} | nDCG@10 on it | + pool |",
        f"|---|{'--:|' * (len(SIGNALS) + 2)}",
    ]
    for name, (weights, alone, pooled) in fit_fusion.left_out().items():
        cells = " | ".join(f"{weight:.2f}" for weight in weights)
        lines.append(f"| {name} | {cells} | {alone:.4f} | {pooled:.4f} |")
    return "\n".join(lines)


def answer_sections(bars: list[Bar]) -> list[str]:
    """What people get, what is found and what is not, and what a user gets."""
    sections = (everyday_section, vocabulary_section, abstention_section, served_section)
    texts = ["\n".join(section()).rstrip() for section in sections]
    bars += everyday_bars([one for name in REPORTED for one in got(name)])
    bars += answer_bars()
    return texts


def speed_section(bars: list[Bar]) -> str:
    found = []
    for count in speed.SIZES:
        say(f"speed at {count:,} tools")
        found.append(speed.in_fresh_process(count))
    bars += speed_bars(found)
    machine = f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    return (
        f"{_SPEED}\n\nMeasured on {datetime.now(UTC):%Y-%m-%d} ({machine}, 2 cores shared with other work). "
        "Generated tools of realistic length, random vectors of MiniLM's length, medians "
        f"of {speed.QUERIES} queries. `hybrid` is a whole search with its explanations but without the "
        f"model; `end to end` embeds a new query of a few words, `{speed.STEPS} steps` one of "
        f"{speed.STEPS} sentences and each of them. `build` leaves out the model. `change` is from a "
        "changed tool list to a search that finds the new tool. `live` is the memory of the index, "
        f"`resident` how much the process grew while building it.\n\n{speed.table(found)}\n\n{_OF_WHAT}"
    )


if __name__ == "__main__":
    main()
