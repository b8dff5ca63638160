"""MCP over streamable HTTP: keeps the HTTP status, which the SDK hides behind one vague error."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client

from inspector.core.command_line import command
from inspector.core.error import AuthRequired, ConnectError, RateLimited, ServerExited
from inspector.core.number import duration
from inspector.core.server import ServerSpec
from inspector.core.text import one_line
from inspector.mcp.client.host import Streams
from inspector.mcp.client.http_body import EVENTS, JSON, SESSION, content_type, read_stream, said
from inspector.mcp.client.reader import Reader
from inspector.mcp.frame import LOG
from inspector.mcp.pace import LONGEST_LINE
from inspector.mcp.sign_in.limit import LIMITS, unanswered
from inspector.mcp.sign_in.person import SignInWay
from inspector.mcp.sign_in.provider import signing_in

# A year: nobody waits longer, and a header of a thousand digits is no number of seconds.
_LONGEST = 365 * 24 * 60 * 60.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that `Retry-After` names (RFC 9110), at most a year; None without one that can be read."""
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():
        return min(float(text[:20]), _LONGEST)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    # `-0000` says that the zone is unknown; HTTP knows UTC only.
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return min(max((until - datetime.now(UTC)).total_seconds(), 0.0), _LONGEST)


# Seconds to connect or to send. Reading has no limit: a stream of changes may be silent for hours, and every
# call has its own timeout.
_HTTP_TIMEOUT = 30.0
_GOODBYE_TIMEOUT = 2.0
_FORBIDDEN = 403
_UNAUTHORIZED = (401, _FORBIDDEN)
_TOO_MANY, _UNAVAILABLE = 429, 503
# The SDK's messages in place of an HTTP status.
_STAND_INS = ("Server returned an error response", "Not Found")
_REDIRECT, _NO_MESSAGE = "Redirect to ", "Unexpected content type: "
_PAGE = "Is it an MCP server? Its page may say what to do; many servers use the path /mcp."
# Seconds for what a server says in place of a message.
_SAID_TIMEOUT = 2.0


