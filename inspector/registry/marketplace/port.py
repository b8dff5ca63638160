"""What the marketplace needs from outside: its catalogs, and the file of a configuration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from inspector.config.configuration import Configuration
from inspector.config.installation import FileChange, ServerChange
from inspector.core.error import ConfigError
from inspector.core.plugin import Plugin
from inspector.schema.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class Catalogs:
    """The plugins of every catalog, and what is wrong with the entries and files that were left out."""

    plugins: tuple[Plugin, ...] = ()
    problems: tuple[str, ...] = ()


ReadCatalogs = Callable[[Sequence[str], bool], Catalogs]
"""Reads the files that the settings name and, if the flag says so, what was imported; in a thread."""


class ServerEditor(Protocol):
    """Changes which servers a configuration's file has. Nothing is written before `write`."""

    def with_server(self, configuration: Configuration, name: str, entry: JsonObject) -> ServerChange:
        """What the file and the configuration become with one more server. Raises ConfigError."""
        ...

    def without_server(self, configuration: Configuration, name: str) -> ServerChange:
        """What the file and the configuration become without a server. Raises ConfigError."""
        ...

    def write(self, change: FileChange) -> str:
        """Write the change, if the file is still as it was; return the path of the backup.

        Raises ConfigError, and then the file and what is beside it are as they were.
        """
        ...


class NoEditor:
    """A `ServerEditor` where nothing can be installed."""

    def with_server(self, configuration: Configuration, name: str, entry: JsonObject) -> ServerChange:  # noqa: ARG002
        """Refuse."""
        raise ConfigError(f"{name} cannot be installed here")

    def without_server(self, configuration: Configuration, name: str) -> ServerChange:  # noqa: ARG002
        """Refuse."""
        raise ConfigError(f"{name} cannot be removed here")

    def write(self, change: FileChange) -> str:
        """Refuse."""
        raise ConfigError(f"{change.path} cannot be written here")


def no_catalogs(_files: Sequence[str], _imported: bool) -> Catalogs:
    """There are none."""
    return Catalogs()


@dataclass(frozen=True, slots=True)
class MarketplacePorts:
    """The adapters of the marketplace."""

    catalogs: ReadCatalogs = no_catalogs
    editor: ServerEditor = NoEditor()
