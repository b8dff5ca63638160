"""`toolsight config`: settings and keys."""

import click

from inspector.cli.group import CommandGroup


@click.group(cls=CommandGroup, modules={"settings": "settings", "keys": "models"})
def config() -> None:
    """List or check the settings, profiles and keys.

    \b
    toolsight config settings --profiles
    """
