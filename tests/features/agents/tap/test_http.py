"""A tap before a server with an address: what passes, what is copied of it, and what is refused."""

import asyncio
import gzip
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events import MessagePassed
from inspector.features.agents.tap.http import LONGEST_MESSAGE, HttpTap
from inspector.features.agents.tap.pump import END, NOTE, REWRITTEN, SECRET, TO_CLIENT, TO_SERVER, Copies
from inspector.store.store import SqliteStore
from tests.features.agents.tap.test_tap import DEADLINE, until
from tests.mcp.test_sign_in import TOOLS, Visitor, rig as sign_in_rig

pytestmark = pytest.mark.slow

Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
ASKED = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'
JSON = {"Content-Type": "application/json"}


class Kept(Copies):
    """Keeps what is copied: its kind, its bytes and its session."""

    def __init__(self) -> None:
        super().__init__(-1)
        self.pieces: list[tuple[int, bytes, int]] = []

    def add(self, kind: int, at: float, data: bytes, session: int = 0) -> bool:
        self.pieces.append((kind, data.strip(), session))
        return super().add(kind, at, data, session)

    def of(self, *kinds: int) -> list[bytes]:
        return [data for kind, data, _ in self.pieces if kind in kinds]

    @property
    def lost(self) -> list[int]:
        return self._lost


class Rig:
    """A tap before a server that keeps what it got and answers each request by a function."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.copies = Kept()
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.is_left = asyncio.Event()
        self.upstream = self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.heads.append(head)
                size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
                self.bodies.append(await reader.readexactly(size))
                await self._answer(self.bodies[-1], writer)
        except (asyncio.IncompleteReadError, OSError):
            self.is_left.set()
            writer.close()

    async def ask(
        self, body: bytes = ASKED, method: str = "POST", path: str = "/mcp", /, **headers: str
    ) -> httpx2.Response:
        """The answer to a request on a connection of its own."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with httpx2.AsyncClient(trust_env=False) as client:
            url = f"http://127.0.0.1:{self.port}{path}"
            return await client.request(method, url, content=body or None, headers=JSON | named)


@asynccontextmanager
async def tapped(answer: Answer, *, signs_in: bool = False, url: str = "") -> AsyncIterator[Rig]:
    rig = Rig(answer)
    async with await asyncio.start_server(rig.serve, "127.0.0.1", 0) as upstream:
        rig.upstream = upstream.sockets[0].getsockname()[1]
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        url = url or f"http://127.0.0.1:{rig.upstream}/mcp?a=b"
        serving = asyncio.create_task(HttpTap(url, rig.copies, signs_in=signs_in).serve(0, ready.set_result))
        rig.port = int((await ready).rpartition(":")[2].partition("/")[0])
        try:
            async with asyncio.timeout(DEADLINE):
                yield rig
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def whole(body: bytes, *headers: str, status: str = "200 OK", kind: str = "application/json") -> bytes:
    named = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*named, "\r\n"]).encode() + body


def always(answer: bytes) -> Answer:
    async def respond(_body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return respond


async def test_headers_and_bodies_pass_both_ways_and_host_names_the_server() -> None:
    chosen = random.Random(39)
    answers: list[bytes] = []

    async def answer(_body: bytes, writer: asyncio.StreamWriter) -> None:
        text = "y" * chosen.choice((0, 9, 70_000))
        answers.append(given := json.dumps({"jsonrpc": "2.0", "id": 1, "result": text}).encode())
        parts = b"".join(b"%x;e=1\r\n%s\r\n" % (len(part), part) for part in (given[:5], given[5:]))
        head = b"HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\nContent-Type:  application/json \r\n\r\n"
        writer.write(chosen.choice((whole(given), head + parts + b"0\r\n\r\n")))

    async with tapped(answer) as rig:
        for number in range(20):
            text = "x" * chosen.choice((0, 3, 5_000, 90_000))
            body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "m", "params": text}).encode()
            got = await rig.ask(body, Authorization="Bearer abc", mcp_session_id="s1")
            assert (rig.bodies[-1], got.content) == (body, answers[-1])
            head = rig.heads[-1].lower()
            assert b"\r\nhost: 127.0.0.1:%d\r\n" % rig.upstream in head
            assert b"\r\nauthorization: bearer abc\r\n" in head
        assert len(rig.copies.of(TO_SERVER)) == len(rig.copies.of(TO_CLIENT)) == 20
        assert {session for _, _, session in rig.copies.pieces} == {1}


