"""Lists a server's tools, remembers them, and tells what became of those that were listed before."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.access.restriction import seen_info, seen_listing
from inspector.core.access import EVERYTHING, Sight
from inspector.core.definition import ToolDefinition, Verdict, definition_hash, judged
from inspector.core.error import ConnectError
from inspector.core.events import DefinitionChanged, Event
from inspector.core.number import count
from inspector.core.ports import Clock, ServerMemory, Snapshot, ToolListing
from inspector.core.redaction import SECRETS, clean
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.tool import Tool
from inspector.mcp.pace import StartPace
from inspector.mcp.port import Connector, ServerLink, SessionClient

# More servers than this at a time, each in two threads, only wait for one another, and keep the keys waiting.
_READ_AT_ONCE = 2


class Shared(Struct, frozen=True):
    """What the connections of a session have in common.

    `count_tokens` counts the tokens of definitions, and `redact` takes the secrets out of a definition to be
    recorded; both run in a thread. `client_for` makes Toolsight's side of each connection that is opened.
    `sight` says what may be seen now: a server that cannot have such a tool is neither started nor known.
    """

    connector: Connector
    memory: ServerMemory
    clock: Clock
    emit: Callable[[Event], None]
    count_tokens: Callable[[Sequence[Tool]], int]
    redact: Callable[[Tool], Tool] | None = None
    client_for: Callable[[ServerSpec], SessionClient | None] = lambda _spec: None
    sight: Callable[[], Sight] = lambda: EVERYTHING
    slots: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, _READ_AT_ONCE))
    pace: StartPace = field(default_factory=StartPace)


MOST_TOLD = 50
"""The most tools that get an event each when a server changes many at once."""
_ORDER: tuple[Verdict, ...] = ("breaking", "compatible", "words", "same")


def changes(
    before: Sequence[Tool], after: Sequence[Tool], since: float = 0.0
) -> tuple[DefinitionChanged, ...]:
    """What became of the tools that are in both listings, the worst first. May run in any thread.

    `before` was listed in an earlier session at `since`, and is told because the stream does not have it;
    or in this one if that is 0.
    """
    known = {tool.name: tool for tool in before}
    found: list[DefinitionChanged] = []
    for tool in after:
        old = known.get(tool.name)
        if old is None or old == tool or (hash_ := definition_hash(old)) == (now := definition_hash(tool)):
            continue
        change = judged(old, tool)
        earlier = ToolDefinition(old.name, hash_, old) if since else None
        told = DefinitionChanged(
            tool=tool.id,
            before=hash_,
            after=now,
            verdict=change.verdict,
            reasons=change.reasons,
            breaking=change.breaking,
            since=since,
            earlier=earlier,
        )
        found.append(told)
    found.sort(key=lambda one: _ORDER.index(one.verdict))
    told_of, others = found[:MOST_TOLD], len(found) - MOST_TOLD
    if others > 0:
        told_of[-1] = replace(told_of[-1], others=others)
    return tuple(told_of)


_T = TypeVar("_T")


async def uncancelled(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of the work. Who is cancelled meanwhile waits for its end, and is cancelled then."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            # What went wrong was told where it did; it must not be reported as never looked at.
            task.exception()
        raise cancelled
    return task.result()


_NONE: Mapping[str, Tool] = {}


async def list_tools(link: ServerLink, seconds: float) -> ToolListing:
    """List a server's tools; each page may take `seconds`.

    Raises ConnectError, ServerExited or ProtocolError.
    """
    clock, so_far = asyncio.get_running_loop().time, 0
    try:
        async with asyncio.timeout(seconds) as limit:

            def told(listed: int) -> None:
                nonlocal so_far
                if limit.expired():
                    return  # What the server's thread still told.
                so_far = listed
                limit.reschedule(clock() + seconds)

            return await link.list_tools(told)
    except TimeoutError:
        after = f", only {count(so_far, 'tool')}" if so_far else ""
        hint = "The server answered the handshake but not `tools/list`."
        raise ConnectError(
            f"No tool list within {seconds:g} s{after}",
            hint="It stopped in the middle of its list. Raise `connect_timeout`." if so_far else hint,
            stderr_tail=link.stderr_tail(),
        ) from None


def kept(listing: ToolListing, before: ToolListing) -> ToolListing:
    """The listing with the tools of the one before that are still the same: what was made of them holds.

    Takes long for large ones: it belongs in a thread.
    """
    known = {tool.name: tool for tool in before.tools}
    same = ((known.get(tool.name, tool), tool) for tool in listing.tools)
    # Python takes true and 1 for equal, a schema does not.
    tools = (old if old == now and repr(old) == repr(now) else now for old, now in same)
    return replace(listing, tools=tuple(tools))


def remember_tools(
    memory: ServerMemory, spec: ServerSpec, snapshot: Snapshot, *, redacted: Mapping[str, Tool] = _NONE
) -> Snapshot | None:
    """Store a server's tools without the secrets in its spec, which it may repeat. Thread-safe.

    `redacted` are those that have been redacted already, by name. Returns what was stored before, if other.
    """
    SECRETS.learn(spec.secrets)
    tools = tuple(redacted.get(tool.name) or clean(tool) for tool in snapshot.tools)
    return memory.remember_tools(
        spec.fingerprint(), replace(snapshot, tools=tools, summary=clean(snapshot.summary))
    )


class DefinitionRecord:
    """Which definitions of one server a session has recorded, so that each is recorded once."""

    def __init__(self, redact: Callable[[Tool], Tool] | None) -> None:
        """`redact` takes the secrets out of what is recorded; hashes are those of what the server lists."""
        self.redact: Callable[[Tool], Tool] = redact or (lambda tool: tool)
        self.redacts = redact is not None
        self._listed: dict[str, str] = {}
        self._recorded: set[str] = set()

    def new(self, tools: Sequence[Tool]) -> tuple[ToolDefinition, ...]:
        """The definitions that differ from those listed before. May run in any thread.

        One that was recorded earlier, as of a tool that is changed back, comes by its hash alone.
        """
        hashed = ((tool, definition_hash(tool)) for tool in tools)
        return tuple(
            ToolDefinition(tool.name, digest, None if digest in self._recorded else self.redact(tool))
            for tool, digest in hashed
            if self._listed.get(tool.name) != digest
        )

    def note(self, definitions: Sequence[ToolDefinition]) -> None:
        """Note that these are in the stream now."""
        self._listed.update((one.name, one.hash) for one in definitions)
        self._recorded.update(one.hash for one in definitions)


class Difference(Struct, frozen=True):
    """The names of the tools by which two listings differ."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


