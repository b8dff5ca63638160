"""A tap passes every byte, and is noticed by neither side: not at the end, nor when one of them is killed.

The second half is of servers with an address.
"""

import asyncio
import gzip
import json
import os
import random
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from inspector.core.error import ConfigError
from inspector.core.events import MessagePassed
from inspector.features.agents.tap.http import HttpTap
from inspector.features.agents.tap.http_message import LONGEST_MESSAGE
from inspector.features.agents.tap.pump import (
    END,
    NOTE,
    REWRITTEN,
    SECRET,
    TO_CLIENT,
    TO_SERVER,
    Copies,
    pass_on,
)
from inspector.features.agents.tap.recorder import pieces
from inspector.store.store import SqliteStore

# Sends back what it gets with every byte inverted.
INVERTING = (
    "import os\nwhile data := os.read(0, 50_000):\n"
    "    rest = data.translate(bytes(range(255, -1, -1)))\n"
    "    while rest: rest = rest[os.write(1, rest):]\n"
)
DEADLINE = 30


class Client:
    """A client of a tapped server."""

    def __init__(
        self, database: Path, *command: str, stderr: int | None = None, largest_file: int = -1
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "inspector", "tap", "--name", "shop", "--", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, -1)),
            env={**os.environ, "TOOLSIGHT_DB": str(database)},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def write(self, data: bytes, sizes: Iterator[int]) -> None:
        """Write in pieces of these sizes, and close."""
        at = 0
        while at < len(data):
            at += os.write(self.stdin.fileno(), data[at : at + next(sizes)])
        self.stdin.close()

    def read(self, most: int = 100_000) -> bytes:
        """What has come; empty at the end. Fails after DEADLINE seconds without either."""
        assert select.select([self.stdout], [], [], DEADLINE)[0], "nothing came"
        return os.read(self.stdout.fileno(), most)


@pytest.fixture(autouse=True)
def _own_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tap that cannot record leaves a note: not among a person's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def no_database(tmp_path: Path) -> Path:
    """A path at which there can be no database: to the traffic it must make no difference."""
    (tmp_path / "file").touch()
    return tmp_path / "file" / "toolsight.db"


def frames(number: int) -> bytes:
    """Messages of many lengths, as bytes that are no text in places."""
    chosen = random.Random(39)
    return b"".join(
        b'{"jsonrpc":"2.0","id":%d,"method":"x","params":"%s"}\n'
        % (at, chosen.randbytes(chosen.choice((0, 3, 200, 5_000))))
        for at in range(number)
    )


def sizes() -> Iterator[int]:
    chosen = random.Random(3)
    while True:
        yield chosen.choice((1, 2, 7, 900, 65_536, 70_001))


@pytest.mark.parametrize("is_full", [False, True], ids=["no store", "full disk"])
def test_ten_thousand_frames_pass_byte_by_byte_both_ways(
    no_database: Path, tmp_path: Path, is_full: bool
) -> None:
    """No file may grow beyond 200 kB on the full disk: the database is made, and fails soon after."""
    where = (tmp_path / "toolsight.db", 200_000) if is_full else (no_database, -1)
    client = Client(where[0], sys.executable, "-c", INVERTING, largest_file=where[1])
    sent, got = frames(10_000), bytearray()
    writer = threading.Thread(target=client.write, args=(sent, sizes()))
    writer.start()
    while data := client.read(1_237):
        got += data
    writer.join()
    assert got.translate(bytes(range(255, -1, -1))) == sent
    assert client.process.wait(DEADLINE) == 0


def test_a_client_gets_the_exit_code_and_what_the_server_writes_to_stderr(no_database: Path) -> None:
    program = "import sys; sys.stderr.write('why'); sys.exit(7)"
    client = Client(no_database, sys.executable, "-c", program, stderr=subprocess.PIPE)
    assert client.process.communicate(timeout=DEADLINE) == (b"", b"why")
    assert client.process.returncode == 7


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_tap_reaches_the_server_which_ends_by_it(
    no_database: Path, number: signal.Signals
) -> None:
    client = Client(no_database, "sh", "-c", "echo up; exec cat")
    assert client.read() == b"up\n"
    client.process.send_signal(number)
    assert client.read() == b""
    assert client.process.wait(DEADLINE) == -number


