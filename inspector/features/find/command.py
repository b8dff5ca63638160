"""`toolsight search`: a search, why a tool is not found, the rankers side by side."""

import math
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

import click

from inspector.cli.client_option import as_clients, client_ranker, options_as, search_as, search_json
from inspector.cli.composition import chosen_model
from inspector.cli.launch import run_headless
from inspector.cli.options import COMMON, DEMO_MODEL, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import show
from inspector.clients.client import Client
from inspector.core.marketplace import further
from inspector.core.number import count, milliseconds
from inspector.core.ranking import Gap, Hit, SearchReport, SearchRequest, Signal, with_gaps
from inspector.core.report import NAME, TWO, Column, Table, selected
from inspector.features.find.why_not_command import (
    REQUEST,
    SCORE,
    STANDING,
    Draft,
    compare_clients,
    show_draft,
    show_why,
)
from inspector.search.answer.answer_text import WITHHELD, answer_text, metadata
from inspector.search.answer.standing import by_step, compare_rankers
from inspector.search.ranker.ranker_list import RANKERS
from inspector.session.workbench import Workbench

_MISSES_SHOWN, _FIRST, _NOTHING = 10, 5, "nothing"
_FOUND = (
    f"answer {REQUEST} ranker hits{{rank {SCORE} outcome}} terms limit latency_ms error scored probability "
    "threshold closest_threshold note unscored unconnected{tool_id description origin similarity}"
)
_UNCONNECTED = (Column("tool", "tool_id", NAME), Column("cosine", "similarity", TWO), Column("origin"))
_STEP = "{text tool_ids probability answer note}"


