"""The documents of a sign-in, in the order in which they were fetched, and which of them is at fault."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.auth.utils import extract_resource_metadata_from_www_auth
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url

from inspector.core.error import AuthRequired, Fetched
from inspector.core.number import count
from inspector.core.redaction import clean
from inspector.core.server import OAuthClient
from inspector.core.text import one_line, shortened
from inspector.mcp.sign_in.limit import CANNOT, NO_SIGN_IN, RESOURCE, refused
from inspector.mcp.sign_in.person import LOOKING
from inspector.schema.json_value import JsonObject, as_object

_SERVER, _RESOURCE, _ISSUER = "the server", "resource metadata", "issuer's metadata"
_CLIENT, _TOKENS = "registration", "tokens"
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
        what = self._what(request, body)
        try:
            said = as_object(json.loads(body))
        except (ValueError, RecursionError):
            said = {}
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

    def _what(self, request: httpx2.Request, body: bytes) -> str:
        if request.method == "GET":
            is_resource = RESOURCE in request.url.path or b'"authorization_servers"' in body
            return _RESOURCE if is_resource else _ISSUER
        if str(request.url) == self.url:
            return _SERVER
        return _TOKENS if "form" in request.headers.get("content-type", "") else _CLIENT

    def _resource(self, one: Fetched, said: JsonObject) -> Fetched:
        servers = said.get("authorization_servers")
        advertised = [str(each) for each in servers] if isinstance(servers, list) else []
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
            _, refusal, why = error.message.partition(f"{CANNOT} {host}: ")
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
