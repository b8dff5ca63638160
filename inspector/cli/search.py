"""`toolsight search`: a search, why a tool is not found, the rankers side by side."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import click

from inspector.cli.clients import (
    as_clients,
    options_as,
    require_searches,
    search_as,
    search_json,
)
from inspector.cli.launch import run_headless
from inspector.cli.marketplace import further_json, say_further
from inspector.cli.options import as_json, shared
from inspector.cli.run import Exit
from inspector.cli.table import say, say_json, say_table
from inspector.cli.why import Draft, compare_clients, say_draft, say_why
from inspector.clients.client import Client
from inspector.core.number import count, milliseconds
from inspector.core.ranking import Gap, Hit, SearchReport, SearchRequest, Signal, with_gaps
from inspector.search.answer_text import answer_text, metadata
from inspector.search.explanation.confusable import confusables
from inspector.search.explanation.standing import RankerComparison, by_step, compare_rankers
from inspector.search.rankers.ranker_list import RANKERS
from inspector.session.workbench import Workbench

# The list of what a search found, for people.

# What past requests and past use added to a tool's score, as text.


def say_past(hit: Hit) -> None:
    """The past request that counted for a tool, and its past use."""
    for part in hit.score.parts:
        if part.signal is Signal.HISTORY:
            asked = count(round(part.inputs["past requests"]), "past request")
            say(f"{hit.tool_id}   {part.term}   cosine {part.inputs['cosine']:.2f}   {asked}")
        elif part.signal is Signal.AFFINITY:
            say(f"{hit.tool_id}   {part.term}   prior {part.inputs['prior']:.2f}")


# What a search reports beside its hits.


def say_besides(report: SearchReport) -> None:
    """Print what the ranker had to do without, and what the registry has that nobody can call."""
    if report.note:
        say(report.note)
    if report.unconnected:
        say("\nIn the registry but not callable, because their servers are not connected:")
        rows = [(one.tool_id, f"{one.similarity:.2f}", one.origin) for one in report.unconnected]
        say_table(("tool", "cosine", "origin"), rows, right=frozenset({1}), whole=frozenset({0}))


_MISSES_SHOWN = 10


def say_report(report: SearchReport) -> None:
    """Print the answer, the tools by rank, and how they were ranked."""
    if report.error:
        say(report.error)
    else:
        say(answer_text(report))
    shown = _shown(report)
    say_table(("#", "tool", "score", "outcome", "parts"), _rows(report, shown), right=frozenset({0, 2}))
    terms = ", ".join(report.terms) or "none"
    say(
        f"{report.ranker}   terms: {terms}   {len(report.results)} of {count(report.scored, 'tool')}"
        f"   limit {report.limit}   {milliseconds(report.latency_ms)}"
    )
    for hit in shown:
        say_past(hit)
    say_besides(report)


def _shown(report: SearchReport) -> tuple[Hit, ...]:
    """The results, and the first of what scored and missed."""
    missed = (hit for hit in report.hits if not hit.outcome.is_result and hit.score.value > 0)
    ranks = {hit.rank for hit in (*report.results, *islice(missed, _MISSES_SHOWN))}
    return tuple(hit for hit in report.hits if hit.rank in ranks)


def _rows(report: SearchReport, shown: Sequence[Hit]) -> list[tuple[str, ...]]:
    """The tools by rank, and between them where those are that are left out."""
    last = max((hit.rank for hit in shown), default=0)
    hits = [hit for hit in report.hits if hit.rank <= last]
    return [
        ("", f"… {one.ranks}", "", one.reason, "") if isinstance(one, Gap) else _hit_row(one)
        for one in with_gaps(hits, shown.__contains__)
    ]


def _hit_row(hit: Hit) -> tuple[str, ...]:
    sums = {
        signal: math.fsum(part.value for part in hit.score.parts if part.signal is signal)
        for signal in dict.fromkeys(part.signal for part in hit.score.parts)
    }
    parts = " ".join(f"{signal} {value:.2f}" for signal, value in sums.items())
    return (str(hit.rank), hit.tool_id, f"{hit.score.value:.3f}", hit.outcome, parts)


# The pairs of tools that compete for the same requests.


def say_overlaps(bench: Workbench, *, as_json: bool) -> None:
    """Print the pairs of tools that compete for the same requests."""
    pairs = confusables(bench.retrieval.index)
    if as_json:
        say_json([asdict(pair) for pair in pairs])
        return
    rows = [
        (pair.first, pair.second, f"{pair.closeness:.2f}", str(pair.reason), ", ".join(pair.shared))
        for pair in pairs
    ]
    say_table(("tool", "and", "similarity", "reason", "shared terms"), rows, right=frozenset({2}))


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
