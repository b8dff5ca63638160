"""A server over HTTP that forgets its sessions, and what is made of a request that finds its session lost."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.launch import say_news
from inspector.core.error import ConnectError, ProtocolError, ServerExited
from inspector.core.events import Record, SessionRenewed, UserSaid
from inspector.core.fold import apply
from inspector.core.server import Era, ServerSpec
from inspector.core.session import SessionState
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import Opening, ServerLink
from tests.support.mcp_case import PATIENCE, Listener, serving

# What servers answer for a session that they do not know: both official SDKs, and no body at all.
PYTHON = {"id": "server-error", "error": {"code": -32600, "message": "Session not found"}}
TYPESCRIPT = {"id": None, "error": {"code": -32001, "message": "Session not found"}}
ENDED = {"id": None, "error": {"code": -32600, "message": "Session terminated"}}
TOOL = {"name": "list_orders", "inputSchema": {"type": "object"}}


@dataclass
class Forgetful:
    """A server with one session at a time; `asked` are the methods that it answered, `refused` the others."""

    unknown: dict[str, Any] | None = field(default_factory=lambda: dict(PYTHON))
    tools: list[dict[str, Any]] = field(default_factory=lambda: [TOOL])
    asked: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    begun: int = 0
    session: str = ""
    most: int = 1_000
    is_short: bool = False
    task: dict[str, Any] | None = None

    def forget(self) -> None:
        self.session = ""
        self.asked.clear()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, headers = b"", dict(scope["headers"])
        while (part := await receive()).get("body") or part.get("more_body"):
            body += part["body"]
            if not part.get("more_body"):
                break
        if scope["method"] != "POST":
            await _answer(send, 405, None)
            return
        message, given = json.loads(body), headers.get(b"mcp-session-id", b"").decode()
        method = message["method"]
        if method == "initialize" and not given and self.begun < self.most:
            self.begun += 1
            self.session = f"s{self.begun}"
        elif not given or given != self.session:
            self.refused.append(method)
            await _answer(send, 404, self.unknown)
            return
        self.asked.append(method)
        if "id" not in message:
            await _answer(send, 202, None)
            return
        result = self._result(method)
        if (self.is_short and method == "tools/list") or (self.task and method == "tools/call"):
            self.session = ""
        await _answer(send, 200, {"id": message["id"], **result}, self.session)

    def _result(self, method: str) -> dict[str, Any]:
        info = {"serverInfo": {"name": "forgetful", "version": "1"}, "capabilities": {"tools": {}}}
        results = {
            "initialize": {"protocolVersion": "2025-06-18", **info},
            "tools/list": {"tools": self.tools},
            "tools/call": {"content": [{"type": "text", "text": f"in {self.session}"}]},
        }
        if self.task:
            results["tools/call"] = {"task": self.task}
        if method not in results:
            return {"error": {"code": -32601, "message": "Method not found"}}
        return {"result": results[method]}


async def _answer(send: Any, status: int, message: dict[str, Any] | None, session: str = "") -> None:
    headers = [(b"mcp-session-id", session.encode())] if session else []
    headers += [(b"content-type", b"application/json")] if message else []
    body = json.dumps({"jsonrpc": "2.0", **message}).encode() if message else b""
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@dataclass
class Case:
    server: Forgetful
    link: ServerLink
    client: Listener
    changes: list[int]

    async def call(self) -> str:
        return (await self.link.call("list_orders", {}, timeout=PATIENCE)).text


@asynccontextmanager
async def forgotten(folder: Path, server: Forgetful) -> AsyncGenerator[Case, None]:
    """A connection whose server has listed its tools, and then forgot the session."""
    client, changes = Listener(), list[int]()
    async with serving(server) as origin:
        spec = ServerSpec("shop", url=f"{origin}/mcp", era=Era.LEGACY)
        connecting = McpConnector(folder).connect(
            spec, Opening(on_tools_changed=lambda: changes.append(1), client=client)
        )
        async with asyncio.timeout(PATIENCE), connecting as link:
            await link.list_tools()
            server.forget()
            yield Case(server, link, client, changes)


@pytest.mark.parametrize("unknown", [PYTHON, TYPESCRIPT, ENDED, None])
async def test_a_call_in_a_forgotten_session_is_made_once_more_in_a_new_one(
    tmp_path: Path, unknown: dict[str, Any] | None
) -> None:
    async with forgotten(tmp_path, Forgetful(unknown)) as case:
        assert await case.call() == "in s2"
        asked = ["initialize", "notifications/initialized", "tools/list", "tools/call"]
        assert case.server.asked == asked
        assert case.server.refused == ["tools/call"]
        assert await case.call() == "in s2"
        assert [type(event) for event in case.client.events] == [SessionRenewed]
        assert not case.changes, "the list is the same"


async def test_calls_that_find_their_session_lost_share_the_new_one(tmp_path: Path) -> None:
    async with forgotten(tmp_path, Forgetful()) as case:
        assert await asyncio.gather(*(case.call() for _ in range(5))) == ["in s2"] * 5
        assert case.server.begun == 2
        assert case.server.asked.count("tools/call") == 5
        assert len(case.client.events) == 1


async def test_a_list_that_changed_with_the_session_is_told(tmp_path: Path) -> None:
    async with forgotten(tmp_path, Forgetful()) as case:
        case.server.tools = [TOOL, {**TOOL, "name": "cancel_order"}]
        assert await case.call() == "in s2"
        assert case.changes
        assert len((await case.link.list_tools()).tools) == 2


@pytest.mark.parametrize("now", [[], [{**TOOL, "description": "Delete the orders."}]])
async def test_a_tool_that_changed_with_the_session_is_not_called(tmp_path: Path, now: list[Any]) -> None:
    async with forgotten(tmp_path, Forgetful()) as case:
        case.server.tools = now
        with pytest.raises(ProtocolError, match="was not called"):
            await case.call()
        assert "tools/call" not in case.server.asked


async def test_a_server_that_forgets_every_session_gets_a_call_twice_and_no_more(tmp_path: Path) -> None:
    async with forgotten(tmp_path, Forgetful(is_short=True)) as case:
        with pytest.raises(ConnectError, match="the new one at once"):
            await case.call()
        assert case.server.refused == ["tools/call"] * 2
        assert case.server.begun == 2


async def test_a_server_that_refuses_a_new_session_ends_the_connection(tmp_path: Path) -> None:
    async with forgotten(tmp_path, Forgetful(most=1)) as case:
        with pytest.raises(ServerExited, match="refuses another"):
            await case.call()
        assert case.server.refused == ["tools/call", "initialize"]
        assert "refuses another" in (await case.link.wait_closed()).message


async def test_what_else_is_asked_in_a_forgotten_session_is_asked_again(tmp_path: Path) -> None:
    async with forgotten(tmp_path, Forgetful()) as case:
        with pytest.raises(ProtocolError, match="Method not found"):
            await case.link.request("resources/list", {}, timeout=PATIENCE)
        assert case.server.asked[-1] == "resources/list"
        case.server.forget()
        assert len((await case.link.list_tools()).tools) == 1


@pytest.mark.parametrize("status", ["working", "completed"])
async def test_a_task_that_is_lost_with_its_session_is_not_begun_again(tmp_path: Path, status: str) -> None:
    server = Forgetful()
    async with forgotten(tmp_path, server) as case:
        server.task = {"taskId": "t1", "status": status, "pollInterval": 0}
        with pytest.raises(ProtocolError, match="does not know its session"):
            await case.call()
        assert server.asked.count("tools/call") == 1


def test_a_new_session_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    renewed, state = SessionRenewed("shop"), SessionState()
    for number, event in enumerate((UserSaid("Late orders?"), renewed), 1):
        state = apply(state, Record("s", number, 0.0, event))
    assert state.conversation.items[-1].title == renewed.summary()
    say_news(Record("s", 2, 0.0, renewed))
    assert capsys.readouterr().err == f"{renewed.summary()}\n"
