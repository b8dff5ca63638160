"""Prints what is known of real clients, each fact with its source."""

from collections.abc import Iterator
from dataclasses import asdict

import click

from inspector.cli.client.option import how_sure
from inspector.cli.options import as_json
from inspector.cli.table import say, say_json, say_table
from inspector.clients.client import Client, Fact, Topic, all_clients, find_client

_INTRO = """\
# Real clients

What Toolsight knows about the clients that `--client` accepts, and how certain it is. Every fact has a
public source and a date: the day it was published or committed if known, otherwise the day it was looked up.
Clients change fast, so check the date first. A rule that Toolsight follows is only as certain as the weakest
fact behind it; remarks support no rule. `toolsight clients --markdown` prints this page from the files in
`inspector/clients/known/`, one per client.
"""


@click.command()
@click.argument("name", default="", metavar="[CLIENT]")
@click.option("--markdown", is_flag=True, help="Print everything as Markdown.")
@as_json
def clients(name: str, *, markdown: bool, as_json: bool) -> None:
    """Show how real MCP clients handle tools, with sources.

    \b
    toolsight clients codex
    """
    chosen = (find_client(name),) if name else all_clients()
    if as_json:
        say_json([{**asdict(one), "confidence": _confidence(one)} for one in chosen])
    elif markdown:
        for line in _page(chosen):
            say(line)
    elif name:
        _say_client(chosen[0])
    else:
        _say_list(chosen)


def _confidence(client: Client) -> dict[str, str]:
    return {topic: client.confidence(topic) for topic in Topic}


def _say_list(chosen: tuple[Client, ...]) -> None:
    rows = [
        (
            one.name,
            one.listing.before,
            one.search.ranker or "–",
            str(one.search.results) if one.search.ranker else "",
            how_sure(one, Topic.SEARCH) if one.search.ranker else one.search.none,
        )
        for one in chosen
    ]
    headers = ("client", "listed first", "searches by", "results", "confidence")
    say_table(headers, rows, right=frozenset({3}), whole=frozenset({0, 2}))
    say("`toolsight clients CLIENT` shows facts, `toolsight tools --client CLIENT` its view of your tools.")


def _say_client(client: Client) -> None:
    say(f"{client.title}: {client.about}")
    for topic in Topic:
        say(f"\n{topic}   {how_sure(client, topic)}")
        for fact in client.facts:
            if fact.topic is topic:
                say(f"  - {fact.says}")
                say(f"    {_behind(fact)}")


def _behind(fact: Fact) -> str:
    """The confidence, the source and the date of a fact."""
    told = [str(fact.confidence) + (", a remark" if fact.remark else "")]
    told += [f"{fact.source} ({fact.dated} {fact.date})"] if fact.source else []
    return "; ".join(told)


def _page(chosen: tuple[Client, ...]) -> Iterator[str]:
    """The facts as Markdown."""
    yield _INTRO
    for client in chosen:
        yield f"## {client.title} (`{client.name}`)\n"
        yield f"{client.about}.\n"
        yield "| topic | what is known | confidence | source |"
        yield "|---|---|---|---|"
        for fact in sorted(client.facts, key=lambda fact: list(Topic).index(fact.topic)):
            source = f"[{fact.dated} {fact.date}]({fact.source})" if fact.source else "–"
            confidence = f"{fact.confidence}{' (remark)' if fact.remark else ''}"
            yield f"| {fact.topic} | {fact.says.replace('|', chr(92) + '|')} | {confidence} | {source} |"
        yield ""
