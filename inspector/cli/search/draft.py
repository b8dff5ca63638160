"""What an edit of a tool's texts would change; nothing is sent to its server."""

from dataclasses import asdict, dataclass, replace

from inspector.cli.client.option import require_offered, search_json
from inspector.cli.render import say, say_json, say_table
from inspector.domain.client import Client
from inspector.domain.number import count
from inspector.domain.tool import Tool
from inspector.engine.agents.client.seen import as_sent
from inspector.engine.discovery.explanation.tool_edit import QueryEffect, edit_effect
from inspector.engine.workbench import Workbench


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
