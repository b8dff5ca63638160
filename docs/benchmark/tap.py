"""What a tap adds to a frame, beside a direct connection in one run: `python -m docs.benchmark.tap`.

A client asks a server that answers at once, over stdio and over HTTP on one connection, directly and through
a tap that records into a database, in turns of TURN requests, so that a busy machine slows both. The tap of
one with an address is asked over stdio, as clients do. A request
and its answer are two frames, so what a tap adds to a frame is half the difference of the medians; its
interval (95 %) is a bootstrap over the round trips. The start is the time until the first answer.
"""

import itertools
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from docs.benchmark import say

ROUNDS, TURN, STARTS, RESAMPLES = 20, 100, 9, 1_000
SIZES = (200, 20_000)
TARGET_MS = {"stdio": 1.0, "HTTP": 3.0}
# Answers every line with itself: the least that a server can do.
SERVER = """import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
# The same over HTTP: the body of a request is that of its answer.
HTTP_SERVER = """import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
connection = listener.accept()[0]
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
read = b""
while data := connection.recv(1 << 20):
    read += data
    head, found, body = read.partition(b"\\r\\n\\r\\n")
    size = int(head.lower().rpartition(b"content-length: ")[2]) if found else 0
    if found and len(body) == size:
        told = b"Content-Type: application/json\\r\\nContent-Length: %d" % size
        connection.sendall(b"HTTP/1.1 200 OK\\r\\n%s\\r\\n\\r\\n%s" % (told, body))
        read = b""
"""
DIRECT = [sys.executable, "-c", SERVER]
TAP = [sys.executable, "-m", "inspector", "tap", "--name", "echo", "--"]


class Client:
    """A running server, and the time that it takes to answer."""

    def __init__(self, command: list[str], database: Path) -> None:
        environment = {**os.environ, "TOOLSIGHT_DB": str(database)}
        self._began = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=environment
        )
        self.started_ms = self.ask(message(0, 0), since=self._began)

    def ask(self, line: bytes, since: float | None = None) -> float:
        """Milliseconds until the whole answer is there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        began = time.perf_counter() if since is None else since
        self._process.stdin.write(line)
        while not os.read(self._process.stdout.fileno(), 1 << 20).endswith(b"\n"):
            pass
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class HttpServer:
    """A running server with an address."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", HTTP_SERVER], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()


class HttpClient:
    """A connection to a running server."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"

    def ask(self, line: bytes) -> float:
        """Milliseconds until the whole answer is there."""
        began, got = time.perf_counter(), b""
        self._socket.sendall(f"{self._head}Content-Length: {len(line)}\r\n\r\n".encode() + line)
        while not got.endswith(line):
            got += self._socket.recv(1 << 20)
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        self._socket.close()


def message(number: int, size: int) -> bytes:
    """A call whose line has about so many bytes."""
    params = {"name": "echo", "arguments": {"text": "x" * size}}
    sent = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(sent).encode() + b"\n"


def round_trips(size: int, database: Path, is_http: bool) -> tuple[list[float], list[float]]:
    """Milliseconds of round trips, directly and through a tap."""
    clients: tuple[Client | HttpClient, Client] = Client(DIRECT, database), Client([*TAP, *DIRECT], database)
    servers = [HttpServer(), HttpServer()] if is_http else []
    if servers:
        address = f"http://127.0.0.1:{servers[1].port}/mcp"
        clients = HttpClient(servers[0].port), Client([*TAP, address], database)
    taken: tuple[list[float], list[float]] = [], []
    for turn in range(ROUNDS):
        for client, into in zip(clients, taken, strict=True):
            into += [client.ask(message(turn * TURN + one, size)) for one in range(TURN)]
    for one in (*clients, *servers):
        one.close()
    return taken


def interval(direct: list[float], tapped: list[float]) -> tuple[float, float]:
    """The interval (95 %) of what a tap adds to a frame at the median."""
    chosen = np.random.default_rng(39)

    def medians(values: list[float]) -> npt.NDArray[np.float64]:
        drawn = chosen.integers(0, len(values), (RESAMPLES, len(values)))
        return np.asarray(np.median(np.asarray(values)[drawn], axis=1))

    low, high = np.percentile((medians(tapped) - medians(direct)) / 2, (2.5, 97.5))
    return float(low), float(high)


def main() -> int:
    """Print the table; return 1 if a tap adds more to a frame than TARGET_MS at the median."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        database, is_slow = Path(folder) / "toolsight.db", False
        for size, kind in itertools.product(SIZES, ("stdio", "HTTP")):
            direct, tapped = round_trips(size, database, kind == "HTTP")
            added = (statistics.median(tapped) - statistics.median(direct)) / 2
            low, high = interval(direct, tapped)
            is_slow |= added > TARGET_MS[kind]
            say(
                f"{kind:5} {size:>6,} bytes: round trip {statistics.median(direct):.3f} ms directly, "
                f"{statistics.median(tapped):.3f} ms tapped (n = {len(direct):,} each); "
                f"a tap adds {added:.3f} ms a frame ({low:.3f} to {high:.3f})"
            )
        starts: dict[str, list[float]] = {"directly": [], "tapped": []}
        for _ in range(STARTS):
            for name, command in (("directly", DIRECT), ("tapped", [*TAP, *DIRECT])):
                client = Client(command, database)
                starts[name].append(client.started_ms)
                client.close()
        said = ", ".join(f"{statistics.median(taken):.0f} ms {name}" for name, taken in starts.items())
        say(f"start until the first answer: {said} (median of {STARTS})")
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