class HttpChannel:
    """One connection to a URL, with the configured headers on every request."""

    def __init__(self, spec: ServerSpec, reader: Reader, way: SignInWay | None = None) -> None:
        """`way` is how it signs in, None if only the configured headers do."""
        self.ended = asyncio.Event()
        self.status = 0
        self.refused: AuthRequired | None = None
        self._is_open = self._has_forgotten = False
        self._said = ""
        self.retry_after: float | None = None
        self.reader = reader
        self._spec = spec
        self._way = way
        self._where = _origin(spec.url)

    def stderr_tail(self) -> str:
        return ""

    @asynccontextmanager
    async def transport(self) -> AsyncGenerator[Streams, None]:
        """Open the HTTP client, and the SDK's transport with it."""
        timeout = httpx2.Timeout(_HTTP_TIMEOUT, read=None)
        headers = dict(self._spec.headers)
        async with (
            signing_in(self._spec, self._way) as auth,
            _WatchedClient(self, headers=headers, timeout=timeout, auth=auth, **LIMITS) as client,
            streamable_http_client(
                self._spec.url, http_client=client, max_sse_event_size=LONGEST_LINE
            ) as streams,
        ):
            yield streams

    def asked(self, request: httpx2.Request) -> None:
        if request.method == "POST":
            self.status, self.retry_after, self.refused, self._said = 0, None, None, ""

    def answered(self, request: httpx2.Request, response: httpx2.Response) -> None:
        # A GET only asks for a stream of notifications, which servers may refuse with any 4xx.
        if request.method == "POST":
            self.status = response.status_code
            self.retry_after = retry_after(response.headers)
            self._is_open |= response.is_success
            if response.status_code == httpx2.codes.NOT_FOUND and SESSION in request.headers:
                self._has_forgotten = True
                self.ended.set()

    def heard(self, body: bytes) -> None:
        """Keep the beginning of what a server said in place of a message."""
        self._said = said(body)

    def refuse(self, request: httpx2.Request, refusal: AuthRequired) -> httpx2.Response:
        """The answer to a request that cannot be signed: as an error, it would end an open connection."""
        if not self._is_open:
            self.refused = refusal
            raise refusal
        response = httpx2.Response(_FORBIDDEN, request=request)
        self.answered(request, response)
        if request.method == "POST":
            self.refused = refusal
        return response

    def unreachable(self, error: httpx2.TransportError) -> None:
        LOG.info("%s: %r", self._where, error)
        self.ended.set()

    def diagnose(self, causes: list[BaseException]) -> ConnectError | None:
        """The error if HTTP explains a failure, else None."""
        if self._has_forgotten:
            return ServerExited("The server forgot its session: HTTP 404", hint="Reconnect the server.")
        if self.refused is not None:
            return self.refused
        for cause in causes:
            if isinstance(cause, httpx2.TransportError | httpx2.InvalidURL):
                return self._transport_failure(cause)
        return next((refusal for cause in causes if (refusal := self.refusal(cause))), None)

    def refusal(self, error: BaseException) -> ConnectError | None:
        """The error for the HTTP status behind one of the SDK's vague errors, else None."""
        if self.refused is not None:
            return self.refused
        # It wants fewer requests, whatever its answer says besides.
        is_limited = self.status == _TOO_MANY or (
            self.status == _UNAVAILABLE and self.retry_after is not None
        )
        if isinstance(error, MCPError) and is_limited:
            return self._limited()
        if not isinstance(error, MCPError):
            return None
        if error.message.startswith(_REDIRECT):
            told, cure = re.split(r"; |: ", error.message, maxsplit=1)
            return ConnectError(f"{self._where}: {told}", hint=f"{cure[:1].upper()}{one_line(cure[1:])}.")
        if error.message.startswith(_NO_MESSAGE):
            kind = error.message.removeprefix(_NO_MESSAGE)
            return ConnectError(f"{self._where} answered {kind}, not a message{self._said}", hint=_PAGE)
        if error.message not in _STAND_INS:
            return None
        if self.status in _UNAUTHORIZED:
            return self._unauthorized()
        if self.status in (404, 405, 410):
            hint = "Check the URL's path; many servers use /mcp. The older HTTP+SSE is not supported."
            told = f"No MCP endpoint at {self._where}: HTTP {self.status}{self._said}"
            return ConnectError(told, hint=hint)
        if self.status >= 400:
            told = f"{self._where} answered HTTP {self.status}{self._said}"
            return ConnectError(told, hint="Check the server's log.")
        return None

    def _limited(self) -> RateLimited:
        wanted = f"; try again in {duration(self.retry_after)}" if self.retry_after else ""
        message = f"{self._where} answered HTTP {self.status}: too many requests, or overloaded{wanted}"
        hint = "Wait, then call it less often."
        return RateLimited(message, hint=hint, retry_after=self.retry_after)

    def _unauthorized(self) -> AuthRequired:
        told = f"{self._where} answered HTTP {self.status}{self._said}"
        if any(name.lower() == "authorization" for name in self._spec.headers):
            return AuthRequired(told, hint="The server rejected the configured Authorization header.")
        if self._spec.oauth.is_machine:
            hint = "It rejects this client: check its `oauth` in the configuration, scopes included."
            return AuthRequired(told, hint=hint)
        why = (
            "No stored sign-in works for it"
            if self.status == 401
            else "Its sign-in lacks a permission (scope)"
        )
        return AuthRequired(
            f"needs sign-in: {told}",
            hint=f"{why}. Press i on it in the app, run {command('servers', '--sign-in', self._spec.name)}, "
            "or configure an Authorization header.",
        )

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
        except httpx2.TransportError as error:
            if (refusal := unanswered(error, request.url.host)) is not None:
                return self._channel.refuse(request, refusal)
            if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
                self._channel.unreachable(error)
            raise
        except AuthRequired as error:
            return self._channel.refuse(request, error)
        self._channel.answered(request, response)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            channel = self._channel
            response.stream = read_stream(response.stream, response, channel.reader, channel.heard)
        if request.method == "POST" and content_type(response) not in (JSON, EVENTS):
            # The SDK would not read it.
            with suppress(TimeoutError, httpx2.HTTPError, httpx2.StreamError):
                async with asyncio.timeout(_SAID_TIMEOUT):
                    await response.aread()
        return response


def _origin(url: str) -> str:
    """The URL without user, password, query and fragment, which may contain secrets."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except ValueError:
        return "the configured URL"