def test_a_server_whose_client_is_killed_reads_the_end_of_its_input(
    no_database: Path, tmp_path: Path
) -> None:
    """What is killed starts the tap, as a client does, and nothing closes its pipes in order."""
    os.mkfifo(ended := tmp_path / "ended")
    server = f"cat > {ended}"
    starts = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[1:], stdin=-1, stdout=-1)\n"
        "child.stdin.write(b'last words'); child.stdin.flush()\nprint(flush=True); time.sleep(600)\n"
    )
    command = [sys.executable, "-m", "inspector", "tap", "--", "sh", "-c", server]
    environment = {**os.environ, "TOOLSIGHT_DB": str(no_database)}
    client = subprocess.Popen(
        [sys.executable, "-c", starts, *command], stdout=subprocess.PIPE, env=environment
    )
    assert client.stdout is not None
    client.stdout.readline()
    client.kill()
    client.wait(DEADLINE)
    # This returns once the server has opened it, and ends with the server.
    assert ended.read_bytes() == b"last words"


def test_a_server_that_writes_to_a_client_that_is_gone_learns_it(no_database: Path) -> None:
    client = Client(no_database, "sh", "-c", "echo up; exec yes")
    assert client.read(3) == b"up\n"
    client.stdout.close()
    assert client.process.wait(DEADLINE) == -signal.SIGPIPE


def test_a_client_that_writes_to_a_server_that_closed_its_input_learns_it(no_database: Path) -> None:
    client = Client(no_database, "sh", "-c", "exec 0<&-; echo closed; exec sleep 600")
    assert client.read() == b"closed\n"
    watch = select.poll()
    watch.register(client.stdin, 0)
    assert watch.poll(DEADLINE * 1000)
    with pytest.raises(BrokenPipeError):
        os.write(client.stdin.fileno(), b"x")
    client.process.kill()
    client.process.wait(DEADLINE)


def test_a_command_that_is_not_there_ends_as_in_a_shell(no_database: Path) -> None:
    client = Client(no_database, "no-such-program-39", stderr=subprocess.PIPE)
    _, said = client.process.communicate(timeout=DEADLINE)
    assert client.process.returncode == 127
    assert b"no-such-program-39 cannot be started" in said


def test_a_copy_is_there_before_the_other_side_can_answer() -> None:
    client, to_tap = os.pipe()
    server, to_server = os.pipe()
    os.set_blocking(server, False)

    class Watching(Copies):
        def add(self, kind: int, at: float, data: bytes, session: int = 0) -> bool:
            with pytest.raises(BlockingIOError):
                os.read(server, 1)
            return super().add(kind, at, data, session)

    os.write(to_tap, b"ask")
    os.close(to_tap)
    pass_on(client, to_server, TO_SERVER, copies := Watching(0))
    assert copies.is_waiting
    assert os.read(server, 9) == b"ask"
    os.close(server)


def test_copies_beyond_the_bound_are_dropped_and_counted_and_nobody_waits() -> None:
    ours, theirs = os.pipe()
    copies = Copies(theirs, most=10)
    for side, data in ((TO_SERVER, b"12345"), (TO_CLIENT, b"abcde"), (TO_SERVER, b"6"), (TO_CLIENT, b"fg")):
        copies.add(side, 1.0, data)
    copies.end()
    copies.send()
    found = [piece for batch in pieces(ours) for piece in batch]
    os.close(ours)
    assert [(one.side, one.lost, one.data) for one in found] == [
        (TO_SERVER, 0, b"12345"),
        (TO_CLIENT, 0, b"abcde"),
        (TO_SERVER, 1, b""),
        (TO_CLIENT, 2, b""),
    ]


def test_copies_for_a_recorder_that_is_gone_are_dropped() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    copies = Copies(theirs)
    copies.add(TO_SERVER, 1.0, b"x")
    copies.send()
    copies.add(TO_SERVER, 1.0, b"y")
    assert not copies.is_waiting


