#!/usr/bin/env bash
# @qwen-code/qwen-code 0.24.4: of two tools whose names differ by case alone, the search and every call reach one.
#
# By default Qwen Code defers all MCP tools: the model finds them by tool_search and calls them by tool_call. Both look
# names up without their case, and of two such tools the one that its server lists last is taken for both names. Here
# Archive lists messages and archive moves one. The search shows one of them twice and the other never; select: with
# the exact name of the other gives that one, too; and a call of one runs the other, without an error. Which one it is
# depends on the order of the list. The specification calls tool names case-sensitive, and with
# tools.toolSearch.enabled false Qwen Code keeps the two apart, so a guess would be that tool_call does as well.
#
# Seen (what the model got):
#   listed Archive, archive
#     search of archive: archive, archive
#     select:mcp__mail__Archive: archive
#     select:mcp__mail__archive: archive
#     call of mcp__mail__Archive: archive ran
#     call of mcp__mail__archive: archive ran
#   listed archive, Archive: the same five lines, with Archive for archive
#   listed Archive, archive, without the search
#     call of mcp__mail__Archive: Archive ran
#     call of mcp__mail__archive: archive ran
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @qwen-code/qwen-code@0.24.4 node@24.21.0
cat > server.py <<'PY'
import json
import sys

INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "mail", "version": "1"}}
TOOLS = {"Archive": "Lists the archive", "archive": "Moves a message to the archive"}
tools = [{"name": name, "description": TOOLS[name], "inputSchema": {"type": "object"}} for name in sys.argv[1:]]
for line in sys.stdin:
    message = json.loads(line)
    method, params = message["method"], message.get("params", {})
    results = {"initialize": INFO, "tools/list": {"tools": tools}, "ping": {}}
    if method == "tools/call":
        results[method] = {"content": [{"type": "text", "text": f"{params['name']} ran"}]}
    if "id" in message:
        error = {"error": {"code": -32601, "message": "Method not found"}}
        answer = {"result": results[method]} if method in results else error
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
PY
python3 - 2>log.txt <<'PY' | tee seen.txt
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAMES = ["mcp__mail__Archive", "mcp__mail__archive"]
SEARCHES = [(f"select:{name}", "tool_search", {"query": f"select:{name}"}) for name in NAMES]
BY_SEARCH = [("search of archive", "tool_search", {"query": "archive"}), *SEARCHES]
BY_SEARCH += [(f"call of {name}", "tool_call", {"name": name, "arguments": {}}) for name in NAMES]
DIRECT = [(f"call of {name}", name, {}) for name in NAMES]
steps, results = [], []


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        results[:] = [message["content"] for message in request["messages"] if message["role"] == "tool"]
        choice = {"index": 0, "delta": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}
        if len(results) < len(steps):
            _, tool, arguments = steps[len(results)]
            call = {"index": 0, "id": f"call_{len(results)}", "type": "function"}
            call["function"] = {"name": tool, "arguments": json.dumps(arguments)}
            delta = {"role": "assistant", "content": None, "tool_calls": [call]}
            choice = {"index": 0, "delta": delta, "finish_reason": "tool_calls"}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())


model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
for first, last, searching in ("Archive", "archive", True), ("archive", "Archive", True), ("Archive", "archive", False):
    steps[:] = BY_SEARCH if searching else DIRECT
    home = Path(f"{first}-{searching}").resolve()
    (home / ".qwen").mkdir(parents=True)
    settings = {
        "mcpServers": {"mail": {"command": sys.executable, "args": [os.path.abspath("server.py"), first, last]}},
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True},
        "tools": {"toolSearch": {"enabled": searching}},
    }
    (home / ".qwen/settings.json").write_text(json.dumps(settings))
    variables = {
        "HOME": str(home),
        "PATH": f"{os.path.abspath('node_modules/node/bin')}:{os.environ['PATH']}",
        "OPENAI_API_KEY": "any",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1",
        "OPENAI_MODEL": "m",
    }
    command = [os.path.abspath("node_modules/.bin/qwen"), "-p", "Go on.", "--yolo", "--auth-type", "openai"]
    results.clear()
    subprocess.run(command, cwd=home, env=variables, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=200)
    print(f"listed {first}, {last}{'' if searching else ', without the search'}")
    for (label, _, _), result in zip(steps, results, strict=True):
        text = result if isinstance(result, str) else result[0]["text"]
        print(f"  {label}:", ", ".join(re.findall('"name":"mcp__mail__([^"]+)', text)) or text)
PY
diff seen.txt - <<'SEEN'
listed Archive, archive
  search of archive: archive, archive
  select:mcp__mail__Archive: archive
  select:mcp__mail__archive: archive
  call of mcp__mail__Archive: archive ran
  call of mcp__mail__archive: archive ran
listed archive, Archive
  search of archive: Archive, Archive
  select:mcp__mail__Archive: Archive
  select:mcp__mail__archive: Archive
  call of mcp__mail__Archive: Archive ran
  call of mcp__mail__archive: Archive ran
listed Archive, archive, without the search
  call of mcp__mail__Archive: Archive ran
  call of mcp__mail__archive: archive ran
SEEN