def difference(before: Sequence[Tool], after: Sequence[Tool]) -> Difference:
    """What differs between two listings. Takes long for large ones: it belongs in a thread."""
    old, new = {tool.name: tool for tool in before}, {tool.name: tool for tool in after}
    return Difference(
        tuple(name for name in new if name not in old),
        tuple(name for name in old if name not in new),
        tuple(
            name
            for name, tool in new.items()
            if name in old and old[name] != tool and definition_hash(old[name]) != definition_hash(tool)
        ),
    )


class Listed(Struct, frozen=True):
    """A listing beside the one before it, which was made at `since` if that was in an earlier session.

    `approved_version` is what the server called its version when it was approved, if another than now.
    """

    definitions: tuple[ToolDefinition, ...] = ()
    difference: Difference = Difference()
    changes: tuple[DefinitionChanged, ...] = ()
    since: float = 0.0
    approved_version: str = ""


def read_listing(
    memory: ServerMemory,
    spec: ServerSpec,
    snapshot: Snapshot,
    before: Sequence[Tool],
    record: DefinitionRecord,
    sight: Sight = EVERYTHING,
) -> Listed:
    """Remember what a server lists, and find what is new in sight beside `before`, which was seen last.

    If it listed nothing yet in this session, it is compared with what is remembered. Runs in a thread.
    """
    seen = _seen(snapshot.tools, sight)
    new = record.new(seen)
    redacted = {one.name: one.tool for one in new if one.tool} if record.redacts else {}
    earlier = remember_tools(memory, spec, snapshot, redacted=redacted)
    if before:
        return Listed(new, difference(before, seen), changes(before, seen))
    if earlier is None:
        return Listed(new)
    # What is remembered has no secrets, so what is listed now is compared without them too.
    old, now = (tuple(map(record.redact, _seen(tools, sight))) for tools in (earlier.tools, snapshot.tools))
    if not sight.is_whole and old == now:
        return Listed(new)  # When other tools changed is nothing to tell either.
    hashes = {one.name: one.hash for one in new}
    found = (
        replace(one, after=hashes.get(one.tool.removeprefix(f"{spec.name}:"), one.after))
        for one in changes(old, now, earlier.at)
    )
    return Listed(new, difference(old, now), tuple(found), earlier.at)


