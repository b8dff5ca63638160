"""Servers behind a URL, on this machine."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import Context, MCPServer

from inspector.core.error import AuthRequired, ConnectError, RateLimited, ServerExited
from inspector.core.server import Era, ServerSpec
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.frame import FrameKind
from inspector.mcp.port import Opening
from tests.support.mcp_case import PATIENCE, opened, serving

Asgi = Callable[[Any, Any, Any], Awaitable[None]]


def answering(
    status: int, content_type: str = "text/plain", body: bytes = b"no", retry_after: str = ""
) -> Asgi:
    """An app that answers every request alike."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-type", content_type.encode())]
        headers += [(b"retry-after", retry_after.encode())] if retry_after else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def growing_server() -> MCPServer[None]:
    """A server whose tool `grow` adds the tool `sprout`, and tells so in both eras."""
    server: MCPServer[None] = MCPServer("growing", version="1.2.3")

    def sprout() -> str:
        """Came later."""
        return "green"

    @server.tool()
    async def grow(ctx: Context) -> str:
        """Add the tool `sprout`."""
        server.add_tool(sprout)
        await ctx.notify_tools_changed()
        if (ctx.protocol_version or "") < "2026-07-28":
            await ctx.session.send_tool_list_changed()
        return "grown"

    return server


@asynccontextmanager
async def mcp_server(seen: list[dict[bytes, bytes]] | None = None) -> AsyncGenerator[str, None]:
    inner = growing_server().streamable_http_app()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if seen is not None and scope["type"] == "http":
            seen.append(dict(scope["headers"]))
        await inner(scope, receive, send)

    async with serving(app) as origin:
        yield f"{origin}/mcp"


@asynccontextmanager
async def limiting_server(
    refuses: Asgi, method: bytes = b"tools/call", answers: int = 1
) -> AsyncGenerator[str, None]:
    """A server that answers its first call, or as many as it says, and refuses others as `refuses` does."""
    inner, seen = growing_server().streamable_http_app(), 0

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal seen
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return
        pending = [await receive()]
        is_call = b'"%s"' % method in pending[0].get("body", b"")
        seen += is_call

        async def replayed() -> Any:
            return pending.pop() if pending else await receive()

        await (refuses if is_call and seen > answers else inner)(scope, replayed, send)

    async with serving(app) as origin:
        yield f"{origin}/mcp"


async def refusal(folder: Path, spec: ServerSpec) -> ConnectError:
    with pytest.raises(ConnectError) as caught:
        async with asyncio.timeout(PATIENCE), opened(folder, spec):
            pass
    return caught.value


@pytest.mark.parametrize(("status", "speaks"), [(400, "2026-07-28, nothing older"), (500, "2026-07-28")])
async def test_a_server_that_refuses_the_older_handshake_is_known_for_it(
    tmp_path: Path, status: int, speaks: str
) -> None:
    async with (
        limiting_server(answering(status), b"initialize", 0) as url,
        opened(tmp_path, ServerSpec("http", url=url)) as link,
    ):
        assert link.info.speaks == speaks
        assert [tool.name for tool in (await link.list_tools()).tools] == ["grow"]


@pytest.mark.parametrize("era", [None, Era.LEGACY])
async def test_tools_are_listed_and_called_over_http_in_each_era(tmp_path: Path, era: Era | None) -> None:
    changed = asyncio.Event()
    async with mcp_server() as url:
        spec = ServerSpec("http", url=url, era=era)
        async with opened(tmp_path, spec, on_tools_changed=changed.set) as link:
            assert link.info.era is (era or Era.MODERN)
            assert not link.info.refuses_older
            assert [tool.name for tool in (await link.list_tools()).tools] == ["grow"]
            assert (await link.call("grow", {}, timeout=PATIENCE)).text == "grown"
            async with asyncio.timeout(PATIENCE):
                await changed.wait()
            assert (await link.call("sprout", {}, timeout=PATIENCE)).text == "green"
            assert link.stderr_tail() == ""


@pytest.mark.parametrize("status", [401, 403])
async def test_a_server_that_wants_credentials_says_how_to_give_them(tmp_path: Path, status: int) -> None:
    async with serving(answering(status)) as origin:
        error = await refusal(tmp_path, ServerSpec("http", url=f"{origin}/mcp?key=s3cret"))
        assert isinstance(error, AuthRequired)
        assert "Authorization header" in error.hint
        assert "s3cret" not in error.message
        sent = {"authorization": "Bearer old"}
        error = await refusal(tmp_path, ServerSpec("http", url=f"{origin}/mcp", headers=sent))
        assert "rejected the configured" in error.hint