async def test_an_event_arrives_before_the_answer_is_complete() -> None:
    go_on = asyncio.Event()

    async def answer(_body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        writer.write(b"event: message\r\ndata: " + ANSWER + b"\r\n\r\n")
        await go_on.wait()
        writer.write(b"data: {\ndata: }\n\n")
        writer.close()

    async with tapped(answer) as rig, httpx2.AsyncClient(trust_env=False) as client:
        url = f"http://127.0.0.1:{rig.port}/mcp"
        async with client.stream("POST", url, content=ASKED, headers=JSON) as got:
            pieces = got.aiter_bytes()
            assert ANSWER in await anext(pieces)
            assert rig.copies.of(TO_SERVER, TO_CLIENT) == [ASKED, ANSWER]
            go_on.set()
            assert [one async for one in pieces] == [b"data: {\ndata: }\n\n"]
        assert rig.copies.of(TO_CLIENT, NOTE) == [ANSWER, b"{ }"]


async def test_a_server_that_is_gone_is_a_bad_gateway_and_noted() -> None:
    async with tapped(always(b""), url="http://127.0.0.1:1/mcp") as rig:
        got = await rig.ask()
        assert (got.status_code, "cannot connect to 127.0.0.1:1" in got.text) == (502, True)
        assert rig.copies.of(NOTE)[0].startswith(b"POST: cannot connect to 127.0.0.1:1")


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_server_that_leaves_in_the_middle_ends_the_clients_connection(
    is_chunked: bool, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"

    async def answer(_body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(head + b"half" if is_chunked else whole(ANSWER)[:-4])
        writer.close()

    async with tapped(answer) as rig:
        with pytest.raises(httpx2.RemoteProtocolError):
            await rig.ask()
        assert rig.copies.of(NOTE) == [b"POST: the connection ended before the answer was whole"]
    assert not caplog.records
    assert capfd.readouterr().err == ""


async def test_a_client_that_leaves_ends_the_connection_to_the_server() -> None:
    kind = b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked"
    async with tapped(always(b"HTTP/1.1 200 OK\r\n" + kind + b"\r\n\r\n")) as rig:
        async with (
            httpx2.AsyncClient(trust_env=False) as client,
            client.stream("GET", f"http://127.0.0.1:{rig.port}/mcp"),
        ):
            pass
        await rig.is_left.wait()
        assert rig.copies.of(NOTE) == []


async def test_secrets_of_headers_and_other_paths_are_never_copied() -> None:
    """What a header says goes to the recorder as a secret alone, so that no message may repeat it."""
    secret, token = "Bearer u7-Zk39-words", b'{"access_token":"t0k"}'
    async with tapped(always(whole(token, "Set-Cookie: c00k=1"))) as rig:
        await rig.ask(b'{"code":"c0d3"}', "POST", "/token")
        await rig.ask(Authorization=secret, Mcp_Session_Id="s3ss")
        assert rig.copies.of(SECRET) == [f"authorization:{secret}".encode()]
        said = b"".join(rig.copies.of(TO_SERVER, TO_CLIENT, NOTE))
        assert not [one for one in (b"u7-Zk39", b"c0d3", b"c00k", b"s3ss") if one in said]


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("Host: evil.example", 403),
        ("Origin: https://evil.example", 403),
        ("Origin: null", 403),
        ("Origin: http://localhost:6274", 200),
    ],
)
async def test_what_a_page_of_some_site_asks_reaches_no_server(header: str, status: int) -> None:
    name, _, value = header.partition(": ")
    async with tapped(always(whole(ANSWER))) as rig:
        assert (await rig.ask(ASKED, **{name: value})).status_code == status
        assert bool(rig.heads) is (status == 200)


UNREADABLE = b"POST: the answer cannot be read"
ERRORS = ("401 Unauthorized", "404 Not Found", "500 Internal Server Error")
ANSWERS: dict[str, tuple[bytes, bytes, list[bytes], bytes]] = {
    "packed unasked": (whole(gzip.compress(ANSWER), "Content-Encoding: gzip"), ANSWER, [], b""),
    # A server need not send anything of its own accord.
    "no stream": (whole(b"", status="405 Method Not Allowed"), b"", [], b""),
    **{
        status: (whole(b"no", status=status, kind="text/plain"), b"no", [], f"POST: HTTP {status}".encode())
        for status in ERRORS
    },
    "too large": (whole(b"1" * (LONGEST_MESSAGE + 1)), b"1" * (LONGEST_MESSAGE + 1), [], b""),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_passes_and_is_copied_noted_or_counted(name: str) -> None:
    answer, passed, copied, noted = ANSWERS[name]
    async with tapped(always(answer)) as rig:
        got = await rig.ask(b"", "GET") if name == "no stream" else await rig.ask()
        assert (got.content, got.status_code) == (passed, int(answer.split()[1]))
        assert rig.copies.of(TO_CLIENT) == copied
        assert rig.copies.of(NOTE) == ([noted] if noted else [])
        assert rig.copies.lost[TO_CLIENT] == (LONGEST_MESSAGE + 1 if name == "too large" else 0)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 what\r\n\r\n", whole(ANSWER, "Set Cookie: id=s3cret")])
async def test_what_is_no_http_is_a_bad_gateway_and_is_not_quoted(answer: bytes) -> None:
    async with tapped(always(answer)) as rig:
        assert (await rig.ask()).status_code == 502
        (note,) = rig.copies.of(NOTE)
        assert note.startswith(UNREADABLE)
        assert b"s3cret" not in note


async def test_sessions_are_told_apart_by_the_servers_id_and_end_with_delete() -> None:
    hello = b'{"jsonrpc":"2.0","id":0,"method":"initialize"}'
    given = iter(("a", "b"))

    async def answer(body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(ANSWER, f"Mcp-Session-Id: {next(given)}") if body == hello else whole(ANSWER))

    async with tapped(answer) as rig:
        await rig.ask(hello)
        await rig.ask(hello)
        for one in "aba":
            await rig.ask(Mcp_Session_Id=one)
        await rig.ask(b"", "DELETE", Mcp_Session_Id="a")
        sessions = [session for kind, _, session in rig.copies.pieces if kind == TO_SERVER]
        assert sessions == [1, 2, 1, 2, 1]
        assert [(kind, session) for kind, _, session in rig.copies.pieces][-1] == (END, 1)


async def test_without_an_id_of_the_server_a_session_ends_where_the_first_message_comes_again() -> None:
    methods = ((1, "server/discover"), (2, "initialize"), (3, "tools/list"), (1, "server/discover"), (2, "x"))
    async with tapped(always(whole(ANSWER))) as rig:
        for number, method in methods:
            await rig.ask(json.dumps({"id": number, "method": method}).encode(), User_Agent="one")
        await rig.ask(User_Agent="other")
        sessions = [session for kind, _, session in rig.copies.pieces if kind == TO_SERVER]
        assert sessions == [1, 1, 1, 2, 2, 3]


@pytest.mark.parametrize(
    "url", ["example.com/mcp", "ftp://example.com", "http://[", "http://", "http://u:p@h/", "http://a..b/"]
)
def test_what_is_no_address_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="not the address of a server") as caught:
        HttpTap(url, Kept())
    assert "https://example.com/mcp" in caught.value.hint


async def test_a_port_that_is_taken_is_told_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(ConfigError, match="cannot be used") as caught:
            await HttpTap("http://h/mcp", Kept()).serve(taken.getsockname()[1], lambda _address: None)
        assert "--port" in caught.value.hint


async def test_the_command_passes_on_and_records_until_a_signal_comes(tmp_path: Path) -> None:
    path = tmp_path / "toolsight.db"
    async with tapped(always(whole(ANSWER))) as rig:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "inspector", "tap", "--name", "far"),
            *("--url", f"http://127.0.0.1:{rig.upstream}/mcp"),
            stderr=subprocess.PIPE,
            env={**os.environ, "TOOLSIGHT_DB": str(path), "XDG_STATE_HOME": str(tmp_path / "state")},
        )
        assert process.stderr is not None
        rig.port = int((await process.stderr.readline()).split(b":")[2].partition(b"/")[0])
        for number in range(5):
            got = await rig.ask(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number)
            assert got.content == ANSWER
        process.terminate()
        assert await process.wait() == 128 + signal.SIGTERM
    with SqliteStore(path) as store:
        until(lambda: path.exists() and [store.is_written(one.id) for one in store.sessions()] == [False])
        events = [one.event for one in store.read(store.sessions()[0].id)]
        assert sum(isinstance(one, MessagePassed) for one in events) == 10


