"""The same query under several clients, side by side."""

from collections.abc import Sequence

from inspector.cli.client.option import client_ranker, how_sure
from inspector.cli.table import say, say_json, say_table
from inspector.clients.client import Client, Topic
from inspector.clients.seen import as_sent
from inspector.core.number import ordinal
from inspector.search.explanation.standing import standings_under
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.session.workbench import Workbench

_NOTHING = "nothing"


def compare_clients(
    bench: Workbench, query: str, clients: Sequence[Client], tool_id: str, *, as_json: bool
) -> None:
    """Print what each client would load for a query, and where one tool stands.

    Raises ToolsightError for an unknown tool, ModelError if the query cannot be embedded.
    """
    wanted = bench.catalog.require(tool_id).id if tool_id else ""
    found = []
    for client in clients:
        rankers = _rankers(bench, client)
        standings = standings_under(rankers, query, client_ranker(client))
        results = [rankers.index.tools[position].id for position in standings.kept(client.search.results)]
        place = rankers.index.position.get(wanted)
        rank = standings[place].rank if place is not None else None
        found.append((client, results, rank, standings.ranking.note))
    if as_json:
        say_json(
            [
                {
                    "client": client.name,
                    "confidence": client.confidence(Topic.SEARCH),
                    "ranker": client.search.ranker,
                    "results": results,
                    "rank": rank,
                    "note": note,
                }
                for client, results, rank, note in found
            ]
        )
        return
    where = (wanted,) if wanted else ()
    rows = [
        (
            client.name,
            "\n".join(results) or _NOTHING,
            *((ordinal(rank) if rank is not None else "refused",) if wanted else ()),
            " ".join((how_sure(client, Topic.SEARCH), note)),
        )
        for client, results, rank, note in found
    ]
    say_table(
        ("client", "loads", *where, "confidence in its rule"), rows, right=frozenset(), whole=frozenset({0})
    )
    say("Each client ranks the tools Toolsight gets, without what that client refuses or cuts.")


def _rankers(bench: Workbench, client: Client) -> CatalogRankers:
    """The rankers over what the client's model can get."""
    index = bench.retrieval.index
    return CatalogRankers(index.updated(as_sent(client, index.tools)), bench.retrieval.settings)
