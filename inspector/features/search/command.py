"""`toolsight search`: a search, why a tool is not found, the rankers and clients side by side."""

import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import click
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from inspector.cli.composition import chosen_model
from inspector.cli.launch import (
    as_clients,
    client_ranker,
    options_as,
    require_offered,
    run_headless,
    search_as,
    search_json,
)
from inspector.cli.options import COMMON, DEMO_MODEL, Options, as_json, session_command
from inspector.cli.run import Exit
from inspector.cli.table import show
from inspector.clients.client import Client, Topic
from inspector.clients.seen import as_sent
from inspector.core.marketplace import further
from inspector.core.number import ordinal
from inspector.core.ports import ChatModel
from inspector.core.ranking import SearchRequest
from inspector.core.report import NAME, Column, Table
from inspector.features.check.finding import Proposal
from inspector.features.check.proposal import ProposalTrial
from inspector.features.search.facts import (
    edit_report,
    rankers_report,
    search_report,
    steps_report,
    why_report,
)
from inspector.search.answer.answer_text import metadata
from inspector.search.answer.rewording import require_writer
from inspector.search.answer.standing import by_step, compare_rankers, standings_under
from inspector.search.answer.tool_edit import EditTrial
from inspector.search.answer.why_not import why_not
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.search.ranker.ranker_list import RANKERS
from inspector.session.workbench import Workbench


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
@click.option("--reword", is_flag=True, help="Let the model of --model word the query, and search for that.")
@as_clients
@as_json
def search(
    query: str,
    server_name: str,
    tool_names: tuple[str, ...],
    tags: tuple[str, ...],
    limit: int | None,
    ranker: str,
    tool_id: str,
    try_name: str,
    try_description: str | None,
    *,
    side_by_side: bool,
    steps: bool,
    reword: bool,
    clients: tuple[Client, ...],
    chosen: Options,
) -> None:
    """Search like `search_tools` and explain the scores.

    With --client, searches like that client; repeat it to compare clients side by side. With --why, the exit
    code is 3 if the tool is not found. The model of --model writes sentences for its description too.

    \b
    toolsight search "late orders" --why shop:list_orders --demo
    """
    is_draft = bool(try_name) or try_description is not None
    if not (query or server_name or tool_names or tags):
        raise click.UsageError('Give a query, such as "late orders".')
    _check(query, tool_id, clients, ranker, is_draft=is_draft)
    if reword:
        if not query.strip() or tool_id or side_by_side or steps or len(clients) > 1:
            raise click.UsageError("--reword needs QUERY, and only a plain search takes it.")
        require_writer(chosen.model)
    request = SearchRequest(query, server_name, tool_names, tags, limit or 0)
    alone = clients[0] if len(clients) == 1 else None
    given = options_as(chosen, alone, clients)
    model = None if given.model == DEMO_MODEL else chosen_model(given.model, given)
    views: tuple[tuple[bool, Callable[[Workbench], Coroutine[Any, Any, bool | None] | None]], ...] = (
        (len(clients) > 1, lambda bench: _compare_clients(bench, query, clients, tool_id)),
        (is_draft, lambda bench: _show_draft(bench, tool_id, query, try_name, try_description, alone)),
        (bool(tool_id), lambda bench: _show_why(bench, request, tool_id, alone, model)),
        (side_by_side, lambda bench: _compare(bench, query)),
        (steps, lambda bench: _steps(bench, query)),
        (True, lambda bench: _search(bench, request, alone, reword=reword)),
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
    """Raise UsageError for options that exclude each other, ConfigError for a client without a search."""
    if clients and ranker:
        raise click.UsageError("Use either --client or --ranker, not both.")
    if is_draft and (not tool_id or not query or len(clients) > 1):
        raise click.UsageError(
            "--try-name and --try-description need QUERY and --why TOOL, with at most one --client."
        )
    for client in clients:
        # One that has no search to follow is an error before anything is started.
        client_ranker(client)


async def _search(bench: Workbench, request: SearchRequest, client: Client | None, *, reword: bool) -> None:
    reworded = await bench.reword(request.query) if reword else None
    report = bench.search(request if reworded is None else reworded.of(request))
    asked, lines = ({}, ()) if reworded is None else (to_builtins(reworded), (reworded.line,))
    market = bench.state.marketplace
    beyond = {} if market is None else {"marketplace": to_builtins(market)}
    data = {"answer": report.answer, **to_builtins(report), "metadata": metadata(report, bench.catalog.by_id)}
    show(data | asked | beyond | search_json(client), (*lines, *search_report(report), *further(market)))


def _compare(bench: Workbench, query: str) -> None:
    found = compare_rankers(bench.retrieval.rankers, query, RANKERS)
    show(to_builtins(found), rankers_report(found))


def _steps(bench: Workbench, query: str) -> None:
    retrieval = bench.retrieval
    found = by_step(retrieval.rankers, retrieval.ranker_name, query, retrieval.rules)
    show(to_builtins(found), steps_report(found))


async def _show_why(
    bench: Workbench, request: SearchRequest, tool_id: str, client: Client | None, model: ChatModel | None
) -> bool:
    """Print why a tool is found or not, and return whether it is. Raises ToolsightError for an unknown tool.

    The client is that by whose rule was searched. A `model` writes sentences for its description too.
    """
    retrieval = bench.retrieval
    pinned = bench.state.pinned if client is None else ()
    rules = replace(retrieval.rules, pinned=frozenset(pinned))
    asks = (request, bench.catalog.require(tool_id).id, rules)
    found = why_not(retrieval.rankers, retrieval.ranker_name, *asks)
    proposals: tuple[Proposal, ...] = ()
    if request.query.strip() and not request.tool_names:
        trial = ProposalTrial(
            retrieval.rankers,
            retrieval.ranker_name,
            asks[1],
            (request.query,),
            retrieval.given(),
            bench.accounting.meter.tool,
        )
        proposals = (trial if model is None else await trial.written_by(model)).all()
    tried = [
        {
            "sentence": one.sentence,
            "description": one.description,
            "effect": to_builtins(one.effect),
            "by": one.by,
        }
        for one in proposals
    ]
    data = to_builtins(found) | {"proposals": tried} | search_json(client)
    show(data, why_report(found, proposals, rules, len(retrieval.index.tools)))
    return not found.cut


def _show_draft(
    bench: Workbench, tool_id: str, query: str, name: str, description: str | None, client: Client | None
) -> None:
    """Print how a tool would rank with another name ("": its own) or description (None: its own).

    Nothing is sent to its server. Raises ConfigError for an unknown tool, or one that the client refuses.
    """
    tool = bench.catalog.require(tool_id)
    text = tool.description if description is None else description
    edited = replace(tool, name=name or tool.name, description=text)
    ranked = edited
    if client is not None:
        require_offered(client, edited)
        (ranked,) = as_sent(client, [edited])
    retrieval = bench.retrieval
    evalset = retrieval.evalset()
    trial = EditTrial.of(retrieval.rankers, ranked, tool.id, retrieval.ranker_name)
    effect = replace(trial.on(query, retrieval.rules), cases=trial.over(evalset.cases))
    was, now = map(bench.accounting.meter.tool, (tool, edited))
    counted = {"tokens": {"before": was, "after": now}}
    last = f"labelled requests: {evalset.name}, ranked by {effect.ranker}; draft only."
    lines = edit_report(effect, was, now, retrieval.rules.threshold)
    show(to_builtins(effect) | counted | search_json(client), [*lines, last])


class _Loaded(Struct, frozen=True):
    """What a client would load for a query, and the rank of the tool that is looked for, if it gets it."""

    client: Client
    results: tuple[str, ...]
    rank: int | None
    note: str


def _compare_clients(bench: Workbench, query: str, clients: Sequence[Client], tool_id: str) -> None:
    """Print what each client would load for a query, and where one tool stands.

    Raises ToolsightError for an unknown tool, ModelError if the query cannot be embedded.
    """
    wanted = bench.catalog.require(tool_id).id if tool_id else ""
    found = [_loaded(bench, query, client, wanted) for client in clients]
    columns = (
        Column("client", "client.name", NAME),
        Column("loads", lambda one: "\n".join(one.results) or "nothing"),
        *(
            [Column(wanted, lambda one: "refused" if one.rank is None else ordinal(one.rank))]
            if wanted
            else []
        ),
        Column(
            "confidence in its rule", lambda one: f"{one.client.confidence(Topic.SEARCH).told} {one.note}"
        ),
    )
    rest = "Each client ranks the tools Toolsight gets, without what that client refuses or cuts."
    show([_loaded_json(one) for one in found], [Table.of(columns, found), rest])


def _loaded(bench: Workbench, query: str, client: Client, wanted: str) -> _Loaded:
    """A search over what the client's model can get."""
    index = bench.retrieval.index
    rankers = CatalogRankers(index.updated(as_sent(client, index.tools)), bench.retrieval.settings)
    standings = standings_under(rankers, query, client_ranker(client))
    results = tuple(rankers.index.tools[place].id for place in standings.kept(client.search.results))
    place = rankers.index.position.get(wanted)
    rank = standings[place].rank if place is not None else None
    return _Loaded(client, results, rank, standings.ranking.note)


def _loaded_json(one: _Loaded) -> dict[str, Any]:
    search, confidence = one.client.search, one.client.confidence(Topic.SEARCH)
    return {
        "client": one.client.name,
        "ranker": search.ranker,
        "results": one.results,
        "rank": one.rank,
        "note": one.note,
        "confidence": confidence,
    }
