"""What an edit of a tool's texts would change; nothing is sent to its server."""

from dataclasses import asdict, replace
from typing import Any

import click

from inspector.cli.client.option import (
    as_client,
    options_as,
    require_offered,
    require_searches,
    search_as,
    search_json,
)
from inspector.cli.launch import run_headless
from inspector.cli.options import as_json, shared
from inspector.cli.render import say, say_json, say_table
from inspector.domain.client import Client
from inspector.domain.number import count
from inspector.domain.tool import Tool
from inspector.engine.agents.client.seen import as_sent
from inspector.engine.discovery.explanation.tool_edit import QueryEffect, edit_effect
from inspector.engine.workbench import Workbench


@click.command()
@click.argument("tool_id", metavar="TOOL")
@click.argument("query")
@click.option("--name", default="", help="The edited name.")
@click.option("--description", default=None, help="The edited description.")
@as_client
@shared
@as_json
def whatif(
    tool_id: str,
    query: str,
    name: str,
    description: str | None,
    client: Client | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Show how TOOL would rank for QUERY, and for the labelled requests, with other texts."""
    require_searches([client] if client is not None else [])

    async def work(bench: Workbench) -> None:
        tool = bench.catalog.require(tool_id)
        if client is not None:
            await search_as(bench, client, tool, quiet=as_json)
        text = tool.description if description is None else description
        edited = replace(tool, name=name or tool.name, description=text)
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
            say_json(
                {
                    **asdict(effect),
                    "tokens": {"before": _tokens(bench, tool), "after": _tokens(bench, edited)},
                    **({"as": search_json(client)} if client is not None else {}),
                }
            )
        else:
            _say_effect(bench, tool, edited, effect)
            say(
                f"{count(len(evalset.cases), 'request')} ({evalset.name}), ranked by {effect.ranker}; "
                "nothing was sent."
            )

    run_headless(options_as(client, **values), work)


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
            ("too alike", str(effect.collisions_before), str(effect.collisions_after)),
            ("nDCG@10", _mean(cases.ndcg_before), _mean(cases.ndcg_after)),
            ("hit@1", _mean(cases.hit_before), _mean(cases.hit_after)),
        ],
        right=frozenset({1, 2}),
    )
    for change in (*cases.better, *cases.worse):
        say(f"{change.before or 'missed'} -> {change.after or 'missed'}   {change.query}")


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
