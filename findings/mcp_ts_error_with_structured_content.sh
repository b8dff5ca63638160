#!/usr/bin/env bash
# @modelcontextprotocol/sdk 1.32.2: a tool's error is replaced by a complaint about its output schema.
#
# An error result (isError: true) may carry structuredContent, an error code for instance, and an output schema
# describes the results of success. The client of 1.x waives the schema only if an error has NO structured content;
# if it has, the content is held against the schema, callTool() throws, and the text that says what went wrong is lost.
# @modelcontextprotocol/client 2.4.0 hands over the same answer as it came (so does mcp 2.3.0 in Python).
# It needs listTools() first: only then does the client know the schema.
#
# Seen (the server answers "the disk is full", structuredContent {"code": 28}, isError):
#   sdk 1.32.2, not listed   isError true, "the disk is full", code 28
#   sdk 1.32.2, listed       throws -32602, "the disk is full" in it: false
#   client 2.4.0, listed     isError true, "the disk is full", code 28
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0
cat > server.mjs <<'JS'
import { createInterface } from "node:readline";

const tool = {
  name: "copy",
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { copied: { type: "integer" } }, required: ["copied"] },
};
const answers = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "copy", version: "1" } },
  "tools/list": { tools: [tool] },
  "tools/call": { content: [{ type: "text", text: "the disk is full" }], structuredContent: { code: 28 }, isError: true },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] }));
}
JS
cat > ask.mjs <<'JS'
import { Client as First } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as Second } from "@modelcontextprotocol/client";
import { StdioClientTransport as SecondStdio } from "@modelcontextprotocol/client/stdio";

async function ask(label, Client, Stdio, list) {
  const client = new Client({ name: "ask", version: "1" });
  await client.connect(new Stdio({ command: "node", args: ["server.mjs"] }));
  if (list) await client.listTools();
  let got;
  try {
    const { isError, content, structuredContent } = await client.callTool({ name: "copy", arguments: {} });
    got = `isError ${isError}, "${content[0].text}", code ${structuredContent.code}`;
  } catch (error) {
    got = `throws ${error.code}, "the disk is full" in it: ${error.message.includes("the disk is full")}`;
  }
  console.log(label.padEnd(24), got);
  await client.close();
}
await ask("sdk 1.32.2, not listed", First, FirstStdio, false);
await ask("sdk 1.32.2, listed", First, FirstStdio, true);
await ask("client 2.4.0, listed", Second, SecondStdio, true);
JS
node ask.mjs | tee seen.txt
diff seen.txt - <<'SEEN'
sdk 1.32.2, not listed   isError true, "the disk is full", code 28
sdk 1.32.2, listed       throws -32602, "the disk is full" in it: false
client 2.4.0, listed     isError true, "the disk is full", code 28
SEEN
