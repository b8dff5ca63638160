"""An MCP server that wants a sign-in, with its own authorization server; run it to try one by hand.

`python -m tests.support.oauth_server [FAULT]` serves it and prints its address.
"""

import asyncio
import base64
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import JWT_BEARER_GRANT_TYPE

from tests.support.mcp_case import serving

Json = Mapping[str, Any]


def _notes() -> Any:
    server: MCPServer[None] = MCPServer("notes")

    @server.tool()
    def list_notes() -> str:
        """List the notes."""
        return "one note"

    @server.tool()
    def delete_note() -> str:
        """Delete a note; wants the scope `write`."""
        return "deleted"

    return server.streamable_http_app()


@dataclass
class OAuthServer:
    """An ASGI app. `fault` is how its authorization server misbehaves; `seen` are the requests to it."""

    fault: str = ""
    seen: list[str] = field(default_factory=list)
    forms: list[dict[str, str]] = field(default_factory=list)
    valid: dict[str, str] = field(default_factory=dict)
    refresh: set[str] = field(default_factory=set)
    assertions: set[str] = field(default_factory=set)
    held: asyncio.Event | None = None
    holds: asyncio.Event = field(default_factory=asyncio.Event)
    _inner: Any = field(default_factory=_notes)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.origin = f"http://{headers['host']}"
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        if scope["path"] == "/mcp":
            await self._mcp(headers, body, scope, receive, send)
            return
        self.seen.append(scope["path"])
        if self.fault == f"silent {scope['path'].rpartition('/')[2]}":
            await asyncio.Event().wait()
        handler = self._handlers().get(scope["path"], _nowhere)
        text = scope["query_string"].decode() if scope["method"] == "GET" else body.decode()
        status, added, answer = handler(text)
        # Not every issuer speaks UTF-8.
        await _send(send, status, added, json.dumps(answer, ensure_ascii=False).encode("latin-1"))

    async def _mcp(
        self, headers: Mapping[str, str], body: bytes, scope: Any, receive: Any, send: Any
    ) -> None:
        granted = self.valid.get(headers.get("authorization", "").removeprefix("Bearer "))
        where = f'resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        if granted is None:
            told = {} if self.fault == "no metadata" else {"www-authenticate": f"Bearer {where}"}
            await _send(send, 401, told, b"")
        elif b"delete_note" in body and "write" not in granted.split():
            wants = f'Bearer error="insufficient_scope", scope="write", {where}'
            await _send(send, 403, {"www-authenticate": wants}, b"")
        else:
            if self.held is not None and b'"tools/call"' in body:
                self.holds.set()
                await self.held.wait()
            pending = [{"type": "http.request", "body": body, "more_body": False}]

            async def replayed() -> Any:
                return pending.pop() if pending else await receive()

            await self._inner(scope, replayed, send)

    def _handlers(self) -> dict[str, Callable[[str], tuple[int, dict[str, str], Json]]]:
        return {
            "/.well-known/oauth-protected-resource/mcp": self._resource,
            "/.well-known/oauth-authorization-server": self._issuer,
            "/register": self._register,
            "/authorize": self._authorize,
            "/token": self._token,
            "/idp/token": self._exchange,
        }

    def _resource(self, _text: str) -> tuple[int, dict[str, str], Json]:
        if self.fault == "no metadata":
            return _nowhere("")
        if self.fault == "elsewhere":
            return 302, {"location": "https://elsewhere.example/metadata"}, {}
        resource = "https://elsewhere.example/mcp" if self.fault == "other resource" else f"{self.origin}/mcp"
        issuer = "http://issuer.example" if self.fault == "plain issuer" else self.origin
        issuer += "/" if self.fault == "slash" else ""
        return (
            200,
            {},
            {"resource": resource, "authorization_servers": [issuer], "scopes_supported": ["read"]},
        )

    def _issuer(self, text: str) -> tuple[int, dict[str, str], Json]:
        if self.fault == "no metadata":
            return _nowhere(text)
        visited = {
            "javascript": "javascript:alert(1)",
            "plain visit": "http://elsewhere.example/authorize",
            "user": "https://trusted.example@elsewhere.example\\@x/authorize",
        }.get(self.fault, f"{self.origin}/authorize")
        return (
            200,
            {},
            {
                "issuer": "https://elsewhere.example" if self.fault == "wrong issuer" else self.origin,
                "authorization_endpoint": visited,
                "token_endpoint": "http://elsewhere.example/token"
                if self.fault == "plain token"
                else f"{self.origin}/token",
                "registration_endpoint": None if self.fault == "no clients" else f"{self.origin}/register",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "padding": "x" * (1_000_000 if self.fault == "huge" else 0),
            },
        )

    def _register(self, text: str) -> tuple[int, dict[str, str], Json]:
        given = json.loads(text)
        return 201, {}, {**given, "client_id": "client-1", "token_endpoint_auth_method": "none"}

    def _authorize(self, text: str) -> tuple[int, dict[str, str], Json]:
        asked = dict(parse_qsl(text))
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        answer = {"code": code, "state": "of-another" if self.fault == "state" else asked["state"]}
        if self.fault == "iss":
            answer["iss"] = "https://elsewhere.example"
        if self.fault == "denied":
            answer = {"error": "access_denied", "state": asked["state"]}
        return 302, {"location": f"{asked['redirect_uri']}?{urlencode(answer)}"}, {}

    def _token(self, text: str) -> tuple[int, dict[str, str], Json]:
        form = {name: values[0] for name, values in parse_qs(text).items()}
        self.forms.append(form)
        if self.fault == "no access token":
            return 200, {}, {"refresh_token": "Refresh-Secret-0", "token_type": "Bearer"}
        if self.fault == "umlaut":
            return 400, {}, {"error": "ung\u00fcltig"}
        if form["grant_type"] == "client_credentials":
            return self._granted("read")
        if form["grant_type"] == JWT_BEARER_GRANT_TYPE:
            return self._granted("read") if form["assertion"] in self.assertions else _INVALID
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refresh:
                return _INVALID
            self.refresh.remove(form["refresh_token"])
            return self._granted("read")
        asked = self._codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if asked is None or asked["code_challenge"] != proof or asked["redirect_uri"] != form["redirect_uri"]:
            return _INVALID
        return self._granted(asked.get("scope", "read"))

    def _exchange(self, text: str) -> tuple[int, dict[str, str], Json]:
        form = {name: values[0] for name, values in parse_qs(text).items()}
        self.forms.append(form)
        if self.fault in _IDP_FAULTS:
            return _IDP_FAULTS[self.fault]
        assertion = jwt(f"{form['client_id']}-{len(self.forms)}")
        self.assertions.add(assertion)
        return 200, {}, {"access_token": assertion, "issued_token_type": _ID_JAG, "token_type": "N_A"}

    def _granted(self, scope: str) -> tuple[int, dict[str, str], Json]:
        number = len(self.forms)
        token, refresh = f"Access-Secret-{number}", f"Refresh-Secret-{number}"
        self.valid[token] = scope
        self.refresh.add(refresh)
        answer = {"access_token": token, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600}
        return 200, {}, {**answer, "scope": scope}


