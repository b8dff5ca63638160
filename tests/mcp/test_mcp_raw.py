"""Servers whose bytes are wrong, over stdio and HTTP: one bad thing costs itself."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from docs.hard.floods import QUIT, flooded
from inspector.core.error import ProtocolError
from inspector.core.server import ServerSpec
from inspector.mcp.client.connector import McpConnector
from tests.support.mcp_case import PATIENCE, SUPPORT, opened, python

SERVER = SUPPORT / "mcp_raw_server.py"
ALL = ["echo", "quota", "odd"]
TRANSPORTS = ("stdio", "json", "sse")
# What is wrong, and what is then skipped and counted: in the bytes of a message, and in what it says, which
# is read in the same way whatever brought it.
BYTES = {
    "surrogate": ("", "lone surrogate in the tool odd"),
    "nested:5000": ("odd", "value nested too deeply in the tool odd"),
    "bom": ("", "byte order mark"),
    "pretty": ("", ""),
    "garbage": ("", ""),
}
CONTENT = {
    "nested:100": ("", ""),
    "nested:200": ("odd", "value nested too deeply in the tool odd"),
    "repeated_cursor": ("page 3", ""),
    "endless_cursor": ("page 21", ""),
    "bad_page": ("page 2", ""),
}


@contextmanager
def raw(transport: str, wrong: str = "") -> Iterator[ServerSpec]:
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


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_error_of_any_code_keeps_the_connection(tmp_path: Path, transport: str) -> None:
    with raw(transport) as spec:
        async with opened(tmp_path, spec) as link:
            for _ in range(2):
                with pytest.raises(ProtocolError, match=r"quota exceeded \(-32000\)"):
                    await link.call("quota", {}, timeout=PATIENCE)
            assert (await link.call("echo", {"text": "hi"}, timeout=PATIENCE)).text == "hi"


async def test_of_two_tools_of_one_name_the_first_one_wins(tmp_path: Path) -> None:
    with raw("stdio", "twice") as spec:
        async with opened(tmp_path, spec) as link:
            listing = await link.list_tools()
    assert [tool.description for tool in listing.tools if tool.name == "echo"] == [""]
    assert [(one.name, one.reason) for one in listing.skipped] == [
        ("echo", "listed again; the first one is used")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "transport"), [*product(BYTES, TRANSPORTS), *((wrong, "stdio") for wrong in CONTENT)]
)
async def test_one_bad_thing_costs_itself_and_is_named(
    tmp_path: Path, wrong: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.mcp.client.declared.MAX_PAGES", 20)
    skipped, counted = {**BYTES, **CONTENT}[wrong]
    connector = McpConnector(tmp_path)
    with raw(transport, wrong) as spec:
        async with connector.connect(spec, era=None, on_tools_changed=lambda: None) as link:
            listing = await link.list_tools()
            assert (await link.call("odd", {}, timeout=PATIENCE)).text
            assert (await link.call("echo", {"text": "hi"}, timeout=PATIENCE)).text == "hi"
    names = [tool.name for tool in listing.tools if not tool.name.startswith("more_")]
    assert names == [name for name in ALL if name != skipped]
    assert [one.name for one in listing.skipped] == [skipped] * bool(skipped)
    flaws = {flaw.what for flaw in connector.frames("raw").flaws()}
    assert {counted} - {""} <= flaws


@pytest.mark.slow
def test_a_flood_takes_neither_memory_nor_keys_nor_the_way_out() -> None:
    row = flooded("notifications", 1.0)
    # How long quitting takes depends on what else the machine does; `make bench-hard` measures it alone.
    assert replace(row, quit=0.0).is_good, row
    assert row.quit < 5 * QUIT


@pytest.mark.slow
@pytest.mark.parametrize("flood", ["log", "answers", "garbage", "stderr"])
async def test_a_call_is_answered_in_the_middle_of_a_flood(tmp_path: Path, flood: str) -> None:
    spec, connector = python(SERVER, "raw", env={"FLOOD": flood}), McpConnector(tmp_path)
    async with connector.connect(spec, era=None, on_tools_changed=lambda: None) as link:
        await link.list_tools()
        async with asyncio.timeout(PATIENCE):
            for _ in range(3):
                assert (await link.call("echo", {"text": "hi"}, timeout=PATIENCE)).text == "hi"
    assert connector.frames("raw").total < 5_000
