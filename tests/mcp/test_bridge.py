"""A client over stdio reaches a server over HTTP: signed in to, and told what the server fails at."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from inspector.core.server import ServerSpec
from inspector.mcp.client.bridge import bridge
from inspector.mcp.sign_in.kept import SignIns
from inspector.mcp.sign_in.person import SignInWay
from tests.mcp.test_sign_in import TOOLS, Visitor, rig


async def bridged(spec: ServerSpec, kept: SignIns, *asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to requests that are made one after the other."""
    answers = asyncio.Queue[dict[str, Any]]()
    got: list[dict[str, Any]] = []

    async def lines() -> AsyncIterator[bytes]:
        for one in asked:
            yield json.dumps({"jsonrpc": "2.0", **one}).encode() + b"\n"
            if "id" in one:
                got.append(await answers.get())

    async def give(answer: bytes) -> None:
        assert b"\n" not in answer
        answers.put_nowait(json.loads(answer))

    await bridge(spec, SignInWay(kept, is_stored_only=True), lines(), give)
    while not answers.empty():
        got.append(answers.get_nowait())
    return got


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
BEGIN = ({"id": 0, "method": "initialize", "params": HELLO}, {"method": "notifications/initialized"})


async def test_a_server_that_was_signed_in_to_lists_its_tools_and_one_that_was_not_says_how(
    tmp_path: Path,
) -> None:
    async with rig(tmp_path) as case:
        kept = SignIns(tmp_path / "sign-ins.json")
        (refused,) = await bridged(case.spec, kept, BEGIN[0])
        assert f"toolsight servers --sign-in '' '{case.spec.url}'" in refused["error"]["message"]
        await case.tools(Visitor())
        *_, listed = await bridged(case.spec, kept, *BEGIN, {"id": "a", "method": "tools/list"})
        assert listed["id"] == "a"
        assert [tool["name"] for tool in listed["result"]["tools"]] == TOOLS


async def test_every_request_is_answered_when_nobody_is_at_the_address(tmp_path: Path) -> None:
    spec = ServerSpec("far", url="http://127.0.0.1:1/mcp")
    (answer,) = await bridged(spec, SignIns(tmp_path / "x"), BEGIN[0])
    assert answer["id"] == 0
    assert "Cannot connect to http://127.0.0.1:1/mcp" in answer["error"]["message"]
    assert (await bridged(replace(spec, url="http://[/"), SignIns(tmp_path / "x"), BEGIN[0]))[0]["error"]
