"""The one place that picks adapters and decides where files live."""

import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from inspector.adapters.clock import SystemClock
from inspector.adapters.config import read
from inspector.adapters.evalset import read_cases
from inspector.adapters.fastembed_embedder import FastembedEmbedder
from inspector.adapters.fastembed_named import NamedEmbedder
from inspector.adapters.mcp_connector import McpConnector
from inspector.adapters.model import counter_for, model_for
from inspector.adapters.sqlite_memory import SqliteServerMemory
from inspector.adapters.sqlite_store import SqliteStore
from inspector.adapters.sqlite_vectors import SqliteVectors
from inspector.cli.options import Options
from inspector.domain.configuration import Configuration
from inspector.domain.error import ConfigError
from inspector.engine.ports import Approver, Embedder, ServerMemory
from inspector.engine.workbench import Ports, Workbench

APP = "toolsight"
FOUND_IN_FOLDER = ("toolsight.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")


def database_path(options: Options) -> Path:
    """`--db`, else TOOLSIGHT_DB, else the user's data folder."""
    chosen = options.database or os.environ.get("TOOLSIGHT_DB")
    return Path(chosen) if chosen else platformdirs.user_data_path(APP) / "toolsight.db"


def open_store(options: Options) -> SqliteStore:
    return SqliteStore(database_path(options))


def open_memory(options: Options) -> SqliteServerMemory:
    return SqliteServerMemory(database_path(options))


def open_vectors(options: Options) -> SqliteVectors:
    return SqliteVectors(database_path(options))


def make_embedder(name: str) -> Embedder | None:
    """`packaged`, `none`, or any fastembed model by name. The model itself is loaded on first use."""
    if name == "none":
        return None
    folder = platformdirs.user_cache_path(APP) / "models"
    return FastembedEmbedder(folder) if name == "packaged" else NamedEmbedder(name, folder)


def fixtures_path() -> Path:
    """The demo's files: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    packaged = package / "_fixtures"
    return packaged if packaged.is_dir() else package.parent / "fixtures"


def read_configuration(options: Options) -> Configuration:
    """The file that was named, or the first one found in this folder. Raises ConfigError."""
    path = options.config or _found_in(Path.cwd())
    if path is None:
        raise ConfigError(
            "no configuration was named, and none was found in this folder",
            hint="Run `toolsight demo`, or name a file with --config. "
            f"Looked for: {', '.join(FOUND_IN_FOLDER)}.",
        )
    prefix = "TOOLSIGHT_INPUT_"
    given = {name.removeprefix(prefix): v for name, v in os.environ.items() if name.startswith(prefix)}
    return read(path, environment=os.environ, inputs={**given, **options.inputs})


def demo_configuration(state: Path) -> Configuration:
    """The shipped demo servers, with their state in `state`. Trusted: it is our own."""
    fixtures = fixtures_path()
    variables: Mapping[str, str] = {
        "TOOLSIGHT_PYTHON": sys.executable,
        "TOOLSIGHT_FIXTURES": str(fixtures),
        "TOOLSIGHT_STATE": str(state),
    }
    configuration = read(fixtures / "configs" / "demo.json", environment=os.environ, variables=variables)
    return replace(configuration, trusted=True)


def make_workbench(
    configuration: Configuration, options: Options, approver: Approver, memory: ServerMemory
) -> Workbench:
    """A workbench on the real adapters."""
    ports = Ports(
        connector=McpConnector(platformdirs.user_log_path(APP)),
        store=open_store(options),
        memory=memory,
        clock=SystemClock(),
        approver=approver,
        model_for=lambda name: model_for(name, api_base=options.api_base or None),
        counter_for=counter_for,
        embedder_for=make_embedder,
        vectors=open_vectors(options),
    )
    files = configuration.settings.discovery.evaluation
    return Workbench(
        configuration,
        ports,
        model=options.model,
        toolset=options.toolset,
        session_id=new_session_id(),
        cases=[case for file in files for case in read_cases(Path(file))],
    )


def new_session_id() -> str:
    """Sorts by time, and is unique among processes that start in the same second."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _found_in(folder: Path) -> Path | None:
    candidates = (folder / name for name in FOUND_IN_FOLDER)
    return next((path for path in candidates if path.is_file()), None)
