"""A stdio server that repeats what a real one listed: `replay_server.py FILE`, a file that `capture` wrote.

It imports nothing but the standard library and starts in some milliseconds: what is measured is the client.
"""

import json
import sys
from pathlib import Path
from typing import Any


def result(said: dict[str, Any], method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to a request; None for one that the server does not know."""
    if method == "initialize":
        return {**said["initialize"], "protocolVersion": params["protocolVersion"]}
    if method == "tools/list":
        return {"tools": said["tools"]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"{params['name']} was called"}]}
    return None


def main() -> None:
    said = json.loads(Path(sys.argv[1]).read_bytes())
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        found = result(said, message["method"], message.get("params") or {})
        unknown = {"error": {"code": -32601, "message": "Method not found"}}
        answer = unknown if found is None else {"result": found}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
