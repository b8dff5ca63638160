"""`toolsight config`: settings and keys."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from inspector.cli.group import CommandGroup
from inspector.cli.options import as_json
from inspector.cli.table import say, say_json, say_table


@click.group(cls=CommandGroup, modules={"settings": "settings", "keys": "config"})
def config() -> None:
    """List or check the settings, profiles and keys.

    \b
    toolsight config settings --profiles
    """


def keys_path() -> Path:
    """Where the file of keys is looked for."""
    import platformdirs

    return platformdirs.user_config_path("toolsight") / "keys.json"


def read_keys() -> Mapping[str, Any]:
    """Return a person's own keys by binding id; empty without a file. Raises ConfigError."""
    path = keys_path()
    if not path.exists():
        return {}
    from inspector.config.file import load_object

    return load_object(path)


@click.command()
@as_json
def keys(as_json: bool) -> None:
    """List every key of the app, with its id.

    To change keys, list them by id in keys.json in the configuration folder: {"place.find": "ctrl+f"}.

    \b
    toolsight config keys
    """
    from inspector.app.app import ToolsightApp
    from inspector.app.keymap import bound_keys, checked

    keymap, problems = checked(read_keys(), ToolsightApp)
    bound = bound_keys(ToolsightApp)
    if as_json:
        say_json({"file": str(keys_path()), "keys": [asdict(key) for key in bound], "changed": keymap})
        return
    say(f"Your keys: {keys_path()}{'' if keys_path().exists() else ' (not created yet)'}")
    for problem in problems:
        say(f"✕ {problem}")
    say()
    rows = [(key.id, keymap.get(key.id, key.keys), key.title, key.where) for key in bound]
    say_table(("id", "keys", "what", "where"), rows, whole=frozenset({0}))
