"""MCP over streamable HTTP: keeps the status, which the SDK hides, and reads bodies before the SDK does."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client

from inspector.core.error import AuthRequired, ConnectError, RateLimited, command
from inspector.core.number import duration
from inspector.core.secret_value import MARKER
from inspector.core.server import ServerSpec
from inspector.core.text import one_line, shortened
from inspector.mcp.client.host import Streams
from inspector.mcp.client.reader import BYTE_ORDER_MARK, TOO_LARGE, RawMessage, Reader
from inspector.mcp.client.session import SESSION_LOST
from inspector.mcp.frame import LOG
from inspector.mcp.pace import HEAD, LONGEST_LINE, TAIL, CutLine, Lines, retry_after, size_text
from inspector.mcp.sign_in.exchange import NO_SIGN_IN, limits, publishes_sign_in, unanswered
from inspector.mcp.sign_in.person import SignInWay

# Seconds to connect or to send. Reading has no limit: a stream of changes may be silent for hours, and every
# call has its own timeout.
_HTTP_TIMEOUT = 30.0
_GOODBYE_TIMEOUT = 2.0
_FORBIDDEN, _NOT_FOUND = 403, 404
_UNAUTHORIZED = (401, _FORBIDDEN)
_TOO_MANY, _UNAVAILABLE = 429, 503
_INITIALIZE = re.compile(rb'\{"jsonrpc":"2.0","id":[^,]{1,40},"method":"initialize"')
# The SDK's messages in place of an HTTP status.
_STAND_INS = ("Server returned an error response", "Not Found")
_REDIRECT, _NO_MESSAGE = "Redirect to ", "Unexpected content type: "
_PAGE = "Is it an MCP server? Its page may say what to do; many servers use the path /mcp."
# Headers of which the wire log has only the names, beside the configured ones; what it has of the others.
_SECRET = ("authorization", "proxy-authorization", "cookie", "set-cookie", "mcp-session-id")
_MOST_HEADERS, _LONGEST_HEADER = 60, 500
# Seconds for what a server says in place of a message.
_SAID_TIMEOUT = 2.0


class HttpChannel:
    """One connection to a URL, with the configured headers on every request."""

    def __init__(self, spec: ServerSpec, reader: Reader, way: SignInWay | None = None) -> None:
        """`way` is how it signs in, None if only the configured headers do."""
        self.ended = asyncio.Event()
        self.status = 0
        self.refused: AuthRequired | None = None
        self._is_open = False
        self._said = ""
        self.publishes_sign_in = True
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
        # It imports jwt, which a server that is a program does without.
        from inspector.mcp.sign_in.provider import signing_in

        async with (
            signing_in(self._spec, self._way) as auth,
            _WatchedClient(self, headers=headers, timeout=timeout, auth=auth, **limits()) as client,
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

    def record(self, request: httpx2.Request, response: httpx2.Response, began: float) -> None:
        """Put the status and the headers into the wire log; of those that may be secret only the names."""
        hidden = {*_SECRET, *map(str.lower, self._spec.headers)}

        def shown(headers: httpx2.Headers) -> dict[str, str]:
            named = list(headers.items())[:_MOST_HEADERS]
            return {key: MARKER if key in hidden else shortened(text, _LONGEST_HEADER) for key, text in named}

        both = {"request": shown(request.headers), "response": shown(response.headers)}
        about = f"{shortened(one_line(response.reason_phrase), _SHOWN_SAID)} to {request.method}"
        self.reader.recorder.http(response.status_code, about, both, time.perf_counter() - began)

    def wants_sign_in(self, response: httpx2.Response) -> bool:
        """Whether a person may have to sign in, and the answer does not say where."""
        is_new = response.status_code == _UNAUTHORIZED[0] and not self._is_open and self.publishes_sign_in
        can = self._way is not None and not self._spec.oauth.is_machine and not self._way.visitor
        return is_new and can and "resource_metadata" not in response.headers.get("www-authenticate", "")

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
        if not self.publishes_sign_in:
            return AuthRequired(told, hint=NO_SIGN_IN, can_sign_in=False)
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
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            reason = str(error) or "it does not answer"
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
        if _INITIALIZE.match(await request.aread()):
            # A new session begins: the SDK would name the one that is lost.
            request.headers.pop(SESSION, None)
        began = time.perf_counter()
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
        self._channel.record(request, response, began)
        if request.method == "POST" and response.status_code == _NOT_FOUND and SESSION in request.headers:
            # Servers say it in many forms, with a message or without.
            await response.aclose()
            return httpx2.Response(_NOT_FOUND, request=request, json=SESSION_LOST)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            channel = self._channel
            response.stream = read_stream(response.stream, response, channel.reader, channel.heard)
        if request.method == "POST" and content_type(response) not in (JSON, EVENTS):
            # The SDK would not read it.
            with suppress(TimeoutError, httpx2.HTTPError, httpx2.StreamError):
                async with asyncio.timeout(_SAID_TIMEOUT):
                    await response.aread()
        if request.method == "POST" and self._channel.wants_sign_in(response):
            self._channel.publishes_sign_in = await publishes_sign_in(super().send, request)
        return response


def _origin(url: str) -> str:
    """The URL without user, password, query and fragment, which may contain secrets."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except ValueError:
        return "the configured URL"


