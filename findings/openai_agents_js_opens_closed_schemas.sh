#!/usr/bin/env bash
# @openai/agents 0.20.0: a schema that is closed, or names what else it takes, reaches the model as open to anything.
#
# A server that says "additionalProperties": false refuses an argument that it does not know, and one that gives a schema
# there takes further keys of that type alone. The SDK makes the tools of MCP servers as such that are not strict, and
# puts "additionalProperties": true at the top of each, whatever is there. So the model is told that a misspelt argument
# is fine, and of a map of labels it is not told that they are texts. Inner objects keep theirs. A guess would be that
# the server's word stays, since without "strict" there is no rule of the API to keep: other SDKs send it as it is.
#
# Seen (additionalProperties at the top, as the server declares it and as the tool has it):
#   closed: declared false, given true
#   labels: declared {"type":"string"}, given true
#   silent: declared nothing, given true
#   inner object of closed: declared false, given false
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @openai/agents@0.20.0 zod@4.6.7
cat > server.mjs <<'JS'
import { createInterface } from "node:readline";

const id = { type: "string" };
const place = { type: "object", properties: { id }, additionalProperties: false };
const schemas = {
  closed: { properties: { id, place }, required: ["id"], additionalProperties: false },
  labels: { properties: { id }, additionalProperties: { type: "string" } },
  silent: { properties: { id } },
};
const tools = Object.entries(schemas).map(([name, schema]) => ({ name, inputSchema: { type: "object", ...schema } }));
const answers = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
  "tools/list": { tools },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const unknown = { error: { code: -32601, message: "Method not found" } };
  const answer = method in answers ? { result: answers[method] } : unknown;
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
JS
cat > ask.mjs <<'JS'
import { MCPServerStdio, getAllMcpTools } from "@openai/agents";

const server = new MCPServerStdio({ name: "s", command: "node", args: ["server.mjs"] });
await server.connect();
const said = (schema) => JSON.stringify(schema.additionalProperties) ?? "nothing";
const declared = Object.fromEntries((await server.listTools()).map((tool) => [tool.name, tool.inputSchema]));
const given = Object.fromEntries((await getAllMcpTools([server])).map((tool) => [tool.name, tool.parameters]));
for (const name in declared) console.log(`${name}: declared ${said(declared[name])}, given ${said(given[name])}`);
const inner = [declared, given].map((schemas) => said(schemas.closed.properties.place));
console.log(`inner object of closed: declared ${inner[0]}, given ${inner[1]}`);
await server.close();
JS
OPENAI_AGENTS_DISABLE_TRACING=1 node ask.mjs 2>log.txt | tee seen.txt
diff seen.txt - <<'SEEN'
closed: declared false, given true
labels: declared {"type":"string"}, given true
silent: declared nothing, given true
inner object of closed: declared false, given false
SEEN
