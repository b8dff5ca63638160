"""How a person signs in: an address to visit, and the answer that comes back to this machine or is pasted."""

import asyncio
import webbrowser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from inspector.core.error import AuthRequired
from inspector.mcp.sign_in.kept import SignIns

LOOKING = "toolsight-looks"
"""The client of whoever only looks at the documents: nothing is registered for it."""
_PATH = "/callback"
# What a browser sends as its first line: an answer is a code and a state, no more.
_LONGEST_LINE = 16_384
_SECONDS = 10.0
_DONE = "Toolsight has the answer. You can close this window."
_PARAMETERS = ("code", "state", "iss", "error", "error_description")


class Visitor(Protocol):
    """Whoever visits the address of a sign-in."""

    async def visit(self, server: str, address: str) -> str:
        """Show the address and wait; return the address that the visit ended at, if the person gives it.

        Cancelled once the answer has come to this machine. Raises AuthRequired if the person declines.
        """


class SignInWay(Struct, frozen=True):
    """How connections sign in: with what is kept, and with a `visitor` also anew, unless `is_stored_only`."""

    kept: SignIns
    visitor: Visitor | None = None
    is_stored_only: bool = False


# Browsers that would take the terminal which the person looks at.
_IN_TERMINAL = frozenset({"www-browser", "links", "elinks", "lynx", "w3m"})


async def open_in_browser(address: str) -> bool:
    """Open an address that a person agreed to; False if there is no browser with a window."""

    def opened() -> bool:
        with suppress(webbrowser.Error):
            name = str(getattr(webbrowser.get(), "name", ""))
            if Path(name).name in _IN_TERMINAL:
                return False
        return webbrowser.open(address)

    return await asyncio.to_thread(opened)


def read_answer(address: str) -> dict[str, str]:
    """The parameters of an answer. Raises AuthRequired for a text that is none."""
    try:
        pairs = parse_qsl(urlsplit(address.strip()).query, keep_blank_values=True)
    except ValueError:
        pairs = []
    known = [pair for pair in pairs if pair[0] in _PARAMETERS]
    answer = dict(known)
    if len(answer) < len(known) or not ("code" in answer or "error" in answer):
        hint = f"Paste the whole address that the browser ends up at, with {_PATH}?code=… in it."
        raise AuthRequired("this is not the answer to a sign-in", hint=hint)
    return answer


class Redirect:
    """A port of this machine that waits for the answer, from the moment that it is open."""

    def __init__(self) -> None:
        self.uri = ""
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def opened(self, port: int = 0, *, preferred: int = 0) -> AsyncGenerator["Redirect", None]:
        """Listen on this machine alone, on a free port unless one is named. Raises AuthRequired."""
        try:
            server = await self._listen(port or preferred)
        except OSError as error:
            if not port:
                server = await self._listen(0)
            else:
                raise AuthRequired(
                    f"port {port} is not free for the answer of the sign-in: {error.strerror}",
                    hint="End what uses it, or name another port.",
                ) from error
        self.uri = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{_PATH}"
        try:
            yield self
        finally:
            server.close()

    async def _listen(self, port: int) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", port, limit=_LONGEST_LINE)

    async def answered(self, visiting: "asyncio.Task[str]") -> dict[str, str]:
        """The answer that comes first: to the port, or from whoever visits the address."""
        self._answer = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait({visiting, self._answer}, return_when=asyncio.FIRST_COMPLETED)
            return read_answer(self._answer.result() if self._answer.done() else visiting.result())
        finally:
            visiting.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                line = (await reader.readline()).decode("latin-1").split(" ")
            is_answer = len(line) == 3 and line[0] == "GET" and urlsplit(line[1]).path == _PATH
            writer.write(_page("200 OK", _DONE) if is_answer else _page("404 Not Found", "Not here."))
            await writer.drain()
            if is_answer and not self._answer.done():
                self._answer.set_result(line[1])
        except (TimeoutError, ValueError, OSError):
            pass
        finally:
            writer.close()


def _page(status: str, text: str) -> bytes:
    headers = "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\nConnection: close"
    return f"HTTP/1.1 {status}\r\n{headers}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