_FIELDS = (b"data", b"event", b"id", b"retry")


JSON, EVENTS = "application/json", "text/event-stream"
SESSION = "mcp-session-id"
# Of a page or an error in place of a message: what is read, in bytes, and shown, in characters.
_MOST_SAID, _SHOWN_SAID = 4_000, 100
_MARKUP = re.compile(r"<(script|style)\b.*?(</\1>|$)|<[^>]*>", re.DOTALL | re.IGNORECASE)


def content_type(response: httpx2.Response) -> str:
    """What the body is, without parameters."""
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def read_stream(
    inner: httpx2.AsyncByteStream, response: httpx2.Response, reader: Reader, heard: Callable[[bytes], None]
) -> httpx2.AsyncByteStream:
    """The body as the SDK gets it, by its content type; `heard` gets one that may be no message."""
    return (
        _Events(inner, reader) if content_type(response) == EVENTS else _Body(inner, response, reader, heard)
    )


def said(body: bytes) -> str:
    """The beginning of the text of a page or an error, as the end of a sentence; "" without any."""
    text = one_line(_MARKUP.sub(" ", body[:_MOST_SAID].decode("utf-8", "replace")))
    return f": “{shortened(text, _SHOWN_SAID)}”" if text else ""


class _Body(httpx2.AsyncByteStream):
    """An answer in one piece; it ends with an error once it is larger than Toolsight reads."""

    def __init__(
        self,
        inner: httpx2.AsyncByteStream,
        response: httpx2.Response,
        reader: Reader,
        heard: Callable[[bytes], None],
    ) -> None:
        self._inner = inner
        self._reader = reader if content_type(response) == JSON else None
        self._status, self._heard = response.status_code, heard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, chunks = 0, list[bytes]()
        async for chunk in self._inner:
            size += len(chunk)
            if size > LONGEST_LINE:
                raise httpx2.StreamError(f"{TOO_LARGE}: Toolsight reads at most {size_text(LONGEST_LINE)}")
            chunks.append(chunk)
        whole = b"".join(chunks)
        if self._reader is None or self._status >= httpx2.codes.BAD_REQUEST:
            self._heard(whole)
        if self._reader is None:
            yield whole
            return
        messages = self._reader.body(whole, status=self._status)
        yield self._reader.stand_ins.hold(messages[-1]) if messages else whole

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Events(httpx2.AsyncByteStream):
    """A stream of server-sent events: those without a message are left out, and a flood is slowed down."""

    def __init__(self, inner: httpx2.AsyncByteStream, reader: Reader) -> None:
        self._inner = inner
        self._reader = reader
        self._data: list[bytes] = []
        self._size = 0
        self._has_fields = False
        self._is_first = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        lines = Lines()
        async for chunk in self._inner:
            began = time.perf_counter()
            passed = b"".join(part for line in lines.feed(chunk) for part in self._line(line))
            if pause := self._reader.pause(time.perf_counter() - began, is_flood=lines.is_cut):
                await asyncio.sleep(pause)
            if passed:
                yield passed
        last = b"".join((*self._line(lines.rest), *self._event()))
        if last:
            yield last

    def _line(self, line: bytes | CutLine) -> Iterator[bytes]:
        if isinstance(line, CutLine):
            self._data = []
            yield from self._passed(self._reader.cut(line))
            return
        line = line.removesuffix(b"\r")
        if self._is_first:
            line, self._is_first = line.removeprefix(BYTE_ORDER_MARK), False
        if not line:
            yield from self._event()
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._add(value.removeprefix(b" "))
        elif name in _FIELDS or not name:
            self._has_fields = True
            yield line + b"\n"

    def _add(self, value: bytes) -> None:
        self._size += len(value)
        self._data.append(value)
        if self._size > LONGEST_LINE:
            self._data = [b"".join(self._data)[:HEAD]]

    def _event(self) -> Iterator[bytes]:
        data, size = b"\n".join(self._data), self._size
        self._data, self._size = [], 0
        if size > LONGEST_LINE:
            yield from self._passed(self._reader.cut(CutLine(data, data[-TAIL:], size)))
        elif data:
            yield from self._passed(self._reader.body(data))
        else:
            yield from self._passed([])

    def _passed(self, messages: list[RawMessage]) -> Iterator[bytes]:
        for message in messages:
            yield b"data: " + self._reader.stand_ins.hold(message) + b"\n\n"
        if not messages and self._has_fields:
            yield b"\n"
        self._has_fields = False
        self._is_first = True

    async def aclose(self) -> None:
        await self._inner.aclose()
