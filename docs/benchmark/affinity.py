"""What past use is worth to a search, on recorded runs of real agents.

    python -m docs.benchmark.affinity FOLDER --tools FILE... [--weights 0.1,0.3,1]

Each run needs the tools that it called, once each: it searches for them with the agent's own search since its
call before, else with what it said last, else with the user's message. What was used before is what the other
runs called with success, without those of its task: everybody's habits in one, or those of the run's group of
tasks alone. Printed are recall@5 and nDCG@5 without past use and what each weight changes, paired, in points,
with 95 % intervals over tasks: for tools that the past has, for those that it has not, and for all.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from docs.benchmark import data, say
from docs.benchmark.recordings import read_published
from inspector.core.number import percent, signed
from inspector.core.ranking import Answer, SearchRequest
from inspector.core.settings import DiscoverySettings
from inspector.features.lab.runs.recorded_agent import known_runs, last_words
from inspector.mcp.recorded_link import RecordedRun, read_definitions
from inspector.search.answer.metric import estimate, ndcg_at, recall_at
from inspector.search.answer.search import SearchRules
from inspector.search.index.past_use import PastUse, Use
from inspector.search.ranker.catalog_rankers import Affinity, CatalogRankers
from inspector.search.ranker.ranker import Ranking
from tests.support.retrieval import semantic_index

CUT = 5
WEIGHTS = (0.1, 0.2, 0.3, 0.5, 1.0)
KNOWN, NEW, ALL = "used before", "never used before", "all"
MEASURES: Mapping[str, Callable[[int, Sequence[str], tuple[frozenset[str]]], float]] = {
    "recall@5": recall_at,
    "nDCG@5": ndcg_at,
}
Groups = Callable[[RecordedRun], str]


class Need(Struct, frozen=True):
    """A tool that a run called for the first time, and what it searched for then."""

    run: RecordedRun
    query: str
    tool: str


class Found(Struct, frozen=True):
    """One need: its kind, and each measure without past use and with it, by weight (0 is without)."""

    task: str
    group: str
    kind: str
    values: Mapping[float, tuple[float, ...]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tools", action="append", required=True, type=Path)
    parser.add_argument("--weights", default=",".join(map(str, WEIGHTS)))
    given = parser.parse_args()
    weights = tuple(float(one) for one in given.weights.split(","))
    tools = read_definitions(given.tools)
    runs = known_runs(read_published(given.folder).runs, tools).runs
    rankers = CatalogRankers(semantic_index(tools, data.semantics()), DiscoverySettings())
    needs = [need for run in runs for need in needs_of(run)]
    ranked = [rankers.plain("hybrid").rank(need.query) for need in needs]
    say(
        f"{len(runs)} runs of {len({run.task for run in runs})} tasks, {len(needs)} needs, {len(tools)} tools"
    )
    for name, group_of in ways(given.folder).items():
        pasts = {(run.task, group_of(run)): past_of(run, runs, group_of) for run in runs}
        found = [
            measured(rankers, need, base, pasts[need.run.task, group_of(need.run)], weights)
            for need, base in zip(needs, ranked, strict=True)
        ]
        say(f"\n{name}")
        told("", found, weights)
        groups = Counter(one.group for one in found)
        for group, _ in groups.most_common() if len(groups) > 1 else ():
            told(group, [one for one in found if one.group == group], weights)


def ways(folder: Path) -> Mapping[str, Groups]:
    """Whose past counts: everybody's, or that of the group of tasks that a recording names."""
    category: dict[str, str] = {}
    for file in folder.glob("*.json"):
        tasks = json.loads(file.read_text())
        category |= {one["task_id"]: one["category"] for one in tasks if "category" in one}
    return {
        "all in one": lambda _run: "",
        "by group of tasks": lambda run: category.get(run.task, run.task.partition("__")[0]),
        **({} if category else {"by server": lambda run: run.task.partition("/")[0]}),
    }


def needs_of(run: RecordedRun) -> Iterator[Need]:
    """Every tool that the run called, at its first call."""
    seen: set[str] = set()
    for message in run.messages:
        words, search = message.text, ""
        for step in message.steps:
            words = last_words(step.text) or words
            for call in step.calls:
                tool = f"{call.server}:{call.tool}"
                if tool not in seen:
                    yield Need(run, search or words, tool)
                seen.add(tool)
            # What is called in the same reply was chosen before this search answered.
            search = step.searches[-1] if step.searches else "" if step.calls else search


def past_of(run: RecordedRun, runs: Sequence[RecordedRun], group_of: Groups) -> PastUse:
    """What the other runs of the run's group used with success, without those of its task."""
    others = (one for one in runs if one.task != run.task and group_of(one) == group_of(run))
    calls = Counter(f"{call.server}:{call.tool}" for one in others for call in one.calls if not call.failed)
    return PastUse(group_of(run), {tool: Use(number, float(number)) for tool, number in calls.items()})


def measured(
    rankers: CatalogRankers, need: Need, base: Ranking, past: PastUse, weights: Sequence[float]
) -> Found:
    """How well the tool is found with each weight."""
    values = {0.0: _values(rankers, need, base)}
    for weight in weights:
        values[weight] = _values(rankers, need, Affinity(rankers.index, past, weight).added(base))
    return Found(need.run.task, past.persona, KNOWN if need.tool in past.uses else NEW, values)


def _values(rankers: CatalogRankers, need: Need, ranking: Ranking) -> tuple[float, ...]:
    """The measures over what a search with the default settings would return."""
    rules = replace(SearchRules.of(DiscoverySettings()), limit=CUT)
    likely = rules.likely(ranking, SearchRequest(need.query))
    order = [] if rules.answer(ranking) is Answer.NOTHING else [at for at in ranking.order() if likely[at]]
    ids = [rankers.index.tools[at].id for at in order[: rules.most(rules.answer(ranking))]]
    return tuple(measure(CUT, ids, (frozenset({need.tool}),)) for measure in MEASURES.values())


def told(group: str, found: Sequence[Found], weights: Sequence[float]) -> None:
    for kind in (KNOWN, NEW, ALL):
        chosen = [one for one in found if kind in (one.kind, ALL)]
        if not chosen:
            continue
        say(f"{group or 'everybody':<24} {kind:<17} {len(chosen):>4} needs")
        for at, measure in enumerate(MEASURES):
            tasks = [one.task for one in chosen]
            base = estimate([one.values[0.0][at] for one in chosen], tasks)
            changes = (f"{weight:g}: {_change(at, weight, chosen, tasks)}" for weight in weights)
            interval = f"[{100 * base.low:.0f}, {100 * base.high:.0f}]"
            say(f"  {measure:<9} {percent(base.mean)} {interval}   {'   '.join(changes)}")


def _change(at: int, weight: float, found: Sequence[Found], tasks: Sequence[str]) -> str:
    """The paired difference in points."""
    more = estimate([one.values[weight][at] - one.values[0.0][at] for one in found], tasks)
    mean, low, high = (signed(100 * each, 1) for each in (more.mean, more.low, more.high))
    return f"{mean} [{low}, {high}]"


if __name__ == "__main__":
    main()
