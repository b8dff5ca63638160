#!/usr/bin/env bash
# @langchain/mcp-adapters 1.1.4: a parameter that may be a text or null reaches the model without any type.
#
# The adapter simplifies each input schema of a server for the models, and it takes anyOf and oneOf away at every depth:
# branches that are objects become one object, with all their properties and what all of them require; of all other
# branches nothing is left. The Python SDKs write every optional parameter as anyOf of its type and null, so of
# `str | None` the model gets the default at most; of int or "all" neither; a list of either is a list of anything. An
# optional object keeps the object and loses the null that is its default. A debug log alone says so, and no setting
# changes it; what the model then guesses is checked by the server. A guess would be that a schema is sent as it is, or
# refused: the same package's listTools() has it unchanged, and "type": ["string", "null"] would have stayed.
#
# Seen (a server of mcp 2.3.0; what its schema says of a parameter, then what the tool of getTools() says of it; objects
# are shown by their keys):
#   plain: str -> {"type":"string"}
#   optional: str | None -> {"default":null}
#   count: int | Literal["all"] -> {"default":"all"}
#   tags: list[str | int] -> {"default":[],"items":{},"type":"array"}
#   place: Place | None -> {"default":null,"type":"object","properties":["name"],"required":["name"]}
#   either: Place | Days -> {"type":"object","properties":["name","days"]}
#   anyOf as listed: 5, as given: 0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @langchain/mcp-adapters@1.1.4 @langchain/core@1.4.0 \
    @langchain/langgraph@1.7.3
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile mcp==2.3.0
cat > server.py <<'PY'
from typing import Literal

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

server = MCPServer("notes")


class Place(BaseModel):
    name: str


class Days(BaseModel):
    days: int


@server.tool()
def search(
    plain: str,
    either: Place | Days,
    optional: str | None = None,
    count: int | Literal["all"] = "all",
    tags: list[str | int] = [],
    place: Place | None = None,
) -> str:
    return plain


server.run()
PY
cat > ask.mjs <<'JS'
import { MultiServerMCPClient } from "@langchain/mcp-adapters";

const written = {
  plain: "str",
  optional: "str | None",
  count: 'int | Literal["all"]',
  tags: "list[str | int]",
  place: "Place | None",
  either: "Place | Days",
};
const notes = { transport: "stdio", command: "env/bin/python", args: ["server.py"] };
const client = new MultiServerMCPClient({ mcpServers: { notes } });
const [tool] = await client.getTools();
const [listed] = (await (await client.getClient("notes")).listTools()).tools;
for (const [key, type] of Object.entries(written)) {
  const { title, properties, ...rest } = tool.schema.properties[key];
  const { required, ...others } = rest;
  const shown = properties ? { ...others, properties: Object.keys(properties), required } : rest;
  console.log(`${key}: ${type} -> ${JSON.stringify(shown)}`);
}
const unions = (schema) => JSON.stringify(schema).split('"anyOf"').length - 1;
console.log(`anyOf as listed: ${unions(listed.inputSchema)}, as given: ${unions(tool.schema)}`);
await client.close();
JS
node ask.mjs 2>log.txt | tee seen.txt
diff seen.txt - <<'SEEN'
plain: str -> {"type":"string"}
optional: str | None -> {"default":null}
count: int | Literal["all"] -> {"default":"all"}
tags: list[str | int] -> {"default":[],"items":{},"type":"array"}
place: Place | None -> {"default":null,"type":"object","properties":["name"],"required":["name"]}
either: Place | Days -> {"type":"object","properties":["name","days"]}
anyOf as listed: 5, as given: 0
SEEN
