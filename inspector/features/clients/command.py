"""`toolsight clients`: what is known of real clients, with its sources."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import click

from inspector.cli.options import CommandGroup, as_json
from inspector.cli.table import is_json, say_report, show
from inspector.clients.client import Client, Topic, all_clients, find_client
from inspector.core.ports import SystemClock
from inspector.core.report import NAME, NUMBER, Column, Table, selected
from inspector.session.client_facts import confidence_json

_INTRO = """\
# Real clients

What Toolsight knows about the clients that `--client` accepts, and how certain it is. Every fact has a
public source and a date: the day it was published or committed if known, otherwise the day it was looked up.
A measured one, of `toolsight clients measure CLIENT`, has the request that shows it.
Clients change fast: `toolsight clients` and the app mark facts older than 60 days as stale. A rule that
Toolsight follows is only as certain as the weakest fact behind it; remarks support no rule. `toolsight
clients --markdown` prints this page from the files in `inspector/clients/known/`, one per client.
"""


class _Clients(CommandGroup):
    """What is no command is the name of a client to show."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        return "CLIENT", show_client, args


@click.group(cls=_Clients, invoke_without_command=True)
@click.option("--markdown", is_flag=True, help="Print everything as Markdown.")
@as_json
@click.pass_context
def clients(context: click.Context, /, *, markdown: bool) -> None:
    """Show how real MCP clients handle tools, with sources.

    \b
    toolsight clients codex                what is known of it; the file of a measured client as well
    toolsight clients measure claude-code  what yours does
    """
    if context.invoked_subcommand is not None:
        return
    if markdown and not is_json():
        say_report(_page())
    else:
        show(list(map(_client_json, all_clients())), _list())


@click.command()
@click.argument("name", metavar="CLIENT")
@as_json
def show_client(name: str) -> None:
    """Show what is known of one client."""
    client = find_client(name)
    show([_client_json(client)], _client_report(client))


def today() -> date:
    """The day by which a fact is stale."""
    return datetime.fromtimestamp(SystemClock().now(), UTC).date()


def _client_json(client: Client) -> dict[str, Any]:
    facts = [selected(fact, _FACT) | {"stale": fact.is_stale(today())} for fact in client.facts]
    known: dict[str, Any] = selected(client, _CLIENT)
    return known | {"facts": facts, "confidence": confidence_json(client)}


_DECLARES = "declares{roots roots_changes forms links sampling tasks name version}"
_SEARCH = "search{ranker results none}"
_CLIENT = (
    "name title about names{form replaced server_replaced server_lower server_limit limit over} "
    "texts{description bound instructions mark changed_by first_line block} "
    "schemas{top at_top keeps largest} "
    f"listing{{before instructions most always hides_app_tools}} {_SEARCH} {_DECLARES} "
    "follows_changes protocol"
)
_FACT = "topic says confidence source date dated version platform model request remark"
_CLIENTS = (
    Column("client", "name", NAME),
    Column("listed first", "listing.before"),
    Column("searches by", lambda one: one.search.ranker or None, NAME),
    Column("results", lambda one: one.search.results if one.search.ranker else "", NUMBER),
    Column("confidence", lambda one: one.confidence(Topic.SEARCH).told if one.search.ranker else ""),
)


def _list() -> Iterator[str | Table]:
    stale = Column("stale facts", lambda one: len(one.stale(today())) or "", NUMBER)
    yield Table.of((*_CLIENTS, stale), all_clients())
    yield "`toolsight clients CLIENT` shows facts, `toolsight tools --client CLIENT` its view of your tools."


def _client_report(client: Client) -> Iterator[str]:
    yield f"{client.title}: {client.about}"
    for topic in Topic:
        yield f"\n{topic}   {client.confidence(topic).told}"
        for fact in client.facts:
            if fact.topic is topic:
                yield f"  - {fact.says}"
                yield f"    {'; '.join(filter(None, (fact.evidence(today()), fact.source)))}"


def _page() -> Iterator[str]:
    """The facts as Markdown."""
    yield _INTRO
    for client in all_clients():
        yield f"## {client.title} (`{client.name}`)\n"
        yield f"{client.about}.\n"
        yield "| topic | what is known | confidence | seen with | source |"
        yield "|---|---|---|---|---|"
        for fact in sorted(client.facts, key=lambda fact: list(Topic).index(fact.topic)):
            source = f"{fact.dated} {fact.date}".strip() or "–"
            source = (
                f"[{source}]({fact.source})"
                if fact.source
                else ": ".join(filter(None, (source, fact.request)))
            )
            confidence = f"{fact.confidence}{' (remark)' if fact.remark else ''}"
            says = fact.says.replace("|", r"\|")
            yield f"| {fact.topic} | {says} | {confidence} | {fact.seen_with} | {source} |"
        yield ""
