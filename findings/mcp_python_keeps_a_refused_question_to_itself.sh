#!/usr/bin/env bash
# mcp 2.3.0: over 2026-07-28 a server never learns that its client refused a question; over 2025-11-25 it does.
#
# A callback of the client (elicitation_callback) may answer a question of the server with ErrorData. In 2025-11-25
# that goes to the server as the error of its request, and the tool can go on without the answer. In 2026-07-28 the
# call returns with the question, and the client raises the ErrorData as MCPError of the call: nothing is sent any more.
# A server that keeps something for the answer has to give up by itself. A guess would be that a callback's refusal
# reaches the server in both, as its decline does.
#
# Seen (one server, one callback that refuses; the methods that reach the server after tools/call):
#   2025-11-25 the call returns: went on without it
#   2025-11-25 the server got: an error to its question
#   2026-07-28 the call raises: MCPError: not here
#   2026-07-28 the server got: nothing
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check mcp==2.3.0
cat > server.py <<'PY'
import json
import sys

IS_MODERN = sys.argv[1] == "2026-07-28"
FORM = {"type": "object", "properties": {"city": {"type": "string"}}}
ASKED = {"mode": "form", "message": "Where?", "requestedSchema": FORM}
ABOUT = {"capabilities": {"tools": {}}, "serverInfo": {"name": "asking", "version": "1"}}
MORE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if IS_MODERN else {}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def said(text):
    return {"content": [{"type": "text", "text": text}], **({"resultType": "complete"} if IS_MODERN else {})}


call = None
for line in sys.stdin:
    message = json.loads(line)
    method, id_ = message.get("method"), message.get("id")
    if call is not None and method not in ("tools/list", "notifications/cancelled"):
        got = "an error to its question" if "error" in message else method or "a result"
        print(got, file=sys.stderr, flush=True)
    if method == "initialize" and not IS_MODERN:
        send({"id": id_, "result": {"protocolVersion": "2025-11-25", **ABOUT}})
    elif method == "server/discover" and IS_MODERN:
        send({"id": id_, "result": {"supportedVersions": ["2026-07-28"], **ABOUT, **MORE}})
    elif method == "tools/list":
        tools = [{"name": "where", "inputSchema": {"type": "object"}}]
        send({"id": id_, "result": {"tools": tools, **MORE}})
    elif method == "tools/call":
        call = id_
        if IS_MODERN:
            asks = {"q": {"method": "elicitation/create", "params": ASKED}}
            send({"id": id_, "result": {"resultType": "input_required", "inputRequests": asks, "requestState": "s"}})
        else:
            send({"id": "q", "method": "elicitation/create", "params": ASKED})
    elif id_ == "q":
        send({"id": call, "result": said("went on without it")})
    elif id_ is not None and method:
        send({"id": id_, "error": {"code": -32601, "message": "unknown"}})
PY
cat > ask.py <<'PY'
import asyncio
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ErrorData


async def refuse(_context, _params):
    return ErrorData(code=-32000, message="not here")


async def main(version, log):
    server = StdioServerParameters(command=sys.executable, args=["server.py", version])
    mode = "legacy" if version == "2025-11-25" else "auto"
    with open(log, "w") as errors:
        async with Client(stdio_client(server, errlog=errors), mode=mode, elicitation_callback=refuse) as client:
            await client.list_tools()
            try:
                result = await client.call_tool("where", {})
                print(version, "the call returns:", result.content[0].text)
            except MCPError as error:
                print(version, f"the call raises: {type(error).__name__}: {error}")
    with open(log) as came:
        print(version, "the server got:", came.read().strip() or "nothing")


for version in ("2025-11-25", "2026-07-28"):
    asyncio.run(main(version, f"{version}.log"))
PY
env/bin/python ask.py 2>log.txt | tee seen.txt
diff seen.txt - <<'SEEN'
2025-11-25 the call returns: went on without it
2025-11-25 the server got: an error to its question
2026-07-28 the call raises: MCPError: not here
2026-07-28 the server got: nothing
SEEN
