"""`toolsight registry`: what is in it, of where, and how much of that can be searched by meaning."""

from pathlib import Path
from typing import Any

import click

from inspector.cli.composition import open_registry
from inspector.cli.options import as_json as json_option, database as database_option
from inspector.cli.registry.filling import embed, export, import_files, sync
from inspector.cli.registry.option import chosen, chosen_embedder, registry_options, sight_of
from inspector.cli.registry.reading import list_tools, search, show
from inspector.cli.render import say, say_json, say_table
from inspector.domain.number import count, percent

EMPTY = (
    "The registry is empty. `toolsight registry sync --config FILE` keeps the tools of servers, "
    "`toolsight registry import FILE` those of a stored answer to tools/list or of an export."
)
NOTHING_SEEN = "The registry has no tool that you may see."


@click.group(invoke_without_command=True)
@database_option
@click.pass_context
def registry(context: click.Context, database: Path | None) -> None:
    """Keep tools with their versions, whether or not their servers are connected, and search them by meaning.

    They are in the SQLite file of the sessions, or in PostgreSQL where TOOLSIGHT_DATABASE_URL names one.
    """
    if context.invoked_subcommand is None:
        context.invoke(status, database=database, values={})


@registry.command()
@registry_options
@json_option
def status(as_json: bool, **values: Any) -> None:
    """Say how many tools there are, of which origins, and how many are embedded."""
    options = chosen(**values)
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
    say(f"{count(total, 'tool')} of {count(len(origins), 'origin')}, {share}")
    if embedded < total and sight.is_whole:
        say("`toolsight registry embed` embeds the others: a search finds only what is embedded.")


for each in (import_files, export, sync, embed, list_tools, show, search):
    registry.add_command(each)
