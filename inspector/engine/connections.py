"""The connections of a session: one owner task for each server, so that no server can hold up another."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from inspector.domain.error import ConnectError, ServerExited, StoreError, ToolsightError
from inspector.domain.events import (
    Event,
    ServerConnecting,
    ServerFailed,
    ServerReady,
    ServerStopped,
    ToolsChanged,
)
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolResult
from inspector.domain.server import ServerSpec
from inspector.domain.tool import Tool
from inspector.engine.listing import list_tools, remember_tools
from inspector.engine.ports import Clock, Connector, ServerLink, ServerMemory, Snapshot, ToolListing

# Long because the states of a connection are one machine.

# Seconds in which a burst of change notifications counts as one.
DEBOUNCE = 0.05
_HIDDEN = "***"
_SECRET_FLAG = re.compile(r"--?[\w-]*(?:key|token|secret|password|passwd|pwd|auth|credential)[\w-]*", re.I)
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")


class Connections:
    """Every server of a configuration. `on_tools` is called whenever `tools` may have changed.

    `count_tokens` tells the tokens of definitions; it may take its time, which holds up no other server.
    """

    def __init__(
        self,
        specs: Sequence[ServerSpec],
        connector: Connector,
        memory: ServerMemory,
        clock: Clock,
        emit: Callable[[Event], None],
        count_tokens: Callable[[Sequence[Tool]], Awaitable[int]],
        on_tools: Callable[[], None],
    ) -> None:
        self._on_tools = on_tools
        self._servers = {
            spec.name: _Connection(spec, connector, memory, clock, emit, count_tokens, on_tools)
            for spec in specs
        }

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the servers that are ready, in the order of the configuration."""
        return tuple(tool for server in self._servers.values() for tool in server.tools)

    @property
    def summaries(self) -> dict[str, str]:
        """What each ready server says of itself in one line, if it says anything."""
        return {name: server.summary for name, server in self._servers.items() if server.summary}

    def start(self) -> None:
        """Start every server that is not running, all at once, and return."""
        for server in self._servers.values():
            server.start()

    async def settled(self) -> None:
        """Return when no server is connecting any more.

        Raises what an owner task died of, if not of its server: StoreError, for one.
        """
        for server in self._servers.values():
            await server.settled()

    async def reconnect(self, server: str) -> None:
        """Close the connection, if there is one, open it again, and return when that is decided."""
        connection = self._known(server)
        await connection.restart()
        self._on_tools()
        await connection.settled()

    async def stop(self, server: str) -> None:
        """Close the connection, or give up opening it."""
        await self._known(server).stop()
        self._on_tools()

    async def call(self, server: str, tool: str, arguments: JsonObject) -> ToolResult:
        """Call a tool of a ready server, with the server's own time limit.

        Raises CallTimeout, ServerExited (also when the server is not connected), ProtocolError.
        """
        return await self._known(server).call(tool, arguments)

    async def aclose(self) -> None:
        """Close every connection at once; a StoreError is raised when all of them are closed."""
        stops = (server.stop() for server in self._servers.values())
        outcomes = await asyncio.gather(*stops, return_exceptions=True)
        for error in (outcome for outcome in outcomes if isinstance(outcome, BaseException)):
            raise error

    def _known(self, server: str) -> "_Connection":
        try:
            return self._servers[server]
        except KeyError:
            raise ToolsightError(f"there is no server '{server}'") from None


