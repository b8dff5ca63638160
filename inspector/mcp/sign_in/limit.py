"""What the flow of a sign-in may do: where its requests go, how much of an answer is read, and how long."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import httpx2
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    extract_field_from_www_auth,
)
from mcp.shared import auth
from pydantic import BaseModel, ValidationError

from inspector.config.suspect import meant
from inspector.core.error import AuthRequired
from inspector.core.redaction import clean
from inspector.mcp.client.translate import flaw_text

# Answers of an issuer are a few kilobytes; no answer may hold up a sign-in for longer.
_LONGEST_ANSWER = 256 * 1024
_SECONDS = 20.0
_now = time.monotonic
_LONGEST_REASON = 300
UNAUTHORIZED, FORBIDDEN = 401, 403

RESOURCE = "/oauth-protected-resource"
CANNOT = "cannot sign in to"
_LIMITED = "toolsight.limited"


def in_time() -> asyncio.Timeout:
    """What an exchange with an issuer may take as a whole, headers and all."""
    return asyncio.timeout(_SECONDS)


def limited() -> dict[str, Any]:
    """The extensions of a request of the flow."""
    return {"timeout": httpx2.Timeout(_SECONDS).as_dict(), _LIMITED: True}


async def limit(response: httpx2.Response) -> None:
    """Limit what is read of an answer of the flow, or of a refusal that may begin one: an event hook."""
    is_of_flow = response.request.extensions.get(_LIMITED)
    if not is_of_flow and response.status_code not in (UNAUTHORIZED, FORBIDDEN):
        return
    if isinstance(response.stream, httpx2.AsyncByteStream):
        packed = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = _Limited(response.stream, 0 if packed else _LONGEST_ANSWER)


NO_SIGN_IN = "It publishes no sign-in: give it a header, such as Authorization, in a configuration."
LIMITS: Mapping[str, Any] = {"event_hooks": {"response": [limit]}}
"""What a client needs whose requests sign in."""


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, until = 0, _now() + _SECONDS
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._most:
                raise httpx2.StreamError("its answer is compressed or too large")
            if _now() > until:
                raise httpx2.StreamError("its answer takes too long")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def is_refusal(response: httpx2.Response) -> bool:
    """Whether the server wants a sign-in, or one with more scopes."""
    if response.status_code == FORBIDDEN:
        return extract_field_from_www_auth(response, "error") == "insufficient_scope"
    return response.status_code == UNAUTHORIZED


def require_place(url: httpx2.URL, server: httpx2.URL) -> None:
    """Raise AuthRequired unless it is https, or like the server on this machine.

    A server elsewhere must not lead into this machine's network.
    """
    if _is_near(server.host):
        if url.scheme == "https" or (url.scheme == "http" and _is_near(url.host)):
            return
    elif url.scheme == "https" and not _is_near(url.host):
        return
    raise refused(server.host, f"it leads to {url.scheme}://{url.host}, where no sign-in may go")


async def require_answer(response: httpx2.Response, server: httpx2.URL) -> None:
    """Raise AuthRequired for an answer of the flow that leads to another host, or that is invalid.

    The SDK would go on as if there were no metadata, or quote a part of the answer, which may be a secret. A
    page in place of metadata counts as none: many sites have one for every path.
    """
    request = response.request
    if response.next_request is not None and response.next_request.url.host != request.url.host:
        raise refused(server.host, f"it redirects to {response.next_request.url.host}")
    is_page = request.method == "GET" and "json" not in response.headers.get("content-type", "")
    if response.status_code not in (httpx2.codes.OK, httpx2.codes.CREATED) or is_page:
        return
    body = await response.aread()
    what, model = _expected(request, body)
    try:
        model.model_validate_json(body)
    except ValidationError as error:
        raise refused(server.host, f"invalid {what} ({flaw_text(error)})") from error


def _expected(request: httpx2.Request, body: bytes) -> tuple[str, type[BaseModel]]:
    """What an answer of the flow has to be."""
    if request.method == "POST":
        is_token = "form" in request.headers.get("content-type", "")
        return ("tokens", auth.OAuthToken) if is_token else ("client", auth.OAuthClientInformationFull)
    is_resource = RESOURCE in request.url.path or b'"authorization_servers"' in body
    return "metadata", auth.ProtectedResourceMetadata if is_resource else auth.OAuthMetadata


async def publishes_sign_in(send: Callable[..., Awaitable[httpx2.Response]], refused: httpx2.Request) -> bool:
    """Whether a server has metadata where clients look for it that are told of no other place.

    Nothing goes anywhere else. A server that does not answer may have them.
    """
    url = str(refused.url)
    places = build_protected_resource_metadata_discovery_urls(None, url)
    for place in (*places, *build_oauth_authorization_server_metadata_discovery_urls(None, url)):
        try:
            async with in_time():
                found = await send(httpx2.Request("GET", place, extensions=limited()), auth=None)
        except (TimeoutError, httpx2.HTTPError, httpx2.StreamError):
            return True
        if found.is_success and "json" in found.headers.get("content-type", ""):
            return True
    return False


def _is_near(host: str) -> bool:
    """Whether it names this machine or its network."""
    name, address = meant(host)
    return f".{name}".endswith(".localhost") or (address is not None and not address.is_global)


def refused(host: str, reason: str) -> AuthRequired:
    # On one line, or it could end in a hint of its own; a secret that is cut would no longer be known as one.
    told = clean(" ".join(reason.split()))[:_LONGEST_REASON]
    return AuthRequired(f"{CANNOT} {host}: {told}", hint="Nothing was kept. Try again, or tell its operator.")


def unanswered(error: httpx2.TransportError, server: str) -> AuthRequired | None:
    """The refusal if it was a request of the flow that got no answer, else None; `server` is a host."""
    try:
        request = error.request
    except RuntimeError:
        return None
    if not request.extensions.get(_LIMITED):
        return None
    return refused(server, f"{request.url.host} does not answer")
