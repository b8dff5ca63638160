#!/usr/bin/env bash
# @ai-sdk/mcp 2.0.99: the schema that a model gets can forbid every argument that its tool takes.
#
# tools() of the MCP client puts "properties": {} (where there are none) and "additionalProperties": false at the top of
# each input schema, whatever else is there. additionalProperties does not look into oneOf, allOf or $ref, and replaces
# the one that was there. So a tool that takes a map of labels, or whose parameters stand in branches or behind $ref,
# reaches the model with a schema that forbids all of its arguments; where one is required, no call at all is valid.
# Nothing warns of it, and a provider that holds its model to the schema cannot have the tool called rightly. A guess
# would be that schemas that list their parameters are closed at most: listTools() of the same client changes none.
#
# Seen (a call that fits the schema as the server declares it, against the schema of tools(), by ajv 8.20.0):
#   fixed {"id":"7"}: declared valid, given valid
#   labels {"team":"red"}: declared valid, given invalid
#   branches {"id":"7"}: declared valid, given invalid
#   composed {"id":"7","mail":"a@b"}: declared valid, given invalid
#   reference {"id":"7"}: declared valid, given invalid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @ai-sdk/mcp@2.0.99 zod@4.6.7 ajv@8.20.0
cat > server.mjs <<'JS'
import { createInterface } from "node:readline";

const text = { type: "string" };
const one = (key) => ({ properties: { [key]: text }, required: [key] });
const schemas = {
  fixed: { properties: { id: text } },
  labels: { additionalProperties: text },
  branches: { oneOf: [one("id"), one("mail")] },
  composed: { allOf: [one("id"), one("mail")] },
  reference: { $ref: "#/$defs/key", $defs: { key: one("id") } },
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
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as Stdio } from "@ai-sdk/mcp/mcp-stdio";
import Ajv from "ajv/dist/2020.js";

const calls = {
  fixed: { id: "7" },
  labels: { team: "red" },
  branches: { id: "7" },
  composed: { id: "7", mail: "a@b" },
  reference: { id: "7" },
};
const client = await createMCPClient({ transport: new Stdio({ command: "node", args: ["server.mjs"] }) });
const listed = (await client.listTools()).tools;
const tools = await client.tools();
for (const { name, inputSchema } of listed) {
  const given = await tools[name].inputSchema.jsonSchema;
  const verdict = (schema) => (new Ajv.default({ strict: false }).validate(schema, calls[name]) ? "valid" : "invalid");
  console.log(`${name} ${JSON.stringify(calls[name])}: declared ${verdict(inputSchema)}, given ${verdict(given)}`);
}
await client.close();
JS
node ask.mjs 2>log.txt | tee seen.txt
diff seen.txt - <<'SEEN'
fixed {"id":"7"}: declared valid, given valid
labels {"team":"red"}: declared valid, given invalid
branches {"id":"7"}: declared valid, given invalid
composed {"id":"7","mail":"a@b"}: declared valid, given invalid
reference {"id":"7"}: declared valid, given invalid
SEEN
