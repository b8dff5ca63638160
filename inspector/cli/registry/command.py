"""`toolsight registry`: what is in it, of where, and how much of that can be searched by meaning."""

from typing import Any

import click

from inspector.cli.group import CommandGroup
from inspector.cli.options import Options, as_json as json_option
from inspector.cli.registry.filling import embed
from inspector.cli.registry.opening import open_registry
from inspector.cli.registry.option import chosen, chosen_embedder, registry_options, sight_of
from inspector.cli.render import say, say_json, say_table
from inspector.core.number import count, percent

EMPTY = (
    "The registry is empty. Import the tools of servers with `toolsight registry import --config FILE`, or a "
    "stored tools/list answer or an export with `toolsight registry import FILE`."
)
NOTHING_SEEN = "The registry has no tools that you may see."


_COMMANDS = {
    "import": "registry.filling:import_tools",
    "show": "registry.reading",
    "search": "registry.reading",
    "export": "registry.filling",
}


@click.group(cls=CommandGroup, modules=_COMMANDS, invoke_without_command=True)
@click.option("--embed", "embeds", is_flag=True, help="Embed the tools that have no vector yet.")
@registry_options
@json_option
@click.pass_context
def registry(context: click.Context, /, embeds: bool, as_json: bool, **values: Any) -> None:
    """Store tools with their versions and search by meaning.

    Their servers do not have to be connected. The registry is stored in the SQLite file with the sessions, or
    in PostgreSQL if TOOLSIGHT_DATABASE_URL is set.

    \b
    toolsight registry import --config .mcp.json
    toolsight registry search "late orders"
    """
    if context.invoked_subcommand is not None:
        return
    options = chosen(**values)
    if embeds:
        embed(options, as_json=as_json)
    else:
        _say_status(options, as_json=as_json)


def _say_status(options: Options, *, as_json: bool) -> None:
    """Print how many tools there are, of which origins, and how many are embedded."""
    kept, sight = open_registry(options), sight_of(options)
    embedder = chosen_embedder(options)
    total, origins = kept.count(sight), kept.origins(sight)
    embedded = kept.embedded(embedder.name, sight) if embedder is not None else 0
    if as_json:
        model = embedder.name if embedder is not None else ""
        say_json({"tools": total, "origins": origins, "model": model, "embedded": embedded})
        return
    if not total:
        say(EMPTY if sight.is_whole else NOTHING_SEEN)
        return
    rows = [(origin, f"{number:,}") for origin, number in origins.items()]
    say_table(("origin", "tools"), rows, right=frozenset({1}))
    share = f"{count(embedded, 'of them', 'of them')} embedded ({percent(embedded / total)})"
    say(f"{count(total, 'tool')} from {count(len(origins), 'origin')}, {share}")
    if embedded < total and sight.is_whole:
        say("Searches find only embedded tools. Embed the rest with `toolsight registry --embed`.")
