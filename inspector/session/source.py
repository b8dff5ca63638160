"""Where servers and tools come from that no session has yet. Features give these."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from inspector.config.configuration import Configuration
from inspector.config.server_change import Addition, Removal
from inspector.core.access import Sight
from inspector.core.error import ConfigError
from inspector.core.events import MarketplaceSearched
from inspector.core.events.base import Actor
from inspector.core.ranking import SearchReport
from inspector.core.settings import Settings
from inspector.core.tool import Tool
from inspector.mcp.port import Connector
from inspector.search.answer.retrieval import FurtherTier

NO_VALUES: Mapping[str, str] = {}


class ServerSource(Protocol):
    """Servers that could be added to a session. Nothing here starts or changes anything."""

    async def prepare(self) -> None:
        """Read in threads what a search would wait for."""
        ...

    def after(self, report: SearchReport, by: Actor) -> MarketplaceSearched | None:
        """The search that goes on here after one where no tool clearly fits; None if it does not."""
        ...

    def plan(self, name: str, values: Mapping[str, str] = NO_VALUES) -> Addition:
        """What adding a server would start and change. Raises ToolsightError."""
        ...

    def removal(self, server: str) -> Removal:
        """What removing a configured server would change. Raises ToolsightError."""
        ...

    def use_settings(self, settings: Settings, changed: Sequence[str]) -> None:
        """Follow the settings. Raises ToolsightError."""
        ...

    async def settled(self) -> None:
        """Wait until what was searched is embedded as far as it can be."""
        ...

    def close(self) -> None:
        """Embed nothing more."""
        ...


class NoServers:
    """A `ServerSource` that has none."""

    async def prepare(self) -> None:
        """Do nothing."""

    def after(self, report: SearchReport, by: Actor) -> None:
        """Find nothing."""

    def plan(self, name: str, values: Mapping[str, str] = NO_VALUES) -> Addition:  # noqa: ARG002
        """Refuse."""
        raise ConfigError(f"{name} cannot be installed here")

    def removal(self, server: str) -> Removal:
        """Refuse."""
        raise ConfigError(f"{server} cannot be removed here")

    def use_settings(self, settings: Settings, changed: Sequence[str]) -> None:
        """Do nothing."""

    async def settled(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class StoredTools(Protocol):
    """Tools that are known without a connection to their servers. Each method may raise StoreError."""

    def configuration(self) -> Configuration:
        """Their servers as a configuration; nothing of it is started, so that nobody has to agree."""
        ...

    def servers(self, sight: Sight, configuration: Configuration) -> frozenset[str] | None:
        """The servers of a configuration that there are for a sight; None if none of them is from here.

        A server from here is there if it has a tool to see.
        """
        ...

    def connector(self, others: Connector) -> Connector:
        """What connects to the servers from here; those from elsewhere are left to another Connector."""
        ...

    def tier(
        self,
        configured: Callable[[], Collection[str]],
        permits: Callable[[Tool], bool],
        sight: Callable[[], Sight],
    ) -> FurtherTier:
        """What a search finds here beyond the `configured` servers, as far as the toolset `permits`."""
        ...

    def unmatched(self, patterns: Sequence[str], tools: Collection[str]) -> tuple[str, ...]:
        """The patterns without those that match only tools from here, and none of these. Does not raise."""
        ...
