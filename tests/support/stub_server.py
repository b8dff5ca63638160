"""A local model provider that gives prepared answers, and keeps what it was sent."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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
