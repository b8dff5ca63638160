"""The SDK's OAuth flow, held to what Toolsight allows: whom it asks, how much it reads, what is kept."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, urlsplit
from warnings import catch_warnings, simplefilter

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError, TokenStorage
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.utils import extract_field_from_www_auth, issuers_match, union_scopes
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import BaseModel, ValidationError

from inspector.core.error import AuthRequired
from inspector.core.server import OAuthClient, ServerSpec
from inspector.mcp.elicitation import address
from inspector.mcp.sign_in.kept import SignIn, SignIns, learn_secrets
from inspector.mcp.sign_in.person import Redirect, SignInWay, Visitor

# Answers of an issuer are a few kilobytes; no answer may hold up a sign-in for longer.
_LONGEST_ANSWER = 256 * 1024
_TIMEOUT = httpx2.Timeout(20.0).as_dict()
_LONGEST_REASON = 300
_UNAUTHORIZED, _FORBIDDEN = 401, 403
# When a token whose end nobody knows has ended: long ago.
_ENDED = 1.0


@asynccontextmanager
async def signing_in(spec: ServerSpec, way: SignInWay | None) -> AsyncGenerator[httpx2.Auth | None, None]:
    """What signs the requests to a server; None if its headers do."""
    if way is None or any(name.lower() == "authorization" for name in spec.headers):
        yield None
    elif way.visitor is None or spec.oauth.is_machine:
        yield ServerAuth(spec, way.kept, None, None)
    else:
        async with Redirect().opened(spec.oauth.port) as redirect:
            yield ServerAuth(spec, way.kept, way.visitor, redirect)


class ServerAuth(OAuthClientProvider):
    """Signs the requests to one server.

    Without a visitor nobody is asked and nothing is registered: a server that wants a sign-in gets no other
    request than those of the connection, and one that refreshes tokens. The SDK does all of this under one
    lock, which would let a slow call hold up every other; a request with a valid token takes none.
    """

    def __init__(
        self, spec: ServerSpec, kept: SignIns, visitor: Visitor | None, redirect: Redirect | None
    ) -> None:
        self._server, self._url, self._kept = spec.name, httpx2.URL(spec.url), kept
        self._visitor, self._redirect = visitor, redirect
        self._address, self._rejected, self._wants = "", "", ""
        self._given, self._can_sign_in = spec.oauth, redirect is not None or spec.oauth.is_machine
        self._registered = _registered(spec.oauth, redirect)
        metadata = OAuthClientMetadata.model_validate(
            {
                "client_name": "Toolsight",
                "redirect_uris": [redirect.uri] if redirect else None,
                "grant_types": _MACHINE if spec.oauth.is_machine else ["authorization_code", "refresh_token"],
                "application_type": "native",
            }
        )
        document = spec.oauth.metadata_url or None
        super().__init__(spec.url, metadata, _Storage(self), self._show, self._answer, document)

    # The requests.

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        try:
            known: httpx2.Response | None = None
            if (used := await self._signed(request)) is not None:
                known = yield request
                if not _is_refusal(known) or await self._is_final(known, used):
                    return
                if used != self._token or not self._initialized:
                    # Another request has signed in meanwhile, or the token can be refreshed.
                    known = None
            # Closed here, in its own task: the SDK's lock is freed by none but that.
            async with aclosing(super()._auth_flow(request)) as flow:
                outgoing = await anext(flow)
                while True:
                    if outgoing is request and known is not None:
                        response, known = known, None
                    else:
                        response = yield self._permitted(outgoing, request)
                        if outgoing is not request:
                            await _require_metadata(response, self._url)
                        elif not self._can_sign_in:
                            # Whether this is an answer or a refusal, nothing else may follow.
                            return
                    outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        except (OAuthFlowError, ValidationError, httpx2.StreamError) as error:
            raise _refused(self._url.host, str(error)) from error

    @property
    def _token(self) -> str:
        return self.context.current_tokens.access_token if self.context.current_tokens else ""

    async def _signed(self, request: httpx2.Request) -> str | None:
        """Sign a request; returns the token, "" without one, None if it has to be refreshed first."""
        if not self._initialized:
            await self._initialize()
        if not self._token:
            return ""
        if not self.context.is_token_valid():
            return None
        self._add_auth_header(request)
        return self._token

    async def _is_final(self, refusal: httpx2.Response, used: str) -> bool:
        """Whether nothing is tried after a refusal of a token: without a visitor, all but a refresh."""
        if refusal.status_code == _UNAUTHORIZED and self.context.can_refresh_token():
            if used == self._token:
                self._rejected, self._initialized = used, False
            return False
        if self._can_sign_in:
            return False
        scope = extract_field_from_www_auth(refusal, "scope")
        if refusal.status_code == _FORBIDDEN and scope and self._token:
            self._wants = union_scopes(self._wants, scope) or ""
            await self._keep()
        return True

    def _permitted(self, outgoing: httpx2.Request, request: httpx2.Request) -> httpx2.Request:
        """A request of the flow, limited; raises AuthRequired where it may not go."""
        if outgoing is not request:
            if self._registered is not None and self.context.client_info is None:
                # The SDK drops a client whose issuer is another one, and would register a new one there.
                raise _refused(self._url.host, f"it leads to another issuer than {self._given.issuer}")
            _require_place(outgoing.url, self._url)
            outgoing.extensions = {**outgoing.extensions, "timeout": _TIMEOUT, _LIMITED: True}
        return outgoing

    # The client and the person.

    def _select_authorization_server(self, advertised: list[str]) -> str:
        ours = (one for one in advertised if issuers_match(one, self._given.issuer))
        return next(ours, advertised[0])

    async def _perform_authorization(self) -> httpx2.Request:
        metadata = self.context.client_metadata
        for more in (self._given.scope, self._wants):
            metadata.scope = union_scopes(metadata.scope, more)
        if not self._given.is_machine:
            return await super()._perform_authorization()
        machine = _machine(self._given, self.context.server_url, self.context.storage)
        machine.context = self.context
        return await machine._perform_authorization()

    async def _show(self, where: str) -> None:
        seen = address(where)
        if not seen.opens:
            raise _refused(self._url.host, f"the address to visit: {', '.join(seen.warnings)}")
        if httpx2.URL(where).userinfo:
            raise _refused(self._url.host, "the address to visit has a user before its host")
        _require_place(httpx2.URL(where), self._url)
        self._address = where

    async def _answer(self) -> AuthorizationCodeResult:
        assert self._redirect is not None
        assert self._visitor is not None
        visit = self._visitor.visit(self._server, self._address)
        answer = await self._redirect.answered(asyncio.create_task(visit))
        if [answer.get("state")] != parse_qs(urlsplit(self._address).query).get("state"):
            raise _refused(self._url.host, "the answer belongs to another sign-in (its state differs)")
        if "error" in answer:
            said = f"{answer['error']} {answer.get('error_description', '')}".strip()
            raise _refused(self._url.host, f"the issuer said no: {said}")
        self._wants = ""
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))

    # What is kept.

    async def _initialize(self) -> None:
        self._initialized = True
        self.context.client_info = self._registered
        if self._given.is_machine:
            return
        found = await asyncio.to_thread(self._kept.get, str(self._url))
        if found is None or self._is_of_another(found):
            return
        self._wants = self._wants or found.wants
        if self._redirect is not None:
            # A person signs in anew.
            return
        context = self.context
        context.current_tokens = OAuthToken.model_validate(found.tokens)
        context.client_info = self._registered or OAuthClientInformationFull.model_validate(found.client)
        # Without these the SDK would send a refresh token to the server itself.
        context.oauth_metadata = OAuthMetadata.model_validate(found.issuer) if found.issuer else None
        resource = ProtectedResourceMetadata.model_validate(found.resource) if found.resource else None
        context.protected_resource_metadata = resource
        context.auth_server_url = str(resource.authorization_servers[0]) if resource else None
        context.token_expiry_time = _ENDED if self._token == self._rejected else found.expires_at

    def _is_of_another(self, found: SignIn) -> bool:
        """Whether another client signed in than the one that is configured now."""
        return self._registered is not None and found.client.get("client_id") != self._registered.client_id

    async def _keep(self) -> None:
        context = self.context
        assert context.current_tokens is not None
        assert context.client_info is not None
        sign_in = SignIn(
            _json(context.current_tokens),
            _json(context.client_info),
            issuer=_json(context.oauth_metadata) if context.oauth_metadata else None,
            resource=_json(context.protected_resource_metadata)
            if context.protected_resource_metadata
            else None,
            expires_at=context.token_expiry_time,
            wants=self._wants,
        )
        await asyncio.to_thread(self._kept.put, str(self._url), sign_in)


class _Storage:
    """The SDK's storage. A client is kept only with its tokens: a sign-in that fails leaves nothing."""

    def __init__(self, auth: ServerAuth) -> None:
        self._auth = auth

    async def get_tokens(self) -> OAuthToken | None:
        return self._auth.context.current_tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        learn_secrets(_json(tokens))
        if not self._auth._given.is_machine:
            await self._auth._keep()

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._auth.context.client_info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        learn_secrets(_json(client_info))


