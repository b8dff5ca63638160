"""What past requests are worth to hybrid: `python -m docs.benchmark.learn [SET...]`.

Half of a set's requests, chosen at random, become the past: every tool that is right for one was called after
it. Of the other half, those of the sample that every measurement takes are searched for with and without that
past. A third of the tools, chosen at random too, are new: they have no past, whatever was asked. Printed are
R@5 and R@1 for the requests that a tool with a past is right for, for those that only tools without one are
right for, and for all, with the paired difference and its 95 % interval, over SPLITS splits. Requests that
need the same tool count as one.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from docs.benchmark import say
from docs.benchmark.data import PUBLISHED, among_others, folder, prepared, published
from inspector.access.reach import EvalCase, EvalSet
from inspector.core.ports import PastCall
from inspector.core.settings import DiscoverySettings
from inspector.search.answer.bootstrap import clusters, estimate
from inspector.search.answer.evalset import read_evalset
from inspector.search.index.document import key_of
from inspector.search.index.embedding import PastRequests, newest
from inspector.search.index.metric import recall_at
from inspector.search.index.tool_index import ToolIndex
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.history import AskedBefore
from inspector.search.ranker.ranker import Ranking

SPLITS, CUTS = 5, (5, 1)
OLD, NEW, ALL = "tools with a past", "tools without", "all"


@dataclass(frozen=True)
class Split:
    """The requests of the past, and what adds them to a ranking."""

    past: PastRequests
    asked: AskedBefore
    ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Searched:
    """One request in one split: its kind, and the recall at each of CUTS without and with the past."""

    case: EvalCase
    kind: str
    before: tuple[float, ...]
    after: tuple[float, ...]


def splits(index: ToolIndex, cases: Sequence[EvalCase]) -> list[Split]:
    assert index.semantics is not None
    texts = {key_of(case.query): case.query for case in cases}
    known = index.semantics.recall(list(texts))
    index.semantics.embed({key: text for key, text in texts.items() if key not in known})
    table = index.semantics.table(texts)
    tools = sorted({tool for case in cases for group in case.relevant for tool in group})
    found = []
    for seed in range(SPLITS):
        random = Random(seed)
        half = random.sample(cases, len(cases) // 2)
        new = frozenset(random.sample(tools, len(tools) // 3))
        calls = [
            PastCall(tool, case.query, float(at))
            for at, case in enumerate(half)
            for group in case.relevant
            for tool in sorted(group - new)
        ]
        past = PastRequests(newest(calls), table)
        found.append(Split(past, AskedBefore(index, past), frozenset(case.id for case in half)))
    return found


def searched(evalset: EvalSet, everything: Sequence[EvalCase]) -> Iterator[Searched]:
    """Each request with each split, ranked once without the past."""
    index = prepared(evalset).index
    ranker = CatalogRankers(index, DiscoverySettings()).hybrid
    known = splits(index, [case for case in everything if case.is_possible])
    for case in evalset.cases:
        if not case.is_possible:
            continue
        base = ranker.rank(case.query)
        before = recalls(index, base, case)
        wanted = frozenset[str]().union(*case.relevant)
        for split in known:
            if case.id not in split.ids:
                kind = OLD if wanted & split.past.texts.keys() else NEW
                yield Searched(case, kind, before, recalls(index, split.asked.added(base, case.query), case))


def recalls(index: ToolIndex, ranking: Ranking, case: EvalCase) -> tuple[float, ...]:
    ids = [index.tools[at].id for at in ranking.order(max(CUTS))]
    return tuple(recall_at(cut, ids, case.relevant) for cut in CUTS)


def told(name: str, found: Sequence[Searched]) -> None:
    for kind in (OLD, NEW, ALL):
        chosen = [one for one in found if kind in (one.kind, ALL)]
        if chosen:
            told_at = (f"R@{cut} {_change(at, chosen)}" for at, cut in enumerate(CUTS))
            say(f"{name:<16} {kind:<17} {len(chosen):>5} searches   {'   '.join(told_at)}")


def _change(at: int, found: Sequence[Searched]) -> str:
    grouped = clusters([one.case for one in found])
    before = estimate([one.before[at] for one in found], grouped)
    change = estimate([one.after[at] - one.before[at] for one in found], grouped)
    return f"{before.mean:.3f} {change.mean:+.4f} ({change.low:+.4f} to {change.high:+.4f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=PUBLISHED, metavar="SET")
    for name in parser.parse_args().sets:
        everything = read_evalset(folder(name)).cases
        for evalset in (published(name), among_others(published(name))):
            told(evalset.name, list(searched(evalset, everything)))


if __name__ == "__main__":
    main()