@session_command(takes=COMMON)
@click.argument("query", default="")
@click.option("--server", "server_name", default="", help="Search only this server.")
@click.option("--name", "tool_names", multiple=True, help="Look up a tool by name. May be repeated.")
@click.option("--tag", "tags", multiple=True, help="Search only tools with this tag. May be repeated.")
@click.option(
    "--limit",
    type=click.IntRange(min=1, clamp=True),
    default=None,
    help="Maximum number of results; less than 1 counts as 1. Default: as set.",
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
@as_clients
@as_json
def search(
    query: str,
    server_name: str,
    tool_names: tuple[str, ...],
    tags: tuple[str, ...],
    limit: int | None,
    min_similarity: float,
    server_query: str,
    ranker: str,
    tool_id: str,
    try_name: str,
    try_description: str | None,
    *,
    side_by_side: bool,
    steps: bool,
    clients: tuple[Client, ...],
    chosen: Options,
) -> None:
    """Search like `search_tools` and explain the scores.

    With --client, searches like that client; repeat it to compare clients side by side. With --why, the exit
    code is 3 if the tool is not found. The model of --model writes sentences for its description too.

    \b
    toolsight search "late orders" --why shop:list_orders --demo
    """
    draft = Draft(try_name, try_description)
    if not (query or server_name or tool_names or tags or server_query):
        raise click.UsageError('Give a query, such as "late orders".')
    _check(query, tool_id, clients, ranker, is_draft=draft != Draft())
    for client in clients:
        # One that has no search to follow is an error before anything is started.
        client_ranker(client)
    request = SearchRequest(query, server_name, tool_names, tags, limit or 0, min_similarity, server_query)
    alone = clients[0] if len(clients) == 1 else None
    given = options_as(chosen, alone, clients)
    model = None if given.model == DEMO_MODEL else chosen_model(given.model, given)
    views: tuple[tuple[bool, Callable[[Workbench], Coroutine[Any, Any, bool] | None]], ...] = (
        (len(clients) > 1, lambda bench: compare_clients(bench, query, clients, tool_id)),
        (draft != Draft(), lambda bench: show_draft(bench, tool_id, query, draft, alone)),
        (bool(tool_id), lambda bench: show_why(bench, request, tool_id, alone, model)),
        (side_by_side, lambda bench: _compare(bench, query)),
        (steps, lambda bench: _steps(bench, query)),
        (True, lambda bench: _search(bench, request, alone)),
    )
    view = next(view for is_wanted, view in views if is_wanted)
    is_found: list[bool | None] = []

    async def work(bench: Workbench) -> None:
        if alone is not None:
            await search_as(bench, alone, bench.catalog.require(tool_id) if tool_id else None)
        if ranker:
            bench.change_setting("discovery.ranker", ranker)
        shown = view(bench)
        is_found.append(None if shown is None else await shown)

    run_headless(given, work)
    if is_found == [False]:
        sys.exit(Exit.GATE)


def _check(query: str, tool_id: str, clients: Sequence[Client], ranker: str, *, is_draft: bool) -> None:
    """Raise UsageError for options that exclude each other."""
    if clients and ranker:
        raise click.UsageError("Use either --client or --ranker, not both.")
    if is_draft and (not tool_id or not query or len(clients) > 1):
        raise click.UsageError(
            "--try-name and --try-description need QUERY and --why TOOL, with at most one --client."
        )


def _search(bench: Workbench, request: SearchRequest, client: Client | None) -> None:
    report, market = bench.search(request), bench.state.marketplace
    beyond = {} if market is None else {"marketplace": asdict(market)}
    data = selected(report, _FOUND) | {"metadata": metadata(report, bench.catalog.by_id)}
    show(data | beyond | search_json(client), (*search_report(report), *further(market)))


def search_report(report: SearchReport) -> Iterator[str | Table]:
    """The answer, the tools by rank, how they were ranked, and what is beside them."""
    yield report.error or answer_text(report)
    shown = _shown(report)
    rows = tuple(_rows(report, shown))
    yield Table("", ("#", "tool", "score", "outcome", "parts"), rows, frozenset({0, 2}))
    terms = ", ".join(report.terms) or "none"
    yield (
        f"{report.ranker}   terms: {terms}   {len(report.results)} of {count(report.scored, 'tool')}"
        f"   limit {report.limit}   {milliseconds(report.latency_ms)}"
    )
    if report.withheld:
        yield WITHHELD + ", ".join(report.withheld)
    for hit in shown:
        yield from _past(hit)
    if report.note:
        yield report.note
    if report.unconnected:
        yield "\nIn the registry but not callable, because their servers are not connected:"
        yield Table.of(_UNCONNECTED, report.unconnected)


def _past(hit: Hit) -> Iterator[str]:
    """The past request that counted for a tool, and its past use."""
    for part in hit.score.parts:
        if part.signal is Signal.HISTORY:
            asked = count(round(part.inputs["past requests"]), "past request")
            yield f"{hit.tool_id}   {part.term}   cosine {part.inputs['cosine']:.2f}   {asked}"
        elif part.signal is Signal.AFFINITY:
            yield f"{hit.tool_id}   {part.term}   prior {part.inputs['prior']:.2f}"


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


def _compare(bench: Workbench, query: str) -> None:
    """The first tools of each ranker: as columns, thirteen rankers fit no terminal."""
    found = compare_rankers(bench.retrieval.rankers, query, RANKERS)
    rows = []
    for column, name in enumerate(found.names):
        kept = sorted(
            (row.standings[column].rank, row.tool_id) for row in found.rows if row.standings[column].kept
        )
        rows.append((name, ", ".join(tool_id for _rank, tool_id in kept[:_FIRST]) or _NOTHING))
    data = selected(found, f"query names rows{{tool_id standings{STANDING}}} notes probabilities")
    notes = dict.fromkeys(filter(None, found.notes))
    show(data, [Table("", ("ranker", f"first {_FIRST}"), tuple(rows)), *notes])


def _steps(bench: Workbench, query: str) -> None:
    retrieval = bench.retrieval
    found = by_step(retrieval.rankers, retrieval.ranker_name, query, retrieval.rules)
    finds = Column("finds", lambda one: ", ".join(one.tool_ids) or _NOTHING)
    table = Table.of((Column("search", "text"), Column("answer"), finds), (found.whole, *found.steps))
    data = selected(found, f"whole{_STEP} steps{_STEP} only_steps only_whole")
    only = f"found only by the steps: {', '.join(found.only_steps) or 'none'}"
    show(data, [table, only, *filter(None, [found.whole.note])])
