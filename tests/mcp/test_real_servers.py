"""Servers that nobody here wrote: connected, listed, searched and called.

The list comes from TOOLSIGHT_REAL_SERVERS, or lies beside the repository; `-m "not real_servers"` or
TOOLSIGHT_REAL_SERVERS=off leaves these tests out.
"""

import asyncio
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector.core.events import Event, ServerFailed
from inspector.core.ports import SystemClock
from inspector.core.ranking import SearchRequest
from inspector.core.server import ServerSpec
from inspector.core.settings import DiscoverySettings
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.connections import Connections
from inspector.mcp.listing import Shared
from inspector.store.memory import MemoryServerMemory
from tests.support.fakes import named_characters
from tests.support.mcp_case import ROOT
from tests.support.mcp_real_server import NotInstalled, installed
from tests.support.retrieval import words_only

pytestmark = [pytest.mark.real_servers, pytest.mark.slow]

PATIENCE = 60.0

# For each server: a question its tools answer, a tool to call, its arguments, and what comes back.
CASES: Mapping[str, tuple[str, str, Mapping[str, Any], str]] = {
    "everything": ("echo a message", "echo", {"message": "hello"}, "hello"),
    "git": ("commit history log", "git_log", {"repo_path": "WORKDIR/repo"}, "first commit"),
}


def entries() -> Mapping[str, Any]:
    chosen = os.environ.get("TOOLSIGHT_REAL_SERVERS", "")
    if chosen == "off":
        pytest.skip("TOOLSIGHT_REAL_SERVERS is off")
    path = Path(chosen) if chosen else ROOT.parent / "shared" / "guide" / "real-servers.json"
    if not path.is_file():
        pytest.skip(f"{path} is not there; TOOLSIGHT_REAL_SERVERS can name another")
    servers: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]
    return servers


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """What the servers work on: a git repository with a commit."""
    git = ["git", "-C", str(tmp_path / "repo"), "-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "repo")], check=True)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "first commit"], check=True)
    return tmp_path


def spec_of(name: str, workdir: Path) -> ServerSpec:
    listed = entries()
    if name not in listed:
        pytest.skip(f"{name} is not in the list")
    try:
        return replace(installed(name, listed[name], workdir), defer_loading=True)
    except NotInstalled as reason:
        pytest.skip(f"{name} cannot be installed: {reason}")


@pytest.mark.parametrize("name", CASES)
async def test_a_real_server_is_listed_searched_and_called(name: str, workdir: Path) -> None:
    spec = spec_of(name, workdir)
    query, tool, arguments, expected = CASES[name]
    events: list[Event] = []
    connections = Connections(
        [spec],
        Shared(
            McpConnector(workdir / "logs"),
            MemoryServerMemory(),
            SystemClock(),
            events.append,
            named_characters,
        ),
        lambda: None,
    )
    connections.start()
    try:
        async with asyncio.timeout(PATIENCE):
            await connections.settled()
        assert not [event for event in events if isinstance(event, ServerFailed)]
        retrieval = words_only(DiscoverySettings(), SystemClock())
        retrieval.update(connections.tools, {})
        report = retrieval.search(SearchRequest(query), bound=(), load=False).report
        assert f"{name}:{tool}" in [hit.tool_id for hit in report.hits if hit.outcome.is_result]
        filled = json.loads(json.dumps(arguments).replace("WORKDIR", str(workdir)))
        result = await connections.call(name, tool, filled)
        assert not result.is_error, result.text
        assert expected in result.text
    finally:
        await connections.aclose()
