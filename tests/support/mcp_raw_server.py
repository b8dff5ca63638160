"""A server whose bytes are wrong in the way that RAW names, over stdio, or over HTTP with `--http json|sse`.

Its tools are `echo`, which answers with the text that it was given, `quota`, which fails with code -32000,
and `odd`, whose definition or result has what is wrong. FLOOD names what it sends without an end once it has
listed them.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RAW = os.environ.get("RAW", "")
FLOOD = os.environ.get("FLOOD", "")
LONE = '"\\ud83d and more"'
OBJECT: dict[str, Any] = {"type": "object"}
QUOTA = {"code": -32000, "message": "quota exceeded"}


def tools() -> list[dict[str, Any]]:
    odd: dict[str, Any] = {"name": "odd", "description": "MARK", "inputSchema": OBJECT}
    names = ("echo", "quota")
    return [*({"name": name, "inputSchema": OBJECT} for name in names), odd]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        about = {"name": "raw", "version": "1"}
        return {
            "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        }
    if method == "tools/list":
        return {"result": {"tools": tools()}}
    if method != "tools/call":
        return {"error": {"code": -32601, "message": "Method not found"}}
    name = params["name"]
    if name == "quota":
        return {"error": QUOTA}
    text = params.get("arguments", {}).get("text", "") if name == "echo" else "MARK"
    return {"result": {"content": [{"type": "text", "text": text}]}}


def written(request: dict[str, Any]) -> bytes:
    """The answer as bytes, with what is wrong in it."""
    message = {"jsonrpc": "2.0", "id": request["id"], **answer(request)}
    text = json.dumps(message)
    if RAW == "surrogate":
        text = text.replace('"MARK"', LONE)
    data = text.encode()
    if RAW == "bom":
        data = b"\xef\xbb\xbf" + data
    return data


GARBAGE = b'\x00\xff\xfe{]\x1b[2J not a message\n{"level": "info"}\nworking... '


def noted(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}).encode()


FLOODS: dict[str, tuple[int, bytes]] = {
    "log": (1, noted("message", level="info", data="x" * 60) + b"\n"),
    "progress": (1, noted("progress", progressToken=1, progress=1) + b"\n"),
    "notifications": (1, noted("tools/list_changed") + b"\n"),
    "requests": (1, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'),
    "answers": (1, b'{"jsonrpc": "2.0", "id": 9999, "result": {}}\n'),
    "garbage": (1, b"no message at all\n"),
    "line": (1, b"y" * 100),
    "stderr": (2, b"a line of stderr\n"),
    "stderr_line": (2, b"z" * 100),
}


def flood() -> None:
    """Send without an end."""
    target, each = FLOODS[FLOOD]
    block = each * (60_000 // len(each))
    # An endless line has no place for anything else.
    lock = LOCK if each.endswith(b"\n") else threading.Lock()
    while True:
        # A lock is not fair: whoever takes it again at once keeps an answer waiting for seconds.
        FREE.wait()
        with lock:
            put(target, block)


def put(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


LOCK = threading.Lock()
FREE = threading.Event()
FREE.set()


def serve_stdio() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            continue
        data = written(request)
        FREE.clear()
        with LOCK:
            put(1, (GARBAGE if RAW == "garbage" else b"") + data + b"\n")
        FREE.set()
        if FLOOD and request["method"] == "tools/list" and threading.active_count() == 1:
            threading.Thread(target=flood, daemon=True).start()


def events(data: bytes) -> Iterator[bytes]:
    """An answer as a stream of events."""
    if RAW == "garbage":
        yield from (b"data: " + line + b"\n\n" for line in GARBAGE.splitlines())
    first, *others = data.split(b"\n")
    yield b"event: message\n" + b"data: " + first + b"\n" + b"".join(line + b"\n" for line in others) + b"\n"


class Handler(BaseHTTPRequestHandler):
    """One answer a POST, as JSON or as an event; a GET gets the flood."""

    is_stream = False

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in request or "method" not in request:
            self._reply(202)
            return
        data, session = written(request), {"Mcp-Session-Id": "one"}
        if not self.is_stream:
            self._reply(200, {"Content-Type": "application/json", **session}, data)
            return
        self._begin_events(session)
        for event in events(data):
            self.wfile.write(event)

    def do_GET(self) -> None:
        if not FLOOD:
            self._reply(405)
            return
        self._begin_events({})
        each = b"data: " + FLOODS[FLOOD][1] + b"\n"
        while True:
            self.wfile.write(each * 400)

    def _begin_events(self, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {"Content-Type": "text/event-stream", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def do_DELETE(self) -> None:
        self._reply(200)

    def _reply(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def serve_http(is_stream: bool) -> None:
    Handler.is_stream = is_stream
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        sys.stdout.write(f"http://127.0.0.1:{listening.server_address[1]}/mcp\n")
        sys.stdout.flush()
        listening.serve_forever()


def main() -> None:
    serve: Callable[[], None] = serve_stdio
    if sys.argv[1:2] == ["--http"]:
        serve_http(sys.argv[2] == "sse")
    else:
        serve()


if __name__ == "__main__":
    main()
