"""A hundred servers from the catalogs of some: copies with names and texts of their own.

The catalogs are those that `capture` wrote, if a folder of them is named, and those of the published pools
beside the checkout; where there is neither, those of the project's own servers.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from docs.benchmark.data import DATA
from docs.hard.capture import captured

SERVERS, TOOLS = 107, 3602
"""As many as in the catalogs of 57 servers from npm and 50 from PyPI."""
ROOT = Path(__file__).resolve().parents[2]
REPLAY = Path(__file__).with_name("replay_server.py")
_HELLO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "replayed", "version": "1"}}

Catalog = list[dict[str, Any]]


def catalogs(folder: Path | None) -> list[Catalog]:
    """The catalogs of real servers, in a stable order."""
    found: list[Catalog] = []
    if folder is not None:
        found += [json.loads(file.read_text())["tools"] for file in sorted(folder.glob("*.json"))]
    for pool in ("azure_mcp", "pool_docker"):
        found += _published(DATA / pool / "tools.jsonl")
    own = sorted((ROOT / "fixtures" / "servers").glob("[!_]*.py"))
    # The marked ones speak HTTP, or are parts of others.
    return found or [_own(file) for file in own if not file.name.startswith("marked")]


def _published(file: Path) -> list[Catalog]:
    servers: defaultdict[str, Catalog] = defaultdict(list)
    for line in file.read_text().splitlines() if file.exists() else ():
        tool = json.loads(line)
        schema = {"type": "object", **(tool.get("inputSchema") or {})}
        servers[tool["server"]].append(
            {"name": tool["name"], "description": tool["description"], "inputSchema": schema}
        )
    return list(servers.values())


def _own(file: Path) -> Catalog:
    return list(captured({"command": sys.executable, "args": [str(file)]})["tools"])


def copies(tool: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The tool, then copies of it, each with a text that no other has."""
    yield tool
    for number in count(2):
        told = f"{tool.get('description', '')} (edition {number})"
        yield {**tool, "name": f"{tool['name']}_{number}", "description": told}


def multiplied(found: list[Catalog], servers: int, tools: int) -> list[Catalog]:
    """As many servers with as many tools in all; the sizes of real servers stay as unequal as they are."""
    editions = [[copies(tool) for tool in catalog] for catalog in found]
    world = [[next(tool) for tool in editions[number % len(found)]] for number in range(servers)]
    missing = tools - sum(map(len, world))
    for number in count():
        if missing <= 0:
            return world
        more = [next(tool) for tool in editions[number % len(found)]][:missing]
        world[number % servers] += more
        missing -= len(more)
    raise AssertionError


def together(found: list[Catalog], tools: int) -> Catalog:
    """So many tools on one server, each with a name of its own."""
    [catalog] = multiplied([[tool for catalog in found for tool in catalog]], 1, tools)
    return [{**tool, "name": f"{tool['name'][:100]}_{number}"} for number, tool in enumerate(catalog)]


def written(folder: Path, world: list[Catalog]) -> Path:
    """Write what each server says, and a configuration that starts them all; return the configuration."""
    servers = {}
    for number, catalog in enumerate(world):
        said = folder / f"said{number}.json"
        said.write_text(json.dumps({"initialize": _HELLO, "tools": catalog}))
        servers[f"server{number}"] = {"command": sys.executable, "args": ["-I", "-S", str(REPLAY), str(said)]}
    configuration = folder / "servers.json"
    configuration.write_text(json.dumps({"mcpServers": servers}))
    return configuration