class _Connection:
    """One server: its owner task, and what is known of it."""

    def __init__(
        self,
        spec: ServerSpec,
        connector: Connector,
        memory: ServerMemory,
        clock: Clock,
        emit: Callable[[Event], None],
        count_tokens: Callable[[Sequence[Tool]], Awaitable[int]],
        on_tools: Callable[[], None],
    ) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.summary = ""
        self._spec = spec
        self._connector = connector
        self._memory = memory
        self._clock = clock
        self._emit = emit
        self._count_tokens = count_tokens
        self._on_tools = on_tools
        self._link: ServerLink | None = None
        self._owner: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._changed = asyncio.Event()
        self._switching = asyncio.Lock()

    def start(self) -> None:
        """Launch the owner task; a running one stays."""
        if self._owner is None or self._owner.done():
            self._settled.clear()
            self._owner = asyncio.create_task(self._own(), name=f"server {self._spec.name}")

    async def settled(self) -> None:
        if self._owner is not None:
            await self._settled.wait()
            if self._owner.done() and not self._owner.cancelled():
                self._owner.result()

    async def stop(self) -> None:
        async with self._switching:
            if await self._end():
                self._emit(ServerStopped(self._spec.name))

    async def restart(self) -> None:
        async with self._switching:
            await self._end()
            self.start()

    async def _end(self) -> bool:
        """End the owner task; False when it had ended before."""
        owner = self._owner
        if owner is None or owner.done():
            return False
        # One cancellation only: a second one would interrupt the clean-up that the first one began.
        if not owner.cancelling():
            owner.cancel()
        await asyncio.wait({owner})
        return True

    async def call(self, tool: str, arguments: JsonObject) -> ToolResult:
        link = self._link
        if link is None:
            raise ServerExited(f"{self._spec.name} is not connected", hint="Reconnect it, then call again.")
        return await link.call(tool, arguments, timeout=self._spec.call_timeout)

    async def _own(self) -> None:
        had_tools = False
        try:
            self._emit(ServerConnecting(self._spec.name, target(self._spec)))
            await self._connect()
        except StoreError:
            raise
        except ToolsightError as error:
            had_tools = bool(self.tools)
            self._forget()
            self._emit(_failure(self._spec.name, error))
        finally:
            self._forget()
            self._settled.set()
        if had_tools:
            self._on_tools()

    async def _connect(self) -> None:
        began = self._clock.monotonic()
        fingerprint = self._spec.fingerprint()
        remembered = self._memory.era(fingerprint)
        self._changed.clear()
        opening = self._connector.connect(self._spec, era=remembered, on_tools_changed=self._changed.set)
        async with opening as link:
            listing = await list_tools(link, self._spec.connect_timeout)
            self._link, self.tools, self.summary = link, listing.tools, link.info.summary
            if link.info.era is not remembered:
                self._memory.remember_era(fingerprint, link.info.era)
            await self._remember_tools()
            await self._tell_ready(link, listing, (self._clock.monotonic() - began) * 1000)
            await self._watch(link)

    async def _tell_ready(self, link: ServerLink, listing: ToolListing, milliseconds: float) -> None:
        count, tokens = len(listing.tools), await self._count_tokens(listing.tools)
        name = self._spec.name
        self._emit(ServerReady(name, count, tokens, link.info, listing.skipped, milliseconds))
        self._on_tools()
        self._settled.set()

    async def _watch(self, link: ServerLink) -> None:
        """List again after changes, until the connection ends; raises why it did."""
        closed = asyncio.create_task(link.wait_closed())
        try:
            while not closed.done():
                changed = asyncio.create_task(self._changed.wait())
                try:
                    await asyncio.wait({closed, changed}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if self._changed.is_set() and not closed.done():
                    await self._list_again(link)
        finally:
            closed.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait({closed})
        raise closed.result()

    async def _list_again(self, link: ServerLink) -> None:
        await asyncio.sleep(DEBOUNCE)
        # Cleared before asking: a change while the list is under way asks for another one.
        self._changed.clear()
        listing = await list_tools(link, self._spec.call_timeout)
        added, removed, changed = _difference(self.tools, listing.tools)
        self.tools = listing.tools
        if added or removed or changed:
            await self._remember_tools()
            count, tokens = len(listing.tools), await self._count_tokens(listing.tools)
            self._emit(ToolsChanged(self._spec.name, added, removed, changed, count, tokens, listing.skipped))
            self._on_tools()

    async def _remember_tools(self) -> None:
        """In a thread, which is waited for even where the connection is to end meanwhile."""
        snapshot = Snapshot(self.tools, self._clock.now(), self.summary)
        keeping = asyncio.create_task(
            asyncio.to_thread(remember_tools, self._memory, self._spec, snapshot),
            name=f"snapshot {self._spec.name}",
        )
        try:
            await asyncio.shield(keeping)
        except asyncio.CancelledError:
            await asyncio.wait({keeping})
            raise

    def _forget(self) -> None:
        self._link, self.tools, self.summary = None, (), ""


def _failure(server: str, error: ToolsightError) -> ServerFailed:
    tail = error.stderr_tail if isinstance(error, ConnectError) else ""
    return ServerFailed(server, error.message, error.hint, tail)


def _difference(old: Sequence[Tool], new: Sequence[Tool]) -> tuple[tuple[str, ...], ...]:
    """The names that came, went and changed."""
    before = {tool.name: tool for tool in old}
    after = {tool.name: tool for tool in new}
    added = tuple(name for name in after if name not in before)
    removed = tuple(name for name in before if name not in after)
    changed = tuple(name for name, tool in after.items() if name in before and before[name] != tool)
    return added, removed, changed


def target(spec: ServerSpec) -> str:
    """The command line or the URL, for people: without passwords, and without the values of secret flags."""
    if spec.is_http:
        return _USER_INFO.sub("", re.split(r"[?#]", spec.url, maxsplit=1)[0])
    shown: list[str] = []
    for argument in spec.argv:
        flag, separator, _ = argument.partition("=")
        if shown and _SECRET_FLAG.fullmatch(shown[-1]) and not argument.startswith("-"):
            shown.append(_HIDDEN)
        elif separator and _SECRET_FLAG.fullmatch(flag):
            shown.append(f"{flag}={_HIDDEN}")
        else:
            shown.append(_USER_INFO.sub("", argument))
    return " ".join(shown)