def jwt(name: str) -> str:
    """A JWT with an unchecked signature, which is the name."""
    header = base64.urlsafe_b64encode(b'{"alg":"RS256"}').decode().rstrip("=")
    return f"{header}.Body.{name}"


_JWT = jwt("of-idp")
_INVALID: tuple[int, dict[str, str], Json] = (400, {}, {"error": "invalid_grant"})
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
_IDP_FAULTS: Mapping[str, tuple[int, dict[str, str], Json]] = {
    "idp no": (200, {}, {"access_token": _JWT, "issued_token_type": _ID_JAG, "error": "invalid_target"}),
    "idp list": (200, {}, {"access_token": ["Opaque-Secret-1"]}),
    "idp access token": (200, {}, {"access_token": _JWT, "token_type": "Bearer", "error": None}),
    "idp no jwt": (200, {}, {"access_token": "opaque", "issued_token_type": _ID_JAG}),
    "idp elsewhere": (307, {"location": "https://elsewhere.example/token"}, {}),
}


def _nowhere(_text: str) -> tuple[int, dict[str, str], Json]:
    return 404, {}, {}


async def _send(send: Any, status: int, headers: Mapping[str, str], body: bytes) -> None:
    pairs = [(b"content-type", b"application/json")]
    pairs += [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def _main() -> None:
    async with serving(OAuthServer(" ".join(sys.argv[1:]))) as origin:
        print(f"{origin}/mcp", flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main())
