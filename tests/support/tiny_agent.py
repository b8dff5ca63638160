"""An agent as small as can be, started as `claude`: MCP over stdio, Anthropic's Messages, no rule of its own.

It is copied into a folder of the test's own. A file `mode` beside it says how it misbehaves; in
`environment.json` is what it was started with, in `pids` are the processes that it leaves.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

GO: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]


class Server:
    """The first server of a configuration."""

    def __init__(self, configuration: str) -> None:
        entry = next(iter(json.loads(configuration)["mcpServers"].values()))
        self.process = subprocess.Popen(
            [entry["command"], *entry["args"]],
            env={**os.environ, **entry["env"]},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        about = {"clientInfo": {"name": "tiny", "version": "0.1"}, "capabilities": {}}
        self.ask("initialize", protocolVersion="2025-06-18", **about)
        self.tell({"method": "notifications/initialized"})

    def tell(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> Any:
        self.tell({"id": 1, "method": method, "params": params})
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == 1:
                return answer.get("result", {"content": "an error"})
        raise EOFError


class HttpServer:
    """A server at an address."""

    def __init__(self, url: str) -> None:
        self.url, self.headers = url, {"Accept": "application/json, text/event-stream"}
        self.headers["Content-Type"] = "application/json"
        about = {"clientInfo": {"name": "tiny", "version": "0.1"}, "capabilities": {}}
        self.ask("initialize", protocolVersion="2025-06-18", **about)

    def ask(self, method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        request = urllib.request.Request(self.url, json.dumps(message).encode(), self.headers)
        with urllib.request.urlopen(request) as answer:
            if session := answer.headers.get("mcp-session-id"):
                self.headers["mcp-session-id"] = session
            text = answer.read().decode()
        data = next((line[6:] for line in text.splitlines() if line.startswith("data: {")), text)
        return json.loads(data)["result"]


PREFIX = "mcp__toolsight__"
SEARCH = {
    "name": "ToolSearch",
    "description": "Finds tools.",
    "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
}


def found(query: str, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What its own search finds: the tools whose names are in the query."""
    return [one for one in tools if one["name"].removeprefix(PREFIX) in query.split()]


def race(url: str, mode: str) -> str:
    """Converse with the tools of a server at an address, bound or, with the mode `defer`, found first."""
    server = HttpServer(url)
    listed = server.ask("tools/list")["tools"]
    every = [{**one, "name": PREFIX + one["name"], "input_schema": one["inputSchema"]} for one in listed]
    tools, messages = [SEARCH] if mode == "defer" else every, [*GO]
    while True:
        answer = ask_model({"model": "tiny-1", "max_tokens": 9, "messages": messages, "tools": tools})
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not calls:
            return str(answer["content"][0]["text"])
        if mode == "end early":
            return "I am tired."
        results: list[Any] = []
        for call in calls:
            if call["name"] == SEARCH["name"]:
                more = found(call["input"]["query"], every)
                tools = [*tools, *more]
                content = [{"type": "tool_reference", "tool_name": one["name"]} for one in more]
            else:
                name = call["name"].removeprefix(PREFIX)
                content = server.ask("tools/call", name=name, arguments=call["input"])["content"]
            results.append({"type": "tool_result", "tool_use_id": call["id"], "content": content})
        messages += [
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": results},
        ]


def ask_model(body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages", json.dumps(body).encode(), {"x-api-key": "any"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def converse(configuration: str, mode: str) -> str:
    servers = json.loads(configuration)["mcpServers"]
    if mode == "signed" and any("url" in one for one in servers.values()):
        if "marked-sign-in" in servers:
            # What an earlier try asked is no part of the next one.
            ask_model({"model": "tiny-1", "max_tokens": 9, "messages": GO})
            ask_model({"model": "tiny-1", "max_tokens": 9, "messages": GO})
            raise SystemExit("SomeError: 401")
        tool = {"name": "mcp__marked-http__quick", "description": "", "input_schema": {}}
        ask_model({"model": "tiny-1", "max_tokens": 9, "messages": GO, "tools": [tool]})
        return "Done."
    if mode == "hang with one" and "marked-odd" in servers:
        time.sleep(600)
    server = Server(configuration)
    listed = server.ask("tools/list")["tools"]
    tools = [{**one, "input_schema": one["inputSchema"]} for one in listed]
    messages = [*GO]
    while True:
        answer = ask_model({"model": "tiny-1", "max_tokens": 9, "messages": messages, "tools": tools})
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not calls:
            return str(answer["content"][0]["text"])
        results = []
        for call in calls:
            if mode == "hang in a call" and call["name"] == "misfit":
                time.sleep(600)
            if mode == "fall" and call["name"] == "sound":
                raise SystemExit("SomeError: it is not sent")
            done = server.ask("tools/call", name=call["name"], arguments=call["input"])
            if mode == "fall always" or (mode == "fall" and call["name"] == "misfit"):
                raise SystemExit("SomeError: it does not fit")
            results.append({"type": "tool_result", "tool_use_id": call["id"], "content": done["content"]})
        messages += [
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": results},
        ]


def linger(here: Path) -> None:
    """Leave a process that has a session of its own and ends for no request."""
    ignoring = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", ignoring], start_new_session=True)
    (here / "pids").write_text(str(process.pid))


def litter() -> None:
    """Write wherever a program is told that it may."""
    for place in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "PWD"):
        (Path(os.environ[place] if place != "PWD" else Path.cwd()) / "litter").touch()


def flood() -> None:
    """Ask the model for ever."""
    while True:
        ask_model({"model": "tiny-1", "max_tokens": 9, "messages": [{"role": "user", "content": "Title?"}]})


def given_servers() -> str:
    if "TOOLSIGHT_MCP_SERVERS" in os.environ:
        return os.environ["TOOLSIGHT_MCP_SERVERS"]
    return Path(sys.argv[sys.argv.index("--mcp-config") + 1]).read_text()


def act(mode: str, here: Path) -> str:
    sys.stdout.write("Log in to go on.\n" * (100_000 if mode == "shout" else 1))
    sys.stdout.flush()
    if mode == "linger and litter":
        linger(here)
        litter()
    elif mode == "flood":
        flood()
    elif mode == "hang":
        time.sleep(600)
    given = given_servers()
    if mode == "end":
        return "I have no key."
    gateway = json.loads(given)["mcpServers"].get("toolsight")
    return race(gateway["url"], mode) if gateway else converse(given, mode)


if __name__ == "__main__":
    here = Path(sys.argv[0]).parent
    (here / "environment.json").write_text(
        json.dumps({**os.environ, "PWD": str(Path.cwd()), "pid": os.getpid()})
    )
    mode = (here / "mode").read_text() if (here / "mode").exists() else ""
    sys.stderr.write("A library of 2.0.0 is old.\n")
    sys.stdout.write("tiny 9.8.7 of 2026" if "--version" in sys.argv else act(mode, here))
