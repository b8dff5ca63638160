"""Model servers on this machine, as far as tests need them."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec.structs import replace

from inspector.loop.model.local import USUAL_SERVERS, LocalModelServers, LocalServer


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer: JSON, or a web page. `events` are streamed, and then the connection is closed."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = None
    events: Sequence[str] = ()
    hangs: bool = False
    page: str = ""


@dataclass
class Stub:
    """The server's address, its remaining answers, and the bodies and headers (lower case) it received."""

    address: str = ""
    answers: list[Answer] = field(default_factory=list)
    received: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def stub_server(*answers: Answer) -> Iterator[Stub]:
    """Serve the answers in order, repeating the last one."""
    stub = Stub(answers=list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            # A client that stopped waiting has closed the connection.
            with suppress(ConnectionError):
                self._answer()

        def _answer(self) -> None:
            length = int(self.headers.get("content-length", 0))
            stub.headers.append({name.lower(): value for name, value in self.headers.items()})
            stub.received.append(json.loads(self.rfile.read(length)))
            self._send(stub.answers.pop(0) if len(stub.answers) > 1 else stub.answers[0])

        def _send(self, answer: Answer) -> None:
            if answer.hangs:
                stub.released.wait(20)
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            payload = json.dumps(answer.body) if answer.body is not None else answer.page
            kind = (
                "text/event-stream" if answer.events else "text/html" if answer.page else "application/json"
            )
            self.send_header("content-type", kind)
            if answer.events:
                self.send_header("connection", "close")
            else:
                self.send_header("content-length", str(len(payload.encode())))
            self.end_headers()
            self.wfile.write((payload or "".join(answer.events)).encode())
            self.close_connection = bool(answer.events)

        def log_message(self, *_: object) -> None:
            """Write nothing to stderr, because tests check it."""

    with serving(Handler, stub.released) as port:
        stub.address = f"http://127.0.0.1:{port}"
        yield stub


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], released: threading.Event) -> Iterator[int]:
    """Serve on a free port, which is the value; at the end, `released` is set for answers that wait."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        released.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


TAGS = {
    "models": [
        {"name": "qwen3:4b", "size": 2_600_000_000, "details": {"family": "qwen3", "parameter_size": "4.0B"}},
        {"name": "nomic-embed-text", "size": 274_000_000, "details": {"family": "nomic-bert"}},
        {"name": "huge:cloud", "size": 400, "remote_host": "https://ollama.com:443", "details": {}},
    ]
}
LOADED = {"models": [{"name": "qwen3:4b", "context_length": 8192}]}
STUDIO = {"object": "list", "data": [{"id": "openai/gpt-oss-20b"}, {"id": "text-embedding-nomic"}]}
STUDIO_MORE = {
    "data": [
        {"id": "openai/gpt-oss-20b", "type": "llm", "state": "loaded", "loaded_context_length": 16384},
        {"id": "text-embedding-nomic", "type": "embeddings"},
    ]
}
LLAMA = {"object": "list", "data": [{"id": "models/gemma.gguf", "meta": {"size": 4_900_000_000}}]}
PROPS = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}

OLLAMA_ANSWERS = {"/api/tags": TAGS, "/api/ps": LOADED}
STUDIO_ANSWERS = {"/v1/models": STUDIO, "/api/v0/models": STUDIO_MORE}
LLAMA_ANSWERS = {"/v1/models": LLAMA, "/props": PROPS}


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer that is no JSON; after its body it may go on forever, or never begin."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    endless: bool = False
    silent: bool = False


@dataclass
class LocalStub:
    """The stub's port, and what it was asked, with headers in lower case."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def local_stub(answers: Mapping[str, Any]) -> Iterator[LocalStub]:
    """Serve an answer a path on a free port; any other path is not found."""
    stub = LocalStub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            stub.asked.append(self.path)
            stub.headers.append({name.lower(): value for name, value in self.headers.items()})
            # A client that heard enough has closed the connection.
            with suppress(OSError):
                self._send(_raw(answers.get(self.path, Raw(b"not found", 404))))

        def do_POST(self) -> None:
            self.do_GET()

        def _send(self, answer: Raw) -> None:
            if answer.silent:
                stub.released.wait(20)
                return
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)
            while answer.endless and not stub.released.is_set():
                self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Write nothing to stderr, because tests check it."""

    with serving(Handler, stub.released) as stub.port:
        yield stub


def _raw(answer: Any) -> Raw:
    return answer if isinstance(answer, Raw) else Raw(json.dumps(answer).encode())


def at(name: str, port: int) -> LocalServer:
    """The server of that name, at another port than its usual one."""
    return replace(next(server for server in USUAL_SERVERS if server.name == name), port=port)


def looking(*servers: LocalServer, seconds: float = 10) -> LocalModelServers:
    """The adapter, with enough time for a busy machine."""
    return LocalModelServers(servers, seconds=seconds)