def test_a_tapped_session_is_stored_while_it_runs_without_the_servers_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "u7-plain-Zk39-words"
    monkeypatch.setenv("SHOP_TOKEN", secret)
    path = tmp_path / "toolsight.db"
    client = Client(path, "cat")
    asked = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"said": secret}}
    message = json.dumps(asked).encode() + b"\n"
    os.write(client.stdin.fileno(), message)
    assert client.read() == message
    with SqliteStore(path) as store:
        until(lambda: path.exists() and [one.events for one in store.sessions()] == [4])
        (session,) = store.sessions()
        assert store.is_written(session.id)
        client.stdin.close()
        assert client.process.wait(DEADLINE) == 0
        until(lambda: not store.is_written(session.id))
        events = store.read(session.id)
        assert events[-1].kind == "stopped"
        assert secret not in repr(events)


def until(condition: Callable[[], bool]) -> None:
    """Wait for another process; fails after DEADLINE seconds."""
    ends = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < ends
        select.select([], [], [], 0.02)


def test_nothing_of_the_program_is_imported_before_the_server_starts() -> None:
    code = (
        "import os, sys\nos.execvp = lambda *_: (print(*sys.modules, flush=True), os._exit(0))\n"
        "os.fork = lambda: 1\nos.waitpid = lambda *_: None\nos.dup2 = lambda *_: None\n"
        "from inspector.cli import main\nmain(['tap', '--', 'cat'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [name for name in done.stdout.split() if name.partition(".")[0] in ("inspector", "click")]
    above = ["inspector.features", "inspector.features.agents", "inspector.features.agents.tap"]
    assert loaded == ["inspector", "inspector.cli", *above, "inspector.features.agents.tap.tap"]
    assert not {"dataclasses", "inspect", "typing", "json"}.intersection(done.stdout.split())


Answer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
ASKED = b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'


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
        self.got = bytearray()
        self.is_left, self.has_part = asyncio.Event(), asyncio.Event()
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.upstream = self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.got += head
                left = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
                body = b""
                await self.goes_on.wait()
                while part := await reader.read(left - len(body)):
                    body += part
                    self.got += part
                    self.has_part.set()
                await self._answer(body, writer)
        except (asyncio.IncompleteReadError, OSError):
            self.is_left.set()
            writer.close()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, sent: bytes, size: int = -1) -> bytes:
        """Send on a connection of its own, and read so much, or to the end."""
        reader, writer = await self.connect()
        writer.write(sent)
        got = await (reader.read() if size < 0 else reader.readexactly(size))
        writer.close()
        return got

    def request(self, body: bytes = ASKED, *headers: str, method: str = "POST", path: str = "/mcp") -> bytes:
        named = [f"hOst: 127.0.0.1:{self.port}", f"Content-Length: {len(body)}", *headers]
        if body:
            named.append("Content-Type: application/json")
        return "\r\n".join([f"{method} {path} HTTP/1.1", *named, "\r\n"]).encode() + body


