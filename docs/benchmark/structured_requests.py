"""Requests of a real agent that describe the server apart from the tool: what routing by both gains.

    python -m docs.benchmark.structured_requests FOLDER --tools FILE...

FOLDER has recordings of LiveMCPBench, whose agents search with `server: … tool: …`. What a search was for is
the tool that the run called next, before another search. The agent chose it among what its own search had
found, which compares servers and tools, too: that favours routing by both.
"""

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from docs.benchmark import data, say
from docs.benchmark.recordings import read_published
from inspector.core.number import percent, signed
from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.features.lab.runs.recorded_agent import ToolNames
from inspector.mcp.recorded_link import RecordedRun, read_definitions
from inspector.search.answer.metric import estimate, share_estimate
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.dense import TwoStageProductRanker, TwoStageRanker
from inspector.search.ranker.ranker import Ranking
from tests.support.retrieval import semantic_index

CUTS = (1, 5)
_PARTS = re.compile(r"server:(?P<server>.*?)\n\s*tool:(?P<tool>.*?)(?:\n|</|$)", re.DOTALL | re.IGNORECASE)


class Request(Struct, frozen=True):
    """A search as it was made, its two parts, and the id of the tool that was called next."""

    task: str
    text: str
    server: str
    tool: str
    called: str


class End(StrEnum):
    """What a search was followed by."""

    CALL = "followed by a call"
    SEARCH = "followed by another search"
    NOTHING = "followed by neither"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tools", action="append", required=True, type=Path)
    given = parser.parse_args()
    tools = read_definitions(given.tools)
    runs = read_published(given.folder).runs
    ends = [(run.task, end) for run in runs for end in ends_of(run)]
    for end in End:
        share = share_estimate([one is end for _, one in ends], [task for task, _ in ends])
        interval = f"[{percent(share.low)}, {percent(share.high)}]"
        say(f"{end}: {percent(share.mean)} {interval} of {len(ends)} searches")
    requests = [one for run in runs for one in requests_of(run, tools)]
    say(f"{len(requests)} requests of {len({one.task for one in requests})} tasks over {len(tools)} tools")
    rankers = CatalogRankers(semantic_index(tools, data.semantics()), DiscoverySettings())
    where = rankers.index.position
    found = {
        name: [rank_of(ranked(one), where[one.called]) for one in requests]
        for name, ranked in setups(rankers).items()
    }
    first = next(iter(found.values()))
    for name, of in found.items():
        say(f"{name}: " + ", ".join(_told(requests, of, first, cut) for cut in CUTS))


def parts(text: str) -> tuple[str, str] | None:
    """What a request says of the server and of the tool, None if it has no such parts."""
    match = _PARTS.search(text)
    return (match["server"].strip(), match["tool"].strip()) if match else None


def requests_of(run: RecordedRun, tools: Sequence[Tool]) -> Iterator[Request]:
    """The structured searches of a run that were followed by a call of a tool with a definition."""
    names = ToolNames(tools)
    pending: str | None = None
    for step in run.steps:
        for call in step.calls:
            tool = names.find(call)
            split = parts(pending) if pending is not None else None
            if tool is not None and pending is not None and split is not None:
                yield Request(run.task, pending, *split, tool.id)
            pending = None
        # What is called in the same reply was chosen before this search answered.
        pending = step.searches[-1] if step.searches else pending


def ends_of(run: RecordedRun) -> Iterator[End]:
    """What followed each model call that searched."""
    steps = list(run.steps)
    for number, step in enumerate(steps):
        if step.searches:
            after = steps[number + 1] if number + 1 < len(steps) else None
            yield End.NOTHING if after is None or not after.acts else End.CALL if after.calls else End.SEARCH


def setups(rankers: CatalogRankers) -> Mapping[str, Callable[[Request], Ranking]]:
    """How a request is ranked, by name; the others are compared with the first."""
    hybrid = rankers.hybrid
    two, product = TwoStageRanker(rankers.stages), TwoStageProductRanker(rankers.stages)
    return {
        "hybrid, the whole text": lambda one: hybrid.rank(one.text),
        "hybrid, “tool (server)”": lambda one: hybrid.rank(f"{one.tool} ({one.server})"),
        "hybrid, the tool part alone": lambda one: hybrid.rank(one.tool),
        "two-stage, the whole text": lambda one: two.rank(one.text),
        "two-stage, part by part": lambda one: two.rank_on(one.server, one.tool),
        "two-stage-product, the whole text": lambda one: product.rank(one.text),
        "two-stage-product, part by part": lambda one: product.rank_on(one.server, one.tool),
    }


def rank_of(ranking: Ranking, position: int) -> int:
    """The rank of a tool, from 1; 0 if the ranker does not keep it."""
    return ranking.order().index(position) + 1 if ranking.kept[position] else 0


def _told(requests: Sequence[Request], of: Sequence[int], first: Sequence[int], cut: int) -> str:
    tasks = [one.task for one in requests]
    hits, base = ([0 < rank <= cut for rank in ranks] for ranks in (of, first))
    share = share_estimate(hits, tasks)
    text = f"recall@{cut} {percent(share.mean)} [{percent(share.low)}, {percent(share.high)}]"
    if of is first:
        return text
    more = estimate([float(one) - float(other) for one, other in zip(hits, base, strict=True)], tasks)
    return f"{text} ({', '.join(signed(100 * each, 1) for each in (more.mean, more.low, more.high))})"


if __name__ == "__main__":
    main()
