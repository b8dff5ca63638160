#!/usr/bin/env bash
# mcp 2.3.0 and fastmcp 4.2.3: the same decorated functions make two different servers.
#
# Both have a class with a `tool()` decorator, and code moves between them by its import line. What changes with it:
#   - two functions registered under one name: MCPServer keeps the first, FastMCP the last (both only log a warning);
#   - an argument that no parameter has (a misspelt one, say): MCPServer drops it and runs the tool with the default,
#     FastMCP refuses the call and says so in the schema (additionalProperties: false), which costs tokens, too;
#   - a list of two strings: two content blocks from MCPServer, one block of JSON from FastMCP.
#
# Seen:
#   MCPServer twice registered: first, Rome
#   MCPServer misspelt argument: first, Rome
#   MCPServer additionalProperties said: None
#   MCPServer list: ['a', 'b']
#   FastMCP twice registered: second, Rome
#   FastMCP misspelt argument: refused
#   FastMCP additionalProperties said: False
#   FastMCP list: ['["a","b"]']
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile 'fastmcp-slim[client,server]==4.2.3' mcp==2.3.0
env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import asyncio

import fastmcp
import mcp
from mcp.server.mcpserver import MCPServer


def build(kind):
    server = kind("weather")

    @server.tool(name="where")
    def first(city: str = "Rome") -> str:
        return f"first, {city}"

    @server.tool(name="where")
    def second(city: str = "Rome") -> str:
        return f"second, {city}"

    @server.tool()
    def letters() -> list[str]:
        return ["a", "b"]

    return server


async def compare(kind, client_kind):
    async with client_kind(build(kind)) as client:
        listed = await client.list_tools()
        schemas = {tool.name: tool.input_schema for tool in getattr(listed, "tools", listed)}
        name = kind.__name__
        print(name, "twice registered:", (await client.call_tool("where", {})).content[0].text)
        try:
            print(name, "misspelt argument:", (await client.call_tool("where", {"town": "Oslo"})).content[0].text)
        except fastmcp.exceptions.ToolError:
            print(name, "misspelt argument: refused")
        print(name, "additionalProperties said:", schemas["where"].get("additionalProperties"))
        print(name, "list:", [block.text for block in (await client.call_tool("letters", {})).content])


asyncio.run(compare(MCPServer, mcp.Client))
asyncio.run(compare(fastmcp.FastMCP, fastmcp.Client))
PY
diff seen.txt - <<'SEEN'
MCPServer twice registered: first, Rome
MCPServer misspelt argument: first, Rome
MCPServer additionalProperties said: None
MCPServer list: ['a', 'b']
FastMCP twice registered: second, Rome
FastMCP misspelt argument: refused
FastMCP additionalProperties said: False
FastMCP list: ['["a","b"]']
SEEN
