#!/usr/bin/env bash
# @modelcontextprotocol/server 2.4.0: a resource template's query parameters are neither optional nor free in order.
#
# A server registers log://app{?level,day}. By RFC 6570 an undefined variable is left out, so the template stands for
# log://app and log://app?day=1 as well. The SDK for TypeScript compiles it to ONE pattern with every parameter in the
# order of the template: an address with one of them, none, or both the other way round is "Resource not found".
# mcp 2.3.0 in Python reads all of them, and gives the function's defaults where a parameter is missing, so the same
# template published by two official SDKs stands for different sets of addresses. Register one template per
# combination there, or take the parameters from the URL.
#
# Seen:
#   ts log://app?level=info&day=1   level info, day 1
#   ts log://app?day=1&level=info   not found
#   ts log://app?level=info         not found
#   ts log://app                    not found
#   py log://app?level=info&day=1   level info, day 1
#   py log://app?day=1&level=info   level info, day 1
#   py log://app?level=info         level info, day any
#   py log://app                    level any, day any
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile mcp==2.3.0
cat > ask.mjs <<'JS'
import { Client } from "@modelcontextprotocol/client";
import { InMemoryTransport, McpServer, ResourceTemplate } from "@modelcontextprotocol/server";

const server = new McpServer({ name: "log", version: "1" });
const template = new ResourceTemplate("log://app{?level,day}", { list: undefined });
server.registerResource("log", template, {}, async (uri, { level = "any", day = "any" }) => ({
  contents: [{ uri: uri.href, text: `level ${level}, day ${day}` }],
}));
const client = new Client({ name: "ask", version: "1" });
const [near, far] = InMemoryTransport.createLinkedPair();
await server.connect(far);
await client.connect(near);
for (const uri of process.argv.slice(2)) {
  const got = await client.readResource({ uri }).then(({ contents }) => contents[0].text, () => "not found");
  console.log("ts", uri.padEnd(28), got);
}
await client.close();
JS
cat > ask.py <<'PY'
import asyncio
import sys

from mcp import Client, MCPError
from mcp.server.mcpserver import MCPServer

server = MCPServer("log")


@server.resource("log://app{?level,day}")
def log(level: str = "any", day: str = "any") -> str:
    return f"level {level}, day {day}"


async def main():
    async with Client(server) as client:
        for uri in sys.argv[1:]:
            try:
                got = (await client.read_resource(uri)).contents[0].text
            except MCPError:
                got = "not found"
            print("py", uri.ljust(28), got)


asyncio.run(main())
PY
uris=('log://app?level=info&day=1' 'log://app?day=1&level=info' 'log://app?level=info' 'log://app')
{ node ask.mjs "${uris[@]}"; env/bin/python ask.py "${uris[@]}" 2>log.txt; } | tee seen.txt
diff seen.txt - <<'SEEN'
ts log://app?level=info&day=1   level info, day 1
ts log://app?day=1&level=info   not found
ts log://app?level=info         not found
ts log://app                    not found
py log://app?level=info&day=1   level info, day 1
py log://app?day=1&level=info   level info, day 1
py log://app?level=info         level info, day any
py log://app                    level any, day any
SEEN
