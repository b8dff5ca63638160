"""A tap before a server with an address: it listens on the loopback interface and passes HTTP on.

Headers and bodies pass as they come; `Host` names the server. Of what passes, only the JSON-RPC messages at
the server's own address are copied: headers, and what is said at other paths to sign in, are not.
"""

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final
from urllib.parse import urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn import Config, Server

from inspector.core.error import ConfigError
from inspector.core.secret_value import looks_secret
from inspector.core.server import LOOPBACK
from inspector.features.agents.tap.pump import END, NOTE, REWRITTEN, SECRET, TO_CLIENT, TO_SERVER, Copies, now
from inspector.mcp.pace import CutLine, Lines
from inspector.schema.json_value import JsonObject, read_object

LONGEST_MESSAGE: Final = 4_000_000
"""Bytes of a message that is recorded."""
_LONGEST_OPENING = _LARGEST_METADATA = 65_536
_MOST_KNOWN = 1_000
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# These are about one connection, and there are two.
_OF_CONNECTION = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"}
)
_METADATA = "/.well-known/oauth-protected-resource"
_NAMED = re.compile(r'(?i)(\bresource_metadata="?)(https?://[^/?#\s",]+)')
_ORIGIN = re.compile(r"https?://[^/?#]+")


class Messages:
    """The messages in a body: it is one, or the data of each event is one."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        is_plain = headers.get("content-encoding", "identity") == "identity"
        self._is_stream = kind == "text/event-stream" and is_plain
        self._is_read = kind.endswith("json") and is_plain
        self._lines, self._data = Lines(LONGEST_MESSAGE), list[bytes]()

    def feed(self, data: bytes) -> list[bytes | CutLine]:
        """The messages that a piece completes."""
        if not self._is_stream:
            # Outside strings an end of a line is blank, and within them there is none.
            return list(self._lines.feed(data.replace(b"\n", b" "))) if self._is_read else []
        whole: list[bytes | CutLine] = []
        for line in self._lines.feed(data):
            if isinstance(line, CutLine):
                whole.append(line)
            elif line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif not line.strip():
                whole.append(b" ".join(self._data))
                self._data.clear()
        return whole

    def end(self) -> list[bytes | CutLine]:
        """The message that the end completes; an event that is not whole is none."""
        return [b""] if self._is_stream else list(self._lines.feed(b"\n"))


class HttpTap:
    """Stands before the server at `url`; the headers in `secrets` are ones. Raises ConfigError.

    With `signs_in`, what the server says of its own address is rewritten: a client trusts metadata only of
    the address that it connects to, which is the tap's.
    """

    def __init__(
        self, url: str, copies: Copies, secrets: Iterable[str] = (), *, signs_in: bool = False
    ) -> None:
        hint = "Write it as https://example.com/mcp, with no name and password in it."
        wrong = ConfigError(f"{url} is not the address of a server", hint=hint)
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
            host.encode("idna")
            self._server = httpx2.URL(scheme=parts.scheme, host=host, port=parts.port)
        except (ValueError, httpx2.InvalidURL):
            raise wrong from None
        if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
            raise wrong
        self.host, self.path = parts.netloc, parts.path or "/"
        self._target = f"{parts.path}{'?' if parts.query else ''}{parts.query}"
        self._copies, self.lose = copies, copies.lose
        self._sessions: dict[str, tuple[int, JsonObject]] = {}
        self._running: set[int] = set()
        self._begun = 0
        self._signs_in = signs_in
        self._named = frozenset(map(str.lower, secrets))
        self._learned: set[tuple[str, str]] = set()
        verify = ssl.create_default_context() if parts.scheme == "https" else False
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx2.AsyncClient(verify=verify, timeout=None, limits=limits, trust_env=False)

    async def serve(self, port: int, ready: Callable[[str], None]) -> None:
        """Pass on until cancelled; `ready` is told the address. Raises ConfigError if the port is taken."""
        app = Starlette(routes=[Route("/{path:path}", self._respond, methods=_METHODS)])
        with socket.socket(proto=socket.IPPROTO_TCP) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((LOOPBACK[0], port))
            except OSError as error:
                told = f"port {port} cannot be used: {error.strerror}"
                raise ConfigError(told, hint="End what uses it, or name another one by --port.") from error
            listener.listen()
            ready(f"http://{LOOPBACK[0]}:{listener.getsockname()[1]}{self._target}")
            server = _Quiet(_config(app))
            serving = asyncio.create_task(server.serve([listener]))
            try:
                await asyncio.shield(serving)
            finally:
                server.should_exit = server.force_exit = True
                await asyncio.gather(serving, self._client.aclose(), return_exceptions=True)

    async def _respond(self, request: Request) -> Response:
        if not _is_local(request):
            return PlainTextResponse("This tap is for programs on this machine.\n", 403)
        exchange = _Exchange(self, request)
        target = request.scope["raw_path"] + (b"?" if request.url.query else b"")
        url = self._server.copy_with(raw_path=target + request.scope["query_string"])
        # What is packed could not be recorded.
        left_out = _OF_CONNECTION | {"host", "accept-encoding"}
        headers = [pair for pair in request.headers.items() if pair[0] not in left_out]
        has_body = "content-length" in request.headers or "transfer-encoding" in request.headers
        sent = httpx2.Request(
            request.method, url, headers=headers, content=exchange.asked() if has_body else None
        )
        if not has_body:
            exchange.asked_all()
        try:
            answer = await self._client.send(sent, stream=True)
            if self._signs_in and answer.status_code == 200 and request.url.path.startswith(_METADATA):
                return await _metadata(answer, exchange)
        except (httpx2.HTTPError, OverflowError) as error:
            is_there = isinstance(error, httpx2.RemoteProtocolError | OverflowError)
            # What follows a colon is a part of the answer, maybe of a header.
            why = str(error).partition(":")[0]
            said = (
                f"the answer cannot be read: {why}" if is_there else f"cannot connect to {self.host}: {error}"
            )
            exchange.note(said)
            return PlainTextResponse(f"{said}\n", 502)
        exchange.begin(answer)
        passed = StreamingResponse(exchange.answered(answer), answer.status_code)
        passed.raw_headers = _headers(answer, exchange if self._signs_in else None)
        return passed

    def session(self, key: str, message: JsonObject) -> int:
        """The number of the session that a message belongs to.

        `key` is the id that the server gave the session. Where it gives none it is the client's own name, and
        a message that initializes, or has the id of the first one again, begins the next session.
        """
        known, first = self._sessions.get(key, (0, {}))
        is_again = message.get("id") is not None and message.get("id") == first.get("id")
        is_retried = first.get("method") == "server/discover"
        if not known or is_again or (message.get("method") == "initialize" and not is_retried):
            self._begun = known = self._begun + 1
            self._running.add(known)
            self.name(key, known, message)
        return known

    def name(self, key: str, session: int, first: JsonObject) -> None:
        """Know a session by this key from now on."""
        self._sessions[key] = session, {name: first.get(name) for name in ("id", "method")}
        if len(self._sessions) > _MOST_KNOWN:
            del self._sessions[next(iter(self._sessions))]

    def end(self, session: int) -> None:
        """The client has ended the session."""
        self._sessions = {key: known for key, known in self._sessions.items() if known[0] != session}
        self.copy(END, b"", session)
        self._running.discard(session)

    def copy(self, kind: int, data: bytes, session: int) -> None:
        """Have something recorded, unless its session has ended."""
        if session in self._running:
            self._copies.add(kind, now(), data, session)

    def learn(self, headers: Mapping[str, str], session: int) -> None:
        """Have what a header says as a secret never stored, also where a message repeats it."""
        for pair in headers.items():
            is_secret = pair[0] in self._named or looks_secret(pair[0])
            said = ":".join(pair).encode("latin-1")
            if is_secret and pair not in self._learned and self._copies.add(SECRET, now(), said, session):
                self._learned.add(pair)
                if len(self._learned) > _MOST_KNOWN:
                    self._learned.clear()


class _Exchange:
    """A request and its answer, as far as they are copied."""

    def __init__(self, tap: HttpTap, request: Request) -> None:
        self._tap, self._request = tap, request
        self._is_copied = request.url.path == tap.path
        self._key = request.headers.get("mcp-session-id") or request.headers.get("user-agent", "")
        self._session = 0
        self._asked = Messages(request.headers)
        self.origin = f"http://{request.headers['host']}"

    async def asked(self) -> AsyncIterator[bytes]:
        """The body. Its last piece passes once all is copied: nothing is answered before it is asked."""
        last = b""
        async for piece in self._request.stream():
            if last:
                yield last
            last = piece
            self._asked.feed(piece)
        self.asked_all()
        if last:
            yield last

    def asked_all(self) -> None:
        """Copy the request, which is whole."""
        if not self._is_copied:
            return
        messages = self._asked.end()
        opening: JsonObject = {}
        # What begins a session is small.
        if "mcp-session-id" not in self._request.headers and isinstance(first := messages[0], bytes):
            opening = read_object(first) if len(first) < _LONGEST_OPENING else {}
        self._session = self._tap.session(self._key, opening)
        self._tap.learn(self._request.headers, self._session)
        self._copy(TO_SERVER, messages)

    def begin(self, answer: httpx2.Response) -> None:
        """The answer has begun."""
        if given := answer.headers.get("mcp-session-id"):
            self._tap.name(given, self._known(), {})
        # Servers need neither send of their own accord nor let a session be ended.
        is_usual = answer.status_code == 405 and self._request.method != "POST"
        if answer.status_code >= 400 and not is_usual:
            self.note(f"HTTP {answer.status_code} {answer.reason_phrase}".rstrip())
        if self._request.method == "DELETE":
            self._tap.end(self._known())

    async def answered(self, answer: httpx2.Response) -> AsyncIterator[bytes]:
        """The body of the answer. Raises httpx2.HTTPError where it breaks off: the client learns it."""
        messages = Messages(answer.headers)
        try:
            async for piece in answer.aiter_raw():
                self._copy(TO_CLIENT, messages.feed(piece))
                yield piece
            self._copy(TO_CLIENT, messages.end())
        except httpx2.HTTPError:
            self.note("the connection ended before the answer was whole")
            raise
        finally:
            await answer.aclose()

    def note(self, text: str) -> None:
        """Have a failure recorded that is no message."""
        if self._is_copied:
            self._tap.copy(NOTE, f"{self._request.method}: {text}".encode(), self._known())

    def rewritten(self, what: str, was: str, now: str) -> None:
        """Have it recorded that the client got another address than the server named."""
        self._tap.copy(REWRITTEN, f"{what}: {was} -> {now}".encode(), self._known())

    def _known(self) -> int:
        self._session = self._session or self._tap.session(self._key, {})
        return self._session

    def _copy(self, kind: int, messages: Iterable[bytes | CutLine]) -> None:
        for message in messages if self._is_copied else ():
            if isinstance(message, CutLine):
                self._tap.lose(kind, message.size)
            elif message.strip():
                # After bytes that are lost, what is read again begins behind the end of a line.
                self._tap.copy(kind, b"\n" + message + b"\n", self._session)


def _is_local(request: Request) -> bool:
    """Whether a program on this machine asks, rather than a page that some site had a browser load."""
    host, origin = request.headers.get("host", ""), request.headers.get("origin")
    names = [f"//{host}", *([] if origin is None else [origin])]
    with suppress(ValueError):
        return all(urlsplit(name).hostname in LOOPBACK for name in names)
    return False


def _headers(answer: httpx2.Response, signs_in: _Exchange | None) -> list[tuple[bytes, bytes]]:
    """The headers of an answer; where a client is to sign in, its challenge names the tap."""
    passed = []
    for name, value in answer.headers.multi_items():
        if signs_in is not None and name == "www-authenticate" and answer.status_code in (401, 403):
            for found in _NAMED.finditer(value):
                signs_in.rewritten("resource_metadata", found[2], signs_in.origin)
            value = _NAMED.sub(rf"\g<1>{signs_in.origin}", value)
        if name not in _OF_CONNECTION:
            passed.append((name.encode("latin-1"), value.encode("latin-1")))
    return passed


async def _metadata(answer: httpx2.Response, exchange: _Exchange) -> Response:
    """Metadata of the server that names the tap. Raises OverflowError for more than metadata is."""
    body = b""
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > _LARGEST_METADATA:
            await answer.aclose()
            raise OverflowError("too large")
    document = read_object(body)
    own = {name: value for name, value in answer.headers.items() if name.startswith("x-")}
    if not isinstance(was := document.get("resource"), str):
        return Response(body, headers={**own, "content-type": answer.headers.get("content-type", "")})
    document["resource"] = _ORIGIN.sub(lambda _: exchange.origin, was, count=1)
    exchange.rewritten("resource", was, document["resource"])
    return JSONResponse(document, headers=own)


def _config(app: Starlette) -> Config:
    # A connection that breaks off is told to the client by its end, and not to a log.
    config = Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
    )
    config.timeout_graceful_shutdown = 1
    return config


class _Quiet(Server):
    """Leaves signals to the command that it is part of."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()
