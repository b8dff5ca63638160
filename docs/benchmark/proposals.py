"""What proposed sentences change for requests that they were not made from: docs/papers/descriptions.md.

`python -m docs.benchmark.proposals` prints its table. Half of each set's requests may be seen. Every tool
that one of them misses gets its best proposal, made and tried with the seen half alone; then all of them are
applied at once, and the other half is measured before and after. With `read` it prints the tools with their
proposals too, to be read; they are texts of others. `servers_fitted` or `servers_reported` prints every
everyday request that misses on those published servers, with what is proposed for it.
"""

import random
import sys
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from docs.benchmark import say
from docs.benchmark.data import PUBLISHED, everyday, folder, prepared
from inspector.access.reach import EvalCase, EvalSet
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.features.check.finding import Proposal
from inspector.features.check.proposal import FOUND, ProposalTrial
from inspector.search.answer.evalset import read_evalset
from inspector.search.answer.expectation import expected, results
from inspector.search.answer.generate import query_key
from inspector.search.answer.metric import Estimate, clusters, estimate, recall_at
from inspector.search.answer.search import SearchRules
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.tokens.counter import TiktokenCounter
from inspector.tokens.measure import BudgetMeter

_RANKER, _SEED, _READ = "hybrid", 7, 20


class Proposed(Struct, frozen=True):
    """A set with the best proposal for each of the `missed` tools that got one."""

    evalset: EvalSet
    rankers: CatalogRankers
    missed: Mapping[str, list[str]]
    proposals: Mapping[str, Proposal]

    def recalls(self) -> tuple[dict[str, float], dict[str, float]]:
        """Recall of each request before and after, by the id of the request."""
        texts = {tool_id: one.description for tool_id, one in self.proposals.items()}
        tools = (replace(t, description=texts.get(t.id, t.description)) for t in self.evalset.tools)
        edited = replace(self.evalset, tools=tuple(tools))
        after = CatalogRankers(prepared(edited).index, DiscoverySettings())
        return _recalls(self.rankers, self.evalset), _recalls(after, self.evalset)


def is_seen(case: EvalCase) -> bool:
    """Whether proposals may be made from a request; equal requests are on one side."""
    return random.Random(f"{_SEED} {query_key(case.query)}").random() < 0.5


def needs(case: EvalCase, tools: Collection[str]) -> bool:
    return any(not group.isdisjoint(tools) for group in case.relevant)


def _recalls(rankers: CatalogRankers, evalset: EvalSet) -> dict[str, float]:
    ranker, ids = rankers.get(_RANKER), rankers.index.ids
    found = {}
    for case in evalset.cases:
        if case.is_possible:
            first = [ids[at] for at in ranker.rank(case.query).order(FOUND)]
            found[case.id] = recall_at(FOUND, first, case.relevant)
    return found


def proposed(name: str, most: int = sys.maxsize) -> Proposed:
    """The best proposals for at most so many missed tools of a set."""
    evalset = read_evalset(folder(name))
    rankers = CatalogRankers(prepared(evalset).index, DiscoverySettings())
    seen = [case for case in evalset.cases if is_seen(case) and case.is_possible]
    unseen = [case for case in evalset.cases if not is_seen(case)]
    recalls = _recalls(rankers, replace(evalset, cases=tuple(seen)))
    missed: dict[str, list[str]] = {}
    for case in seen:
        for tool_id in sorted(frozenset[str]().union(*case.relevant)) if recalls[case.id] < 1 else ():
            if any(needs(other, {tool_id}) for other in unseen):
                missed.setdefault(tool_id, []).append(case.query)
    proposals, meter = {}, BudgetMeter(TiktokenCounter("gpt-5"), lambda: 0)
    chosen = sorted(missed)
    random.Random(_SEED).shuffle(chosen)
    for number, tool_id in enumerate(chosen[:most]):
        trial = ProposalTrial(rankers, _RANKER, tool_id, missed[tool_id], seen, meter.tool)
        found = trial.all()
        if found:
            proposals[tool_id] = found[-1]
        say(f"{name}: {number + 1} of {len(missed)} tools, {len(proposals)} with a proposal")
    return Proposed(evalset, rankers, missed, proposals)


