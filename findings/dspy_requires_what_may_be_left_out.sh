#!/usr/bin/env bash
# dspy 3.4.1: every parameter of an MCP tool that has no default is required, whatever the tool's schema requires.
#
# Tool.from_mcp_tool() keeps the properties of an input schema and drops its "required". The definition for native
# function calling then requires each property without a "default". JSON Schema has no such rule, and most servers
# write an optional parameter without a default: zod's optional() in TypeScript does, so do all hand-written schemas.
# The model has to make a value up for each of them (an empty cursor, a limit of 0), which the server takes for meant.
# In the other direction a required parameter that has a default may be left out, which a server may refuse.
# A guess would be the tool's own list; a call without the parameter does work, so the bridge itself does not need it.
#
# Seen:
#   declared: query, folder required; given: query, limit, cursor required
#   call of {'query': 'tea', 'folder': 'in'}: received {"query": "tea", "folder": "in"}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile dspy==3.4.1 mcp==2.3.0
cat > server.py <<'PY'
import json
import sys

INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
PROPERTIES = {
    "query": {"type": "string"},
    "folder": {"type": "string", "default": "all"},
    "limit": {"type": "integer", "minimum": 1},
    "cursor": {"type": "string"},
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["query", "folder"]}
results = {"initialize": INFO, "tools/list": {"tools": [{"name": "search", "inputSchema": SCHEMA}]}, "ping": {}}
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "tools/call":
        text = f"received {json.dumps(message['params']['arguments'])}"
        results["tools/call"] = {"content": [{"type": "text", "text": text}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
PY
HOME=$folder DSPY_CACHEDIR=$folder env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import asyncio
import sys

import dspy
from mcp import ClientSession, StdioServerParameters, stdio_client


async def main():
    async with stdio_client(StdioServerParameters(command=sys.executable, args=["server.py"])) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            listed = (await session.list_tools()).tools[0]
            tool = dspy.Tool.from_mcp_tool(session, listed)
            given = tool.format_as_litellm_function_call()["function"]["parameters"]["required"]
            print(f"declared: {', '.join(listed.input_schema['required'])} required; given: {', '.join(given)} required")
            arguments = {"query": "tea", "folder": "in"}
            print(f"call of {arguments}: {await tool.acall(**arguments)}")


asyncio.run(main())
PY
diff seen.txt - <<'SEEN'
declared: query, folder required; given: query, limit, cursor required
call of {'query': 'tea', 'folder': 'in'}: received {"query": "tea", "folder": "in"}
SEEN