# The client that is configured.

_MACHINE = ["client_credentials"]


def _registered(given: OAuthClient, redirect: Redirect | None) -> OAuthClientInformationFull | None:
    """The client as the SDK has it; None if none is registered yet."""
    if not given.client_id:
        return None
    method = given.method or ("client_secret_basic" if given.client_secret else "none")
    return OAuthClientInformationFull.model_validate(
        {
            "client_id": given.client_id,
            "client_secret": given.client_secret or None,
            "token_endpoint_auth_method": "private_key_jwt" if given.private_key else method,
            "redirect_uris": [redirect.uri] if redirect else None,
            "grant_types": _MACHINE if given.is_machine else ["authorization_code", "refresh_token"],
            "issuer": given.issuer or None,
        }
    )


def _machine(given: OAuthClient, url: str, storage: TokenStorage) -> OAuthClientProvider:
    """The SDK's provider for a client that signs in for itself."""
    issuer = given.issuer or None
    with catch_warnings():
        # Without an issuer the server chooses who gets the secret, which docs/configuration.md says.
        simplefilter("ignore", MCPDeprecationWarning)
        if not given.private_key:
            return ClientCredentialsOAuthProvider(
                url, storage, given.client_id, given.client_secret, issuer=issuer
            )
        signed = SignedJWTParameters(
            issuer=given.client_id,
            subject=given.client_id,
            signing_key=given.private_key,
            signing_algorithm=given.algorithm,
        ).create_assertion_provider()
        return PrivateKeyJWTOAuthProvider(url, storage, given.client_id, signed, issuer=issuer)


