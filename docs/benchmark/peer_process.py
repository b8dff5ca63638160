"""Another project's search, run by a Python that has it installed; `peers.py` starts it.

    python -I peer_process.py fastmcp|casual-mcp

Reads and writes JSON, an object a line. First comes {"tools": [...]}, answered by {"version": ...}; then each
{"query": ..., "limit": ...} is answered by {"names": [...]}, best first. A limit of null leaves the number
of results to the project. An {"error": ...} says why there is no answer.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, Protocol


class Search(Protocol):
    async def names(self, query: str, limit: int | None) -> list[str]: ...


class FastMcpSearch:
    """What a client gets from `search_tools`, which BM25SearchTransform puts in place of all tools."""

    def __init__(self, tools: Sequence[dict[str, Any]]) -> None:
        from fastmcp.tools import Tool

        self._tools = [
            Tool(name=tool["name"], description=tool["description"], parameters=tool["inputSchema"])
            for tool in tools
        ]
        self._servers: dict[int | None, Any] = {}

    async def names(self, query: str, limit: int | None) -> list[str]:
        from fastmcp import Client

        if limit not in self._servers:
            self._servers[limit] = self._server(limit)
        async with Client(self._servers[limit]) as client:
            found = await client.call_tool("search_tools", {"query": query})
        return [tool["name"] for tool in found.structured_content["result"]]

    def _server(self, limit: int | None) -> Any:
        from fastmcp import FastMCP
        from fastmcp.server.transforms.search import BM25SearchTransform

        server = FastMCP("tools")
        for tool in self._tools:
            server.add_tool(tool)
        server.add_transform(
            BM25SearchTransform() if limit is None else BM25SearchTransform(max_results=limit)
        )
        return server


class CasualMcpSearch:
    """The index behind casual-mcp's `search-tools`, asked for words only."""

    def __init__(self, tools: Sequence[dict[str, Any]]) -> None:
        import mcp
        from casual_mcp.tool_search_index import ToolSearchIndex

        declared = [
            mcp.Tool.model_validate({key: tool[key] for key in ("name", "description", "inputSchema")})
            for tool in tools
        ]
        self._index = ToolSearchIndex(declared, {tool["name"]: tool["server"] for tool in tools})

    async def names(self, query: str, limit: int | None) -> list[str]:
        found = self._index.search(query) if limit is None else self._index.search(query, limit)
        return [tool.name for _server, tool in found]


SEARCHES: dict[str, Callable[[Sequence[dict[str, Any]]], Search]] = {
    "fastmcp": FastMcpSearch,
    "casual-mcp": CasualMcpSearch,
}


async def answers(project: str) -> None:
    """Answer on stdout what is asked on stdin, until it ends; all else that is printed goes to stderr."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

        def answer(**fields: object) -> None:
            output.write(json.dumps(fields) + "\n")
            output.flush()

        try:
            search = SEARCHES[project](json.loads(sys.stdin.readline())["tools"])
            answer(version=version(project))
            for line in sys.stdin:
                asked = json.loads(line)
                answer(names=await search.names(asked["query"], asked["limit"]))
        except Exception as error:
            answer(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    asyncio.run(answers(sys.argv[1]))
