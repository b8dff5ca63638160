"""A tap before a server with an address: it listens on the loopback interface and passes HTTP on.

Every connection of a client is one to the server. All bytes pass as they come, but for the `Host` of each
request, which names the server. Of what passes, only the JSON-RPC messages at the server's own address are
copied: headers, and what is said at other paths to sign in, are not.
"""

import asyncio
import re
import ssl
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

import h11

from inspector.core.error import ConfigError
from inspector.core.secret_value import looks_secret
from inspector.core.server import LOOPBACK
from inspector.features.agents.tap.http_message import Messages, SignIn, headers_of
from inspector.features.agents.tap.pump import END, NOTE, REWRITTEN, SECRET, TO_CLIENT, TO_SERVER, Copies, now
from inspector.mcp.pace import CutLine
from inspector.schema.json_value import JsonObject, read_object

_LONGEST_HEAD = _LONGEST_OPENING = _PIECE = 65_536
_MOST_KNOWN = 1_000
_HOST = re.compile(rb"(?i)(\r\nhost:[ \t]*)[^\r\n]*")


class HttpTap:
    """Stands before the server at `url`; the headers in `secrets` are ones. Raises ConfigError.

    With `signs_in`, what the server says of its own address is rewritten, see `SignIn`.
    """

    def __init__(
        self, url: str, copies: Copies, secrets: Iterable[str] = (), *, signs_in: bool = False
    ) -> None:
        hint = "Write it as https://example.com/mcp, with no name and password in it."
        wrong = ConfigError(f"{url} is not the address of a server", hint=hint)
        try:
            parts = urlsplit(url)
            self.server, port = parts.hostname or "", parts.port
            self.server.encode("idna")
        except ValueError:
            raise wrong from None
        if parts.scheme not in ("http", "https") or not self.server or "@" in parts.netloc:
            raise wrong
        self.tls = ssl.create_default_context() if parts.scheme == "https" else None
        self.port = port or (443 if self.tls else 80)
        self.host = parts.netloc.encode()
        self.path = (parts.path or "/").encode()
        self._target = f"{parts.path}{'?' if parts.query else ''}{parts.query}"
        self._copies, self.lose = copies, copies.lose
        self._sessions: dict[str, tuple[int, JsonObject]] = {}
        self._running: set[int] = set()
        self._begun = 0
        self.signs_in = signs_in
        self._named = frozenset(map(str.lower, secrets))
        self._learned: set[bytes] = set()

    async def serve(self, port: int, ready: Callable[[str], None]) -> None:
        """Pass on until cancelled; `ready` is told the address. Raises ConfigError if the port is taken."""
        try:
            listening = await asyncio.start_server(self._connected, LOOPBACK[0], port)
        except OSError as error:
            told = f"port {port} cannot be used: {error.strerror}"
            raise ConfigError(told, hint="End what uses it, or name another one by --port.") from error
        async with listening:
            ready(f"http://{LOOPBACK[0]}:{listening.sockets[0].getsockname()[1]}{self._target}")
            await listening.serve_forever()

    async def _connected(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        # Whichever side goes, the other one learns it as its connection ends.
        with suppress(OSError, h11.RemoteProtocolError, asyncio.CancelledError):
            await _Connection(self, client, to_client).run()
        to_client.close()

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
        for name, value in headers.items():
            said = f"{name}:{value}".encode("latin-1")
            is_secret = name in self._named or looks_secret(name)
            if is_secret and said not in self._learned and self._copies.add(SECRET, now(), said, session):
                self._learned.add(said)
                if len(self._learned) > _MOST_KNOWN:
                    self._learned.clear()


class _Exchange:
    """A request and its answer, as far as they are copied; `asked` takes the request's body."""

    def __init__(self, tap: HttpTap, request: h11.Request) -> None:
        self._tap = tap
        self._headers = headers_of(request)
        self.method = request.method
        self.is_copied = request.target.partition(b"?")[0] == tap.path
        self.key = self._headers.get("mcp-session-id") or self._headers.get("user-agent", "")
        self.session = 0
        self.asked = Messages(self._headers)
        self._answered = Messages({})
        self._reader: h11.Connection | None = None
        self.sign_in = SignIn(request.target, self._headers.get("host", ""), is_wanted=tap.signs_in)

    @property
    def is_local(self) -> bool:
        """Whether a program on this machine asks, rather than a page that some site had a browser load."""
        host, origin = self._headers.get("host", ""), self._headers.get("origin")
        names = [f"//{host}", *([] if origin is None else [origin])]
        with suppress(ValueError):
            return all(urlsplit(name).hostname in LOOPBACK for name in names)
        return False

    def asked_all(self) -> None:
        """The request is whole: copy it, before it is passed on."""
        if not self.is_copied:
            return
        messages = self.asked.end()
        opening = {} if "mcp-session-id" in self._headers else _opening(messages[0])
        self.session = self._tap.session(self.key, opening)
        self._tap.learn(self._headers, self.session)
        self._copy(TO_SERVER, messages)

    def answered(self, data: bytes) -> bytes | None:
        """Take what the server wrote, and return what is after this answer; None if it is not whole yet.

        Raises h11.RemoteProtocolError for what is no HTTP, zlib.error for what cannot be unpacked.
        """
        if self._reader is None:
            self._reader = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)
            self._reader.send(h11.Request(method=self.method, target="/", headers=[("host", "x")]))
            self._reader.send(h11.EndOfMessage())
        self._reader.receive_data(data)
        while not isinstance(event := self._reader.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                return None
            if event is h11.PAUSED:
                raise h11.RemoteProtocolError("it goes on as another protocol")
            if isinstance(event, h11.Response):
                self._begin(event)
            elif isinstance(event, h11.Data):
                self._read(self._answered.feed(event.data))
        self._read(self._answered.end())
        return self._reader.trailing_data[0]

    def _read(self, messages: Sequence[bytes | CutLine]) -> None:
        self._copy(TO_CLIENT, messages)
        self.sign_in.read(messages)

    def passed(self, data: bytes, *, is_whole: bool) -> bytes:
        """What to pass on now of the bytes that `answered` took."""
        data, rewritten = self.sign_in.passed(data, is_whole=is_whole)
        for one in rewritten:
            session = self.session or self._tap.session(self.key, {})
            self._tap.copy(REWRITTEN, one.encode(), session)
        return data

    def _begin(self, response: h11.Response) -> None:
        headers = headers_of(response)
        self._answered = Messages(headers)
        self.sign_in.response = response
        if not self.is_copied:
            return
        self.session = self.session or self._tap.session(self.key, {})
        if given := headers.get("mcp-session-id"):
            self._tap.name(given, self.session, {})
        # Servers need neither send of their own accord nor let a session be ended.
        is_usual = response.status_code == 405 and self.method != b"POST"
        if response.status_code >= 400 and not is_usual:
            self.note(f"HTTP {response.status_code} {response.reason.decode('latin-1')}".rstrip())
        if self.method == b"DELETE":
            self._tap.end(self.session)

    def note(self, text: str) -> None:
        """Have a failure recorded that is no message."""
        if self.is_copied:
            said = f"{self.method.decode()}: {text}"
            self._tap.copy(NOTE, said.encode(), self.session or self._tap.session(self.key, {}))

    def _copy(self, kind: int, messages: Iterable[bytes | CutLine]) -> None:
        for message in messages if self.is_copied else ():
            if isinstance(message, CutLine):
                self._tap.lose(kind, message.size)
            elif message.strip():
                # After bytes that are lost, what is read again begins behind the end of a line.
                self._tap.copy(kind, b"\n" + message + b"\n", self.session)


def _opening(message: bytes | CutLine) -> JsonObject:
    """The message, if it is one that may begin a session: those are small."""
    return read_object(message) if isinstance(message, bytes) and len(message) < _LONGEST_OPENING else {}


class _Connection:
    """A client's connection, and the one to the server that is made for it."""

    def __init__(self, tap: HttpTap, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self._tap = tap
        self._client, self._to_client = client, to_client
        self._to_server: asyncio.StreamWriter | None = None
        self._answers: asyncio.Task[None] | None = None
        self._open: deque[_Exchange] = deque()
        self._none_open = asyncio.Event()
        self._none_open.set()
        self._rest = b""
        self._is_asking = self._is_readable = True

    async def run(self) -> None:
        """Pass on until both sides have ended. Raises OSError, or RemoteProtocolError for what is no HTTP."""
        try:
            while await self._request():
                pass
            if self._to_server is not None and self._answers is not None:
                # The client has no more to ask; it may still wait for an answer.
                self._is_asking = False
                if self._to_server.can_write_eof():
                    self._to_server.write_eof()
                else:
                    self._to_server.close()
                await self._answers
        finally:
            if self._answers is not None:
                self._answers.cancel()
            if self._to_server is not None:
                self._to_server.close()

    async def _request(self) -> bool:
        """Pass on one request; False if there is none any more."""
        while (end := self._rest.find(b"\r\n\r\n") + 4) < 4:
            data = await self._client.read(_PIECE)
            if not data or len(self._rest) > _LONGEST_HEAD:
                return False
            self._rest += data
        head, self._rest = self._rest[:end], self._rest[end:]
        reader = h11.Connection(h11.SERVER, max_incomplete_event_size=_LONGEST_HEAD)
        reader.receive_data(head)
        request = None
        with suppress(h11.RemoteProtocolError):
            request = reader.next_event()
        if not isinstance(request, h11.Request):
            return await self._refuse("400 Bad Request", "This is no HTTP request.")
        exchange = _Exchange(self._tap, request)
        if not exchange.is_local:
            return await self._refuse("403 Forbidden", "This tap is for programs on this machine.")
        try:
            server = self._to_server or await self._server()
        except OSError as error:
            said = f"cannot connect to {self._tap.host.decode()}: {error.strerror or error}"
            exchange.note(said)
            return await self._refuse("502 Bad Gateway", said)
        self._open.append(exchange)
        self._none_open.clear()
        server.write(_HOST.sub(lambda found: found[1] + self._tap.host, head, count=1))
        return await self._body(reader, exchange, server)

    async def _body(self, reader: h11.Connection, exchange: _Exchange, server: asyncio.StreamWriter) -> bool:
        data = b""
        while not isinstance(event := reader.next_event(), h11.EndOfMessage):
            if isinstance(event, h11.Data):
                with suppress(zlib.error):
                    exchange.asked.feed(event.data)
                continue
            server.write(data)
            await server.drain()
            data, self._rest = self._rest or await self._client.read(_PIECE), b""
            if not data:
                return False
            reader.receive_data(data)
        exchange.asked_all()
        behind = reader.trailing_data[0]
        # Without a body, what has come behind the head is still there.
        self._rest = behind or self._rest
        server.write(data[: len(data) - len(behind)])
        await server.drain()
        return True

    async def _server(self) -> asyncio.StreamWriter:
        tap = self._tap
        server, self._to_server = await asyncio.open_connection(tap.server, tap.port, ssl=tap.tls)
        self._answers = asyncio.create_task(self._answer(server))
        return self._to_server

    async def _answer(self, server: asyncio.StreamReader) -> None:
        """Pass on what the server writes; its end is the end of the client's connection."""
        try:
            while data := await server.read(_PIECE):
                self._to_client.write(self._copied(data))
                await self._to_client.drain()
        except OSError:
            self._to_client.transport.abort()
        if left := self._copied(b""):
            self._to_client.write(left)
        self._to_client.close()
        self._none_open.set()

    def _copied(self, data: bytes) -> bytes:
        """Copy what the server wrote, and return what to pass on; nothing: its connection has ended."""
        is_end, passed = not data, b""
        try:
            while self._open and (data or is_end):
                rest = self._open[0].answered(data)
                own = data[: len(data) - len(rest or b"")]
                passed += self._open[0].passed(own, is_whole=rest is not None)
                if rest is None:
                    return passed
                self._open.popleft()
                data = rest
            if self._is_readable:
                self._none_open.set()
        except (h11.RemoteProtocolError, zlib.error) as error:
            if self._is_asking:
                broken = "the connection ended before the answer was whole"
                # What follows a colon is a part of the answer, maybe of a header.
                why = str(error).partition(":")[0]
                self._open[0].note(broken if is_end else f"the answer cannot be read: {why}")
            # Nobody knows any more where an answer ends.
            self._is_readable = False
            passed += self._open[0].sign_in.held
            self._open.clear()
        return passed + data

    async def _refuse(self, status: str, why: str) -> bool:
        """Answer in the server's place, behind all that it still has to answer on this connection."""
        await self._none_open.wait()
        said = f"{why}\n".encode("utf-8", "replace")
        head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(said)}\r\n"
        self._to_client.write(head.encode() + b"Connection: close\r\n\r\n" + said)
        await self._to_client.drain()
        return False
