"""`--client CLIENT`: the option with which commands look at tools as a real client does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from inspector.cli.options import Options, options
from inspector.cli.table import say
from inspector.clients.client import NAMES, Client, Confidence, Topic, find_client
from inspector.clients.seen import as_sent, see
from inspector.config.configuration import setting_values
from inspector.core.error import ConfigError
from inspector.core.tool import Tool
from inspector.session.workbench import Workbench


def _client(_context: click.Context, _parameter: click.Parameter, name: str) -> Client | None:
    return find_client(name) if name else None


def _clients(
    _context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]
) -> tuple[Client, ...]:
    return tuple(map(find_client, dict.fromkeys(names)))


_CHOICE = f"one of {', '.join(NAMES)}"
as_client = click.option(
    "--client",
    "client",
    default="",
    metavar="CLIENT",
    callback=_client,
    help=f"Behave like this client: {_CHOICE}; see `toolsight clients`.",
)
as_clients = click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="CLIENT",
    callback=_clients,
    help="Behave like this client; see `toolsight clients`. Repeat to compare clients.",
)


def client_ranker(client: Client) -> str:
    """The ranker that follows a client's rule. Raises ConfigError if it has none, with the reason."""
    if not client.search.ranker:
        hint = "`toolsight clients` lists the clients whose search rule is known."
        raise ConfigError(f"cannot search as {client.title}: {client.search.none}", hint=hint)
    return client.search.ranker


def require_searches(clients: Sequence[Client]) -> None:
    """Raises ConfigError for a client that has no search to follow: before anything is started."""
    for client in clients:
        client_ranker(client)


async def search_as(
    bench: Workbench, client: Client, tool: Tool | None = None, *, quiet: bool = False
) -> None:
    """Search as the client from now on: its ranker, as many results, over what its model can get.

    It prints by whose rule is searched, and how sure that rule is, unless it is `quiet`. Raises ConfigError,
    also if the client refuses the `tool` that is looked for.
    """
    if tool is not None:
        require_offered(client, tool)
    bench.change_setting("discovery.ranker", client_ranker(client))
    bench.change_setting("discovery.max_search_results", client.search.results)
    index = bench.retrieval.index
    bench.retrieval.update(as_sent(client, index.tools), index.summaries, index.instructions)
    await bench.retrieval.settled()
    if not quiet:
        say_search_as(client)


def options_as(client: Client | None, **values: Any) -> Options:
    """A command's shared options; servers get what the client declares, unless `--set` says otherwise."""
    chosen = options(**values)
    if client is None:
        return chosen
    return replace(chosen, implied=setting_values(client.declares))


def how_sure(client: Client, topic: Topic) -> str:
    """How sure the rules of a topic are, for people."""
    confidence = client.confidence(topic)
    sure = confidence in (Confidence.DOCUMENTED, Confidence.OPEN_SOURCE)
    return f"{confidence}" if sure else f"{confidence}, unverified"


def say_search_as(client: Client, *, err: bool = False) -> None:
    """Print by whose rule was searched, and how sure that rule is."""
    sure = how_sure(client, Topic.SEARCH)
    rule = f"{client.search.ranker}, {client.search.results} results ({sure})"
    say(f"searching as {client.title}: {rule}", err=err)


def require_offered(client: Client, tool: Tool) -> None:
    """Raises ConfigError if the client's model never gets a tool, with the reason."""
    refused = see(client, tool).refused
    if refused:
        hint = f"See what it gets with `toolsight tools {tool.id} --client {client.name}`."
        raise ConfigError(f"{client.title} refuses {tool.id}: {refused}", hint=hint)


def search_json(client: Client) -> dict[str, str]:
    """By whose rule was searched, and how sure that rule is, for programs."""
    return {"client": client.name, "confidence": client.confidence(Topic.SEARCH)}
