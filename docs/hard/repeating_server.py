"""A stdio server that repeats secrets wherever a server can put text: `repeating_server.py FILE …`.

FILE is a list of texts as JSON. Whatever else is on its command line it ignores, as it does its environment.
"""

import json
import sys
from pathlib import Path
from typing import Any


def definition(name: str, texts: list[str]) -> dict[str, Any]:
    """A tool that has the texts in every part of its definition."""
    told = "; ".join(texts)
    return {
        "name": name,
        "title": f"Title {told}",
        "description": f"Repeats what it was started with. {told}",
        "inputSchema": {
            "type": "object",
            "description": told,
            "properties": {
                "text": {"type": "string", "description": told, "default": texts[0]},
                "one": {"type": "string", "enum": texts},
            },
            "examples": [{"text": text} for text in texts],
        },
        "outputSchema": {"type": "object", "title": told},
    }


def answers(texts: list[str], method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request, as a result or an error."""
    told = " ".join(texts)
    if method == "initialize":
        return {
            "result": {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}, "logging": {}},
                "serverInfo": {"name": f"repeating {texts[0]}", "version": "1", "title": told},
                "instructions": f"Use with {told}",
            }
        }
    if method == "tools/list":
        return {"result": {"tools": [definition(name, texts) for name in ("repeat", "fail", "refuse")]}}
    if method == "tools/call" and params["name"] == "refuse":
        return {"error": {"code": -32602, "message": f"not with {told}", "data": texts}}
    if method == "tools/call":
        content = [{"type": "text", "text": text} for text in (told, *texts)]
        return {"result": {"content": content, "isError": params["name"] == "fail"}}
    return {"error": {"code": -32601, "message": f"Method not found: {told}"}}


def main() -> None:
    """Serve, with the texts on stderr at the start and at every request."""
    texts = json.loads(Path(sys.argv[1]).read_bytes())
    for line in sys.stdin:
        for text in texts:
            sys.stderr.write(f"started with {text}\n")
        sys.stderr.flush()
        message = json.loads(line)
        if "id" not in message:
            continue
        notice = {"level": "error", "data": " ".join(texts)}
        sent = [
            {"method": "notifications/message", "params": notice},
            {"id": message["id"], **answers(texts, message["method"], message.get("params") or {})},
        ]
        for one in sent:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **one}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
