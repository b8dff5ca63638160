"""A server's card, read where servers have it, and what it says otherwise than the server."""

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from inspector.core.error import Fetched
from inspector.core.server import ServerInfo, ServerSpec
from inspector.mcp.client.card import card_documents
from tests.support.mcp_case import serving

INFO = ServerInfo("shop", "1.2.0", "2026-07-28")
RESERVED, WELL_KNOWN = "/mcp/server-card", "/.well-known/mcp/server-card.json"
CARD = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    "name": "com.example/shop",
    "version": "1.2.0",
    "description": "Orders.",
}


async def read(answer: Any, path: str = RESERVED) -> tuple[Fetched, ...]:
    """What is read of a server whose card is at that path; `answer` may take the request."""

    async def card(request: Request) -> Response:
        assert "authorization" not in request.headers
        found = answer(request) if callable(answer) else answer
        return found if isinstance(found, Response) else JSONResponse(found)

    async with serving(Starlette(routes=[Route(path, card)])) as origin:
        spec = ServerSpec("shop", url=f"{origin}/mcp?key=k", headers={"Authorization": "Bearer secret"})
        return await card_documents(spec, INFO)


@pytest.mark.parametrize("path", [RESERVED, WELL_KNOWN])
async def test_a_card_that_agrees_with_its_server_has_no_fault(path: str) -> None:
    [found] = await read(CARD, path)
    assert (found.found, found.fault, found.hint) == ("com.example/shop 1.2.0", "", "")
    assert found.address.endswith(path)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"version": "1.1.0"}, "it says version 1.1.0, the server 1.2.0"),
        ({"description": 7}, "it lacks description"),
        (
            {"remotes": [{"url": "https://old.example/mcp"}]},
            "it names https://old.example/mcp, not this address",
        ),
        ({"remotes": [{"url": "https://{region}.example/mcp"}]}, ""),
        ({"remotes": "none"}, ""),
        (
            {"remotes": [{"url": "{base}/mcp", "supportedProtocolVersions": ["2025-06-18"]}]},
            "it names the protocols 2025-06-18, the server speaks 2026-07-28",
        ),
    ],
)
async def test_what_a_card_says_otherwise_is_told_with_a_cure(change: dict[str, Any], fault: str) -> None:
    [found] = await read({**CARD, **change})
    assert found.fault == fault
    assert bool(found.hint) == bool(fault)


async def test_the_servers_own_address_is_known_without_its_query() -> None:
    def card(request: Request) -> Any:
        own = str(request.url).removesuffix("/server-card")
        return {**CARD, "remotes": [{"url": f"{own}/", "supportedProtocolVersions": [INFO.protocol]}]}

    [found] = await read(card)
    assert found.fault == ""


@pytest.mark.parametrize(
    "answer",
    [
        PlainTextResponse("<html>", status_code=200),
        JSONResponse(CARD, status_code=404),
        JSONResponse([CARD]),
        JSONResponse({**CARD, "description": "x" * 300_000}),
        Response(status_code=302, headers={"location": "https://elsewhere.example/card"}),
    ],
    ids=["a page", "an error", "a list", "too large", "a redirect"],
)
async def test_what_is_no_card_is_none(answer: Response) -> None:
    assert await read(answer) == ()
