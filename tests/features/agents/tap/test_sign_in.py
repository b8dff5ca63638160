"""A client that signs in by OAuth accepts a tap only where the server's answers name the tap's address."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import h11
import pytest

from inspector.core.error import ToolsightError
from inspector.features.agents.tap.http import HttpTap
from inspector.features.agents.tap.http_message import SignIn
from inspector.features.agents.tap.pump import Copies
from tests.mcp.test_sign_in import TOOLS, Visitor, rig


@pytest.mark.parametrize("signs_in", [True, False])
async def test_a_client_signs_in_through_a_tap_whose_address_stands_for_the_servers(
    tmp_path: Path, *, signs_in: bool
) -> None:
    async with rig(tmp_path) as case:
        ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        tap = HttpTap(case.spec.url, Copies(-1), signs_in=signs_in)
        serving = asyncio.create_task(tap.serve(0, ready.set_result))
        case.spec = replace(case.spec, url=await ready)
        if signs_in:
            assert await case.tools(Visitor()) == TOOLS
        else:
            with pytest.raises(ToolsightError):
                await case.tools(Visitor())
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def test_the_messages_of_a_stream_are_not_kept_for_as_long_as_it_lasts() -> None:
    answer, message = SignIn(b"/mcp", "127.0.0.1:1", is_wanted=True), bytes(99)
    answer.response = h11.Response(status_code=200, headers=[])
    answer.passed(b"HTTP/1.1 200 OK\r\n\r\n", is_whole=False)
    before = sys.getrefcount(message)
    answer.read([message])
    assert sys.getrefcount(message) == before
