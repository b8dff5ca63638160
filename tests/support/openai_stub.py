"""A provider that sends part of its answer and then goes silent or hangs up."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class SilentStub:
    """The stub's address, and whether the client has hung up."""

    address: str = ""
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def silent_server(events: Sequence[str], *, cuts: bool = False) -> AsyncIterator[SilentStub]:
    """Stream the events without ending the answer; with `cuts`, close the connection after them."""
    stub = SilentStub()
    serving: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length:")[2].split(b"\r\n")[0]
        await reader.readexactly(int(length))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        writer.write(b"transfer-encoding: chunked\r\n\r\n")
        for event in events:
            body = event.encode()
            writer.write(b"%x\r\n%s\r\n" % (len(body), body))
        await writer.drain()
        if not cuts:
            await reader.read()
            stub.hung_up.set()
        writer.close()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.ensure_future(answer(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    stub.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield stub
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
