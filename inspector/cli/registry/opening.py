"""Opens the tool registry, by itself and as the source of a session's servers."""

import os
from importlib import import_module
from typing import TYPE_CHECKING

from inspector.cli.location import database_path
from inspector.cli.options import Options
from inspector.config.configuration import Configuration
from inspector.core.error import ConfigError
from inspector.mcp.port import Connector

if TYPE_CHECKING:
    from inspector.search.ports import ToolRegistry

DATABASE_URL = "TOOLSIGHT_DATABASE_URL"
_POSTGRES = "inspector.registry.postgres"


def open_registry(options: Options) -> "ToolRegistry":
    """The tool registry: at TOOLSIGHT_DATABASE_URL, else in the database of the sessions.

    Raises ConfigError if nothing here can open that address.
    """
    url = os.environ.get(DATABASE_URL, "")
    if not url:
        from inspector.registry.sqlite import SqliteRegistry

        return SqliteRegistry(database_path(options))
    from inspector.registry.federation import is_address

    if not is_address(url):
        hint = "Use postgresql://USER@HOST/DATABASE, or unset the variable to use the SQLite file."
        raise ConfigError(f"{DATABASE_URL} is not a PostgreSQL address", hint=hint)
    try:
        opened: ToolRegistry = import_module(_POSTGRES).PostgresRegistry(url)
    except ImportError as error:
        raise ConfigError(
            f"{DATABASE_URL} needs a package that is not installed: {error.name}",
            hint="Install it with `pip install 'toolsight[postgres]'`, or unset the variable.",
        ) from error
    return opened


def stored_configuration(options: Options) -> Configuration:
    """The registry's servers as a configuration.

    Raises ConfigError if it has none and there is no policy, and StoreError.
    """
    from inspector.registry.library import registry_configuration

    configuration = registry_configuration(open_registry(options).servers())
    # Who sees only some tools is told nothing of the others, not even that there are none.
    if not configuration.servers and not options.settings.get("access.policy"):
        hint = "Add some with `toolsight registry import`."
        raise ConfigError("the registry has no tools", hint=hint)
    return configuration


def with_registry(others: Connector, options: Options) -> Connector:
    """A connector that knows the registry's servers besides those of the other one."""
    from inspector.registry.library import WithRegistry

    return WithRegistry(open_registry(options), others)
