"""`toolsight doctor SERVER`: the walk from a client's file to its model."""

import sys

import click

from inspector.access.restriction import OpenedConfiguration
from inspector.cli.configuration import as_seen, read_configuration
from inspector.cli.launch import as_client, headless, options_as, search_as
from inspector.cli.options import COMMON, Options, as_json, require_nobody, session_command
from inspector.cli.run import Exit, run
from inspector.cli.table import show
from inspector.clients.client import Client
from inspector.config.client import ClientFile
from inspector.core.error import ConfigError
from inspector.core.report import Facts
from inspector.core.text import did_you_mean
from inspector.features.setup.walk import (
    LOST,
    Step,
    files_of,
    in_files,
    own_entry,
    session_steps,
    step_facts,
    until_lost,
)


@session_command(takes=COMMON)
@click.argument("name", default="", metavar="[SERVER]")
@as_client
@as_json
def server(name: str, client: Client | None, chosen: Options) -> None:
    """Walk from a client's file to its model.

    Without --client, Toolsight itself is the client. The exit code is 1 if a step loses something.

    \b
    toolsight doctor server shop --client codex
    """
    walk_to(name, client, chosen)


def walk_to(name: str, client: Client | None, chosen: Options) -> None:
    """Print the steps of the walk; ends with Exit.FAILED if one loses something. Raises ConfigError."""
    require_nobody(chosen)
    steps = until_lost(run(_walked(name, client, chosen)))
    show(steps, [Facts(tuple(fact for fact in step_facts(steps) if fact.text))])
    if steps[-1].sign == LOST:
        sys.exit(Exit.FAILED)


async def _walked(name: str, client: Client | None, chosen: Options) -> list[Step]:
    opened: OpenedConfiguration | None
    if client is None or chosen.server or chosen.demo:
        opened = read_configuration(chosen)
        known = [*(spec.name for spec in opened.seen.servers), *opened.seen.disabled]
        name = known[0] if not name and len(known) == 1 else name
        if name not in known:
            raise ConfigError(f"there is no server '{name}'", hint=did_you_mean("Servers", name, known))
        before = own_entry(opened.seen, name, client)
    else:
        files = [ClientFile(client.title, chosen.config, "")] if chosen.config else files_of(client)
        found, before = in_files(client, name, files)
        opened = as_seen(found, chosen) if found is not None else None
    if opened is None or any(one.sign == LOST for one in before):
        return before
    follows = [client] if client is not None and client.search.ranker else []
    options = options_as(chosen, client, follows)
    async with headless(options, opened.only(name), tell_problems=False) as bench:
        for one in follows:
            await search_as(bench, one)
        documents = await bench.documents(name)
        return [*before, *until_lost(session_steps(bench, name, client, documents))]
