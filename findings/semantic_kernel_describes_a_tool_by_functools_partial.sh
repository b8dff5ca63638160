#!/usr/bin/env bash
# semantic-kernel 1.45.0: a tool without a description reaches the model with the docstring of functools.partial.
#
# The description of a tool is optional in MCP. The plugin makes a functools.partial object of each tool, and the
# decorator that it puts on it takes the docstring of whatever it decorates where the description is missing. So the
# model reads "partial(func, *args, **keywords) - new function with partial application ..." for such a tool, and the
# same for all such tools of all servers, whatever their titles say. A guess would be no description, as from most
# clients, or the title. Whoever lists the plugin's functions sees the same text; nothing warns of it. Give each tool a
# description.
#
# Seen (the description of each tool as a chat model would be sent it):
#   search: 'Searches the notes.'
#   reindex: 'partial(func, *args, **keywords) - new function with partial application\n    of the given arguments and keywords.\n'
#   export: 'partial(func, *args, **keywords) - new function with partial application\n    of the given arguments and keywords.\n'
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv --without-pip env
python3 -m pip --python env/bin/python install -qq --no-compile semantic-kernel==1.45.0 mcp==1.30.0
cat > server.py <<'PY'
import json
import sys

INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
TOOLS = [
    {"name": "search", "description": "Searches the notes.", "inputSchema": {"type": "object"}},
    {"name": "reindex", "title": "Rebuild the index", "inputSchema": {"type": "object"}},
    {"name": "export", "title": "Export all notes", "inputSchema": {"type": "object"}},
]
results = {"initialize": INFO, "tools/list": {"tools": TOOLS}, "prompts/list": {"prompts": []}, "ping": {}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
PY
env/bin/python - 2>log.txt <<'PY' | tee seen.txt
import asyncio
import sys

from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_calling_utils import kernel_function_metadata_to_function_call_format
from semantic_kernel.connectors.mcp import MCPStdioPlugin


async def main():
    async with MCPStdioPlugin(name="notes", command=sys.executable, args=["server.py"]) as plugin:
        kernel = Kernel()
        kernel.add_plugin(plugin)
        for name in ("search", "reindex", "export"):
            metadata = kernel.get_function("notes", name).metadata
            function = kernel_function_metadata_to_function_call_format(metadata)["function"]
            print(f"{name}: {function['description']!r}")


asyncio.run(main())
PY
diff seen.txt - <<'SEEN'
search: 'Searches the notes.'
reindex: 'partial(func, *args, **keywords) - new function with partial application\n    of the given arguments and keywords.\n'
export: 'partial(func, *args, **keywords) - new function with partial application\n    of the given arguments and keywords.\n'
SEEN
