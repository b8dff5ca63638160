"""The database of a subcommand of `sessions`, whose option may also stand before the subcommand's name."""

from pathlib import Path

import click

from inspector.cli.options import Options


def database_options(database: Path | None) -> Options:
    """The options that say which database is meant."""
    above = click.get_current_context().parent
    given = above.params.get("database") if above is not None else None
    return Options(database=database or given)
