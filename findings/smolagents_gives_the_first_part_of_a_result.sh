#!/usr/bin/env bash
# smolagents 1.26.0 (mcpadapt 0.1.19): of a result with several parts the agent gets the first, whatever kind it is.
#
# A server may answer with any number of content blocks, and many write a text for each hit, or a picture and a text that
# says what it shows. The adapter takes content[0] and logs a warning for the rest, so of three notes one is found, and
# the order of the blocks decides whether the agent reads a text or holds a picture. The tool's description does not say
# so, and the model has no way to ask for the rest. A guess would be all texts, as the same session gives them.
#
# Seen:
#   three_notes: session ['first note', 'second note', 'third note'], agent 'first note'
#   text_and_picture: session ['a chart of tea', 'image'], agent 'a chart of tea'
#   picture_and_text: session ['image', 'a chart of tea'], agent AgentImage
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile smolagents==1.26.0 mcpadapt==0.1.19 mcp==1.30.0
cat > server.py <<'PY'
import json
import sys

INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
picture = {"type": "image", "data": DOT, "mimeType": "image/png"}
chart = {"type": "text", "text": "a chart of tea"}
notes = [{"type": "text", "text": f"{place} note"} for place in ("first", "second", "third")]
answers = {"three_notes": notes, "text_and_picture": [chart, picture], "picture_and_text": [picture, chart]}
SCHEMA = {"type": "object", "properties": {}}
tools = [{"name": name, "description": name, "inputSchema": SCHEMA} for name in answers]
results = {"initialize": INFO, "tools/list": {"tools": tools}, "ping": {}}
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "tools/call":
        results["tools/call"] = {"content": answers[message["params"]["name"]]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
PY
env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client
from smolagents import MCPClient

server = StdioServerParameters(command=sys.executable, args=["server.py"])


async def direct():
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        listed = (await session.list_tools()).tools
        found = {tool.name: (await session.call_tool(tool.name, {})).content for tool in listed}
    return {name: [getattr(part, "text", part.type) for part in parts] for name, parts in found.items()}


session = asyncio.run(direct())
with MCPClient(server, structured_output=False) as tools:
    for tool in tools:
        got = tool(sanitize_inputs_outputs=True)
        kind = type(got).__name__
        print(f"{tool.name}: session {session[tool.name]}, agent {kind if kind == 'AgentImage' else repr(str(got))}")
PY
diff seen.txt - <<'SEEN'
three_notes: session ['first note', 'second note', 'third note'], agent 'first note'
text_and_picture: session ['a chart of tea', 'image'], agent 'a chart of tea'
picture_and_text: session ['image', 'a chart of tea'], agent AgentImage
SEEN
