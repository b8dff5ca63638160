#!/usr/bin/env bash
# mcp-use 1.7.1: an optional parameter that the model leaves out goes to the server as null, which refuses the call.
#
# The LangChain adapter, which its agent uses, makes a class of each input schema and calls the tool with all fields of
# an object of it. A parameter that is neither required nor has a default is null there, and null is sent: an integer
# that may be left out is no integer that may be null, so a server that checks its input (mcp 1.30.0 here, zod's
# optional() in TypeScript) refuses a call that was right. The model cannot repair it: the schema that it gets allows
# null itself, has lost bounds and enums, and the next call without the parameter has the null again. What comes back
# has the stack of the client in it. A guess would be what the session of the same package does: sent as it is.
#
# Seen (what came back of a call):
#   {'query': 'tea'}
#     session: received {"query": "tea"}
#     tool of the agent: Input validation error: None is not of type 'integer'; beside it: stack
#   {'query': 'tea', 'limit': 5}
#     session: received {"query": "tea", "limit": 5}
#     tool of the agent: received {"query": "tea", "limit": 5}
#   limit as declared: {'type': 'integer', 'minimum': 1}
#   limit as the model gets it: {'anyOf': [{'type': 'integer'}, {'type': 'null'}], 'default': None}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile mcp-use==1.7.1 mcp==1.30.0
cat > server.py <<'PY'
import asyncio
import json

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

server = Server("notes")
LIMIT = {"type": "integer", "minimum": 1}
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}, "limit": LIMIT}, "required": ["query"]}


@server.list_tools()
async def list_tools():
    return [types.Tool(name="search", inputSchema=SCHEMA)]


@server.call_tool()
async def call_tool(name, arguments):
    return [types.TextContent(type="text", text=f"received {json.dumps(arguments)}")]


async def main():
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())


asyncio.run(main())
PY
MCP_USE_ANONYMIZED_TELEMETRY=false HOME=$folder env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import asyncio
import logging
import sys

from mcp_use import MCPClient
from mcp_use.agents.adapters.langchain_adapter import LangChainAdapter

logging.disable()


async def main():
    client = MCPClient.from_dict({"mcpServers": {"notes": {"command": sys.executable, "args": ["server.py"]}}})
    session = await client.create_session("notes")
    tool = next(tool for tool in await LangChainAdapter().create_tools(client) if tool.name == "search")
    for arguments in ({"query": "tea"}, {"query": "tea", "limit": 5}):
        direct = await session.call_tool("search", arguments)
        got = await tool.ainvoke(arguments)
        if isinstance(got, dict):
            got = f"{got['details']}; beside it: {', '.join({'stack'} & got.keys())}"
        print(arguments)
        print(f"  session: {direct.content[0].text}")
        print(f"  tool of the agent: {got}")
    declared = (await session.list_tools())[0].inputSchema["properties"]["limit"]
    given = tool.args_schema.model_json_schema()["properties"]["limit"]
    print(f"limit as declared: {declared}")
    given.pop("title")
    print(f"limit as the model gets it: {given}")
    await client.close_all_sessions()


asyncio.run(main())
PY
diff seen.txt - <<'SEEN'
{'query': 'tea'}
  session: received {"query": "tea"}
  tool of the agent: Input validation error: None is not of type 'integer'; beside it: stack
{'query': 'tea', 'limit': 5}
  session: received {"query": "tea", "limit": 5}
  tool of the agent: received {"query": "tea", "limit": 5}
limit as declared: {'type': 'integer', 'minimum': 1}
limit as the model gets it: {'anyOf': [{'type': 'integer'}, {'type': 'null'}], 'default': None}
SEEN
