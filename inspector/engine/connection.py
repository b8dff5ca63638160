"""The connection of one server: its owner task and its state."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

from inspector.domain.client_capabilities import in_words
from inspector.domain.error import ConnectError, ServerExited, StoreError, ToolsightError
from inspector.domain.events import (
    Event,
    ServerConnecting,
    ServerFailed,
    ServerListing,
    ServerReady,
    ServerStopped,
    ToolsChanged,
)
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.message import ToolResult
from inspector.domain.server import Era, ServerSpec
from inspector.domain.tool import Tool
from inspector.engine.change_pace import ChangePace
from inspector.engine.listing import (
    DefinitionRecord,
    Difference,
    Listed,
    difference,
    list_tools,
    read_listing,
)
from inspector.engine.ports import ClientSide, Clock, Connector, ServerLink, ToolListing
from inspector.engine.start_pace import StartPace
from inspector.engine.store_ports import ServerMemory, Snapshot
from inspector.engine.target import target

# So many more tools of a long list are an event.
_TOLD_EVERY = 1_000
_FAULT_HINT = "This is a fault of Toolsight, not of your configuration. Reconnect the server to try again."


# Long because everything that one owner task does is here.
class Connection:
    """One server: its owner task and its state."""

    def __init__(
        self,
        spec: ServerSpec,
        connector: Connector,
        memory: ServerMemory,
        *,
        clock: Clock,
        emit: Callable[[Event], None],
        count_tokens: Callable[[Sequence[Tool]], int],
        on_tools: Callable[[], None],
        redact: Callable[[Tool], Tool] | None,
        slots: asyncio.Semaphore,
        pace: StartPace,
        client_for: Callable[[ServerSpec], ClientSide | None],
    ) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.summary = ""
        self.instructions = ""
        self._last: tuple[Tool, ...] = ()
        self._definitions = DefinitionRecord(redact)
        self._spec = spec
        self._connector = connector
        self._memory = memory
        self._clock = clock
        self._emit = emit
        self._count_tokens = count_tokens
        self._slots = slots
        self._pace = pace
        self._client_for = client_for
        self._change_pace = ChangePace(clock.monotonic)
        self._client: ClientSide | None = None
        self._on_tools = on_tools
        self._link: ServerLink | None = None
        self._owner: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._changed = asyncio.Event()
        self._switching = asyncio.Lock()

    def start(self) -> None:
        """Launch the owner task unless it is running."""
        if self._owner is None or self._owner.done():
            self._settled.clear()
            self._owner = asyncio.create_task(self._own(), name=f"server {self._spec.name}")

    @property
    def is_connecting(self) -> bool:
        return self._owner is not None and not self._settled.is_set()

    @property
    def away(self) -> tuple[Tool, ...]:
        """The tools that were listed last, while there is no connection."""
        return self._last if self._link is None else ()

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

    async def restart_if_outdated(self) -> None:
        """Restart it, if it runs and was declared something else than it would be now."""
        async with self._switching:
            if self._client is None or self._owner is None or self._owner.done():
                return
            now = self._client_for(self._spec)
            if now is not None and now.capabilities != self._client.capabilities:
                await self._end()
                self.start()

    async def _end(self) -> bool:
        """End the owner task; return False if it had already ended."""
        owner = self._owner
        if owner is None or owner.done():
            return False
        # Cancel only once: a second cancellation would interrupt the cleanup that the first one started.
        if not owner.cancelling():
            owner.cancel()
        await asyncio.wait({owner})
        return True

    def stderr_tail(self) -> str:
        return self._link.stderr_tail() if self._link is not None else ""

    async def call(self, tool: str, arguments: JsonObject) -> ToolResult:
        link = self._link
        if link is None:
            raise ServerExited(f"{self._spec.name} is not connected", hint="Reconnect it and call again.")
        return await link.call(tool, arguments, timeout=self._spec.call_timeout)

    async def _own(self) -> None:
        try:
            self._client = self._client_for(self._spec)
            told = in_words(self._client.capabilities) if self._client is not None else ()
            self._emit(ServerConnecting(self._spec.name, target(self._spec), told))
            await self._connect()
        except StoreError:
            raise
        except ToolsightError as error:
            self._forget()
            self._emit(_failure(self._spec.name, error))
        # Whatever it is: a server whose task has ended must not pass for ready.
        except Exception as error:
            self._forget()
            self._emit(_fault(self._spec.name, error))
        finally:
            self._forget()
            self._settled.set()
        self._on_tools()

    async def _connect(self) -> None:
        remembered = self._memory.era(_startable(self._spec).fingerprint())
        self._changed.clear()
        opening = self._connector.connect(
            self._spec, era=remembered, on_tools_changed=self._changed.set, client=self._client
        )
        start, began = await self._pace.begin(), self._clock.monotonic()
        try:
            async with opening as link:
                listing = await list_tools(link, self._spec.connect_timeout, self._progress())
                start.end()
                milliseconds = (self._clock.monotonic() - began) * 1000
                era = link.info.era if link.info.era is not remembered else None
                await self._emit_ready(link, listing, milliseconds, era)
                await self._watch(link)
        finally:
            start.end()

    def _progress(self) -> Callable[[int], None]:
        """Tell now and then how many tools of a long list there are."""
        told = 0

        def progress(count: int) -> None:
            nonlocal told
            if count >= told + _TOLD_EVERY:
                told = count
                self._emit(ServerListing(self._spec.name, count))

        return progress

    async def _emit_ready(
        self, link: ServerLink, listing: ToolListing, milliseconds: float, era: Era | None
    ) -> None:
        tokens, listed = await self._read(listing.tools, link.info.summary, era)
        self._use(link, listing.tools)
        self._emit(
            ServerReady(
                server=self._spec.name,
                tools=len(listing.tools),
                tokens=tokens,
                info=link.info,
                skipped=listing.skipped,
                milliseconds=milliseconds,
                definitions=listed.definitions,
                added=listed.difference.added,
                removed=listed.difference.removed,
                since=listed.since,
            )
        )
        self._note(listed)
        self._settled.set()
        self._on_tools()

    async def _watch(self, link: ServerLink) -> None:
        """List the tools again after each change until the connection ends; raises why it ended."""
        closed = asyncio.create_task(link.wait_closed())
        try:
            while not closed.done():
                changed = asyncio.create_task(self._changed.wait())
                try:
                    await asyncio.wait({closed, changed}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    changed.cancel()
                if self._changed.is_set() and not closed.done():
                    await self._list_again(link, closed)
        finally:
            closed.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait({closed})
        raise closed.result()

    async def _list_again(self, link: ServerLink, closed: asyncio.Task[ServerExited]) -> None:
        await asyncio.wait({closed}, timeout=self._change_pace.pause())
        if closed.done():
            return
        # Clear the flag before listing, so that a change during the listing triggers another one.
        self._changed.clear()
        listing = await list_tools(link, self._spec.call_timeout)
        if await asyncio.to_thread(difference, self.tools, listing.tools) != Difference():
            tokens, listed = await self._read(listing.tools, self.summary)
            self._use(link, listing.tools)
            self._emit(
                ToolsChanged(
                    server=self._spec.name,
                    added=listed.difference.added,
                    removed=listed.difference.removed,
                    changed=listed.difference.changed,
                    tools=len(listing.tools),
                    tokens=tokens,
                    skipped=listing.skipped,
                    definitions=listed.definitions,
                )
            )
            self._note(listed)
            self._on_tools()

    def _note(self, listed: Listed) -> None:
        """Note what the stream has now, and tell what became of each tool that is another one."""
        self._definitions.note(listed.definitions)
        for change in listed.changes:
            self._emit(change)

    def _use(self, link: ServerLink, tools: tuple[Tool, ...]) -> None:
        """Offer these tools.

        Nothing may be awaited until their definitions are recorded: no catalog has a tool whose definition is
        not in the stream.
        """
        self._link, self.tools = link, tools
        self.summary, self.instructions = link.info.summary, link.info.instructions
        self._last = tools

    async def _read(
        self, tools: tuple[Tool, ...], summary: str, era: Era | None = None
    ) -> tuple[int, Listed]:
        """Count the tools' tokens, find what is new and what changed, and remember both tools and era.

        All of it is done in threads, which are awaited even if the connection ends meanwhile.
        """
        snapshot, before = Snapshot(tools, self._clock.now(), summary), self._last

        def read() -> Listed:
            if era is not None:
                self._memory.remember_era(self._spec.fingerprint(), era)
            return read_listing(self._memory, self._spec, snapshot, before, self._definitions)

        async with self._slots:
            # Two threads, as counting leaves a processor's time to Python.
            counting = asyncio.create_task(asyncio.to_thread(self._count_tokens, tools))
            reading = asyncio.create_task(asyncio.to_thread(read), name=f"reading {self._spec.name}")
            try:
                await asyncio.wait({counting, reading})
            except asyncio.CancelledError:
                await asyncio.wait({counting, reading})
                raise
        return counting.result(), reading.result()

    def _forget(self) -> None:
        self._link, self.tools, self.summary, self.instructions = None, (), "", ""


def _startable(spec: ServerSpec) -> ServerSpec:
    """The spec. Raises ConnectError if it lacks a value."""
    if spec.lacks:
        raise ConnectError(f"needs {spec.lacks}", hint=spec.advice)
    return spec


def _failure(server: str, error: ToolsightError) -> ServerFailed:
    tail = error.stderr_tail if isinstance(error, ConnectError) else ""
    return ServerFailed(server, error.message, error.hint, tail)


def _fault(server: str, error: Exception) -> ServerFailed:
    told = f": {error}" if str(error) else ""
    return ServerFailed(server, f"Toolsight cannot go on with it: {type(error).__name__}{told}", _FAULT_HINT)
