"""Lists a server's tools, remembers them, and knows which definitions the session has recorded."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from inspector.core.access import EVERYTHING, Sight
from inspector.core.definition import ToolDefinition, definition_hash
from inspector.core.error import ConnectError
from inspector.core.events import DefinitionChanged
from inspector.core.number import count
from inspector.core.ports import ServerLink, ToolListing, ignored
from inspector.core.server import ServerSpec
from inspector.core.sink import SECRETS, clean
from inspector.core.store_ports import ServerMemory, Snapshot
from inspector.core.tool import Tool
from inspector.mcp.listing_change import changes

_NONE: Mapping[str, Tool] = {}


async def list_tools(
    link: ServerLink, seconds: float, progress: Callable[[int], None] = ignored
) -> ToolListing:
    """List a server's tools; each page may take `seconds`. `progress` gets the number of tools so far.

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
                progress(listed)

            return await link.list_tools(told)
    except TimeoutError:
        after = f", only {count(so_far, 'tool')}" if so_far else ""
        hint = "The server answered the handshake but not `tools/list`."
        raise ConnectError(
            f"No tool list within {seconds:g} s{after}",
            hint="It stopped in the middle of its list. Raise `connect_timeout`." if so_far else hint,
            stderr_tail=link.stderr_tail(),
        ) from None


def remember_tools(
    memory: ServerMemory,
    spec: ServerSpec,
    snapshot: Snapshot,
    *,
    redacted: Mapping[str, Tool] = _NONE,
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
        self.redact = redact or _as_it_is
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


def _as_it_is(tool: Tool) -> Tool:
    return tool


@dataclass(frozen=True, slots=True)
class Difference:
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


@dataclass(frozen=True, slots=True)
class Listed:
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
