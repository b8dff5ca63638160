#!/usr/bin/env bash
# @anthropic-ai/claude-code 2.1.332: the protocol's version decides whether a result that breaks its schema is an error.
#
# A tool promises {"count": integer} and answers {"count": "seven"}. That is the server's fault, and the specification
# leaves it to clients to notice (they SHOULD check). Claude Code speaks with servers of 2025-11-25 and of 2026-07-28,
# and it checks under the newer protocol alone: there the model gets an error in place of the result, and neither its
# text nor its structured content. Nothing in the protocol makes that difference. So a tool that has long been of use
# fails when its server is brought up to date, though nothing of the tool or its answer has changed.
#
# Seen (what the model got of the same result):
#   2025-11-25: result {"count":"seven"}
#   2026-07-28: error Structured content does not match the tool's output schema: data/count must be integer
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @anthropic-ai/claude-code@2.1.332 node@24.21.0
cat > server.py <<'PY'
import json
import sys

version = sys.argv[1]
about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
promised = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
tool = {"name": "count", "description": "Counts", "inputSchema": {"type": "object"}, "outputSchema": promised}
results = {
    "tools/list": {"tools": [tool]},
    "tools/call": {"content": [{"type": "text", "text": "seven"}], "structuredContent": {"count": "seven"}},
}
if version == "2025-11-25":
    results["initialize"] = {"protocolVersion": version, **about}
else:
    results["server/discover"] = {"supportedVersions": [version], **about, "ttlMs": 0, "cacheScope": "private"}
    results["tools/list"] |= {"ttlMs": 0, "cacheScope": "private"}
    for result in results.values():
        result["resultType"] = "complete"
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        unknown = {"error": {"code": -32601, "message": "Method not found"}}
        answer = {"result": results[message["method"]]} if message["method"] in results else unknown
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
PY
python3 - 2>log.txt <<'PY' | tee seen.txt
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

got = []


def event(kind, **more):
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        blocks = [block for message in request["messages"] for block in message["content"] if isinstance(block, dict)]
        got[:] = [block for block in blocks if block["type"] == "tool_result"]
        reason, block, delta = "end_turn", {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}
        if not got:
            reason, block = "tool_use", {"type": "tool_use", "id": "call", "name": "mcp__shop__count", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": "{}"}
        message = {"id": "m", "type": "message", "role": "assistant", "model": request["model"], "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(event("message_start", message=message))
        self.wfile.write(event("content_block_start", index=0, content_block=block))
        self.wfile.write(event("content_block_delta", index=0, delta=delta) + event("content_block_stop", index=0))
        stop = {"stop_reason": reason, "stop_sequence": None}
        self.wfile.write(event("message_delta", delta=stop, usage={"output_tokens": 1}) + event("message_stop"))


model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
for version in ("2025-11-25", "2026-07-28"):
    home = Path(version).resolve()
    home.mkdir()
    shop = {"command": sys.executable, "args": [os.path.abspath("server.py"), version]}
    (home / "servers.json").write_text(json.dumps({"mcpServers": {"shop": shop}}))
    variables = {
        "HOME": str(home),
        "PATH": f"{os.path.abspath('node_modules/node/bin')}:{os.environ['PATH']}",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}",
        "ANTHROPIC_API_KEY": "any",
        "ENABLE_TOOL_SEARCH": "false",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    options = ["--mcp-config", "servers.json", "--strict-mcp-config", "--allowedTools", "mcp__shop"]
    command = [os.path.abspath("node_modules/.bin/claude"), "--print", "Count.", *options]
    got.clear()
    subprocess.run(command, cwd=home, env=variables, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=200)
    for block in got:
        print(f"{version}: {'error' if block.get('is_error') else 'result'} {block['content']}")
PY
diff seen.txt - <<'SEEN'
2025-11-25: result {"count":"seven"}
2026-07-28: error Structured content does not match the tool's output schema: data/count must be integer
SEEN
