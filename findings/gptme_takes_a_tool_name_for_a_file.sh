#!/usr/bin/env bash
# gptme 0.35.1: one tool whose name has a slash, on any MCP server, and gptme does not start.
#
# gptme calls the tools of a server SERVER.TOOL and puts them on its list of tools to load. The list may name files,
# too, and whatever has a slash in it is taken for one: of the server shop, shop.orders/get is a Python file that does
# not exist. gptme ends with 2 before it asks its model, and all other tools are lost with that one; the message names
# no server. SEP-986 lists the slash among the characters of tool names (user-profile/update is its example); the
# specification of 2025-11-25 advises against it by a SHOULD, and forbids no name. A guess would be a cleaned name:
# gptme's own names for the model are, and the dot of orders.get is no trouble.
#
# Seen (tools of the server; how gptme ended; whether the model was asked, and with which of the server's tools):
#   orders.get: ended with 0, model asked with shop_orders_get_590d39acbb50
#   orders.get, orders/get: ended with 2, model not asked, Error: Tool file does not exist: shop.orders/get
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile gptme==0.35.1
cat > server.py <<'PY'
import json
import sys

INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
tools = [{"name": name, "description": "Get an order", "inputSchema": {"type": "object"}} for name in sys.argv[1:]]
results = {"initialize": INFO, "tools/list": {"tools": tools}, "ping": {}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
PY
env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

asked = []


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        names = [tool["function"]["name"] for tool in request.get("tools", [])]
        asked.extend(name for name in names if name.startswith("shop") and name not in asked)
        choice = {"index": 0, "delta": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())


def run(names):
    home = Path(f"home{len(names)}").resolve()
    (home / ".config/gptme").mkdir(parents=True)
    program = [os.path.abspath("server.py"), *names]
    server = {"name": "shop", "enabled": True, "command": sys.executable, "args": program}
    lines = ["[prompt]", "[env]", "[mcp]", "enabled = true", "auto_start = true", "[[mcp.servers]]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in server.items()]
    (home / ".config/gptme/config.toml").write_text("\n".join(lines))
    variables = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1",
        "OPENAI_API_KEY": "any",
        "GPTME_TELEMETRY": "0",
        "HTTPS_PROXY": "http://127.0.0.1:9",  # it counts tokens without looking for an encoding in the network
        "NO_PROXY": "127.0.0.1",
    }
    options = ["--non-interactive", "--no-confirm", "--tool-format", "tool", "-m", "local/m", "Get the order."]
    asked.clear()
    ended = subprocess.run(
        [os.path.abspath("env/bin/gptme"), *options],
        cwd=home,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    print(ended.stdout, ended.stderr, file=sys.stderr)
    said = f"asked with {', '.join(asked)}" if asked else f"not asked, {ended.stderr.strip().splitlines()[-1]}"
    print(f"{', '.join(names)}: ended with {ended.returncode}, model {said}")


model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=model.serve_forever, daemon=True).start()
run(["orders.get"])
run(["orders.get", "orders/get"])
PY
diff seen.txt - <<'SEEN'
orders.get: ended with 0, model asked with shop_orders_get_590d39acbb50
orders.get, orders/get: ended with 2, model not asked, Error: Tool file does not exist: shop.orders/get
SEEN
