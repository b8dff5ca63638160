"""What real servers list, for `replay_server`: `python -m docs.hard.capture CONFIG FOLDER`.

Each stdio server of the configuration is started, asked for its tools, and written to FOLDER/NAME.json. What
they say belongs to their authors: keep the folder out of the repository.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from docs.benchmark import say

_IDENTITY = {"name": "toolsight-capture", "version": "0"}
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _IDENTITY}


class _Peer:
    """The two ends of a server's pipes."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._stdin, self._stdout, self._last = stdin, stdout, 0

    def tell(self, message: dict[str, Any]) -> None:
        self._stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._last += 1
        self.tell({"id": self._last, "method": method, "params": params})
        for line in self._stdout:
            message = json.loads(line) if line.startswith(b"{") else {}
            if message.get("id") == self._last and "method" not in message:
                return dict(message["result"])
        raise EOFError(f"no answer to {method}")


def captured(server: dict[str, Any]) -> dict[str, Any]:
    """The answers of one server."""
    argv = [server["command"], *server.get("args", ())]
    environment = {**os.environ, **server.get("env", {})}
    with subprocess.Popen(
        argv,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            peer = _Peer(process.stdin, process.stdout)
            hello = peer.ask("initialize", _HELLO)
            peer.tell({"method": "notifications/initialized"})
            tools: list[Any] = []
            page: dict[str, Any] = {"nextCursor": None}
            while "nextCursor" in page:
                cursor = page["nextCursor"]
                page = peer.ask("tools/list", {"cursor": cursor} if cursor else {})
                tools += page["tools"]
        finally:
            # What npx or uvx has started has not to notice that they are gone.
            os.killpg(process.pid, signal.SIGKILL)
    return {"initialize": hello, "tools": tools}


def main() -> int:
    configuration, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, server in json.loads(configuration.read_text())["mcpServers"].items():
        said = captured(server)
        (folder / f"{name}.json").write_text(json.dumps(said))
        say(f"{name}: {len(said['tools'])} tools")
    return 0


if __name__ == "__main__":
    sys.exit(main())