async def test_the_wire_log_has_status_and_headers_without_their_secrets(tmp_path: Path) -> None:
    connector = McpConnector(tmp_path)
    async with mcp_server() as url:
        spec = ServerSpec(
            "http", url=url, era=Era.LEGACY, headers={"X-Shop": "s3cret", "Accept-Language": "no"}
        )
        async with connector.connect(spec, Opening()) as link:
            await link.list_tools()
    async with serving(answering(401, retry_after="7")) as origin:
        spec = ServerSpec("http", url=f"{origin}/mcp", headers={"a": "b"})
        refused_link = connector.connect(spec, Opening())
        with pytest.raises(ConnectError):
            await refused_link.__aenter__()
    frames = connector.frames("http").frames()
    http = [json.loads(one.text) for one in frames if one.kind in (FrameKind.HTTP, FrameKind.REFUSED)]
    assert "s3cret" not in str(frames)
    assert {one["status"] for one in http} >= {200, 202, 401}
    first, refused = http[0], http[-1]
    assert first["request"]["x-shop"] == first["request"]["accept-language"] == "[redacted]"
    assert first["response"]["content-type"].startswith(("application/json", "text/event-stream"))
    assert refused["response"]["retry-after"] == "7"
    assert "HTTP 401 Unauthorized to POST" in [one.what for one in frames]
    assert {one["request"].get("mcp-session-id", "[redacted]") for one in http} == {"[redacted]"}


@pytest.mark.parametrize("url", ["htp://host/mcp", "http://", "http://[bad/mcp"])
async def test_a_url_that_is_none_is_a_connect_error(tmp_path: Path, url: str) -> None:
    error = await refusal(tmp_path, ServerSpec("http", url=url))
    assert error.message
    assert error.hint


BODY = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Slow down"}}'


@pytest.mark.parametrize(
    ("era", "refuses", "seconds"),
    [
        (Era.LEGACY, answering(429, retry_after="30"), 30.0),
        (Era.MODERN, answering(429), None),
        (Era.MODERN, answering(503, retry_after="7"), 7.0),
        (Era.LEGACY, answering(429, "application/json", BODY, "5"), 5.0),
    ],
)
async def test_a_server_that_wants_fewer_calls_says_when_to_ask_again(
    tmp_path: Path, era: Era, refuses: Asgi, seconds: float | None
) -> None:
    async with (
        limiting_server(refuses) as url,
        opened(tmp_path, ServerSpec("http", url=url, era=era)) as link,
    ):
        assert (await link.call("grow", {}, timeout=PATIENCE)).text == "grown"
        with pytest.raises(RateLimited) as caught:
            await link.call("grow", {}, timeout=PATIENCE)
        assert caught.value.retry_after == seconds


@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
async def test_a_call_to_a_server_that_is_gone_ends_the_connection(tmp_path: Path, era: Era) -> None:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(AsyncExitStack())
        url = await server.enter_async_context(mcp_server())
        link = await stack.enter_async_context(opened(tmp_path, ServerSpec("http", url=url, era=era)))
        await server.aclose()
        with pytest.raises(ServerExited):
            await link.call("grow", {}, timeout=PATIENCE)
        async with asyncio.timeout(PATIENCE):
            assert (await link.wait_closed()).message


async def test_a_server_that_never_answers_holds_up_neither_opening_nor_closing(tmp_path: Path) -> None:
    async def silent(scope: Any, _receive: Any, _send: Any) -> None:
        if scope["type"] == "http":
            await asyncio.Event().wait()

    async with serving(silent) as origin:
        error = await refusal(tmp_path, ServerSpec("http", url=origin, connect_timeout=0.2))
    assert "handshake" in error.message


PAGE = b"<html><head><style>p {}</style><script>alert(1)</script></head><body>\x1b<p>Please sign in</p>"


@pytest.mark.parametrize(
    ("status", "kind", "body", "said", "hint"),
    [
        (200, "text/html", PAGE, "answered text/html, not a message: “Please sign in”", "MCP server?"),
        (500, "text/plain", b"boom\n" + b"x" * 1_000_000, "answered HTTP 500: “boom", ""),
        (404, "text/plain", b"no such tunnel", "HTTP 404: “no such tunnel”", ""),
        (404, "text/plain", b"no", "No MCP endpoint", "path"),
    ],
)
async def test_what_a_server_says_in_place_of_a_message_is_shown(
    tmp_path: Path, status: int, kind: str, body: bytes, said: str, hint: str
) -> None:
    async with serving(answering(status, kind, body)) as origin:
        error = await refusal(tmp_path, ServerSpec("http", url=f"{origin}/mcp"))
    assert said in error.message
    assert hint in error.hint
    assert len(error.message) < 250
    assert not [one for one in ("\x1b", "\n", "<", "alert") if one in error.message]
    assert "too old" not in error.hint


async def test_a_redirect_that_is_not_followed_is_its_own_cure(tmp_path: Path) -> None:
    async def away(scope: Any, _receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = [(b"location", b"http://127.0.0.1:9/mcp")]
            await send({"type": "http.response.start", "status": 307, "headers": headers})
            await send({"type": "http.response.body", "body": b""})

    async with serving(away) as origin:
        error = await refusal(tmp_path, ServerSpec("http", url=f"{origin}/mcp"))
    assert error.message == f"{origin}/mcp: Redirect to http://127.0.0.1:9/mcp not followed"
    assert error.hint == "Use that URL as the endpoint if it is the intended server."
