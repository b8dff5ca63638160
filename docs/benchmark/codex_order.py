"""Whether Codex would load the same: `python -m docs.benchmark.codex_order [FOLDER]`.

The expected lists in `tests/search/codex_order.json` were made by running Codex's search engine (the crate
bm25 2.3.2 over the texts of `build_mcp_search_text`) on `../shared/data/pool_docker`, and on that with six
servers of npm and PyPI added, which `python -m docs.hard.capture` writes to FOLDER. Tools of one inner
list have the same score there, and their order is chance.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from docs.benchmark import say
from docs.benchmark.data import POOL, ROOT, folder
from inspector.core.tool import Tool
from inspector.search.answer.evalset import read_tools
from inspector.search.ranker.client_ranker import CodexRanker

RESULTS = 8
ORDERS = ROOT / "tests" / "search" / "codex_order.json"
Order = Sequence[Sequence[str]]


def orders(name: str) -> Mapping[str, Order]:
    """Ids in expected order by query, in groups of equal score."""
    found: Mapping[str, Order] = json.loads(ORDERS.read_text(encoding="utf-8"))[name]
    return found


def agreement(ranker: CodexRanker, ids: Sequence[str], expected: Mapping[str, Order]) -> tuple[int, int]:
    """Of how many queries the first tool, and all RESULTS of them, could be Codex's."""
    first = same = 0
    for query, order in expected.items():
        ranking = ranker.rank(query)
        found = [ids[place] for place in ranking.order() if ranking.kept[place]][:RESULTS]
        first += found[:1] == [] if not order else bool(found) and found[0] in order[0]
        same += is_possible(found, order)
    return first, same


def is_possible(found: Sequence[str], order: Order) -> bool:
    """Whether these results, in this order, are those of some order of the equal ones."""
    places = [at for tool in found for at, group in enumerate(order) if tool in group]
    expected = [at for at, group in enumerate(order) for _ in group][:RESULTS]
    return places == expected


def captured(folder: Path) -> Iterator[tuple[Tool, str]]:
    """The tools of captured servers, each with its server's instructions."""
    for path in sorted(folder.glob("*.json")):
        answers = json.loads(path.read_text(encoding="utf-8"))
        for tool in answers["tools"]:
            text, title = tool.get("description") or "", tool.get("title") or ""
            known = Tool(path.stem, tool["name"], text, tool["inputSchema"], title=title)
            yield known, answers["initialize"].get("instructions") or ""


def main() -> None:
    """Print the agreement over the pool, and with a FOLDER also over the pool and the captured servers."""
    pool = read_tools(folder(POOL))
    _report("pool_docker", pool, {})
    if len(sys.argv) > 1:
        found = list(captured(Path(sys.argv[1])))
        texts = {tool.server: instructions for tool, instructions in found}
        _report("pool_docker and captured servers", [*pool, *(tool for tool, _ in found)], texts)


def _report(name: str, tools: Sequence[Tool], instructions: Mapping[str, str]) -> None:
    expected = orders(name)
    first, same = agreement(CodexRanker(tools, instructions), [tool.id for tool in tools], expected)
    say(f"{name}: first tool {first} of {len(expected)}, the same {RESULTS} in order {same}")


if __name__ == "__main__":
    main()
