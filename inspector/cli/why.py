"""Why a search finds a tool or not, what edits of it would change, and what clients would load."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from inspector.cli.clients import (
    client_ranker,
    how_sure,
    require_offered,
    search_json,
)
from inspector.cli.table import say, say_json, say_table
from inspector.clients.client import Client, Topic
from inspector.clients.seen import as_sent
from inspector.core.number import count, ordinal, signed
from inspector.core.ranking import SearchRequest
from inspector.core.tool import Tool
from inspector.search.answer_text import confidence_beside
from inspector.search.explanation.addition import Addition, AdditionTrial
from inspector.search.explanation.standing import standings_under
from inspector.search.explanation.tool_edit import QueryEffect, edit_effect
from inspector.search.explanation.why_not import WhyNot, why_not
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


def say_why(
    bench: Workbench,
    request: SearchRequest,
    tool_id: str,
    searched_as: Mapping[str, Any],
    *,
    as_json: bool,
) -> bool:
    """Print why a tool is found or not, and return whether it is. Raises ToolsightError for an unknown tool.

    `searched_as` says for programs as which client it was searched.
    """
    retrieval = bench.retrieval
    rules = replace(retrieval.rules, pinned=frozenset(bench.state.pinned))
    asks = (request, bench.catalog.require(tool_id).id, rules)
    found = why_not(retrieval.rankers, retrieval.ranker_name, *asks)
    trial = AdditionTrial(
        *(retrieval.rankers, retrieval.ranker_name, *asks, bench.accounting.meter.tool),
        cases=retrieval.given,
    )
    additions = trial.all()
    if as_json:
        say_json(asdict(found) | {"additions": [asdict(one) for one in additions]} | dict(searched_as))
    else:
        _say_why(found)
        _say_additions(additions)
    return not found.cut


def _say_why(why: WhyNot) -> None:
    standing = f"rank {why.standing.rank}   score {why.score.value:.3f}"
    say(f"{why.tool_id}   {standing}   {why.cut or 'is a result'}   ({why.ranker})")
    if confidence := confidence_beside(why.probability, why.threshold):
        say(f"{why.answer}   {confidence}")
    if why.rival is not None:
        say(f"compared with {why.rival.tool_id}   rank {why.rival.standing.rank}")
        rows = [
            (
                str(line.signal),
                line.term,
                f"{line.mine:.3f}",
                f"{line.rival:.3f}",
                signed(line.difference, 3),
            )
            for line in why.ledger
        ]
        rows.append(("", "score", "", "", signed(why.difference, 3)))
        say_table(("", "term", "this", "that", "difference"), rows, right=frozenset({2, 3, 4}))
    if why.lacking:
        say(f"missing words: {', '.join(why.lacking)}")
    for sentence in why.advice:
        say(f"- {sentence}")
    if why.note:
        say(why.note)


def _say_additions(additions: Sequence[Addition]) -> None:
    """What was tried and would bring the tool further, smallest first."""
    if not additions:
        return
    say("Additions to its description that would help (draft only):")
    rows = [
        (
            ordinal(one.standing.rank),
            "a result" if one.cut is None else one.cut,
            f"{one.tokens:+,}",
            one.place,
            one.text,
        )
        for one in additions
    ]
    say_table(("rank", "outcome", "tokens", "where", "text"), rows, right=frozenset({0, 2}))
    for one in additions:
        for beaten in one.overtaken:
            say(f"! with “{one.text}”, it outranks {beaten.tool_id} for “{beaten.query}”")


@dataclass(frozen=True, slots=True)
class Draft:
    """Another name ("" for its own) and another description (None for its own) of a tool."""

    name: str = ""
    description: str | None = None


def say_draft(
    bench: Workbench,
    tool_id: str,
    query: str,
    draft: Draft,
    client: Client | None = None,
    *,
    as_json: bool,
) -> None:
    """Print how a tool would rank for a query, and for the labelled requests, with the draft's texts.

    Raises ConfigError for an unknown tool, and if the client refuses the draft.
    """
    tool = bench.catalog.require(tool_id)
    text = tool.description if draft.description is None else draft.description
    edited = replace(tool, name=draft.name or tool.name, description=text)
    ranked = edited
    if client is not None:
        require_offered(client, edited)
        (ranked,) = as_sent(client, [edited])
    evalset = bench.retrieval.evalset()
    effect = edit_effect(
        bench.retrieval.rankers,
        ranked,
        tool.id,
        query=query,
        evalset_cases=evalset.cases,
        ranker_name=bench.retrieval.ranker_name,
    )
    if as_json:
        tokens = {"before": _tokens(bench, tool), "after": _tokens(bench, edited)}
        searched = {"as": search_json(client)} if client is not None else {}
        say_json({**asdict(effect), "tokens": tokens, **searched})
        return
    _say_effect(bench, tool, edited, effect)
    labelled = f"{count(len(evalset.cases), 'labelled request')} ({evalset.name})"
    say(f"{labelled}, ranked by {effect.ranker}; draft only.")


def _tokens(bench: Workbench, tool: Tool) -> int:
    return bench.accounting.meter.tool(tool)


def _say_effect(bench: Workbench, tool: Tool, edited: Tool, effect: QueryEffect) -> None:
    before, after, cases = effect.before, effect.after, effect.cases
    say_table(
        ("", "before", "after"),
        [
            ("rank", str(before.rank), str(after.rank)),
            ("score", f"{before.value:.3f}", f"{after.value:.3f}"),
            ("tokens", str(_tokens(bench, tool)), str(_tokens(bench, edited))),
            ("overlaps", str(effect.collisions_before), str(effect.collisions_after)),
            ("nDCG@10", _mean(cases.ndcg_before), _mean(cases.ndcg_after)),
            ("hit@1", _mean(cases.hit_before), _mean(cases.hit_after)),
        ],
        right=frozenset({1, 2}),
    )
    for change in (*cases.better, *cases.worse):
        say(f"{change.before or 'missed'} -> {change.after or 'missed'}   {change.query}")


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
