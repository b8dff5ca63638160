"""Lists a server's tools, remembers them, and knows which definitions the session has recorded."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from inspector.domain.definition import ToolDefinition, definition_hash
from inspector.domain.error import ConnectError
from inspector.domain.redaction import Redactor
from inspector.domain.server import ServerSpec
from inspector.domain.tool import Tool
from inspector.engine.ports import ServerLink, ServerMemory, Snapshot, ToolListing, ignored

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

            def told(count: int) -> None:
                nonlocal so_far
                if limit.expired():
                    return  # What the server's thread still told.
                so_far = count
                limit.reschedule(clock() + seconds)
                progress(count)

            return await link.list_tools(told)
    except TimeoutError:
        after = f" after {so_far:,} tools" if so_far else ""
        hint = "The server answered the handshake but not `tools/list`."
        raise ConnectError(
            f"No tool list within {seconds:g} s{after}",
            hint="It began its list and did not go on. Raise `connect_timeout`." if so_far else hint,
            stderr_tail=link.stderr_tail(),
        ) from None


def remember_tools(
    memory: ServerMemory,
    spec: ServerSpec,
    snapshot: Snapshot,
    *,
    redacted: Mapping[str, Tool] = _NONE,
) -> None:
    """Store a server's tools without the values in its spec, which it may repeat. Thread-safe.

    `redacted` are those that have been redacted already, by name.
    """
    own = Redactor({**spec.env, **spec.headers})
    tools = tuple(redacted.get(tool.name) or own.value(tool) for tool in snapshot.tools)
    memory.remember_tools(
        spec.fingerprint(), replace(snapshot, tools=tools, summary=own.value(snapshot.summary))
    )


class DefinitionRecord:
    """Which definitions of one server a session has recorded, so that each is recorded once."""

    def __init__(self, redact: Callable[[Tool], Tool]) -> None:
        """`redact` takes the secrets out of what is recorded; hashes are those of what the server lists."""
        self._redact = redact
        self._listed: dict[str, str] = {}
        self._recorded: set[str] = set()

    def new(self, tools: Sequence[Tool]) -> tuple[ToolDefinition, ...]:
        """The definitions that differ from those listed before. May run in any thread.

        One that was recorded earlier, as of a tool that is changed back, comes by its hash alone.
        """
        hashed = ((tool, definition_hash(tool)) for tool in tools)
        return tuple(
            ToolDefinition(tool.name, digest, None if digest in self._recorded else self._redact(tool))
            for tool, digest in hashed
            if self._listed.get(tool.name) != digest
        )

    def note(self, definitions: Sequence[ToolDefinition]) -> None:
        """Note that these are in the stream now."""
        self._listed.update((one.name, one.hash) for one in definitions)
        self._recorded.update(one.hash for one in definitions)
