"""The exchanges of a sign-in: where they may go, how much is read, how long; which document was at fault."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    extract_field_from_www_auth,
    extract_resource_metadata_from_www_auth,
)
from mcp.shared import auth
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from inspector.config.suspect import meant
from inspector.core.error import AuthRequired, Fetched
from inspector.core.number import count
from inspector.core.redaction import clean
from inspector.core.server import OAuthClient
from inspector.core.text import one_line, shortened
from inspector.mcp.client.translate import flaw_text
from inspector.mcp.sign_in.person import LOOKING
from inspector.schema.json_value import JsonObject, as_list, read_object

# Answers of an issuer are a few kilobytes; no answer may hold up a sign-in for longer.
_LONGEST_ANSWER = 256 * 1024
_SECONDS = 20.0
_now = time.monotonic
_LONGEST_REASON = 300
UNAUTHORIZED, FORBIDDEN = 401, 403

_RESOURCE_PATH = "/oauth-protected-resource"
_CANNOT = "cannot sign in to"
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


@cache
def limits() -> Mapping[str, Any]:
    """What a client needs whose requests sign in. Reading what https trusts takes 45 ms: once for all."""
    return {"event_hooks": {"response": [limit]}, "verify": httpx2.create_ssl_context()}


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
    what, model = _EXPECTED[_asked(request, body)]
    try:
        model.model_validate_json(body)
    except ValidationError as error:
        raise refused(server.host, f"invalid {what} ({flaw_text(error)})") from error


_SERVER, _RESOURCE, _ISSUER = "the server", "resource metadata", "issuer's metadata"
_CLIENT, _TOKENS = "registration", "tokens"
# What an answer of the flow has to be.
_EXPECTED: Mapping[str, tuple[str, type[BaseModel]]] = {
    _RESOURCE: ("metadata", auth.ProtectedResourceMetadata),
    _ISSUER: ("metadata", auth.OAuthMetadata),
    _CLIENT: ("client", auth.OAuthClientInformationFull),
    _TOKENS: ("tokens", auth.OAuthToken),
}


def _asked(request: httpx2.Request, answer: bytes) -> str:
    """What a request of the flow asks for."""
    if request.method == "POST":
        return _TOKENS if "form" in request.headers.get("content-type", "") else _CLIENT
    is_resource = _RESOURCE_PATH in request.url.path or b'"authorization_servers"' in answer
    return _RESOURCE if is_resource else _ISSUER


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
    return AuthRequired(
        f"{_CANNOT} {host}: {told}", hint="Nothing was kept. Try again, or tell its operator."
    )


def unanswered(error: httpx2.TransportError, server: str) -> AuthRequired | None:
    """The refusal if it was a request of the flow that got no answer, else None; `server` is a host."""
    try:
        request = error.request
    except RuntimeError:
        return None
    if not request.extensions.get(_LIMITED):
        return None
    return refused(server, f"{request.url.host} does not answer")


_SHOWN = 200
_BY_HAND = 'Register a client there, and give the server\'s entry "oauth": {"clientId": …}.'
_ALIKE = "Its operator has to write both alike (RFC 8414, section 3.3)."


def same_issuer(one: str, other: str) -> bool:
    """Whether two issuers differ by a last slash at most."""
    return one.rstrip("/") == other.rstrip("/")


@dataclass
class Trail:
    """What was fetched to sign in to the server at `url`. `issuer` is the one that the server names."""

    url: str
    given: OAuthClient
    fetched: tuple[Fetched, ...] = ()
    issuer: str = ""

    def add(self, request: httpx2.Request, response: httpx2.Response, body: bytes) -> None:
        """Note an answer: whose it is, and what is wrong with it."""
        is_server = request.method != "GET" and str(request.url) == self.url
        what = _SERVER if is_server else _asked(request, body)
        said = read_object(body)
        place = request.url.copy_with(query=None, fragment=None, userinfo=b"")
        one = Fetched(what, str(place), response.status_code)
        if what == _SERVER:
            is_told = extract_resource_metadata_from_www_auth(response) is not None
            one = replace(one, found="" if is_told else "no WWW-Authenticate header names its metadata")
        elif what in (_CLIENT, _TOKENS):
            one = _refused(one, said)
        elif response.is_success and said:
            one = (self._resource if what == _RESOURCE else self._of_issuer)(one, said)
        self.fetched += (one,)

    def _resource(self, one: Fetched, said: JsonObject) -> Fetched:
        advertised = list(map(str, as_list(said.get("authorization_servers"))))
        own, resource = resource_url_from_server_url(self.url), str(said.get("resource", ""))
        if not check_resource_allowed(own, resource):
            told = f"its `resource` is {_short(resource)}, but the server is {own}"
            return replace(one, fault=told, hint="The server has to name its own address there (RFC 9728).")
        if not advertised:
            return replace(one, fault="it names no authorization server", hint=NO_SIGN_IN)
        ours = (self.given.issuer for each in advertised if same_issuer(each, self.given.issuer))
        self.issuer = next(ours, advertised[0])
        return replace(one, found=f"issuer {_short(self.issuer)}")

    def _of_issuer(self, one: Fetched, said: JsonObject) -> Fetched:
        issuer = _short(str(said.get("issuer", "")))
        if self.issuer and issuer != self.issuer:
            is_slash, told = same_issuer(issuer, self.issuer), f"its issuer is {issuer}, but the server names"
            cure = (
                f' Until then, give the server\'s entry "oauth": {{"issuer": "{issuer}"}}.'
                if is_slash
                else ""
            )
            told = f"{told} {_short(self.issuer)}{': the slash' if is_slash else ''}"
            return replace(one, fault=told, hint=f"{_ALIKE}{cure}")
        registers = said.get("registration_endpoint") or said.get("client_id_metadata_document_supported")
        if self.given.client_id == LOOKING and not registers:
            return replace(one, fault="it registers no clients", hint=_BY_HAND)
        return replace(one, found=f"issuer {issuer}")

    def documents(self, why: str = "", hint: str = "") -> tuple[Fetched, ...]:
        """What was fetched. If that led to no issuer, the last is at fault for a `why`, else the refusal."""
        metadata = [one for one in self.fetched if one.what in (_RESOURCE, _ISSUER)]
        if not metadata or any(one.fault or (one.found and one.what == _ISSUER) for one in metadata):
            return self.fetched
        *before, last = self.fetched
        if why:
            return (*before, replace(last, fault=why, hint=hint))
        told = f"no metadata at {count(len(metadata), 'address', 'addresses')}: nobody can sign in"
        return (*self.fetched[1:], replace(self.fetched[0], fault=told, hint=NO_SIGN_IN))

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say which document is at fault for an error of the flow. Raises AuthRequired, with all of them."""
        host = httpx2.URL(self.url).host
        try:
            yield
        except AuthRequired as error:
            _, refusal, why = error.message.partition(f"{_CANNOT} {host}: ")
            error.documents = self.documents(why if refusal else "", error.hint)
            raise
        except (OAuthFlowError, ValueError, httpx2.StreamError) as error:
            documents = self.documents()
            wrong = [one for one in documents if one.fault and isinstance(error, OAuthFlowError)]
            told = refused(host, f"{wrong[-1].what}: {wrong[-1].fault}" if wrong else str(error))
            told.hint, told.documents = wrong[-1].hint if wrong else told.hint, documents
            raise told from error


def _refused(one: Fetched, said: JsonObject) -> Fetched:
    """A registration or tokens, which are never shown; why they were refused is."""
    if one.status < httpx2.codes.BAD_REQUEST:
        return one
    words = " ".join(str(said[key]) for key in ("error", "error_description") if said.get(key))
    told = f"refused: {_short(words)}" if words else "refused"
    hint = _BY_HAND if one.what == _CLIENT else "Sign in again, or tell its operator."
    return replace(one, fault=told, hint=hint)


def _short(text: str) -> str:
    return shortened(one_line(clean(text)), _SHOWN)
