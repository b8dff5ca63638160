"""Servers whose bytes are wrong, over stdio and HTTP: one bad thing costs itself."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inspector.core.error import ProtocolError
from inspector.core.server import ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import Opening
from tests.support.mcp_case import PATIENCE, SUPPORT, python

SERVER = SUPPORT / "mcp_raw_server.py"
# What is wrong with the bytes of a message, what brings them, and what is counted.
WRONG = [
    ("surrogate", "stdio", "lone surrogate"),
    ("bom", "json", "byte order mark"),
    ("garbage", "sse", "output that is not a message"),
]


@contextmanager
def raw(transport: str, wrong: str) -> Iterator[ServerSpec]:
    """The spec of the server with what is wrong; over HTTP it runs meanwhile."""
    if transport == "stdio":
        yield python(SERVER, "raw", env={"RAW": wrong})
        return
    argv, environment = [sys.executable, str(SERVER), "--http", transport], {**os.environ, "RAW": wrong}
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE) as served:
        assert served.stdout is not None
        try:
            yield ServerSpec("raw", url=served.stdout.readline().decode().strip())
        finally:
            served.kill()


@pytest.mark.slow
@pytest.mark.parametrize(("wrong", "transport", "counted"), WRONG)
async def test_one_bad_thing_and_an_error_of_any_code_cost_themselves_alone(
    tmp_path: Path, wrong: str, transport: str, counted: str
) -> None:
    connector = McpConnector(tmp_path)
    with raw(transport, wrong) as spec:
        async with connector.connect(spec, Opening()) as link:
            listing = await link.list_tools()
            assert (await link.call("odd", {}, timeout=PATIENCE)).text
            with pytest.raises(ProtocolError, match=r"quota exceeded \(-32000\)"):
                await link.call("quota", {}, timeout=PATIENCE)
            assert (await link.call("echo", {"text": "hi"}, timeout=PATIENCE)).text == "hi"
    assert [tool.name for tool in listing.tools] == ["echo", "quota", "odd"]
    assert counted in {flaw.what for flaw in connector.frames("raw").flaws()}


@pytest.mark.slow
async def test_a_call_is_answered_in_the_middle_of_a_flood(tmp_path: Path) -> None:
    spec, connector = python(SERVER, "raw", env={"FLOOD": "log"}), McpConnector(tmp_path)
    async with connector.connect(spec, Opening()) as link:
        await link.list_tools()
        async with asyncio.timeout(PATIENCE):
            for _ in range(3):
                assert (await link.call("echo", {"text": "hi"}, timeout=PATIENCE)).text == "hi"
    assert connector.frames("raw").total < 5_000
