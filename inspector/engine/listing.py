"""Lists a server's tools and remembers them."""

import asyncio
from dataclasses import replace

from inspector.domain.error import ConnectError
from inspector.domain.redaction import Redactor
from inspector.domain.server import ServerSpec
from inspector.engine.ports import ServerLink, ServerMemory, Snapshot, ToolListing


async def list_tools(link: ServerLink, seconds: float) -> ToolListing:
    """List a server's tools within `seconds`. Raises ConnectError, ServerExited or ProtocolError."""
    try:
        async with asyncio.timeout(seconds):
            return await link.list_tools()
    except TimeoutError:
        raise ConnectError(
            f"No tool list within {seconds:g} s",
            hint="The server answered the handshake but not `tools/list`.",
            stderr_tail=link.stderr_tail(),
        ) from None


def remember_tools(memory: ServerMemory, spec: ServerSpec, snapshot: Snapshot) -> None:
    """Store a server's tools without the values in its spec, which it may repeat. Thread-safe."""
    redact = Redactor({**spec.env, **spec.headers}).value
    tools = tuple(redact(tool) for tool in snapshot.tools)
    memory.remember_tools(
        spec.fingerprint(), replace(snapshot, tools=tools, summary=redact(snapshot.summary))
    )