@asynccontextmanager
async def tapped(answer: Answer, *, signs_in: bool = False) -> AsyncIterator[Rig]:
    rig = Rig(answer)
    async with await asyncio.start_server(rig.serve, "127.0.0.1", 0) as upstream:
        rig.upstream = upstream.sockets[0].getsockname()[1]
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        url = f"http://127.0.0.1:{rig.upstream}/mcp?a=b"
        tap = HttpTap(url, rig.copies, signs_in=signs_in)
        serving = asyncio.create_task(tap.serve(0, ready.set_result))
        address = await ready
        assert address.endswith("/mcp?a=b")
        rig.port = int(address.rpartition(":")[2].partition("/")[0])
        async with asyncio.timeout(DEADLINE):
            yield rig
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def whole(body: bytes, *headers: str, status: str = "200 OK", kind: str = "application/json") -> bytes:
    named = [f"HTTP/1.1 {status}", f"content-TYPE: {kind}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*named, "\r\n"]).encode() + body


def always(answer: bytes) -> Answer:
    async def respond(_body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return respond


async def test_bytes_are_equal_both_ways_over_many_requests_of_random_sizes() -> None:
    """Only the Host differs; on one connection, in pieces of random sizes, whole and chunked answers."""
    chosen = random.Random(39)
    sent, answers = bytearray(), bytearray()

    async def answer(_body: bytes, writer: asyncio.StreamWriter) -> None:
        given = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "result": "y" * chosen.choice((0, 9, 70_000))}
        ).encode()
        parts = b"".join(b"%x;e=1\r\n%s\r\n" % (len(part), part) for part in (given[:5], given[5:]))
        head = b"HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\nContent-Type:  application/json \r\n\r\n"
        made = chosen.choice((whole(given), head + parts + b"0\r\nTrailer: t\r\n\r\n"))
        answers.extend(made)
        writer.write(made)

    async with tapped(answer) as rig:
        reader, writer = await rig.connect()
        got = bytearray()
        for number in range(100):
            text = "x" * chosen.choice((0, 3, 200, 5_000, 90_000))
            body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "m", "params": text}).encode()
            request = rig.request(
                body, "Authorization: Bearer abc", "mcp-SESSION-id: s1", "MCP-Protocol-Version: 1"
            )
            sent += request
            for at in range(0, len(request), size := chosen.choice((60, 4_000, 200_000))):
                writer.write(request[at : at + size])
                await writer.drain()
            while len(got) < len(answers) or len(rig.got) < len(sent):
                got += await reader.read(100_000)
        writer.close()
        port, upstream = str(rig.port).encode(), str(rig.upstream).encode()
        assert rig.got.count(b"hOst: 127.0.0.1:" + upstream) == 100
        assert rig.got.replace(b"hOst: 127.0.0.1:" + upstream, b"hOst: 127.0.0.1:" + port) == sent
        assert got == answers
        assert len(rig.copies.of(TO_SERVER)) == len(rig.copies.of(TO_CLIENT)) == 100
        assert {session for _, _, session in rig.copies.pieces} == {1}


