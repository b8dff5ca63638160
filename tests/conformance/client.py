"""The client that the official conformance suite starts, with the address of its server as last argument.

It is Toolsight's own connection without an app: the connector, and a session's side of it. What to do is in
MCP_CONFORMANCE_SCENARIO; every form is accepted as it comes, as a person does who only presses enter.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspector.core.error import ToolsightError
from inspector.core.events import Event
from inspector.core.server import Era, Grant, OAuthClient, ServerSpec
from inspector.core.settings import ClientCapabilities
from inspector.core.tool import Tool
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.elicitation import Action, ElicitationAnswer, ElicitationRequest, FormRequest, form_fields
from inspector.mcp.port import Opening, SessionClient
from inspector.mcp.sign_in.kept import SignIns
from inspector.mcp.sign_in.person import SignInWay
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import fields

_ECHO = "json-schema-2020-12-preservation"
_MODERN = "2026-07-28"
_DOCUMENT = "https://conformance-test.local/client-metadata.json"
_CALL_SECONDS = 20.0
_GRANTS = {
    "client-credentials": Grant.CLIENT_CREDENTIALS,
    "enterprise-managed": Grant.JWT_BEARER,
    "wif-jwt-bearer": Grant.JWT_BEARER,
}
_VALUES: Mapping[str, Any] = {"integer": 2, "number": 3, "boolean": True, "array": [], "object": {}}


class Agreeable:
    """An `Elicitor` that accepts every form with its defaults, and every address."""

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:
        """Accept."""
        if not isinstance(request, FormRequest):
            return ElicitationAnswer(Action.ACCEPT)
        known = ((field.name, field.default) for field in form_fields(request.schema))
        return ElicitationAnswer(Action.ACCEPT, {name: value for name, value in known if value is not None})


class Browser:
    """A `Visitor` that goes where the address leads, and pastes where it ends."""

    async def visit(self, server: str, address: str) -> str:  # noqa: ARG002
        """Follow the address to its answer."""
        import httpx2

        async with httpx2.AsyncClient() as browser:
            return str((await browser.get(address)).headers["location"])


def arguments(tool: Tool) -> JsonObject:
    """A value for every parameter; the calls that the suite wants to see are among the context's."""
    return {field.name: _VALUES.get(field.type, "text") for field in fields(tool.input_schema)}


def wanted(tools: tuple[Tool, ...]) -> list[tuple[str, JsonObject]]:
    """The calls to make: those of the scenario's context, or else every tool once."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    if calls := context.get("toolCalls", ()):
        return [(call["name"], call["arguments"]) for call in calls]
    if os.environ.get("MCP_CONFORMANCE_SCENARIO") == _ECHO:
        # The second tool sends back what we kept of the first one's schema.
        return [(tools[1].name, {"schema": tools[0].input_schema})]
    return [(tool.name, arguments(tool)) for tool in tools]


async def main(url: str) -> None:
    version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
    era = Era.MODERN if version == _MODERN else Era.LEGACY if version else None
    spec = ServerSpec("conformance", url=url, era=era, oauth=await client_of_scenario(url))
    client = SessionClient("conformance", ClientCapabilities(), (), Agreeable(), lambda: note)
    folder = Path(tempfile.mkdtemp(prefix="toolsight-conformance-"))
    connector = McpConnector(folder, way=SignInWay(SignIns(folder / "sign-ins.json"), Browser()))
    async with connector.connect(spec, Opening(client=client)) as link:
        listing = await link.list_tools()
        for skipped in listing.skipped:
            print(f"skipped {skipped.name}: {skipped.reason}", file=sys.stderr)  # noqa: T201
        for name, given in wanted(listing.tools):
            try:
                result = await link.call(name, given, timeout=_CALL_SECONDS)
                print(name, result.text, file=sys.stderr)  # noqa: T201
            except ToolsightError as error:
                print(name, error.message, file=sys.stderr)  # noqa: T201


async def client_of_scenario(url: str) -> OAuthClient:
    """The client that is registered with the scenario's issuer, if one is."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    grant = next((grant for part, grant in _GRANTS.items() if part in scenario), Grant.AUTHORIZATION_CODE)
    issuer = context.get("issuer") or (await advertised(url) if grant is Grant.JWT_BEARER else "")
    return OAuthClient(
        client_id=context.get("client_id", ""),
        client_secret=context.get("client_secret", ""),
        issuer=issuer,
        metadata_url=_DOCUMENT,
        grant=grant,
        private_key=context.get("private_key_pem", ""),
        algorithm=context.get("signing_algorithm", "RS256"),
        assertion=context.get("idp_id_token") or context.get("valid_jwt", ""),
        idp_token_url=context.get("idp_token_endpoint", ""),
        idp_client_id=context.get("idp_client_id", ""),
    )


async def advertised(url: str) -> str:
    """The issuer that the suite leaves to be found, which people write into their configuration."""
    import httpx2

    where = httpx2.URL(url)
    async with httpx2.AsyncClient() as client:
        found = await client.get(where.copy_with(path=f"/.well-known/oauth-protected-resource{where.path}"))
    return str(found.json()["authorization_servers"][0])


def note(event: Event) -> None:
    """Say what the server asked."""
    print(event.summary(), file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
