"""Servers with an address are tapped over stdio by one process, from the first command to the last."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

from inspector.core.events import CallStarted, SessionStarted
from inspector.store.store import SqliteStore
from tests.features.agents.tap.test_tap import until

pytestmark = pytest.mark.slow

KEY = "k3y-0a1b2c-plant"


class Server(BaseHTTPRequestHandler):
    """Answers each request with its method, and refuses who has no key."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        may = self.headers.get("x-ref") == KEY
        result = {"protocolVersion": "2025-06-18", "said": asked["method"], "content": []}
        body = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}).encode()
        self.send_response(200 if may else 401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_told: object) -> None: ...


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


class Client:
    """A client whose file starts a tap for an address."""

    def __init__(self, folder: Path, url: str, name: str, **environment: str) -> None:
        own = {"TOOLSIGHT_DB": str(folder / "x.db"), "XDG_RUNTIME_DIR": str(folder)}
        words = ["tap", "--header", "X-Ref", "--name", name, "--", url]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "inspector", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **own, **environment},
        )

    def ask(self, id_: int | str, method: str, **params: object) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or b"{}")

    def leave(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(30) == 0


def behind(url: str) -> list[psutil.Process]:
    """The processes of the background that a command for the address has started."""
    found = psutil.process_iter(["cmdline", "ppid"])
    return [one for one in found if url in (one.info["cmdline"] or ()) and one.info["ppid"] != os.getpid()]


def test_one_process_taps_two_servers_and_is_gone_after_the_last_of_their_clients(
    tmp_path: Path, url: str
) -> None:
    shop, *others = (Client(tmp_path, url, name, **{"X-Ref": KEY}) for name in ("shop", "a", "b", "c"))
    for other in others:
        assert other.ask(1, "ping")["result"]["said"] == "ping"
        other.leave()
    begun = shop.ask(1, "initialize", clientInfo={"name": "codex", "version": "1"})
    assert begun["result"]["said"] == "initialize"
    started = {one.pid for one in behind(url)}
    office = Client(tmp_path, url, "office", **{"X-Ref": KEY})
    assert office.ask("a", "tools/call", name="x", arguments={"said": KEY})["id"] == "a"
    assert {one.pid for one in behind(url)} == started
    shop.leave()
    assert office.ask(2, "ping")["result"]["said"] == "ping"
    office.leave()
    until(lambda: not behind(url))
    with SqliteStore(tmp_path / "x.db") as store:
        found = {one.config: store.read(one.id) for one in store.sessions()}
    assert set(found) == {"shop", "office", "a", "b", "c"}
    events = [one.event for records in found.values() for one in records]
    assert {one.origin.agent for one in events if isinstance(one, SessionStarted) and one.origin} == {
        "codex",
        "client",
    }
    assert [one.tool for one in events if isinstance(one, CallStarted)] == ["office:x"]
    assert KEY not in repr(events)
    assert not list(tmp_path.rglob("tap-*[0-9a-f]"))


def test_a_client_whose_tap_was_killed_learns_it_and_starts_it_again(tmp_path: Path, url: str) -> None:
    shop = Client(tmp_path, url, "shop", **{"X-Ref": KEY})
    shop.ask(1, "initialize")
    for one in behind(url):
        one.send_signal(signal.SIGKILL)
    assert shop.process.stdout is not None
    assert shop.process.stdout.readline() == b""
    again = Client(tmp_path, url, "shop", **{"X-Ref": KEY})
    assert again.ask(1, "initialize")["result"]["said"] == "initialize"
    again.leave()
    until(lambda: not behind(url))


def test_a_server_that_refuses_says_why_in_an_answer(tmp_path: Path, url: str) -> None:
    shop = Client(tmp_path, url, "shop")
    assert "HTTP 401" in shop.ask(1, "initialize")["error"]["message"]
    shop.leave()
    until(lambda: not behind(url))
