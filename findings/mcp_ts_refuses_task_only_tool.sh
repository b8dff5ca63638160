#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2: callTool() refuses a task-only tool itself, even where no task is possible.
#
# A tool may say execution.taskSupport "required". The client of 1.x then throws in callTool() before anything is
# sent, and names another method to call. It does so for a server that declares no tasks capability, too, where by the
# specification (2025-11-25) no task may be asked for, whatever taskSupport says, so the refused call is the right one.
# @modelcontextprotocol/client 2.4.0 and mcp 2.3.0 in Python send the plain call and leave the answer to the server.
# The error has a server's form and code, but the server's log holds no call.
#
# Seen (calls that the server received, and what the caller got):
#   sdk 1.32.2, no tasks: 0 calls received, MCP error -32600: Tool "report" requires task-based execution.
#   sdk 1.32.2, tasks: 0 calls received, MCP error -32600: Tool "report" requires task-based execution.
#   client 2.4.0, no tasks: 1 calls received, done
#   mcp 2.3.0, no tasks: 1 calls received, done
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile mcp==2.3.0
cat > server.mjs <<'JS'
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const tasks = process.argv[3] === "tasks" ? { tasks: { requests: { tools: { call: {} } } } } : {};
const serverInfo = { name: "report", version: "1" };
const answers = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {}, ...tasks }, serverInfo },
  "tools/list": { tools: [{ name: "report", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }] },
  "tools/call": { content: [{ type: "text", text: "done" }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (method === "tools/call") appendFileSync(process.argv[2], "call\n");
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] }));
}
JS
cat > ask.mjs <<'JS'
const [, , version, log, tasks] = process.argv;
const [main, stdio] = version === "1" ? ["sdk/client/index.js", "sdk/client/stdio.js"] : ["client", "client/stdio"];
const { Client } = await import(`@modelcontextprotocol/${main}`);
const { StdioClientTransport } = await import(`@modelcontextprotocol/${stdio}`);
const client = new Client({ name: "ask", version: "1" });
await client.connect(new StdioClientTransport({ command: "node", args: ["server.mjs", log, tasks] }));
await client.listTools();
const call = client.callTool({ name: "report", arguments: {} });
console.log(await call.then(({ content }) => content[0].text, (error) => error.message.split(" Use ")[0]));
await client.close();
JS
cat > ask.py <<'PY'
import asyncio
import sys

from mcp import Client, StdioServerParameters


async def main():
    server = StdioServerParameters(command="node", args=["server.mjs", *sys.argv[1:]])
    async with Client(server, mode="legacy") as client:
        await client.list_tools()
        print((await client.call_tool("report", {})).content[0].text)


asyncio.run(main())
PY
show() {
    local label=$1 log=$2 got
    shift 2
    : > "$log"
    got=$("$@" 2>>log.txt)
    echo "$label: $(wc -l < "$log") calls received, $got"
}
{
    show "sdk 1.32.2, no tasks" a node ask.mjs 1 a none
    show "sdk 1.32.2, tasks" b node ask.mjs 1 b tasks
    show "client 2.4.0, no tasks" c node ask.mjs 2 c none
    show "mcp 2.3.0, no tasks" d env/bin/python ask.py d none
} | tee seen.txt
diff seen.txt - <<'SEEN'
sdk 1.32.2, no tasks: 0 calls received, MCP error -32600: Tool "report" requires task-based execution.
sdk 1.32.2, tasks: 0 calls received, MCP error -32600: Tool "report" requires task-based execution.
client 2.4.0, no tasks: 1 calls received, done
mcp 2.3.0, no tasks: 1 calls received, done
SEEN
