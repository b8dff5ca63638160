#!/usr/bin/env bash
# opencode-ai 1.18.33: after the answer to each tool call its server is told that the call is cancelled.
#
# opencode ends a call by aborting it, also one that has succeeded: the server gets notifications/cancelled with the id of
# the request that it has answered, reason "AbortError", for every call. By the specification a cancellation names a
# request that is believed to be in progress, and a server may act on it: one that works on after its answer (a job that
# the call began, a progress that it follows up) stops that, one that counts or logs cancellations takes every call for
# a user who gave up, and real ones cannot be told from these. A guess would be silence after an answer; the result
# reaches the model, and nothing on the screen says that anything was cancelled.
#
# Seen (what the server got and gave; what the model got):
#   got tools/call 'tea'
#   gave its result
#   got notifications/cancelled for the same request: AbortError: The operation was aborted.
#   got tools/call 'coffee'
#   gave its result
#   got notifications/cancelled for the same request: AbortError: The operation was aborted.
#   model: found tea, found coffee
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . opencode-ai@1.18.33
cat > server.py <<'PY'
import json
import sys

INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
results = {
    "initialize": INFO,
    "tools/list": {"tools": [{"name": "search", "description": "Searches", "inputSchema": SCHEMA}]},
    "ping": {},
}
last = None


def note(what):
    with open(sys.argv[1], "a") as log:
        print(what, file=log)


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if method == "tools/call":
        query, last = params["arguments"]["query"], message["id"]
        note(f"got tools/call {query!r}")
        results[method] = {"content": [{"type": "text", "text": f"found {query}"}]}
    elif method == "notifications/cancelled":
        which = "the same request" if params["requestId"] == last else "another request"
        note(f"got {method} for {which}: {params.get('reason')}")
    if "id" in message and method in results:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[method]}), flush=True)
        if method == "tools/call":
            note("gave its result")
PY
python3 - 2>log.txt <<'PY' | tee seen.txt
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

QUERIES = ["tea", "coffee"]
results = []


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = [message["content"] for message in request["messages"] if message["role"] == "tool"]
        choice = {"index": 0, "delta": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}
        if request.get("tools"):
            results[:] = found
            if len(found) < len(QUERIES):
                function = {"name": "notes_search", "arguments": json.dumps({"query": QUERIES[len(found)]})}
                call = {"index": 0, "id": f"call_{len(found)}", "type": "function", "function": function}
                delta = {"role": "assistant", "content": None, "tool_calls": [call]}
                choice = {"index": 0, "delta": delta, "finish_reason": "tool_calls"}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())


model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
home, noted = Path("home").resolve(), Path("noted.txt").resolve()
(home / ".config/opencode").mkdir(parents=True)
configuration = {
    "model": "local/m",
    "small_model": "local/m",
    "autoupdate": False,
    "share": "disabled",
    "mcp": {"notes": {"type": "local", "command": [sys.executable, os.path.abspath("server.py"), str(noted)]}},
    "provider": {
        "local": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"http://127.0.0.1:{model.server_port}/v1", "apiKey": "any"},
            "models": {"m": {"name": "m", "tool_call": True, "limit": {"context": 100000, "output": 8000}}},
        }
    },
}
(home / ".config/opencode/opencode.json").write_text(json.dumps(configuration))
variables = {
    "HOME": str(home),
    "PATH": os.environ["PATH"],
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
}
command = [os.path.abspath("node_modules/.bin/opencode"), "run", "--model", "local/m", "Search the notes."]
subprocess.run(command, cwd=home, env=variables, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=200)
print(noted.read_text(), end="")
texts = [one if isinstance(one, str) else one[0]["text"] for one in results]
print(f"model: {', '.join(texts)}")
PY
diff seen.txt - <<'SEEN'
got tools/call 'tea'
gave its result
got notifications/cancelled for the same request: AbortError: The operation was aborted.
got tools/call 'coffee'
gave its result
got notifications/cancelled for the same request: AbortError: The operation was aborted.
model: found tea, found coffee
SEEN
