"""Where things are: the database, the configuration, and the files that come with Toolsight."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from inspector.cli.options import Options
from inspector.cli.run import found_in
from inspector.config.file import is_file
from inspector.core.closest import closest
from inspector.core.error import ConfigError

if TYPE_CHECKING:
    pass


APP = "toolsight"


def database_path(options: Options) -> Path:
    """`--db`, else TOOLSIGHT_DB, else the user's data folder."""
    chosen = options.database or os.environ.get("TOOLSIGHT_DB")
    return Path(chosen) if chosen else platformdirs.user_data_path(APP) / "toolsight.db"


def fixtures_path() -> Path:
    """The demo's files: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_fixtures"
    return packaged if packaged.is_dir() else package.parent / "fixtures"


def configuration_path(options: Options) -> Path | None:
    """The file that `options` names, or the first one found in the current folder."""
    return options.config or found_in(Path.cwd())


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


def imported_path(options: Options) -> Path:
    """The folder of the catalogs that were imported, beside the database."""
    return database_path(options).parent / "marketplace"


def shipped_catalog() -> Path:
    """The catalog that comes with Toolsight, for the demo."""
    return fixtures_path() / "marketplace" / "catalog.json"
