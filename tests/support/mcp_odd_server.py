"""A server whose answers the SDK would not send. ODD=modern_only rejects the older handshake."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

MODERN = "2026-07-28"
# Hanging is what is tested; the number ends a process that nobody killed.
FOREVER = 600
CACHE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

Arguments = Mapping[str, Any]


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def hang() -> None:
    """Wait for a signal that ends the process."""
    signal.alarm(FOREVER)
    signal.pause()


def spawn_helper(_arguments: Arguments) -> dict[str, Any]:
    """Start a process that outlives the server and holds its stdout open."""
    waiting = f"import signal; signal.alarm({FOREVER}); signal.pause()"
    helper = subprocess.Popen([sys.executable, "-c", waiting])
    return text(str(helper.pid))


def turn_stubborn(_arguments: Arguments) -> dict[str, Any]:
    """Ignore SIGTERM and a closed stdin."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    send({"method": "notifications/message", "params": {"level": "info", "data": "stubborn"}})
    return text(str(os.getpid()))


def exit_with_helper(arguments: Arguments) -> dict[str, Any]:
    spawn_helper(arguments)
    os._exit(8)


def sleep(_arguments: Arguments) -> dict[str, Any]:
    hang()
    return {}


def grow(_arguments: Arguments) -> dict[str, Any]:
    """Add the tool `sprout`, and tell so."""
    TOOLS["sprout"] = lambda _: text("green")
    send({"method": "notifications/tools/list_changed"})
    return text("grown")


TOOLS: dict[str, Callable[[Arguments], Any]] = {
    "environment": lambda _: text(json.dumps(dict(os.environ))),
    "pid": lambda _: text(str(os.getpid())),
    "a_list": lambda _: ["not", "an", "object"],
    "breaks_its_schema": lambda _: text("5 degrees", structuredContent={"degrees": "five"}),
    "refuse": lambda _: text("no such city", isError=True),
    "helper": spawn_helper,
    "stubborn": turn_stubborn,
    "exit_with_helper": exit_with_helper,
    "sleep": sleep,
    "grow": grow,
}
SCHEMAS = {"breaks_its_schema": {"type": "object", "properties": {"degrees": {"type": "number"}}}}


def listed() -> list[dict[str, Any]]:
    found = [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]
    for tool in found:
        if tool["name"] in SCHEMAS:
            tool["outputSchema"] = SCHEMAS[str(tool["name"])]
    return [*found, {"name": "pid", "inputSchema": {"type": "object"}}, "not a tool"]  # type: ignore[list-item]


def answer(method: str, params: Mapping[str, Any]) -> Any:
    modern = os.environ.get("ODD") == "modern_only"
    about = {"name": "odd", "version": "0.1"}
    if method == "initialize" and not modern:
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": about,
        }
    if method == "server/discover" and modern:
        meta = {"io.modelcontextprotocol/serverInfo": about}
        return {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "_meta": meta, **CACHE}
    if method == "tools/list":
        return {"tools": listed(), **(CACHE if modern else {})}
    if method == "tools/call" and params["name"] == "report_once":
        report = {"progressToken": params["_meta"]["progressToken"], "progress": 1, "total": 3}
        send({"method": "notifications/progress", "params": report})
        hang()
    if method == "tools/call":
        return TOOLS[params["name"]](params.get("arguments") or {})
    return READ.get(method)


# None of these is what the specification wants, apart from the last ones.
SHELF = "odd:shelf"
READ: dict[str, Any] = {
    "resources/list": {"resources": [{"uri": SHELF}, "not a resource"]},
    "resources/read": {"contents": [{"text": "three books"}]},
    "prompts/get": {"messages": "none"},
    "completion/complete": {"completion": {"values": ["a", 3]}},
}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    sys.stderr.write("odd: starting\n")
    sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        params = message.get("params") or {}
        result = answer(message["method"], params)
        refusal = {"error": {"code": -32601, "message": "Method not found"}}
        send({"id": message["id"], **({"result": result} if result is not None else refusal)})
    while signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        hang()


if __name__ == "__main__":
    main()