class Change(Struct, frozen=True):
    """Recall of requests before and after; `groups` names the cluster of each."""

    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()
    groups: tuple[str, ...] = ()

    def __add__(self, other: "Change") -> "Change":
        return Change(self.before + other.before, self.after + other.after, self.groups + other.groups)

    def __str__(self) -> str:
        if not self.before:
            return "–"
        n = len(self.before)
        differences = [after - before for before, after in zip(self.before, self.after, strict=True)]
        means = f"{sum(self.before) / n:.3f} → {sum(self.after) / n:.3f}"
        return f"{n}: {means}, {_points(estimate(differences, self.groups))}"


class Row(Struct, frozen=True):
    """One line of the table."""

    missed: int = 0
    tokens: tuple[int, ...] = ()
    unseen: Change = Change()
    helped: Change = Change()
    others: Change = Change()

    def __add__(self, other: "Row") -> "Row":
        return Row(
            self.missed + other.missed,
            self.tokens + other.tokens,
            self.unseen + other.unseen,
            self.helped + other.helped,
            self.others + other.others,
        )

    def line(self, name: str) -> str:
        mean = sum(self.tokens) / max(1, len(self.tokens))
        cells = f"{self.missed} | {len(self.tokens)} | {self.unseen} | {self.helped} | {self.others}"
        return f"| {name} | {cells} | {mean:.0f} |"


def _row(found: Proposed) -> Row:
    before, after = found.recalls()
    possible = [case for case in found.evalset.cases if case.is_possible]

    def change(cases: Sequence[EvalCase]) -> Change:
        groups = (f"{found.evalset.name} {group}" for group in clusters(cases))
        was, now = (tuple(recalls[case.id] for case in cases) for recalls in (before, after))
        return Change(was, now, tuple(groups))

    unseen = [case for case in possible if not is_seen(case)]
    tokens = tuple(one.effect.tokens for one in found.proposals.values())
    return Row(
        len(found.missed),
        tokens,
        change([case for case in unseen if needs(case, found.missed)]),
        change([case for case in unseen if needs(case, found.proposals)]),
        change([case for case in possible if not needs(case, found.missed)]),
    )


def _points(one: Estimate) -> str:
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]".replace("-", "−")


def _read(found: Proposed) -> None:
    tools: dict[str, Tool] = {tool.id: tool for tool in found.evalset.tools}
    for tool_id, one in found.proposals.items():
        tool = tools[tool_id]
        say(f"\n## {tool_id}\n{tool.description}\n{list(dict(tool.input_schema.get('properties', {})))}")
        say(f"MISSED {found.missed[tool_id]}\nPROPOSAL: {one.sentence}\n{one.effect.ranks}")


def _misses(name: str) -> None:
    """What is proposed for each everyday request that misses on published servers."""
    evalset, meter = everyday(name), BudgetMeter(TiktokenCounter("gpt-5"), lambda: 0)
    rankers = CatalogRankers(prepared(evalset).index, DiscoverySettings())
    wanted = [one for case in evalset.cases if case.is_possible for one in expected(case)]
    rules = SearchRules.of(DiscoverySettings())
    missed = [one for one in results(wanted, rankers, _RANKER, rules) if not one.holds]
    with_one = 0
    for one in missed:
        query = one.expectation.query
        trial = ProposalTrial(rankers, _RANKER, one.tool, [query], evalset.cases, meter.tool)
        found = trial.all()
        with_one += bool(found)
        say(f"\n{query} -> {one.tool}, rank {one.rank}")
        for each in found:
            say(f"  {each.sentence} {each.effect.ranks[query]}")
    say(f"\n{name}: a proposal for {with_one} of {len(missed)} misses")


def main() -> None:
    for name in (one for one in sys.argv[1:] if one.startswith("servers_")):
        _misses(name)
        return
    names = [name for name in PUBLISHED if name in sys.argv[1:]] or PUBLISHED
    say(
        "| set | missed tools | with one | their unseen requests | of tools with one | other tools | tokens |"
    )
    whole = Row()
    for name in names:
        found = proposed(name)
        if "read" in sys.argv[1:]:
            _read(found)
        row = _row(found)
        whole += row
        say(row.line(name))
    say(whole.line("**all**"))


if __name__ == "__main__":
    main()
