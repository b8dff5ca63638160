#!/usr/bin/env bash
# mcp 2.3.0 (Python SDK): a session that the server has forgotten cannot be begun anew on the same connection.
#
# The specification: after a 404 to a request with an Mcp-Session-Id, a client begins a new session by an initialize
# WITHOUT that header. In the SDK two natural ways fail quietly:
#   - ClientSession.initialize() a second time sends nothing and returns the first result, as if it had worked;
#   - initialize sent as a request of one's own carries the lost id, because the transport adds what it remembers to
#     every request, and a server that knows no such session answers 404 again.
# Only a new transport begins anew. The server below is the specification's: it starts a session for an initialize
# without the header, and forgets its sessions once, as a restart does.
#
# Seen (what the server received, - is no header; what the caller got):
#   first handshake: initialize -, notifications/initialized s1, tools/list s1 -> ListToolsResult
#   after the restart: tools/list s1 -> Session not found
#   initialize() again: nothing -> InitializeResult
#   initialize, by hand: initialize s1 -> Session not found
#   a new transport: initialize -, notifications/initialized s2, tools/list s2 -> ListToolsResult
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile mcp==2.3.0
env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mcp import ClientSession, MCPError, types
from mcp.client.streamable_http import streamable_http_client

received, sessions, count = [], set(), iter(range(1, 9))
INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        session = self.headers.get("mcp-session-id")
        received.append(f"{message['method']} {session or '-'}")
        if message["method"] == "initialize" and session is None:
            sessions.add(new := f"s{next(count)}")
            self.answer(200, {"id": message["id"], "result": INFO}, new)
        elif session not in sessions:
            self.answer(404, {"id": message.get("id"), "error": {"code": -32001, "message": "Session not found"}})
        elif "id" in message:
            self.answer(200, {"id": message["id"], "result": {"tools": []}})
        else:
            self.answer(202, None)

    def do_GET(self):
        self.answer(405, None)

    do_DELETE = do_GET

    def answer(self, status, body, session=None):
        data = json.dumps({"jsonrpc": "2.0", **body}).encode() if body else b""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(data)


async def show(label, step):
    received.clear()
    try:
        got = type(await step()).__name__
    except MCPError as error:
        got = error.message
    print(f"{label}: {', '.join(received) or 'nothing'} -> {got}")


async def main(url):
    async def first(session):
        await session.initialize()
        return await session.list_tools()

    by_hand = types.InitializeRequest(
        params=types.InitializeRequestParams(
            protocol_version="2025-11-25",
            capabilities=types.ClientCapabilities(),
            client_info=types.Implementation(name="ask", version="1"),
        )
    )
    async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as session:
        await show("first handshake", lambda: first(session))
        sessions.clear()
        await show("after the restart", session.list_tools)
        await show("initialize() again", session.initialize)
        await show("initialize, by hand", lambda: session.send_request(by_hand, types.InitializeResult))
    async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as session:
        await show("a new transport", lambda: first(session))


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
asyncio.run(main(f"http://127.0.0.1:{server.server_port}/mcp"))
PY
diff seen.txt - <<'SEEN'
first handshake: initialize -, notifications/initialized s1, tools/list s1 -> ListToolsResult
after the restart: tools/list s1 -> Session not found
initialize() again: nothing -> InitializeResult
initialize, by hand: initialize s1 -> Session not found
a new transport: initialize -, notifications/initialized s2, tools/list s2 -> ListToolsResult
SEEN
