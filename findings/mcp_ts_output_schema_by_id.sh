#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2: a changed output schema that keeps its $id is never read.
#
# The client compiles the output schemas of a listing and looks a schema with $id up among those it has compiled
# before. A server that changes a tool's output (a new release under one address, announced by list_changed) and keeps
# the schema's $id has every later result held against the OLD schema, for as long as the client lives, however often
# the tools are listed again; the listing itself shows the new schema. Without $id the new schema counts.
# @modelcontextprotocol/client 2.4.0 takes the new schema in both cases.
#
# Seen (the server says `rows` in its first listing, `lines` in its second, and then answers {"lines": 3}):
#   sdk 1.32.2, no $id     listed rows, lines: took 3 lines
#   sdk 1.32.2, with $id   listed rows, lines: refused, data must have required property 'rows'
#   client 2.4.0, with $id listed rows, lines: took 3 lines
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0
cat > server.mjs <<'JS'
import { createInterface } from "node:readline";

let listed = 0;
const answer = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: "count", version: "1" },
  }),
  "tools/list": () => {
    const key = listed++ === 0 ? "rows" : "lines";
    const outputSchema = { type: "object", properties: { [key]: { type: "integer" } }, required: [key] };
    if (process.argv[2]) outputSchema.$id = process.argv[2];
    return { tools: [{ name: "count", inputSchema: { type: "object" }, outputSchema }] };
  },
  "tools/call": () => ({ content: [], structuredContent: { lines: 3 } }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answer[method]() }));
}
JS
cat > ask.mjs <<'JS'
import { Client as First } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as Second } from "@modelcontextprotocol/client";
import { StdioClientTransport as SecondStdio } from "@modelcontextprotocol/client/stdio";

async function ask(label, Client, Stdio, id) {
  const client = new Client({ name: "ask", version: "1" });
  await client.connect(new Stdio({ command: "node", args: ["server.mjs", ...id] }));
  const keys = [];
  for (let time = 0; time < 2; time++) keys.push(...(await client.listTools()).tools[0].outputSchema.required);
  let got;
  try {
    const result = await client.callTool({ name: "count", arguments: {} });
    got = `took ${result.structuredContent.lines} lines`;
  } catch (error) {
    got = `refused, ${error.message.split(": ").at(-1)}`;
  }
  console.log(`${label.padEnd(22)} listed ${keys.join(", ")}: ${got}`);
  await client.close();
}
const ID = ["https://example.org/count.json"];
await ask("sdk 1.32.2, no $id", First, FirstStdio, []);
await ask("sdk 1.32.2, with $id", First, FirstStdio, ID);
await ask("client 2.4.0, with $id", Second, SecondStdio, ID);
JS
node ask.mjs | tee seen.txt
diff seen.txt - <<'SEEN'
sdk 1.32.2, no $id     listed rows, lines: took 3 lines
sdk 1.32.2, with $id   listed rows, lines: refused, data must have required property 'rows'
client 2.4.0, with $id listed rows, lines: took 3 lines
SEEN
