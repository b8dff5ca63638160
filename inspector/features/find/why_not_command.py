"""Why a search finds a tool or not, what edits of it would change, and what clients would load."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspector.cli.client_option import client_ranker, require_offered, search_json
from inspector.cli.table import show
from inspector.clients.client import Client, Topic
from inspector.clients.seen import as_sent
from inspector.core.number import count, ordinal, signed
from inspector.core.ports import ChatModel
from inspector.core.ranking import SearchRequest
from inspector.core.report import NAME, NUMBER, THREE, Column, Table, selected
from inspector.features.check.finding import Proposal
from inspector.features.check.proposal import ProposalTrial, is_first
from inspector.search.answer.answer_text import confidence_beside
from inspector.search.answer.standing import standings_under
from inspector.search.answer.tool_edit import QueryEffect, edit_effect
from inspector.search.answer.why_not import WhyNot, why_not
from inspector.search.ranker.catalog_rankers import CatalogRankers
from inspector.session.workbench import Workbench

REQUEST = "request{query server_name tool_names tags limit min_similarity server_query}"
SCORE = "score{tool_id value parts{signal term value inputs}}"
STANDING = "{rank value kept}"
_WHY = (
    f"tool_id ranker {REQUEST} standing{STANDING} {SCORE} cut rival{{tool_id standing{STANDING} {SCORE}}} "
    "having lacking ledger{signal term mine rival} advice answer probability threshold note"
)
_PROPOSAL = "sentence description effects{ranker ranks confidence tokens losers{tool_id query}}"
_LEDGER = (
    Column("", "signal"),
    Column("term"),
    Column("this", "mine", THREE),
    Column("that", "rival", THREE),
    Column("difference", lambda line: signed(line.difference, 3), NUMBER),
)
_PROPOSALS = (
    Column("rank", lambda one: ordinal(one.effects[0].reached), NUMBER),
    Column("tokens", lambda one: f"{one.effects[0].tokens:+,}", NUMBER),
    Column("where", lambda one: "first" if is_first(one) else "last"),
    Column("sentence"),
)


async def show_why(
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
    data = selected(found, _WHY) | {"proposals": selected(proposals, _PROPOSAL)} | search_json(client)
    show(data, _why(found, proposals))
    return not found.cut


def _why(why: WhyNot, proposals: Sequence[Proposal]) -> Iterator[str | Table]:
    standing = f"rank {why.standing.rank}   score {why.score.value:.3f}"
    yield f"{why.tool_id}   {standing}   {why.cut or 'is a result'}   ({why.ranker})"
    if confidence := confidence_beside(why.probability, why.threshold):
        yield f"{why.answer}   {confidence}"
    if why.rival is not None:
        yield f"compared with {why.rival.tool_id}   rank {why.rival.standing.rank}"
        table = Table.of(_LEDGER, why.ledger)
        yield replace(table, rows=(*table.rows, ("", "score", "", "", signed(why.difference, 3))))
    if why.lacking:
        yield f"missing words: {', '.join(why.lacking)}"
    yield from (f"- {sentence}" for sentence in why.advice)
    if why.note:
        yield why.note
    if proposals:
        yield "Sentences for its description, with which no other tool loses a request (draft only):"
        yield Table.of(_PROPOSALS, proposals)


@dataclass(frozen=True, slots=True)
class Draft:
    """Another name ("" for its own) and another description (None for its own) of a tool."""

    name: str = ""
    description: str | None = None


_MOVED = f"before{STANDING} after{STANDING}"
_CASE = "{id query before after}"
_EFFECT = (
    f"original_id edited_id query ranker {_MOVED} around{{tool_id {_MOVED}}} "
    f"cases{{measured ndcg_before ndcg_after hit_before hit_after better{_CASE} worse{_CASE}}} "
    "collisions_before collisions_after"
)


def show_draft(bench: Workbench, tool_id: str, query: str, draft: Draft, client: Client | None) -> None:
    """Print how a tool would rank for a query, and for the labelled requests, with the draft's texts.

    Nothing is sent to its server. Raises ConfigError for an unknown tool, or one that the client refuses.
    """
    tool = bench.catalog.require(tool_id)
    text = tool.description if draft.description is None else draft.description
    edited = replace(tool, name=draft.name or tool.name, description=text)
    ranked = edited
    if client is not None:
        require_offered(client, edited)
        (ranked,) = as_sent(client, [edited])
    retrieval = bench.retrieval
    evalset = retrieval.evalset()
    effect = edit_effect(
        retrieval.rankers,
        ranked,
        tool.id,
        query=query,
        evalset_cases=evalset.cases,
        ranker_name=retrieval.ranker_name,
    )
    tokens = tuple(map(bench.accounting.meter.tool, (tool, edited)))
    counted = {"tokens": dict(zip(("before", "after"), tokens, strict=True))}
    labelled = f"{count(len(evalset.cases), 'labelled request')} ({evalset.name})"
    last = f"{labelled}, ranked by {effect.ranker}; draft only."
    show(selected(effect, _EFFECT) | counted | search_json(client), [*_effect(effect, *tokens), last])


def _effect(effect: QueryEffect, was: int, now: int) -> Iterator[str | Table]:
    before, after, cases = effect.before, effect.after, effect.cases
    rows = (
        ("rank", str(before.rank), str(after.rank)),
        ("score", f"{before.value:.3f}", f"{after.value:.3f}"),
        ("tokens", str(was), str(now)),
        ("overlaps", str(effect.collisions_before), str(effect.collisions_after)),
        ("nDCG@10", _mean(cases.ndcg_before), _mean(cases.ndcg_after)),
        ("hit@1", _mean(cases.hit_before), _mean(cases.hit_after)),
    )
    yield Table("", ("", "before", "after"), rows, frozenset({1, 2}))
    for change in (*cases.better, *cases.worse):
        yield f"{change.before or 'missed'} -> {change.after or 'missed'}   {change.query}"


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What a client would load for a query, and the rank of the tool that is looked for, if it gets it."""

    client: Client
    results: tuple[str, ...]
    rank: int | None
    note: str


def compare_clients(bench: Workbench, query: str, clients: Sequence[Client], tool_id: str) -> None:
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
    known: dict[str, Any] = selected(one, "client:client.name ranker:client.search.ranker results rank note")
    return known | {"confidence": one.client.confidence(Topic.SEARCH)}
