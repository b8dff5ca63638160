"""Servers that no session has yet: where they come from; and how one gets into a session, or out of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from msgspec import Struct, field

from inspector.config.configuration import Configuration, target
from inspector.config.consent import approve, check_consent
from inspector.config.server_change import Addition, ConfigurationEditor, Removal, ServerChange
from inspector.core.access import Sight
from inspector.core.error import ConfigError, ConnectError, ToolsightError
from inspector.core.events import InstallFailed, MarketplaceSearched, PluginInstalled, ServerRemoved
from inspector.core.events.base import Actor
from inspector.core.ports import ServerMemory
from inspector.core.ranking import SearchReport
from inspector.core.server import ServerPhase, ServerSpec
from inspector.core.settings import Settings
from inspector.core.stream import Session
from inspector.core.tool import Tool
from inspector.mcp.connections import Connections
from inspector.mcp.listing import uncancelled
from inspector.mcp.port import Connector
from inspector.search.answer.retrieval import FurtherTier, Live

NO_VALUES: Mapping[str, str] = {}


class ServerSource:
    """Servers that could be added to a session; here there are none. Nothing starts or changes anything."""

    async def prepare(self) -> None:
        """Read in threads what a search would wait for."""

    def after(self, report: SearchReport, by: Actor) -> MarketplaceSearched | None:  # noqa: ARG002
        """The search that goes on here after one where no tool clearly fits; None if it does not."""
        return None

    def plan(self, name: str, values: Mapping[str, str] = NO_VALUES) -> Addition:  # noqa: ARG002
        """What adding a server would start and change. Raises ToolsightError."""
        raise ConfigError(f"{name} cannot be installed here")

    def removal(self, server: str) -> Removal:
        """What removing a configured server would change. Raises ToolsightError."""
        raise ConfigError(f"{server} cannot be removed here")

    def use_settings(self, settings: Settings, changed: Sequence[str]) -> None:
        """Follow the settings. Raises ToolsightError."""

    async def settled(self) -> None:
        """Wait until what was searched is embedded as far as it can be."""

    def close(self) -> None:
        """Embed nothing more."""


class StoredTools(Protocol):
    """Tools that are known without a connection to their servers. Each method may raise StoreError."""

    def configuration(self) -> Configuration:
        """Their servers as a configuration; nothing of it is started, so that nobody has to agree."""

    def servers(self, sight: Sight, configuration: Configuration) -> frozenset[str] | None:
        """The servers of a configuration that there are for a sight; None if none of them is from here.

        A server from here is there if it has a tool to see.
        """

    def connector(self, others: Connector) -> Connector:
        """What connects to the servers from here; those from elsewhere are left to another Connector."""

    def tier(
        self,
        configured: Callable[[], Collection[str]],
        permits: Callable[[Tool], bool],
        sight: Callable[[], Sight],
    ) -> FurtherTier:
        """What a search finds here beyond the `configured` servers, as far as the toolset `permits`."""

    def unmatched(self, patterns: Sequence[str], tools: Collection[str]) -> tuple[str, ...]:
        """The patterns without those that match only tools from here, and none of these. Does not raise."""


_AGAIN = "Open it again to see the current changes."


INSTALL, REMOVE = "install a server", "remove a server"
"""What only the administrator does."""


class ServerChanges(Struct, eq=False):
    """Carries out what a person agreed to."""

    _session: Session
    _live: Live
    _connections: Connections
    _editor: ConfigurationEditor
    _memory: ServerMemory
    configure: Callable[[Configuration], None]
    rebuild: Callable[[], None]
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def install(self, wanted: Addition, by: Actor = "user") -> None:
        """Connect the server, then write the file. Raises ToolsightError; then everything is as it was.

        Who cancels before the file is written finds everything as it was, too; after that it is finished.
        """
        async with self._one_at_a_time:
            self._require_current(wanted.based_on)
            was_approved = self._is_approved
            self.configure(wanted.becomes.configuration)
            async with self._undone_if_it_fails(wanted):
                await self._connect(wanted.spec)
            await uncancelled(self._keep(wanted, was_approved, by))

    async def remove(self, wanted: Removal, by: Actor = "user") -> None:
        """Write the file, then disconnect the server. Raises ToolsightError; then everything is as it was.

        Once the file is being written it is finished, also for who cancels.
        """
        async with self._one_at_a_time:
            self._require_current(wanted.based_on)
            await uncancelled(self._remove(wanted, by))

    async def _keep(self, wanted: Addition, was_approved: bool, by: Actor) -> None:
        """Write the file, and report to the session what is connected."""
        async with self._undone_if_it_fails(wanted):
            backup = await self._write(wanted.becomes)
        self._approve(was_approved)
        runs, path = target(wanted.spec), wanted.becomes.path
        self._session.emit(
            PluginInstalled(wanted.name, wanted.server, wanted.version, runs, path, backup, by)
        )
        self.rebuild()

    async def _remove(self, wanted: Removal, by: Actor) -> None:
        was_approved = self._is_approved
        backup = await self._write(wanted.becomes)
        await self._connections.remove(wanted.server)
        self.configure(wanted.becomes.configuration)
        self._approve(was_approved)
        self._session.emit(ServerRemoved(wanted.server, wanted.becomes.path, backup, by))
        self.rebuild()

    def _require_current(self, based_on: Configuration) -> None:
        if self._live.configuration is not based_on:
            raise ConfigError("the servers have changed in the meantime", hint=_AGAIN)

    async def _connect(self, spec: ServerSpec) -> None:
        """Connect the server. Raises ConnectError with what it said if it does not get ready."""
        await self._connections.add(spec)
        state = self._session.state.servers[spec.name]
        if state.phase is not ServerPhase.READY:
            raise ConnectError(
                f"{spec.name} did not start: {state.reason or state.phase}",
                hint=state.hint,
                stderr_tail=state.stderr_tail,
            )

    async def _write(self, becomes: ServerChange) -> str:
        if becomes.change is None:
            return ""
        return await asyncio.to_thread(self._editor.write, becomes.change)

    @asynccontextmanager
    async def _undone_if_it_fails(self, wanted: Addition) -> AsyncIterator[None]:
        try:
            yield
        except ToolsightError as error:
            await uncancelled(self._undo(wanted))
            tail = error.stderr_tail if isinstance(error, ConnectError) else ""
            self._session.emit(InstallFailed(wanted.name, wanted.server, error.message, error.hint, tail))
            raise
        except BaseException:
            await uncancelled(self._undo(wanted))
            raise

    async def _undo(self, wanted: Addition) -> None:
        self.configure(wanted.based_on)
        await self._connections.remove(wanted.server)
        self._session.emit(ServerRemoved(wanted.server))
        self.rebuild()

    @property
    def _is_approved(self) -> bool:
        """Whether the person agreed to the configuration as it is; nobody was asked about an empty one."""
        if not self._live.configuration.consent_items():
            return False
        return check_consent(self._live.configuration, self._memory).is_approved

    def _approve(self, was_approved: bool) -> None:
        """Ask nothing again at the next start: the person agreed to what was there, and to the change."""
        if was_approved:
            approve(self._live.configuration, self._memory)
