#!/usr/bin/env bash
# fastmcp 4.2.3: the client's result.data drops, renames and adds keys; result.structured_content is what was sent.
#
# For a tool with an output schema the client builds a class from the schema and gives the result as an object of it,
# under `data`. That object is not the JSON:
#   - a key that the schema does not name is gone (the schema allows more keys; additionalProperties is not false);
#   - "content-type", "class" and "1st" become content_type, class_ and field_1st;
#   - an absent optional key reads as None, like a null that was sent, or as the schema's default;
#   - a string of format date-time is a datetime, an integer under "number" a float.
# Code that writes `data` out again, compares it or hashes it changes the result without an error.
#
# Seen (sent -> data):
#   {"n": 1, "more": 2} -> {'n': 1}
#   {"content-type": "a", "class": "b", "1st": "c"} -> {'content_type': 'a', 'class_': 'b', 'field_1st': 'c'}
#   {} -> {'n': 7, 'm': None}
#   {"at": "2026-01-02T03:04:05Z", "x": 1} -> {'at': 'datetime', 'x': 1.0}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile 'fastmcp-slim[client,server]==4.2.3' mcp==2.3.0
env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import asyncio
import dataclasses
import datetime
import json

from fastmcp import Client, FastMCP
from fastmcp.tools import Tool, ToolResult

TEXT = {"type": "string"}
CASES = [
    ({"n": {"type": "integer"}}, {"n": 1, "more": 2}),
    ({"content-type": TEXT, "class": TEXT, "1st": TEXT}, {"content-type": "a", "class": "b", "1st": "c"}),
    ({"n": {"type": "integer", "default": 7}, "m": TEXT}, {}),
    ({"at": {**TEXT, "format": "date-time"}, "x": {"type": "number"}}, {"at": "2026-01-02T03:04:05Z", "x": 1}),
]
server = FastMCP("results")
for place, (properties, value) in enumerate(CASES):

    def answer(value=value) -> ToolResult:
        return ToolResult(content="see the structured content", structured_content=value)

    schema = {"type": "object", "properties": properties}
    server.add_tool(Tool.from_function(answer, name=f"case_{place}", output_schema=schema))


async def main():
    async with Client(server) as client:
        for place, (_, sent) in enumerate(CASES):
            result = await client.call_tool(f"case_{place}", {})
            assert result.structured_content == sent
            read = dataclasses.asdict(result.data) if dataclasses.is_dataclass(result.data) else vars(result.data)
            kinds = {key: "datetime" if isinstance(one, datetime.datetime) else one for key, one in read.items()}
            print(json.dumps(sent), "->", kinds)


asyncio.run(main())
PY
diff seen.txt - <<'SEEN'
{"n": 1, "more": 2} -> {'n': 1}
{"content-type": "a", "class": "b", "1st": "c"} -> {'content_type': 'a', 'class_': 'b', 'field_1st': 'c'}
{} -> {'n': 7, 'm': None}
{"at": "2026-01-02T03:04:05Z", "x": 1} -> {'at': 'datetime', 'x': 1.0}
SEEN
