"""A look at one server's list: what may be seen of it now, counted, compared and remembered."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from inspector.access.glimpse import seen_info, seen_listing
from inspector.core.access import Sight
from inspector.core.ports import Clock, ToolListing
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.store_ports import ServerMemory, Snapshot
from inspector.core.tool import Tool
from inspector.mcp.listing import DefinitionRecord, Listed, read_listing


@dataclass(frozen=True, slots=True)
class Seen:
    """What is seen of a listing and of what the server says of itself, its tokens, and what is new."""

    listing: ToolListing
    info: ServerInfo
    tokens: int
    listed: Listed


class Look:
    """Reads what one server lists, for one session after the other."""

    def __init__(
        self,
        spec: ServerSpec,
        memory: ServerMemory,
        clock: Clock,
        *,
        count_tokens: Callable[[Sequence[Tool]], int],
        redact: Callable[[Tool], Tool] | None,
        slots: asyncio.Semaphore,
        sight: Callable[[], Sight],
        offered: Callable[[], tuple[Tool, ...]],
    ) -> None:
        """`offered` are the tools that were seen last: what is new is what differs from them."""
        self._spec = spec
        self._memory = memory
        self._clock = clock
        self._count_tokens = count_tokens
        self._redact = redact
        self._slots = slots
        self._sight = sight
        self._offered = offered
        self._definitions = DefinitionRecord(redact)

    def begin(self) -> None:
        """Another session begins: nothing of the server is recorded in it yet."""
        self._definitions = DefinitionRecord(self._redact)

    def note(self, listed: Listed) -> None:
        """Note what the stream has now."""
        self._definitions.note(listed.definitions)

    async def at(self, listing: ToolListing, info: ServerInfo, era: Era | None = None) -> Seen:
        """What is seen of a listing; it is read again if the sight changes meanwhile."""
        while True:
            sight = self._sight()
            shown = seen_listing(self._spec.name, listing, sight)
            told = seen_info(self._spec.name, info, sight)
            tokens, listed = await self._read(listing, info, shown, sight, era)
            if self._sight() is sight:
                return Seen(shown, told, tokens, listed)

    async def _read(
        self, listing: ToolListing, info: ServerInfo, shown: ToolListing, sight: Sight, era: Era | None
    ) -> tuple[int, Listed]:
        """Count the tools' tokens, find what is new and what changed, and remember both tools and era.

        All of it is done in threads, which are awaited even if the connection ends meanwhile. Remembered is
        the whole listing: it is for nobody's eyes before it is looked at by a sight.
        """
        snapshot, before = Snapshot(listing.tools, self._clock.now(), info.summary), self._offered()
        record = self._definitions

        def read() -> Listed:
            if era is not None:
                self._memory.remember_era(self._spec.fingerprint(), era)
            listed = read_listing(self._memory, self._spec, snapshot, before, record, sight)
            first = self._memory.first_version(self._spec.consent_id, info.version)
            return replace(listed, approved_version=first if first != info.version else "")

        async with self._slots:
            # Two threads, as counting leaves a processor's time to Python.
            counting = asyncio.create_task(asyncio.to_thread(self._count_tokens, shown.tools))
            reading = asyncio.create_task(asyncio.to_thread(read), name=f"reading {self._spec.name}")
            try:
                await asyncio.wait({counting, reading})
            except asyncio.CancelledError:
                await asyncio.wait({counting, reading})
                raise
        return counting.result(), reading.result()
