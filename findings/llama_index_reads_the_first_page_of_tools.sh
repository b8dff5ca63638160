#!/usr/bin/env bash
# llama-index-tools-mcp 0.6.0: the tools of a server's second page do not exist, also where they are asked for by name.
#
# tools/list may be answered in pages, each with a nextCursor but the last, and servers with many tools do that.
# McpToolSpec asks once, without the cursor, and makes tools of what comes; nextCursor is dropped without a warning.
# allowed_tools picks from that page: a name of the second page is left out like one that there is not. A call by the
# same client reaches the tool, so the server has it. A guess would be every page: the specification has clients go on
# while there is a cursor.
#
# Seen:
#   listed by the server in two pages: first, second
#   all tools: first
#   allowed_tools ['first', 'second']: first
#   call of second: second ran
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile llama-index-tools-mcp==0.6.0 mcp==2.3.0
cat > server.py <<'PY'
import json
import sys

INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
tools = [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in ("first", "second")]
for line in sys.stdin:
    message = json.loads(line)
    params = message.get("params") or {}
    page = {"tools": tools[1:]} if params.get("cursor") else {"tools": tools[:1], "nextCursor": "2"}
    results = {"initialize": INFO, "tools/list": page, "ping": {}}
    if message["method"] == "tools/call":
        results["tools/call"] = {"content": [{"type": "text", "text": f"{params['name']} ran"}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
PY
env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import asyncio
import sys

from llama_index.tools.mcp import BasicMCPClient, McpToolSpec
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import PaginatedRequestParams


async def listed():
    found, cursor = [], None
    server = StdioServerParameters(command=sys.executable, args=["server.py"])
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        while not found or cursor:
            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            found, cursor = [*found, *(tool.name for tool in page.tools)], page.next_cursor
    return found


async def main():
    client = BasicMCPClient(sys.executable, args=["server.py"])
    print(f"listed by the server in two pages: {', '.join(await listed())}")
    for allowed in (None, ["first", "second"]):
        tools = await McpToolSpec(client, allowed_tools=allowed).to_tool_list_async()
        names = ", ".join(tool.metadata.name for tool in tools)
        print(f"{f'allowed_tools {allowed}' if allowed else 'all tools'}: {names}")
    print(f"call of second: {(await client.call_tool('second', {})).content[0].text}")


asyncio.run(main())
PY
diff seen.txt - <<'SEEN'
listed by the server in two pages: first, second
all tools: first
allowed_tools ['first', 'second']: first
call of second: second ran
SEEN
