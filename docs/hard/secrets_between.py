"""Secrets that cross what stands between a client and others: a tap, and the stand-in for its model."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template
from threading import Thread
from urllib.parse import urlsplit

from docs.hard.orphans import wait
from docs.hard.repeating_server import answers
from tests.support import tiny_agent

_AGENT = """import sys, tiny_agent
said, ask_model, ask = SAID, tiny_agent.ask_model, tiny_agent.Server.ask
tiny_agent.ask_model = lambda body: ask_model({**body, "system": said})
tiny_agent.Server.ask = lambda self, method, **params: ask(self, method, **params, _meta={"said": said})
print(said, tiny_agent.converse(open(sys.argv[sys.argv.index("--mcp-config") + 1]).read()))
"""
DATABASE = Path(".local", "share", "toolsight", "toolsight.db")
"""Where a home folder has it."""
_SECONDS = 60.0
_TOOLSIGHT = [sys.executable, "-m", "inspector"]
_CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}


def requests(texts: Sequence[str]) -> list[bytes]:
    """What a client asks a server, repeating the texts itself."""
    asked = [
        ("initialize", _CLIENT),
        ("tools/list", {}),
        *(("tools/call", {"name": name, "arguments": {"text": " ".join(texts)}}) for name in ("x", "refuse")),
    ]
    return [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode()
        for number, (method, params) in enumerate(asked)
    ]


def through_stdio(
    command: Sequence[str], environment: Mapping[str, str], home: Path, texts: Sequence[str]
) -> bytes:
    """Talk through a tap, started as a client does; nothing of what the server itself says is returned."""
    stopped = _stopped(home)
    with subprocess.Popen(
        command, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, env=environment, cwd=home
    ) as tap:
        assert tap.stdin is not None
        assert tap.stdout is not None
        for line in requests(texts):
            tap.stdin.write(line + b"\n")
            tap.stdin.flush()
            while b'"id": ' not in tap.stdout.readline():
                pass
        tap.stdin.close()
    _wait_for_end(home, stopped)
    return b""


def through_http(
    url: str, headers: Mapping[str, str], environment: Mapping[str, str], home: Path, texts: Sequence[str]
) -> bytes:
    """Talk through a tap of a server at the path and query of `url` on this machine; see `through_stdio`."""
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), _repeating(texts))
    Thread(target=upstream.serve_forever, daemon=True).start()
    address = urlsplit(url)._replace(netloc=f"127.0.0.1:{upstream.server_port}").geturl()
    named = [word for name in headers for word in ("--header", name)]
    through_stdio([*_TOOLSIGHT, "tap", *named, "--", address], {**environment, **headers}, home, texts)
    upstream.shutdown()
    return b""


def as_started(file: Path, server: str, values: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The command and the variables with which a client starts an entry of its file."""
    entry = json.loads(file.read_text())["servers"][server]

    def expanded(text: str) -> str:
        return Template(text.replace("${input:", "${")).safe_substitute(values)

    command = [entry["command"], *map(expanded, entry["args"])]
    return command, {name: expanded(text) for name, text in entry["env"].items()}


def install_agent(folder: Path, texts: Sequence[str]) -> None:
    """Put a program `claude` into a folder that says the texts to its model, its server and its terminal."""
    folder.mkdir()
    shutil.copy(tiny_agent.__file__, folder / "tiny_agent.py")
    program = folder / "claude"
    program.write_text(f"#!{sys.executable}\n{_AGENT.replace('SAID', json.dumps(' '.join(texts)))}")
    program.chmod(0o755)


def _repeating(texts: Sequence[str]) -> type[BaseHTTPRequestHandler]:
    class Repeating(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = answers(list(texts), asked["method"], asked["params"])
            body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_said: object) -> None:
            """Say nothing."""

    return Repeating


def _stopped(home: Path) -> int:
    """How many servers have stopped, as far as is recorded."""
    with (
        suppress(sqlite3.OperationalError),
        closing(sqlite3.connect(f"file:{home / DATABASE}?mode=ro", uri=True)) as database,
    ):
        return int(database.execute("SELECT count(*) FROM event WHERE kind = 'stopped'").fetchone()[0])
    return 0


def _wait_for_end(home: Path, before: int) -> None:
    """Wait until the recorder, which is no child of anybody, has stored the end. Raises TimeoutError."""
    if not wait(lambda: _stopped(home) > before, _SECONDS):
        raise TimeoutError(os.fspath(home))