async def test_an_event_arrives_before_the_answer_is_complete() -> None:
    go_on = asyncio.Event()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    first, last = b"event: message\r\ndata: " + ANSWER + b"\r\n\r\n", b"data: {\ndata: }\n\n"

    async def answer(_body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(head + first)
        await go_on.wait()
        writer.write(last)
        writer.close()

    async with tapped(answer) as rig:
        reader, writer = await rig.connect()
        writer.write(rig.request())
        assert await reader.readexactly(len(head + first)) == head + first
        assert rig.copies.of(TO_SERVER, TO_CLIENT) == [ASKED, ANSWER]
        go_on.set()
        assert await reader.read() == last
        assert rig.copies.of(TO_CLIENT, NOTE) == [ANSWER, b"{ }"]


async def test_a_body_is_passed_on_while_it_is_being_sent() -> None:
    async with tapped(always(whole(ANSWER))) as rig:
        reader, writer = await rig.connect()
        request = rig.request()
        writer.write(request[:-9])
        await rig.has_part.wait()
        writer.write(request[-9:])
        assert await reader.readexactly(len(whole(ANSWER))) == whole(ANSWER)
        writer.close()


async def test_a_client_waits_for_a_server_that_does_not_read() -> None:
    """So that no large body lies in the tap's memory."""
    async with tapped(always(whole(ANSWER))) as rig:
        rig.goes_on.clear()
        reader, writer = await rig.connect()
        writer.write(rig.request(b"0" * 12_000_000))
        sent = asyncio.create_task(writer.drain())
        assert not (await asyncio.wait({sent}, timeout=0.3))[0]
        rig.goes_on.set()
        await sent
        assert await reader.readexactly(len(whole(ANSWER))) == whole(ANSWER)
        writer.close()


async def test_a_server_that_is_gone_is_a_bad_gateway_and_noted() -> None:
    async with tapped(always(b"")) as rig:
        tap = HttpTap("http://127.0.0.1:1/mcp", rig.copies)
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(tap.serve(0, ready.set_result))
        rig.port = int((await ready).split(":")[2].partition("/")[0])
        got = await rig.ask(rig.request())
        assert got.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
        assert b"cannot connect to 127.0.0.1:1" in got
        assert rig.copies.of(NOTE)[0].startswith(b"POST: cannot connect to 127.0.0.1:1")
        serving.cancel()


async def test_a_server_that_leaves_in_the_middle_ends_the_clients_connection() -> None:
    half = whole(ANSWER)[:-4]

    async def answer(_body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(half)
        writer.close()

    async with tapped(answer) as rig:
        assert await rig.ask(rig.request()) == half
        assert rig.copies.of(NOTE) == [b"POST: the connection ended before the answer was whole"]


async def test_a_client_that_leaves_ends_the_connection_to_the_server() -> None:
    kind = b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked"
    head = b"HTTP/1.1 200 OK\r\n" + kind + b"\r\n\r\n"
    async with tapped(always(head)) as rig:
        await rig.ask(rig.request(b"", method="GET"), len(head))
        await rig.is_left.wait()
        await rig.ask(rig.request(b"", method="GET"), len(head))
        assert rig.copies.of(NOTE) == []


async def test_a_page_of_this_machine_may_ask() -> None:
    async with tapped(always(whole(ANSWER))) as rig:
        answer = await rig.ask(rig.request(ASKED, "Origin: http://localhost:6274"), len(whole(ANSWER)))
        assert answer == whole(ANSWER)


async def test_secrets_of_headers_and_other_paths_are_never_copied() -> None:
    """What a header says goes to the recorder as a secret alone, so that no message may repeat it."""
    secret, token = "Bearer u7-Zk39-words", b'{"access_token":"t0k"}'
    async with tapped(always(whole(token, "Set-Cookie: c00k=1"))) as rig:
        await rig.ask(rig.request(b'{"code":"c0d3"}', path="/token"), len(whole(token)))
        await rig.ask(rig.request(ASKED, f"Authorization: {secret}", "Mcp-Session-Id: s3ss"), 1)
        assert rig.copies.of(SECRET) == [f"authorization:{secret}".encode()]
        said = b"".join(rig.copies.of(TO_SERVER, TO_CLIENT, NOTE))
        assert not [one for one in (b"u7-Zk39", b"c0d3", b"c00k", b"s3ss") if one in said]


REFUSED = {
    "Host: evil.example": 403,
    "Origin: https://evil.example": 403,
    "Origin: null": 403,
    "Host:": 403,
    "\r\n\r\n": 400,
    "NONSENSE\r\n\r\n": 400,
    "POST /mcp HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n": 400,
}


@pytest.mark.parametrize("words", REFUSED)
async def test_what_a_page_of_some_site_asks_and_what_is_no_request_reach_no_server(words: str) -> None:
    async with tapped(always(whole(ANSWER))) as rig:
        sent = rig.request(ASKED, words) if REFUSED[words] == 403 else words.encode()
        if words.startswith("Host"):
            sent = sent.replace(f"hOst: 127.0.0.1:{rig.port}\r\n".encode(), b"")
        assert (await rig.ask(sent)).startswith(f"HTTP/1.1 {REFUSED[words]} ".encode())
        assert not rig.got


async def test_a_body_that_is_no_http_ends_the_connection_and_one_that_cannot_be_unpacked_passes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with tapped(always(whole(ANSWER))) as rig:
        chunked = rig.request(b"", "Transfer-Encoding: chunked").replace(b"Content-Length: 0\r\n", b"")
        assert await rig.ask(chunked + b"nonsense\r\n") == b""
        packed = rig.request(ASKED, "Content-Encoding: br")
        assert await rig.ask(packed, len(whole(ANSWER))) == whole(ANSWER)
    assert not caplog.records


UNREADABLE = b"POST: the answer cannot be read"
ERRORS = ("401 Unauthorized", "404 Not Found", "500 Internal Server Error")
ANSWERS = {
    "packed": (whole(gzip.compress(ANSWER), "Content-Encoding: gzip"), [ANSWER], b""),
    # A server need not send anything of its own accord.
    "no stream": (whole(b"", status="405 Method Not Allowed"), [], b""),
    **{
        status: (
            whole(b"no", "WWW-Authenticate: Bearer", status=status, kind="text/plain"),
            [],
            f"POST: HTTP {status}".encode(),
        )
        for status in ERRORS
    },
    "no status": (b"HTTP/1.1 what\r\n\r\n", [], UNREADABLE),
    "no header": (whole(ANSWER, "Set Cookie: id=s3cret-Of-Session"), [], UNREADABLE),
    "too large once unpacked": (
        whole(gzip.compress(b"0" * LONGEST_MESSAGE * 2), "Content-Encoding: gzip"),
        [],
        UNREADABLE,
    ),
    "too large": (whole(b"1" * (LONGEST_MESSAGE + 1)), [], b""),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_passes_unchanged_and_is_copied_noted_or_counted(name: str) -> None:
    answer, copied, noted = ANSWERS[name]
    async with tapped(always(answer)) as rig:
        asked = rig.request(b"", method="GET") if name == "no stream" else rig.request()
        assert await rig.ask(asked, len(answer)) == answer
        assert rig.copies.of(TO_CLIENT) == copied
        notes = rig.copies.of(NOTE)
        assert len(notes) == bool(noted)
        assert all(note.startswith(noted) and b"s3cret" not in note for note in notes)
        assert rig.copies.lost[TO_CLIENT] == (LONGEST_MESSAGE + 1 if name == "too large" else 0)


async def test_sessions_are_told_apart_by_the_servers_id_and_end_with_delete() -> None:
    hello = b'{"jsonrpc":"2.0","id":0,"method":"initialize"}'
    given = iter(("a", "b"))

    async def answer(body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(whole(ANSWER, f"Mcp-Session-Id: {next(given)}") if body == hello else whole(ANSWER))

    async with tapped(answer) as rig:
        for body, *headers in (
            *((hello,), (hello,), (ASKED, "Mcp-Session-Id: a"), (ASKED, "Mcp-Session-Id: b")),
            *((ASKED, "Mcp-Session-Id: a"),),
        ):
            await rig.ask(rig.request(body, *headers), len(whole(ANSWER)))
        await rig.ask(rig.request(b"", "Mcp-Session-Id: a", method="DELETE"), len(whole(ANSWER)))
        sessions = [session for kind, _, session in rig.copies.pieces if kind == TO_SERVER]
        assert sessions == [1, 2, 1, 2, 1]
        assert [(kind, session) for kind, _, session in rig.copies.pieces][-1] == (END, 1)


async def test_without_an_id_of_the_server_a_session_ends_where_the_first_message_comes_again() -> None:
    methods = ((1, "server/discover"), (2, "initialize"), (3, "tools/list"), (1, "server/discover"), (2, "x"))
    async with tapped(always(whole(ANSWER))) as rig:
        for number, method in methods:
            body = json.dumps({"id": number, "method": method}).encode()
            await rig.ask(rig.request(body, "User-Agent: one"), len(whole(ANSWER)))
        await rig.ask(rig.request(ASKED, "User-Agent: other"), len(whole(ANSWER)))
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
            env={**os.environ, "TOOLSIGHT_DB": str(path)},
        )
        assert process.stderr is not None
        rig.port = int((await process.stderr.readline()).split(b":")[2].partition(b"/")[0])
        for number in range(50):
            request = rig.request(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number)
            assert await rig.ask(request, len(whole(ANSWER))) == whole(ANSWER)
        process.terminate()
        assert await process.wait() == 128 + signal.SIGTERM
    with SqliteStore(path) as store:
        until(lambda: path.exists() and [store.is_written(one.id) for one in store.sessions()] == [False])
        events = [one.event for one in store.read(store.sessions()[0].id)]
        assert sum(isinstance(one, MessagePassed) for one in events) == 100


@pytest.mark.parametrize("body", [ASKED, b""], ids=["POST", "GET"])
async def test_a_refusal_comes_behind_the_answers_to_earlier_requests(body: bytes) -> None:
    """Requests in a row on one connection are answered in their order, whoever answers."""
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def slowly(_body: bytes, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await may_answer.wait()
        writer.write(whole(ANSWER))

    async with tapped(slowly) as rig:
        reader, writer = await rig.connect()
        first = rig.request(body, method="POST" if body else "GET")
        writer.write(first + rig.request(ASKED, "Origin: https://evil.example"))
        await asked.wait()
        may_answer.set()
        got = await reader.read()
        assert got.startswith(whole(ANSWER) + b"HTTP/1.1 403 ")
        writer.close()


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
async def test_a_client_that_signs_in_gets_the_taps_address_where_the_server_names_its_own(
    packed: bool,
) -> None:
    """The rest of an answer stays as it is, and what was rewritten is recorded."""
    document = {"resource": "https://shop.example/mcp?a=b", "authorization_servers": ["https://shop.example"]}
    body = json.dumps(document).encode()
    extra = ("Content-Encoding: gzip",) if packed else ()
    where = (
        'Bearer error="x", resource_metadata="https://shop.example/.well-known/oauth-protected-resource/mcp"'
    )
    answers = iter(
        [
            whole(b"no", f"WWW-Authenticate: {where}", status="401 Unauthorized", kind="text/plain"),
            whole(gzip.compress(body) if packed else body, "X-Own: 1", "X-Own: 2", *extra),
        ]
    )

    async def answer(_body: bytes, writer: asyncio.StreamWriter) -> None:
        given = next(answers)
        for part in (given[:20], given[20:-3], given[-3:]):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    async with tapped(answer, signs_in=True) as rig:
        origin = f"http://127.0.0.1:{rig.port}"
        got = await rig.ask(rig.request())
        metadata = f"{origin}/.well-known/oauth-protected-resource/mcp"
        assert got == whole(
            b"no",
            'WWW-Authenticate: Bearer error="x", ' + f'resource_metadata="{metadata}"',
            status="401 Unauthorized",
            kind="text/plain",
        )
        got = await rig.ask(rig.request(b"", method="GET", path="/.well-known/oauth-protected-resource/mcp"))
        head, _, said = got.partition(b"\r\n\r\n")
        assert json.loads(said) == {**document, "resource": f"{origin}/mcp?a=b"}
        assert f"Content-Length: {len(said)}".encode() in head
        assert b"x-own: 1\r\nx-own: 2" in head
        assert b"gzip" not in head
        assert rig.copies.of(REWRITTEN) == [
            f"resource_metadata: https://shop.example -> {origin}".encode(),
            f"resource: https://shop.example/mcp?a=b -> {origin}/mcp?a=b".encode(),
        ]


async def test_all_else_passes_as_it_comes_where_a_client_signs_in() -> None:
    """Also an answer that breaks off, and one that is no HTTP."""
    for answer in (whole(ANSWER), b"HTTP/1.1 401 No\r\nContent-Length: 99\r\n\r\nhalf", b"nonsense\r\n\r\n"):

        async def answered(_body: bytes, writer: asyncio.StreamWriter, answer: bytes = answer) -> None:
            writer.write(answer)
            writer.close()

        async with tapped(answered, signs_in=True) as rig:
            assert await rig.ask(rig.request()) == answer
            assert rig.copies.of(REWRITTEN) == []


def test_copies_that_were_sent_make_room_for_others() -> None:
    """The bound is for what waits, not for all that ever passed."""
    ours, theirs = os.pipe()
    left = [b"%08d" % number for number in range(5)]

    class Adding(Copies):
        """Gets the next piece when the one before has been sent."""

        @property
        def is_waiting(self) -> bool:
            if not (super().is_waiting or self._is_ended):
                is_added = bool(left) and self.add(TO_SERVER, 1.0, left.pop(0))
                if not is_added:
                    self.end()
            return super().is_waiting

    Adding(theirs, most=10).send()
    found = [piece for batch in pieces(ours) for piece in batch]
    os.close(ours)
    assert [(one.lost, one.data) for one in found] == [(0, b"%08d" % number) for number in range(5)]
