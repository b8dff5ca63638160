"""A gateway beside a direct connection, and beside FastMCP's search: `python -m docs.benchmark.gateway`.

Every server repeats what a published one listed. In one run a client of the SDK calls one tool, directly and
through the gateway, in turns of TURN calls, so that a busy machine slows both; and it asks the everyday
requests of the reported published servers of the gateway and of FastMCP's BM25 search transform, over the
same servers. Counted are the tokens of the first list and of an answer (o200k, compact JSON), how often a
tool that serves is in the answer, and milliseconds. TOOLSIGHT_FASTMCP names a Python that has fastmcp;
without one, the gateway stands alone.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from mcp import Client, StdioServerParameters, types
from msgspec import Struct

from docs.benchmark import say
from docs.benchmark.data import everyday
from inspector.access.reach import EvalCase, EvalSet
from inspector.core.number import wilson
from inspector.core.tool import Tool
from inspector.tokens.counter import TiktokenCounter

ROUNDS, TURN, REQUESTS = 10, 30, 60
TARGET_MS = 2.0
_REPLAY = Path(__file__).parents[1] / "hard" / "replay_server.py"
_PEER = """
import json, sys
from fastmcp.server import create_proxy
from fastmcp.server.transforms.search import BM25SearchTransform
peer = create_proxy(json.load(open(sys.argv[1])), name="peer")
peer.add_transform(BM25SearchTransform())
peer.run(show_banner=False)
"""
# The least that stands between: the SDK's server before the SDK's client.
_BARE = """
import asyncio, json, sys
from mcp import Client, StdioServerParameters
from mcp.server import Server
from mcp.server.stdio import stdio_server
async def main():
    [given] = json.load(open(sys.argv[1]))["mcpServers"].values()
    behind = StdioServerParameters(command=given["command"], args=given["args"])
    async with Client(behind, mode="legacy") as client, stdio_server() as streams:
        async def listed(_context, _params):
            return await client.list_tools()
        async def called(_context, params):
            return await client.call_tool(params.name, params.arguments)
        server = Server("bare", on_list_tools=listed, on_call_tool=called)
        await server.run(*streams, server.create_initialization_options())
asyncio.run(main())
"""
_HELLO = {
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "replay", "version": "1"},
    "protocolVersion": "2025-06-18",
}


class Asked(Struct, frozen=True):
    """What the requests came to: tokens of the list and of each answer, hits, and milliseconds of each."""

    listed: int
    tokens: list[int]
    hits: int
    milliseconds: list[float]


def written(tools: Sequence[Tool], folder: Path) -> Path:
    """A configuration of servers that list these tools."""
    servers = {}
    for server in dict.fromkeys(tool.server for tool in tools):
        listed = [
            {"name": tool.name, "description": tool.description, "inputSchema": dict(tool.input_schema)}
            for tool in tools
            if tool.server == server
        ]
        file = folder / f"{server}.json"
        file.write_text(json.dumps({"initialize": _HELLO, "tools": listed}))
        servers[server] = {"command": sys.executable, "args": [str(_REPLAY), str(file)]}
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": servers}))
    return config


def client(*argv: str) -> Client:
    """A client of what the words start."""
    start = StdioServerParameters(command=argv[0], args=list(argv[1:]), env=dict(os.environ))
    return Client(start, mode="legacy", read_timeout_seconds=120)


def gateway(config: Path, folder: Path) -> Client:
    """A client of the gateway before the servers of a configuration."""
    own = ("gateway", "--config", str(config), "--approve", "--db", str(folder / "gateway.db"))
    return client(sys.executable, "-m", "inspector", *own, "--set", "guard.enabled=false")


async def overhead(folder: Path, tool: Tool) -> dict[str, list[float]]:
    """Milliseconds of each call of a tool: directly, through a bare proxy, and through the gateway."""
    config = written([tool], folder)
    (folder / "bare.py").write_text(_BARE)
    direct = json.loads(config.read_text())["mcpServers"][tool.server]
    async with (
        client(direct["command"], *direct["args"]) as plain,
        client(sys.executable, str(folder / "bare.py"), str(config)) as bare,
        gateway(config, folder) as through,
    ):
        clients = {"directly": plain, "through a bare proxy": bare, "through the gateway": through}
        taken: dict[str, list[float]] = {way: [] for way in clients}
        for _ in range(ROUNDS):
            for way, one in clients.items():
                for _ in range(TURN):
                    began = time.perf_counter()
                    assert not (await one.call_tool(tool.name, {})).is_error
                    taken[way].append((time.perf_counter() - began) * 1000)
    return taken


async def asked(opened: Client, cases: Sequence[EvalCase]) -> Asked:
    """Ask the requests, of a server with `search_tools`."""
    count = TiktokenCounter("openai/gpt-5").count
    async with opened as one:
        listed = (await one.list_tools()).tools
        tokens, hits, milliseconds = [], 0, []
        for case in cases:
            began = time.perf_counter()
            answer = await one.call_tool("search_tools", {"query": case.query})
            milliseconds.append((time.perf_counter() - began) * 1000)
            text = "\n".join(block.text for block in answer.content if isinstance(block, types.TextContent))
            tokens.append(count(text))
            hits += any(_names(text, tool_id) for group in case.relevant for tool_id in group)
    sent = sum(count(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in listed)
    return Asked(sent, tokens, hits, milliseconds)


def _names(text: str, tool_id: str) -> bool:
    """Whether an answer names a tool, by its id or as FastMCP joins server and name."""
    server, _, name = tool_id.partition(":")
    return tool_id in text or f"{server}_{name}" in text


def _row(name: str, found: Asked, number: int) -> str:
    share = found.hits / number
    low, high = wilson(share, number)
    return (
        f"{name}: first list {found.listed:,} tokens; an answer {statistics.median(found.tokens):,.0f}; "
        f"a tool that serves in {found.hits} of {number} ({share:.2f} [{low:.2f}, {high:.2f}]); "
        f"{statistics.median(found.milliseconds):.1f} ms"
    )


async def main() -> int:
    evalset: EvalSet = everyday("servers_reported")
    cases = [case for case in evalset.cases if case.relevant][:REQUESTS]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        taken = await overhead(folder, evalset.tools[0])
        medians = {way: statistics.median(each) for way, each in taken.items()}
        added = medians["through the gateway"] - medians["directly"]
        told = ", ".join(f"{median:.2f} ms {way}" for way, median in medians.items())
        say(f"a call, median of {ROUNDS * TURN}: {told}; added {added:.2f} (target {TARGET_MS:g})")
        config = written(evalset.tools, folder)
        servers = len({tool.server for tool in evalset.tools})
        say(f"{len(evalset.tools)} tools of {servers} servers, {len(cases)} requests")
        say(_row("gateway", await asked(gateway(config, folder), cases), len(cases)))
        if python := os.environ.get("TOOLSIGHT_FASTMCP"):
            (folder / "peer.py").write_text(_PEER)
            peer = client(python, str(folder / "peer.py"), str(config))
            say(_row("FastMCP", await asked(peer, cases), len(cases)))
    return added > TARGET_MS


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
