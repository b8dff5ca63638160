"""MCP over streamable HTTP: keeps the HTTP status, which the SDK hides behind one vague error."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client

from inspector.adapters.mcp.http_body import read_stream
from inspector.adapters.mcp.line import LONGEST_LINE
from inspector.adapters.mcp.log import LOG
from inspector.adapters.mcp.reader import Reader
from inspector.adapters.mcp.retry_after import retry_after
from inspector.adapters.mcp.tap import Streams
from inspector.domain.error import AuthRequired, ConnectError, RateLimited
from inspector.domain.number import duration
from inspector.domain.server import ServerSpec

# Seconds to connect or to send. Reading has no limit: a stream of changes may be silent for hours, and every
# call has its own timeout.
_HTTP_TIMEOUT = 30.0
_GOODBYE_TIMEOUT = 2.0
_UNAUTHORIZED = (401, 403)
_TOO_MANY, _UNAVAILABLE = 429, 503
# The SDK's messages in place of an HTTP status.
_STAND_INS = ("Server returned an error response", "Not Found")


class HttpChannel:
    """One connection to a URL, with the configured headers on every request."""

    def __init__(self, spec: ServerSpec, reader: Reader) -> None:
        self.ended = asyncio.Event()
        self.status = 0
        self.retry_after: float | None = None
        self.reader = reader
        self._spec = spec
        self._where = _origin(spec.url)

    def stderr_tail(self) -> str:
        return ""

    @asynccontextmanager
    async def transport(self) -> AsyncGenerator[Streams, None]:
        """Open the HTTP client, and the SDK's transport with it."""
        timeout = httpx2.Timeout(_HTTP_TIMEOUT, read=None)
        async with (
            _WatchedClient(self, headers=dict(self._spec.headers), timeout=timeout) as client,
            streamable_http_client(
                self._spec.url, http_client=client, max_sse_event_size=LONGEST_LINE
            ) as streams,
        ):
            yield streams

    def asked(self, request: httpx2.Request) -> None:
        if request.method == "POST":
            self.status, self.retry_after = 0, None

    def answered(self, request: httpx2.Request, response: httpx2.Response) -> None:
        # A GET only asks for a stream of notifications, which servers may refuse with any 4xx.
        if request.method == "POST":
            self.status = response.status_code
            self.retry_after = retry_after(response.headers)

    def unreachable(self, error: httpx2.TransportError) -> None:
        LOG.info("%s: %r", self._where, error)
        self.ended.set()

    def diagnose(self, causes: list[BaseException]) -> ConnectError | None:
        """The error if HTTP explains a failure, else None."""
        for cause in causes:
            if isinstance(cause, httpx2.TransportError | httpx2.InvalidURL):
                return self._transport_failure(cause)
        return next((refusal for cause in causes if (refusal := self.refusal(cause))), None)

    def refusal(self, error: BaseException) -> ConnectError | None:
        """The error for the HTTP status behind one of the SDK's vague errors, else None."""
        if isinstance(error, MCPError) and self._is_limited:
            return self._limited()
        if not isinstance(error, MCPError) or error.message not in _STAND_INS:
            return None
        if self.status in _UNAUTHORIZED:
            return AuthRequired(f"{self._where} answered HTTP {self.status}", hint=self._auth_hint())
        if self.status in (404, 405, 410):
            hint = "Check the URL's path; many servers use /mcp."
            return ConnectError(f"No MCP endpoint at {self._where}: HTTP {self.status}", hint=hint)
        if self.status >= 400:
            return ConnectError(f"{self._where} answered HTTP {self.status}", hint="Check the server's log.")
        return None

    @property
    def _is_limited(self) -> bool:
        """Whether it wants fewer requests, whatever its answer says besides."""
        return self.status == _TOO_MANY or (self.status == _UNAVAILABLE and self.retry_after is not None)

    def _limited(self) -> RateLimited:
        wanted = f"; try again in {duration(self.retry_after)}" if self.retry_after else ""
        message = f"{self._where} answered HTTP {self.status}: too many requests, or overloaded{wanted}"
        hint = "Wait, then call it less often."
        return RateLimited(message, hint=hint, retry_after=self.retry_after)

    def _auth_hint(self) -> str:
        if any(name.lower() == "authorization" for name in self._spec.headers):
            return "The server rejected the configured Authorization header."
        return 'Add credentials: "headers": {"Authorization": "Bearer ..."}.'

    def _transport_failure(self, error: Exception) -> ConnectError:
        if isinstance(error, httpx2.ConnectTimeout):
            return ConnectError(f"{self._where} does not answer", hint="Check the address and the network.")
        if isinstance(error, httpx2.ConnectError):
            reason = str(error) or "connection refused"
            return ConnectError(
                f"Cannot connect to {self._where}: {reason}", hint="Is the server running on this port?"
            )
        if isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
            return ConnectError(f"Not a valid URL: {error}", hint="Write it as http://host:port/mcp.")
        return ConnectError(
            f"{self._where}: {str(error) or type(error).__name__}", hint="Reconnect the server."
        )


class _WatchedClient(httpx2.AsyncClient):
    """Reports every response, and every request that could not be sent, to the channel."""

    def __init__(self, channel: HttpChannel, **options: Any) -> None:
        super().__init__(**options)
        self._channel = channel

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        # The SDK ends a session with a DELETE; a server that never answers it must not delay closing.
        self._channel.asked(request)
        limit = _GOODBYE_TIMEOUT if request.method == "DELETE" else None
        try:
            async with asyncio.timeout(limit):
                response = await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            self._channel.unreachable(error)
            raise
        self._channel.answered(request, response)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            kind = response.headers.get("content-type", "")
            response.stream = read_stream(response.stream, kind, self._channel.reader)
        return response


def _origin(url: str) -> str:
    """The URL without user, password, query and fragment, which may contain secrets."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except ValueError:
        return "the configured URL"