OWN = "https://shop.example"
_PATH = "/.well-known/oauth-protected-resource/mcp"
DOCUMENT = {"resource": f"{OWN}/mcp?a=b", "authorization_servers": [OWN]}


@pytest.mark.parametrize("signs_in", [False, True])
async def test_a_client_that_signs_in_gets_the_taps_address_where_the_server_names_its_own(
    *, signs_in: bool
) -> None:
    """The rest of an answer stays as it is, and what was rewritten is recorded."""
    where = f'Bearer error="x", resource_metadata="{OWN}{_PATH}"'
    packed = gzip.compress(json.dumps(DOCUMENT).encode())
    answers = iter(
        [
            whole(b"no", f"WWW-Authenticate: {where}", status="401 Unauthorized"),
            whole(packed, "X-Own: 1", "Content-Encoding: gzip"),
        ]
    )

    async def answer(_body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(next(answers))

    async with tapped(answer, signs_in=signs_in) as rig:
        origin = f"http://127.0.0.1:{rig.port}" if signs_in else OWN
        got = await rig.ask()
        assert got.headers["www-authenticate"] == f'Bearer error="x", resource_metadata="{origin}{_PATH}"'
        got = await rig.ask(b"", "GET", _PATH)
        assert got.json() == {**DOCUMENT, "resource": f"{origin}/mcp?a=b"}
        assert got.headers["x-own"] == "1"
        rewritten = [f"resource_metadata: {OWN} -> {origin}", f"resource: {OWN}/mcp?a=b -> {origin}/mcp?a=b"]
        assert rig.copies.of(REWRITTEN) == ([one.encode() for one in rewritten] if signs_in else [])


@pytest.mark.parametrize("signs_in", [True, False])
async def test_a_client_signs_in_through_a_tap_whose_address_stands_for_the_servers(
    tmp_path: Path, *, signs_in: bool
) -> None:
    async with sign_in_rig(tmp_path) as case:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        tap = HttpTap(case.spec.url, Copies(-1), signs_in=signs_in)
        serving = asyncio.create_task(tap.serve(0, ready.set_result))
        case.spec = replace(case.spec, url=await ready)
        if signs_in:
            assert await case.tools(Visitor()) == TOOLS
        else:
            with pytest.raises(ToolsightError):
                await case.tools(Visitor())
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
