"""Where things are: the database, the configuration, what comes with Toolsight, and the demo's own folder."""

import atexit
import os
import shutil
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import platformdirs

from inspector.cli.options import Options
from inspector.cli.run import found_in
from inspector.config.file import is_file
from inspector.core.error import ConfigError, remember
from inspector.core.text import closest

APP = "toolsight"


def database_path(options: Options) -> Path:
    """`--db`, else TOOLSIGHT_DB, else the user's data folder."""
    chosen = options.database or os.environ.get("TOOLSIGHT_DB")
    return Path(chosen) if chosen else platformdirs.user_data_path(APP) / "toolsight.db"


def tap_notes_path() -> Path:
    """The folder in which taps that cannot record say so: beside no database, which may be the reason."""
    return platformdirs.user_state_path(APP) / "taps"


def fixtures_path() -> Path:
    """The demo's files: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_fixtures"
    return packaged if packaged.is_dir() else package.parent / "fixtures"


def configuration_path(options: Options) -> Path | None:
    """The file that `options` names, or the first one found in the current folder."""
    return options.config or found_in(Path.cwd())


def source_words(options: Options) -> tuple[str, ...]:
    """The words that name the same servers, and who sees them; none for what a command finds by itself."""
    asked = (("--policy", options.policy), ("--user", options.user), ("--expert", options.expert))
    sight = tuple(word for pair in asked if pair[1] for word in pair)
    if options.demo or options.registry:
        return (*sight, "--demo" if options.demo else "--registry")
    if options.server:
        from inspector.config.configuration import without_secrets

        return (*sight, "--", *without_secrets(options.server))
    found, path = found_in(Path.cwd()), options.config
    is_named = path is not None and (found is None or path.resolve() != found.resolve())
    return (*sight, "--config", str(path)) if is_named else sight


def remember_source(options: Options) -> None:
    """Let hints name the servers and the database of these options."""
    database = () if options.database is None else ("--db", str(options.database))
    remember(partial(source_words, options), database)


def given_inputs(options: Options) -> dict[str, str]:
    """The values for `${input:ID}`: from `--input`, else from TOOLSIGHT_INPUT_ID."""
    prefix = "TOOLSIGHT_INPUT_"
    given = {name.removeprefix(prefix): v for name, v in os.environ.items() if name.startswith(prefix)}
    return {**given, **options.inputs}


def demo_path() -> Path:
    """The configuration of the demo."""
    return fixtures_path() / "configs" / "demo.json"


def shipped_scenarios() -> list[Path]:
    """The files of the scenarios that come with Toolsight, sorted by name."""
    return sorted((fixtures_path() / "scenarios").glob("*.yaml"))


def shipped_recording() -> Path:
    """The recorded sessions that come with Toolsight: its stand-in model on the demo's servers."""
    return fixtures_path() / "recordings" / "demo.jsonl"


def scenario_path(name: str) -> Path:
    """The file of a shipped scenario, or the named file. Raises ConfigError, with the nearest names."""
    shipped = {path.stem: path for path in shipped_scenarios()}
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if is_file(path):
        return path
    near = ", ".join(closest(path.stem, list(shipped)) or tuple(shipped))
    raise ConfigError(f"there is no scenario or file '{name}'", hint=f"Shipped scenarios: {near}.")


@cache
def demo_folder() -> Path:
    """This process's folder, made on first use and removed at its end."""
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="toolsight-demo-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def keys_path() -> Path:
    """Where the file of keys is looked for."""
    return platformdirs.user_config_path(APP) / "keys.json"


def read_keys() -> Mapping[str, Any]:
    """Return a person's own keys by binding id; empty without a file. Raises ConfigError."""
    path = keys_path()
    if not path.exists():
        return {}
    from inspector.config.file import load_object

    return load_object(path)
