"""A weather server over stdio that imports no SDK: it starts in no time, for tests of what comes after."""

import json
import sys
from typing import Any

ABOUT = {
    "get_forecast": "Weather forecast for a city over the coming days.",
    "get_current_weather": "Current temperature, wind and sky in a city.",
    "get_alerts": "Severe weather alerts in force for a city.",
}
CITY = {"city": {"type": "string", "description": "Name of the city."}}
SCHEMA = {"type": "object", "properties": CITY, "required": ["city"]}
READS = {"readOnlyHint": True}
BOOKS = {
    "name": "book_ticket",
    "description": "Book a train ticket to a city.",
    "inputSchema": SCHEMA,
    "annotations": {"destructiveHint": True},
}
TOOLS = [
    *(
        {"name": name, "description": about, "inputSchema": SCHEMA, "annotations": READS}
        for name, about in ABOUT.items()
    ),
    BOOKS,
]


def result(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The answer to a request; None for one that the server does not know."""
    if method == "initialize":
        about = {"name": "weather", "version": "1"}
        version = params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = f"{params['name']} of {params['arguments'].get('city', 'nowhere')}: sunny"
        return {"content": [{"type": "text", "text": text}]}
    return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        found = result(message["method"], message.get("params") or {})
        unknown = {"error": {"code": -32601, "message": "Method not found"}}
        said = unknown if found is None else {"result": found}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
