#!/usr/bin/env bash
# fastmcp 4.2.3: a proxy of a configuration with two servers starts both again for each list of tools, and for each search.
#
# `create_proxy` takes the same configuration as clients do. Of one server it makes one connection, which stays. Of two it
# opens a new connection to each whenever it lists tools, so every tools/list of its client, every call of the tool that its
# BM25SearchTransform adds, and every call of a tool starts all stdio servers: a search takes as long as the slowest start,
# and what a server keeps in memory is gone by the next request. The answers are right, so nothing points to it.
#
# Seen (starts of servers so far, of one and of two):
#   1 server: connected 1, listed 1, searched 1, searched again 1
#   2 servers: connected 2, listed 4, searched 6, searched again 8
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check fastmcp==4.2.3 2>log.txt
cat > server.py <<'PY'
import asyncio
import sys

from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

with open(sys.argv[1], "a") as starts:
    starts.write("started\n")


async def listed(_context, _params):
    tool = types.Tool(name="list_orders", description="List late orders.", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def main():
    server = Server("shop", on_list_tools=listed)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())


asyncio.run(main())
PY
cat > proxy.py <<'PY'
import asyncio
import glob
import os
import sys

from fastmcp import Client
from fastmcp.server import create_proxy
from fastmcp.server.transforms.search import BM25SearchTransform


def starts():
    return sum(len(open(path).readlines()) for path in glob.glob("starts*"))


async def main(number):
    servers = {
        f"shop{one}": {"command": sys.executable, "args": ["server.py", f"starts{one}"]} for one in range(number)
    }
    proxy = create_proxy({"mcpServers": servers}, name="proxy")
    proxy.add_transform(BM25SearchTransform())
    told = []
    async with Client(proxy) as client:
        told.append(f"connected {starts()}")
        await client.list_tools()
        told.append(f"listed {starts()}")
        for word in ("searched", "searched again"):
            found = await client.call_tool("search_tools", {"query": "late orders"})
            assert "list_orders" in found.content[0].text
            told.append(f"{word} {starts()}")
    print(f"{number} server{'s' if number > 1 else ''}: {', '.join(told)}")
    for path in glob.glob("starts*"):
        os.unlink(path)


for number in (1, 2):
    asyncio.run(main(number))
PY
env/bin/python proxy.py 2>log.txt | tee seen.txt
diff seen.txt - <<'SEEN'
1 server: connected 1, listed 1, searched 1, searched again 1
2 servers: connected 2, listed 4, searched 6, searched again 8
SEEN
