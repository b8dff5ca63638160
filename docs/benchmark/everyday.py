"""What people get who ask in everyday words: a section of docs/papers/retrieval.md.

`python -m docs.benchmark.everyday` prints it. Nothing was fitted on the servers of the reported half: the
demo's, every third vendor of the pool and every second published server. Who wrote a request saw the names of
tools or only what a server is, no description; who labelled it read the descriptions and allowed every tool
that serves.
"""

from collections.abc import Sequence
from functools import cache
from statistics import mean

from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.data import CATALOGS, FITTED, REPORTED, everyday, judged, prepared
from inspector.access.reach import EvalCase, EvalSet
from inspector.core.number import wilson
from inspector.core.ports import SystemClock
from inspector.core.ranking import Answer
from inspector.core.settings import DiscoverySettings
from inspector.features.bench.run import CaseRun, run_bench
from inspector.search.answer.metric import recall_at
from inspector.search.answer.search import SearchRules
from inspector.search.ranker.catalog_rankers import CatalogRankers

IMPOSSIBLE = ("far", "near-miss", "small-talk")


class Got(Struct, frozen=True):
    """What one request got."""

    case: EvalCase
    run: CaseRun

    @property
    def answer(self) -> Answer:
        return self.run.answer

    @property
    def delivered(self) -> float:
        """The share of what it asks for among the tools returned."""
        return recall_at(len(self.run.returned), self.run.returned, self.case.relevant)

    @property
    def ranked(self) -> float:
        """The share of what it asks for among the first five of the ranking."""
        return recall_at(5, self.run.ranked, self.case.relevant)


@cache
def got(name: str) -> tuple[Got, ...]:
    """What each request of one of EVERYDAY gets with the default settings."""
    return _asked(everyday(name))


def _asked(evalset: EvalSet) -> tuple[Got, ...]:
    settings = DiscoverySettings()
    index = prepared(evalset).index
    run = run_bench(
        CatalogRankers(index, settings).hybrid,
        evalset,
        index,
        rules=SearchRules.of(settings),
        clock=SystemClock(),
        progress=lambda _done, _total: None,
        cancelled=lambda: False,
    )
    return tuple(Got(case, done) for case, done in zip(evalset.cases, run.cases, strict=True))


def everyday_section() -> list[str]:
    """Markdown: what is delivered, and which answers possible and impossible requests get."""
    lines = [
        "## Everyday requests",
        "",
        "What people say, not what benchmarks ask. The writers saw the names of the tools and no "
        "description, those of published servers only what each server is; the labels, made from the "
        "descriptions, allow every tool that serves. `delivered`: a "
        "right tool is among those returned (of two steps: the share served); `ranked`: it is among the "
        "first five of the ranking. Nothing is fitted on the reported half: the demo's 9 servers (84 tools), "
        "7 vendors (107) and 12 published servers (332). The fitted half is 15 vendors (among 648 tools), "
        "Azure's namespaces, which count as one server, and 13 published servers (325). 95 % intervals "
        "(Wilson).",
        "",
        "| half | requests | n | delivered | ranked | found | closest | nothing | tools |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for half, names in (("reported", REPORTED), ("fitted", FITTED)):
        for title, ones in _kinds([one for name in names for one in got(name)]):
            lines.append(f"| {half} | {title} | {len(ones)} | {_row(ones)} |")
    return [*lines, "", *_near_section()]


def _kinds(ones: Sequence[Got]) -> list[tuple[str, list[Got]]]:
    possible = [one for one in ones if one.case.is_possible]
    impossible = [one for one in ones if not one.case.is_possible]
    found = [
        ("plain one-liners", [one for one in possible if one.case.kind == "plain"]),
        ("the oblique rest", [one for one in possible if one.case.kind != "plain"]),
    ]
    kinds = dict.fromkeys(one.case.kind for one in possible if one.case.kind != "plain")
    found += [(f"- {kind}", [one for one in possible if one.case.kind == kind]) for kind in kinds]
    found.append(("all possible", possible))
    found += [(kind, [one for one in impossible if one.case.kind == kind]) for kind in IMPOSSIBLE]
    return [*found, ("all impossible", impossible)]


def _row(ones: Sequence[Got]) -> str:
    is_possible = ones[0].case.is_possible
    delivered = _share(mean(one.delivered for one in ones), len(ones)) if is_possible else "–"
    ranked = f"{mean(one.ranked for one in ones):.2f}" if is_possible else "–"
    answers = [_share(mean(one.answer is answer for one in ones), len(ones)) for answer in Answer]
    return " | ".join((delivered, ranked, *answers, f"{mean(len(one.run.returned) for one in ones):.1f}"))


def _share(value: float, count: int) -> str:
    low, high = wilson(value, count)
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _near_section() -> list[str]:
    """Near misses of the other sets: of each every second one was fitted, of the demo's none."""
    answers = []
    for catalog in CATALOGS:
        near = [one.answer for one in _asked(judged(catalog)) if one.case.kind == "near-miss"]
        answers += near[1::2]
    shares = (
        f"`{answer}` {_share(mean(one is answer for one in answers), len(answers))}" for answer in Answer
    )
    return [f"Near misses of `*_near.jsonl` that were not fitted ({len(answers)}): {', '.join(shares)}.", ""]


def main() -> None:
    for line in everyday_section():
        say(line)


if __name__ == "__main__":
    main()
