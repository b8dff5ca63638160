#!/usr/bin/env bash
# mcp 2.3.0: `from mcp import Client` imports the SDK's server, and a web server with it.
#
# A program that only talks to stdio servers pays for starlette, uvicorn and sse_starlette: the client's in-memory transport
# names the server's classes, and those the HTTP transport. There is no smaller module to import in its place: the package
# itself, and so each of its modules, imports the client. In a command line tool that lists a server's tools it is most of
# the processor time, whatever the program does afterwards.
#
# Seen (modules after `from mcp import Client`, and after `import mcp.types`, the least that one can ask for):
#   mcp.Client: mcp.server yes, starlette yes, uvicorn yes, sse_starlette yes
#   mcp.types: mcp.server yes, starlette yes, uvicorn yes, sse_starlette yes
#   mcp_types: mcp.server no, starlette no, uvicorn no, sse_starlette no
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check mcp==2.3.0 2>log.txt
cat > modules.py <<'PY'
import subprocess
import sys

NAMES = ("mcp.server", "starlette", "uvicorn", "sse_starlette")
for title, statement in (
    ("mcp.Client", "from mcp import Client"),
    ("mcp.types", "import mcp.types"),
    ("mcp_types", "import mcp_types"),
):
    code = f"import sys\n{statement}\nprint(*(('no', 'yes')[name in sys.modules] for name in {NAMES!r}))"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    print(f"{title}: {', '.join(f'{name} {there}' for name, there in zip(NAMES, found))}")
PY
env/bin/python modules.py | tee seen.txt
diff seen.txt - <<'SEEN'
mcp.Client: mcp.server yes, starlette yes, uvicorn yes, sse_starlette yes
mcp.types: mcp.server yes, starlette yes, uvicorn yes, sse_starlette yes
mcp_types: mcp.server no, starlette no, uvicorn no, sse_starlette no
SEEN
