"""The connection of one server: its owner task and its state."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from inspector.access.reach import covers
from inspector.access.restriction import seen_failure, seen_info, seen_listing, since
from inspector.config.configuration import in_words, target
from inspector.core.error import (
    AuthRequired,
    ConnectError,
    ProtocolError,
    ServerExited,
    StoreError,
    ToolsightError,
)
from inspector.core.events import ServerConnecting, ServerFailed, ServerReady, ServerStopped, ToolsChanged
from inspector.core.message import OnTask, ToolResult
from inspector.core.ports import ToolListing
from inspector.core.server import ChangedFile, Era, ServerInfo, ServerSpec, SkippedTool, changed_files
from inspector.core.tool import Tool
from inspector.mcp.listing import Difference, Listed, Look, Seen, Shared, difference, kept, list_tools
from inspector.mcp.pace import ChangePace
from inspector.mcp.port import Opening, ServerLink, SessionClient
from inspector.mcp.reading import Offers, ping
from inspector.schema.json_value import JsonObject

_LIST = "tools/list"
_FAULT_HINT = "This is a bug in Toolsight, not in your configuration. Reconnect the server to try again."


# Long because everything that one owner task does is here.
class Connection:
    """One server: its owner task and its state.

    What it lists is kept to itself. Whatever leaves here, be it an event, a tool or a text, is what the
    `sight` of the moment permits; another sight is another object.
    """

    def __init__(self, spec: ServerSpec, shared: Shared, on_tools: Callable[[], None]) -> None:
        self.tools: tuple[Tool, ...] = ()
        self.summary = ""
        self.instructions = ""
        self._listing = ToolListing(())
        self._failure: ServerFailed | None = None
        self._stderr_before = ""
        self._milliseconds = 0.0
        self._showing = asyncio.Lock()
        self._spec = spec
        self._shared = shared
        self._sight, self._emit = shared.sight, shared.emit
        self._look = Look(spec, shared)
        self._change_pace = ChangePace(shared.clock.monotonic)
        self._client: SessionClient | None = None
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
        return self._look.last if self._link is None else ()

    async def settled(self) -> None:
        if self._owner is not None:
            await self._settled.wait()
            if self._owner.done() and not self._owner.cancelled():
                self._owner.result()

    @property
    def _changed_files(self) -> tuple[ChangedFile, ...]:
        """The files it runs that are not as a person approved them; none of what needs no approval."""
        files, id_ = self._spec.files, self._spec.consent_id
        approved = self._shared.memory.approved([id_]).get(id_) if files else None
        return changed_files(files, approved) if approved is not None else ()

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
            now = self._shared.client_for(self._spec)
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

    async def end(self) -> None:
        """End it without a word: in the session that goes on there is no such server."""
        async with self._switching:
            await self._end()

    def withdraw(self) -> None:
        """Cancel what the server asked the person whose session ends."""
        if self._client is not None:
            self._client.withdraw()

    def hide(self) -> None:
        """Offer nothing and forget what was reported: another session begins."""
        self._look.begin()
        self._stderr_before = self._link.stderr_tail() if self._link is not None else ""
        if self._failure is not None:
            self._failure = replace(self._failure, stderr_tail="")
        self._look.last, self.tools, self.summary, self.instructions = (), (), "", ""

    async def renew(self) -> None:
        """Tell a session that has just begun of the server as it is, as if it had been connected for it."""
        if self._owner is None or self._owner.done():
            if self._failure is not None:
                self._emit(seen_failure(self._failure, self._sight()))
            return
        told = in_words(self._client.capabilities) if self._client is not None else ()
        self._emit(ServerConnecting(self._spec.name, target(self._spec), told, self._changed_files))
        if self._link is not None:
            async with self._showing:
                await self._emit_ready(self._link, self._listing, self._milliseconds, None)

    def narrow(self) -> None:
        """Offer no tool that may not be seen any more; what may be seen besides is found by `look_again`."""
        sight = self._sight()
        self.tools, info = (
            sight.of(self.tools),
            ServerInfo(summary=self.summary, instructions=self.instructions),
        )
        info = seen_info(self._spec.name, info, sight)
        self.summary, self.instructions = info.summary, info.instructions
        if self._link is None:
            self._look.last = seen_listing(self._spec, self._listing, sight).tools

    async def look_again(self) -> None:
        """Offer what the sight permits now of what the server lists."""
        async with self._showing:
            if self._link is not None:
                await self._show_again(self._link, self._listing)

    def stderr_tail(self) -> str:
        is_told = self._link is not None and covers(self._sight(), self._spec.name)
        return self._own_stderr(self._link.stderr_tail()) if self._link is not None and is_told else ""

    def _own_stderr(self, tail: str) -> str:
        """What the process wrote to stderr since the session began."""
        return since(self._stderr_before, tail)

    @property
    def offers(self) -> Offers | None:
        """Its resources and prompts while it is connected, for who may see everything that it has."""
        link = self._link if covers(self._sight(), self._spec.name) else None
        return Offers(link, self._spec.call_timeout) if link is not None else None

    async def call(self, tool: str, arguments: JsonObject, on_task: OnTask) -> ToolResult:
        if not self._sight().permits(f"{self._spec.name}:{tool}"):
            raise ToolsightError(f"there is no tool '{self._spec.name}:{tool}'")
        link = self._open_link()
        return await link.call(tool, arguments, timeout=self._spec.call_timeout, on_task=on_task)

    async def ping(self) -> str:
        """Ask for a sign of life, and return the method that was answered."""
        return await ping(self._open_link())

    def _open_link(self) -> ServerLink:
        if self._link is None:
            raise ServerExited(f"{self._spec.name} is not connected", hint="Reconnect it and try again.")
        return self._link

    async def _own(self) -> None:
        try:
            self._client = self._shared.client_for(self._spec)
            told = in_words(self._client.capabilities) if self._client is not None else ()
            self._emit(ServerConnecting(self._spec.name, target(self._spec), told, self._changed_files))
            await self._connect()
        except StoreError:
            raise
        except ToolsightError as error:
            self._fail(_failure(self._spec, error))
        # Whatever it is: a server whose task has ended must not pass for ready.
        except Exception as error:
            self._fail(_fault(self._spec.name, error))
        finally:
            self._forget()
            self._settled.set()
        self._on_tools()

    def _fail(self, failure: ServerFailed) -> None:
        self._forget()
        failure = replace(failure, stderr_tail=self._own_stderr(failure.stderr_tail))
        self._failure = failure
        self._emit(seen_failure(failure, self._sight()))

    async def _connect(self) -> None:
        if self._spec.lacks:
            raise ConnectError(f"needs {self._spec.lacks}", hint=self._spec.advice)
        remembered = self._shared.memory.era(self._spec.fingerprint())
        self._failure, self._stderr_before = None, ""
        self._changed.clear()
        opening = Opening(remembered, self._changed.set, self._client)
        start, began = await self._shared.pace.begin(), self._shared.clock.monotonic()
        try:
            async with self._shared.connector.connect(self._spec, opening) as link:
                listing = await list_tools(link, self._spec.connect_timeout)
                start.end()
                milliseconds = (self._shared.clock.monotonic() - began) * 1000
                info = link.info
                # A server that was only not asked for the older one is not known to refuse it.
                is_found = info.era is not Era.MODERN or info.refuses_older or self._spec.is_http
                era = info.era if info.era is not remembered and is_found else None
                async with self._showing:
                    await self._emit_ready(link, listing, milliseconds, era)
                await self._watch(link)
        finally:
            start.end()

    async def _emit_ready(
        self, link: ServerLink, listing: ToolListing, milliseconds: float, era: Era | None
    ) -> None:
        before = self._link
        seen = await self._look.at(listing, link.info, era)
        if self._link is not before:
            return
        self._milliseconds = milliseconds
        self._use(link, listing, seen)
        self._emit(
            ServerReady(
                server=self._spec.name,
                tools=len(seen.listing.tools),
                tokens=seen.tokens,
                info=seen.info,
                skipped=seen.listing.skipped,
                milliseconds=milliseconds,
                definitions=seen.listed.definitions,
                added=seen.listed.difference.added,
                removed=seen.listed.difference.removed,
                since=seen.listed.since,
                approved_version=seen.listed.approved_version if seen.info.version else "",
            )
        )
        self._note(seen.listed)
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
        listing = await self._listed_again(link)
        async with self._showing:
            await self._show_again(link, listing)

    async def _listed_again(self, link: ServerLink) -> ToolListing:
        """The new list, or the one before if the server does not give it: its connection may be fine."""
        try:
            listing = await list_tools(link, self._spec.call_timeout)
            return await asyncio.to_thread(kept, listing, self._listing)
        except ServerExited:
            raise
        except (ConnectError, ProtocolError) as error:
            reason = f"{error.message}; the earlier tool list is still used"
            others = [one for one in self._listing.skipped if one.name != _LIST]
            return replace(self._listing, skipped=(*others, SkippedTool(_LIST, reason, "page")))

    async def _show_again(self, link: ServerLink, listing: ToolListing) -> None:
        """Offer what is seen of a listing; an event reports a change."""
        seen = seen_listing(self._spec, listing, self._sight())
        is_same = seen.skipped == seen_listing(self._spec, self._listing, self._sight()).skipped
        if await asyncio.to_thread(difference, self._look.last, seen.tools) == Difference() and is_same:
            self._listing, self.tools = listing, seen.tools
            told = seen_info(self._spec.name, link.info, self._sight())
            if (self.summary, self.instructions) != (told.summary, told.instructions):
                self.summary, self.instructions = told.summary, told.instructions
                self._on_tools()
            return
        now = await self._look.at(listing, link.info)
        if self._link is not link:
            return
        self._use(link, listing, now)
        self._emit(
            ToolsChanged(
                server=self._spec.name,
                added=now.listed.difference.added,
                removed=now.listed.difference.removed,
                changed=now.listed.difference.changed,
                tools=len(now.listing.tools),
                tokens=now.tokens,
                skipped=now.listing.skipped,
                definitions=now.listed.definitions,
            )
        )
        self._note(now.listed)
        self._on_tools()

    def _note(self, listed: Listed) -> None:
        """Note what the stream has now, and report how each changed tool differs."""
        self._look.note(listed)
        for change in listed.changes:
            self._emit(change)

    def _use(self, link: ServerLink, listing: ToolListing, seen: Seen) -> None:
        """Offer these tools.

        Nothing may be awaited until their definitions are recorded: no catalog has a tool whose definition is
        not in the stream.
        """
        self._link, self.tools, self._listing = link, seen.listing.tools, listing
        self.summary, self.instructions = seen.info.summary, seen.info.instructions
        self._look.last = seen.listing.tools

    def _forget(self) -> None:
        self._link, self.tools, self.summary, self.instructions = None, (), "", ""


def _failure(spec: ServerSpec, error: ToolsightError) -> ServerFailed:
    tail = error.stderr_tail if isinstance(error, ConnectError) else ""
    needs_login = isinstance(error, AuthRequired) and error.can_sign_in and not spec.oauth.is_machine
    return ServerFailed(spec.name, error.message, error.hint, tail, needs_login)


def _fault(server: str, error: Exception) -> ServerFailed:
    told = f": {error}" if str(error) else ""
    return ServerFailed(
        server, f"Toolsight cannot continue with this server: {type(error).__name__}{told}", _FAULT_HINT
    )
