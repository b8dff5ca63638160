"""Searches from the command line: a search, why a tool is not found, the rankers side by side."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import click

from inspector.cli.client.comparison import compare_clients
from inspector.cli.client.option import as_clients, options_as, require_searches, search_as, search_json
from inspector.cli.launch import run_headless
from inspector.cli.marketplace.report import further_json, say_further
from inspector.cli.options import as_json, shared
from inspector.cli.outcome import Exit
from inspector.cli.render import say, say_json, say_table
from inspector.cli.search.draft import Draft, say_draft
from inspector.cli.search.overlaps import say_overlaps
from inspector.cli.search.result_list import say_report
from inspector.cli.search.why import say_why
from inspector.domain.client import Client
from inspector.domain.ranked_text import metadata
from inspector.domain.ranking import SearchRequest
from inspector.engine.discovery.explanation.ranker_comparison import RankerComparison, compare_rankers
from inspector.engine.discovery.explanation.steps import by_step
from inspector.engine.discovery.rankers.ranker_list import RANKERS
from inspector.engine.workbench import Workbench

_NOTHING = "nothing"
_FIRST = 5


@dataclass(frozen=True, slots=True)
class _Search:
    """What was searched for, as which client, and how it is shown."""

    request: SearchRequest
    as_json: bool
    client: Client | None = None

    @property
    def searched_as(self) -> dict[str, Any]:
        """As which client it is, for programs."""
        return {"as": search_json(self.client)} if self.client is not None else {}


@click.command()
@click.argument("query", default="")
@click.option("--server", "server_name", default="", help="Search only this server.")
@click.option("--name", "tool_names", multiple=True, help="Look up a tool by name. May be repeated.")
@click.option("--tag", "tags", multiple=True, help="Search only tools with this tag. May be repeated.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=0, help="Maximum number of results (0: the default)."
)
@click.option(
    "--min-similarity", type=click.FloatRange(0, 1), default=0.0, help="Minimum probability, or cosine."
)
@click.option("--server-query", default="", help="Describe the server separately from the tool.")
@click.option("--ranker", default="", help=f"Use this ranker: {', '.join(RANKERS)}.")
@click.option(
    "--why",
    "tool_id",
    default="",
    metavar="TOOL",
    help="Show why this tool is not found, or not ranked first.",
)
@click.option("--try-name", default="", metavar="NAME", help="With --why: show what this name would change.")
@click.option(
    "--try-description",
    default=None,
    metavar="TEXT",
    help="With --why: show what this description would change for QUERY and the labelled requests.",
)
@click.option("--compare", "side_by_side", is_flag=True, help="Show every ranker's top tools.")
@click.option("--steps", is_flag=True, help="Search for each step of the request separately.")
@click.option("--overlaps", is_flag=True, help="List the tools that compete for the same requests.")
@as_clients
@shared
@as_json
def search(
    query: str,
    server_name: str,
    tool_names: tuple[str, ...],
    tags: tuple[str, ...],
    limit: int,
    min_similarity: float,
    server_query: str,
    ranker: str,
    tool_id: str,
    try_name: str,
    try_description: str | None,
    *,
    side_by_side: bool,
    steps: bool,
    overlaps: bool,
    clients: tuple[Client, ...],
    as_json: bool,
    **values: Any,
) -> None:
    """Search like `search_tools` and explain the scores.

    With --client, searches like that client; repeat it to compare clients side by side. With --why, the exit
    code is 3 if the tool is not found.

    \b
    toolsight search "late orders" --why shop:list_orders --demo
    """
    draft = Draft(try_name, try_description)
    _check(query, tool_id, clients, ranker, is_draft=draft != Draft(), overlaps=overlaps)
    request = SearchRequest(query, server_name, tool_names, tags, limit, min_similarity, server_query)
    asked = _Search(request, as_json, *clients[:1])
    require_searches(clients)
    views: tuple[tuple[bool, Callable[[Workbench], bool | None]], ...] = (
        (overlaps, lambda bench: say_overlaps(bench, as_json=as_json)),
        (len(clients) > 1, lambda bench: compare_clients(bench, query, clients, tool_id, as_json=as_json)),
        (
            draft != Draft(),
            lambda bench: say_draft(bench, tool_id, query, draft, *clients[:1], as_json=as_json),
        ),
        (bool(tool_id), lambda bench: say_why(bench, request, tool_id, asked.searched_as, as_json=as_json)),
        (side_by_side, lambda bench: _compare(bench, asked)),
        (steps, lambda bench: _steps(bench, asked)),
        (True, lambda bench: _search(bench, asked)),
    )
    show = next(view for is_wanted, view in views if is_wanted)
    is_found: list[bool | None] = []

    async def work(bench: Workbench) -> None:
        if len(clients) == 1:
            tool = bench.catalog.require(tool_id) if tool_id else None
            await search_as(bench, clients[0], tool, quiet=as_json)
        if ranker:
            bench.change_setting("discovery.ranker", ranker)
        is_found.append(show(bench))

    run_headless(options_as(clients[0] if len(clients) == 1 else None, **values), work)
    if is_found == [False]:
        sys.exit(Exit.GATE)


def _check(
    query: str, tool_id: str, clients: Sequence[Client], ranker: str, *, is_draft: bool, overlaps: bool
) -> None:
    """Raise UsageError for options that exclude each other."""
    if clients and ranker:
        raise click.UsageError("Use either --client or --ranker, not both.")
    if is_draft and (not tool_id or not query or len(clients) > 1):
        raise click.UsageError(
            "--try-name and --try-description need QUERY and --why TOOL, with at most one --client."
        )
    if overlaps and (query or tool_id):
        raise click.UsageError("--overlaps compares all tools, so it takes neither QUERY nor --why.")


def _search(bench: Workbench, asked: _Search) -> None:
    report = bench.search(asked.request)
    beyond = further_json(bench.state.marketplace)
    if asked.as_json:
        answer = {"answer": report.answer, **asdict(report)}
        say_json(answer | {"metadata": metadata(report, bench.catalog.by_id)} | beyond | asked.searched_as)
        return
    say_report(report)
    say_further(bench.state.marketplace)


def _compare(bench: Workbench, asked: _Search) -> None:
    found = compare_rankers(bench.retrieval.rankers, asked.request.query, RANKERS)
    if asked.as_json:
        say_json(asdict(found))
    else:
        _say_comparison(found)


def _say_comparison(comparison: RankerComparison) -> None:
    """The first tools of each ranker: as columns, thirteen rankers fit no terminal."""
    rows = []
    for column, name in enumerate(comparison.names):
        kept = sorted(
            (row.standings[column].rank, row.tool_id) for row in comparison.rows if row.standings[column].kept
        )
        rows.append((name, ", ".join(tool_id for _rank, tool_id in kept[:_FIRST]) or _NOTHING))
    say_table(("ranker", f"first {_FIRST}"), rows, right=frozenset())


def _steps(bench: Workbench, asked: _Search) -> None:
    retrieval = bench.retrieval
    found = by_step(retrieval.rankers, retrieval.ranker_name, asked.request.query, retrieval.rules)
    if asked.as_json:
        say_json(asdict(found))
        return
    say_table(
        ("search", "answer", "finds"),
        [(one.text, one.answer, ", ".join(one.tool_ids) or _NOTHING) for one in (found.whole, *found.steps)],
        right=frozenset(),
    )
    say(f"found only by the steps: {', '.join(found.only_steps) or 'none'}")
