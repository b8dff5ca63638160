"""`--client`: a command behaves like a real client; its searches follow that client's rule."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from inspector.cli.options import Options
from inspector.cli.table import is_json, say
from inspector.clients.client import NAMES, Client, Topic, find_client
from inspector.clients.seen import as_sent, see
from inspector.config.configuration import setting_values
from inspector.core.error import ConfigError, command
from inspector.core.tool import Tool
from inspector.search.ranker.ranker_list import INFO
from inspector.session.workbench import Workbench

_CHOICE = f"one of {', '.join(NAMES)}, or a file of `toolsight clients measure CLIENT`"
as_client = click.option(
    "--client",
    "client",
    default="",
    metavar="CLIENT",
    callback=lambda _context, _parameter, name: find_client(name) if name else None,
    help=f"Behave like this client: {_CHOICE}; see `toolsight clients`.",
)
as_clients = click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="CLIENT",
    callback=lambda _context, _parameter, names: tuple(map(find_client, dict.fromkeys(names))),
    help="Behave like this client; see `toolsight clients`. Repeat to compare clients.",
)


def client_ranker(client: Client) -> str:
    """The ranker that follows a client's rule. Raises ConfigError if it has none, with the reason."""
    if not client.search.ranker:
        hint = "`toolsight clients` lists the clients whose search rule is known."
        raise ConfigError(f"cannot search as {client.title}: {client.search.none}", hint=hint)
    return client.search.ranker


async def search_as(bench: Workbench, client: Client, tool: Tool | None = None) -> None:
    """Search as the client from now on: its ranker, as many results, over what its model can get.

    It prints by whose rule is searched, and how sure that rule is, but not for programs. Raises ConfigError,
    also if the client refuses the `tool` that is looked for.
    """
    if tool is not None:
        require_offered(client, tool)
    bench.change_setting("discovery.ranker", client_ranker(client))
    bench.change_setting("discovery.max_search_results", client.search.results)
    index = bench.retrieval.index
    bench.retrieval.update(as_sent(client, index.tools), index.summaries, index.instructions)
    await bench.retrieval.settled()
    if not is_json():
        say_search_as(client)


def options_as(options: Options, client: Client | None, searching: Sequence[Client] = ()) -> Options:
    """The options with what the client declares, unless `--set` says otherwise."""
    return replace(options, implied=implied_by(client, searching))


def implied_by(client: Client | None, searching: Sequence[Client]) -> dict[str, Any]:
    """The settings by path that clients bring: what one declares, and no vectors for searches without."""
    implied = setting_values(client.declares) if client is not None else {}
    if searching and not any(INFO[client_ranker(one)].uses_vectors for one in searching):
        implied["discovery.embedding_model"] = "none"
    return implied


def say_search_as(client: Client, *, err: bool = False) -> None:
    """Print by whose rule was searched, and how sure that rule is."""
    sure = client.confidence(Topic.SEARCH).told
    rule = f"{client.search.ranker}, {client.search.results} results ({sure})"
    say(f"searching as {client.title}: {rule}", err=err)


def require_offered(client: Client, tool: Tool) -> None:
    """Raises ConfigError if no search of the client finds a tool, with the reason."""
    seen = see(client, tool)
    hint = f"See what it gets with {command('tools', tool.id, '--client', client.name)}."
    if seen.refused:
        raise ConfigError(f"{client.title} refuses {tool.id}: {seen.refused}", hint=hint)
    if seen.bound:
        raise ConfigError(f"{client.title} loads {tool.id} at once and never searches for it", hint=hint)


def search_json(client: Client | None) -> dict[str, Any]:
    """By whose rule was searched, and how sure that rule is, for programs; nothing without a client."""
    if client is None:
        return {}
    return {"as": {"client": client.name, "confidence": client.confidence(Topic.SEARCH)}}
