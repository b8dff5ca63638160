#!/usr/bin/env bash
# mcp 2.3.0 (Python SDK): an optional text parameter cannot hold text that is JSON; fastmcp 4.2.3 passes it through.
#
# MCPServer parses a string argument as JSON first, unless the parameter is annotated exactly `str`. A tool with
# `text: str | None = None` therefore never sees the text "null" (it gets None) and refuses the text of a JSON object
# or array, which is just what a tool that writes files or sends bodies is given. The tool's schema says
# anyOf string or null, so the call is valid. Numbers are left alone: the rule knows objects, arrays and null only.
# A guess from the schema, or from the same tool under fastmcp, is wrong. Annotate such a parameter `str = ""`.
#
# Seen (what the tool received of a valid call; the last two lines of ten are left out here):
#   MCPServer  str         'null'     received 'null'
#   MCPServer  str | None  'null'     received None
#   MCPServer  str | None  '{"a": 1}' refused
#   MCPServer  str | None  '[1]'      refused
#   MCPServer  str | None  '12'       received '12'
#   FastMCP    str         'null'     received 'null'
#   FastMCP    str | None  'null'     received 'null'
#   FastMCP    str | None  '{"a": 1}' received '{"a": 1}'
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

TEXTS = ["null", '{"a": 1}', "[1]", "12"]


def build(kind):
    server = kind("notes")

    @server.tool()
    def required(text: str) -> str:
        return f"received {text!r}"

    @server.tool()
    def optional(text: str | None = None) -> str:
        return f"received {text!r}"

    return server


async def ask(kind, client_kind):
    async with client_kind(build(kind)) as client:
        for tool, shown, texts in (("required", "str", TEXTS[:1]), ("optional", "str | None", TEXTS)):
            for text in texts:
                result = await client.call_tool(tool, {"text": text})
                got = "refused" if result.is_error else result.content[0].text
                print(f"{kind.__name__:<10} {shown:<11} {text!r:<10} {got}")


asyncio.run(ask(MCPServer, mcp.Client))
asyncio.run(ask(fastmcp.FastMCP, fastmcp.Client))
PY
diff seen.txt - <<'SEEN'
MCPServer  str         'null'     received 'null'
MCPServer  str | None  'null'     received None
MCPServer  str | None  '{"a": 1}' refused
MCPServer  str | None  '[1]'      refused
MCPServer  str | None  '12'       received '12'
FastMCP    str         'null'     received 'null'
FastMCP    str | None  'null'     received 'null'
FastMCP    str | None  '{"a": 1}' received '{"a": 1}'
FastMCP    str | None  '[1]'      received '[1]'
FastMCP    str | None  '12'       received '12'
SEEN