# What the flow may do.

_RESOURCE = "/oauth-protected-resource"
_LIMITED = "toolsight.limited"


async def limit(response: httpx2.Response) -> None:
    """Limit what is read of an answer of the flow, or of a refusal that may begin one: an event hook."""
    is_of_flow = response.request.extensions.get(_LIMITED)
    if not is_of_flow and response.status_code not in (_UNAUTHORIZED, _FORBIDDEN):
        return
    if isinstance(response.stream, httpx2.AsyncByteStream):
        packed = response.headers.get("content-encoding", "identity") != "identity"
        response.stream = _Limited(response.stream, 0 if packed else _LONGEST_ANSWER)


LIMITS: Mapping[str, Any] = {"event_hooks": {"response": [limit]}}
"""What a client needs whose requests sign in."""


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int) -> None:
        self._inner = inner
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > self._most:
                raise httpx2.StreamError("its answer is compressed or too large")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def _is_refusal(response: httpx2.Response) -> bool:
    """Whether the server wants a sign-in, or one with more scopes."""
    if response.status_code == _FORBIDDEN:
        return extract_field_from_www_auth(response, "error") == "insufficient_scope"
    return response.status_code == _UNAUTHORIZED


def _require_place(url: httpx2.URL, server: httpx2.URL) -> None:
    """Raise AuthRequired unless it is https, or like the server on this machine.

    A server elsewhere must not lead into this machine's network.
    """
    if _is_near(server.host):
        if url.scheme == "https" or (url.scheme == "http" and _is_near(url.host)):
            return
    elif url.scheme == "https" and not _is_near(url.host):
        return
    raise _refused(server.host, f"it leads to {url.scheme}://{url.host}, where no sign-in may go")


async def _require_metadata(response: httpx2.Response, server: httpx2.URL) -> None:
    """Raise AuthRequired for an answer of the flow that leads to another host, or for invalid metadata.

    The SDK would go on as if there was none. A page in its place, as many sites have one for every path,
    counts as none.
    """
    if response.next_request is not None and response.next_request.url.host != response.request.url.host:
        raise _refused(server.host, f"it redirects to {response.next_request.url.host}")
    is_json = "json" in response.headers.get("content-type", "")
    if response.request.method != "GET" or response.status_code != httpx2.codes.OK or not is_json:
        return
    body = await response.aread()
    is_resource = _RESOURCE in response.request.url.path or b'"authorization_servers"' in body
    model = ProtectedResourceMetadata if is_resource else OAuthMetadata
    try:
        model.model_validate_json(body)
    except ValidationError as error:
        flaw = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, flaw["loc"]))
        raise _refused(server.host, f"invalid metadata ({where}: {flaw['msg']})") from error


def _is_near(host: str) -> bool:
    """Whether it names this machine or its network."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False


def _refused(host: str, reason: str) -> AuthRequired:
    return AuthRequired(
        f"cannot sign in to {host}: {reason[:_LONGEST_REASON]}",
        hint="Nothing was kept. Try again, or tell its operator.",
    )


def _json(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_none=True)