def _seen(tools: tuple[Tool, ...], sight: Sight) -> tuple[Tool, ...]:
    return tools if sight.is_whole else sight.of(tools)


class Seen(Struct, frozen=True):
    """What is seen of a listing and of what the server says of itself, its tokens, and what is new."""

    listing: ToolListing
    info: ServerInfo
    tokens: int
    listed: Listed


class Look:
    """Reads what one server lists, for one session after the other; `last` is what was seen last."""

    def __init__(self, spec: ServerSpec, shared: Shared) -> None:
        self.last: tuple[Tool, ...] = ()
        self._spec = spec
        self._shared = shared
        self._definitions = DefinitionRecord(shared.redact)

    def begin(self) -> None:
        """Another session begins: nothing of the server is recorded in it yet."""
        self._definitions = DefinitionRecord(self._shared.redact)

    def note(self, listed: Listed) -> None:
        """Note what the stream has now."""
        self._definitions.note(listed.definitions)

    async def at(self, listing: ToolListing, info: ServerInfo, era: Era | None = None) -> Seen:
        """What is seen of a listing; it is read again if the sight changes meanwhile."""
        while True:
            sight = self._shared.sight()
            shown = seen_listing(self._spec, listing, sight)
            told = seen_info(self._spec.name, info, sight)
            tokens, listed = await self._read(listing, info, shown, sight, era)
            if self._shared.sight() is sight:
                return Seen(shown, told, tokens, listed)

    async def _read(
        self, listing: ToolListing, info: ServerInfo, shown: ToolListing, sight: Sight, era: Era | None
    ) -> tuple[int, Listed]:
        """Count the tools' tokens, find what is new and what changed, and remember both tools and era.

        All of it is done in threads, which are awaited even if the connection ends meanwhile. Remembered is
        the whole listing: it is for nobody's eyes before it is looked at by a sight.
        """
        snapshot, before = Snapshot(listing.tools, self._shared.clock.now(), info.summary), self.last
        record = self._definitions

        def read() -> Listed:
            if era is not None:
                self._shared.memory.remember_era(self._spec.fingerprint(), era)
            listed = read_listing(self._shared.memory, self._spec, snapshot, before, record, sight)
            first = self._shared.memory.first_version(self._spec.consent_id, info.version)
            return replace(listed, approved_version=first if first != info.version else "")

        async with self._shared.slots:
            # Two threads, as counting leaves a processor's time to Python.
            counting = asyncio.create_task(asyncio.to_thread(self._shared.count_tokens, shown.tools))
            reading = asyncio.create_task(asyncio.to_thread(read), name=f"reading {self._spec.name}")
            try:
                await asyncio.wait({counting, reading})
            except asyncio.CancelledError:
                await asyncio.wait({counting, reading})
                raise
        return counting.result(), reading.result()
