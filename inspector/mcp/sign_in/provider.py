"""The SDK's OAuth flow, held to what Toolsight allows: whom it asks, how much it reads, what is kept."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.utils import extract_field_from_www_auth, union_scopes
from mcp.shared.auth import (
    JWT_BEARER_GRANT_TYPE,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import BaseModel

from inspector.core.error import AuthRequired, StoreError
from inspector.core.server import Grant, OAuthClient, ServerSpec
from inspector.mcp.elicitation import address
from inspector.mcp.sign_in.exchange import (
    FORBIDDEN,
    UNAUTHORIZED,
    Trail,
    is_refusal,
    limited,
    refused,
    require_answer,
    require_place,
    same_issuer,
)
from inspector.mcp.sign_in.kept import SignIn, SignIns, learn_secrets
from inspector.mcp.sign_in.machine import token_request
from inspector.mcp.sign_in.person import Redirect, SignInWay, Visitor

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
        known = await asyncio.to_thread(way.kept.get, spec.url)
        async with Redirect().opened(spec.oauth.port, preferred=_port(known)) as redirect:
            yield ServerAuth(spec, way.kept, way.visitor, redirect)


def _port(known: SignIn | None) -> int:
    """The port to which the client that is registered already may be led back; 0 for any."""
    uris = known.client.get("redirect_uris") if known is not None else None
    return (urlsplit(uris[0]).port or 0) if uris else 0


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
                "grant_types": _GRANT_TYPES[spec.oauth.grant],
                "application_type": "native",
            }
        )
        document = spec.oauth.metadata_url or None
        super().__init__(spec.url, metadata, _Storage(self), self._show, self._answer, document)

    # The requests.

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        trail = Trail(str(self._url), self._given)
        with suppress(StopAsyncIteration), trail.explained():
            known: httpx2.Response | None = None
            if (used := await self._signed(request)) is not None:
                known = yield request
                if not is_refusal(known) or await self._is_final(known, used):
                    return
                if used != self._token or not self._initialized:
                    # Another request has signed in meanwhile, or the token can be refreshed.
                    known = None
            # Closed here, in its own task: the SDK's lock is freed by none but that.
            async with AsyncExitStack() as alone, aclosing(super()._auth_flow(request)) as flow:
                await alone.enter_async_context(self._refreshing())
                outgoing = await anext(flow)
                while True:
                    if outgoing is request and known is not None:
                        response, known = known, None
                    else:
                        response = yield await self._permitted(outgoing, request, alone)
                    if outgoing is request:
                        trail.add(outgoing, response, b"")
                        if not self._can_sign_in:
                            # Whether this is an answer or a refusal, nothing else may follow.
                            return
                    else:
                        trail.add(outgoing, response, await response.aread())
                        await require_answer(response, self._url)
                    outgoing = await flow.asend(response)

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
        if refusal.status_code == UNAUTHORIZED and self.context.can_refresh_token():
            if used == self._token:
                self._rejected, self._initialized = used, False
            return False
        scope = extract_field_from_www_auth(refusal, "scope")
        if refusal.status_code == FORBIDDEN and scope and self._token:
            self._wants = union_scopes(self._wants, scope) or ""
            if not self._can_sign_in:
                await self._keep()
        return not self._can_sign_in

    @asynccontextmanager
    async def _refreshing(self) -> AsyncGenerator[None, None]:
        """Alone with what is kept, if that can be refreshed: a refresh token is valid once."""
        if self._redirect is not None or not self.context.can_refresh_token():
            yield
            return
        async with self._kept.refreshing(str(self._url)):
            # Another process may have done it.
            self._initialized = False
            yield

    async def _permitted(
        self, outgoing: httpx2.Request, request: httpx2.Request, alone: AsyncExitStack
    ) -> httpx2.Request:
        """A request of the flow, limited; raises AuthRequired where it may not go."""
        if outgoing is request:
            # It may take its time, and what was to be refreshed is.
            await alone.aclose()
        else:
            if self._registered is not None and self.context.client_info is None:
                # The SDK drops a client whose issuer is another one, and would register a new one there.
                raise refused(self._url.host, f"it leads to another issuer than {self._given.issuer}")
            require_place(outgoing.url, self._url)
            outgoing.extensions = {**outgoing.extensions, **limited()}
        return outgoing

    # The client and the person.

    def _select_authorization_server(self, advertised: list[str]) -> str:
        # One that a person names counts as it is written: Google's own metadata differ by a slash.
        ours = (self._given.issuer for one in advertised if same_issuer(one, self._given.issuer))
        return next(ours, advertised[0])

    async def _perform_authorization(self) -> httpx2.Request:
        metadata, is_machine = self.context.client_metadata, self._given.is_machine
        if is_machine and self._given.scope:
            # No person sees what a server adds to them.
            metadata.scope = None
        for more in (self._given.scope, self._wants):
            metadata.scope = union_scopes(metadata.scope, more)
        if is_machine:
            return await token_request(self._given, self.context)
        return await super()._perform_authorization()

    async def _show(self, where: str) -> None:
        _require_visitable(where, self._url)
        self._address = where

    async def _answer(self) -> AuthorizationCodeResult:
        assert self._redirect is not None
        assert self._visitor is not None
        visit = self._visitor.visit(self._server, self._address)
        answer = await self._redirect.answered(asyncio.create_task(visit))
        if [answer.get("state")] != parse_qs(urlsplit(self._address).query).get("state"):
            raise refused(self._url.host, "the answer belongs to another sign-in (its state differs)")
        if "error" in answer:
            said = f"{answer['error']} {answer.get('error_description', '')}".strip()
            raise refused(self._url.host, f"the issuer said no: {said}")
        self._wants = ""
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))

    # What is kept.

    async def _initialize(self) -> None:
        self._initialized = True
        self.context.client_info = self._registered
        if self._given.is_machine:
            return
        found = await asyncio.to_thread(self._kept.get, str(self._url))
        context = self.context
        if found is None or self._is_of_another(found):
            # If it was signed in, it is signed out: without its client, nothing is refreshed.
            return
        self._wants = self._wants or found.wants
        if self._redirect is not None:
            # A person signs in anew, with the client that is registered for this port.
            is_known = found.client.get("redirect_uris") == [self._redirect.uri]
            if is_known and not (self._registered or self._given.metadata_url):
                context.client_info = OAuthClientInformationFull.model_validate(found.client)
            return
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
        try:
            await asyncio.to_thread(self._kept.put, str(self._url), sign_in)
        except StoreError as error:
            raise AuthRequired(error.message, hint=error.hint) from error


def _require_visitable(where: str, server: httpx2.URL) -> None:
    """Raise AuthRequired for an address that no person should open."""
    seen = address(where)
    if not seen.opens:
        raise refused(server.host, f"the address to visit: {', '.join(seen.warnings)}")
    if httpx2.URL(where).userinfo:
        raise refused(server.host, "the address to visit has a user before its host")
    require_place(httpx2.URL(where), server)


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

_GRANT_TYPES = {
    Grant.AUTHORIZATION_CODE: ["authorization_code", "refresh_token"],
    Grant.CLIENT_CREDENTIALS: ["client_credentials"],
    Grant.JWT_BEARER: [JWT_BEARER_GRANT_TYPE],
}


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
            "grant_types": _GRANT_TYPES[given.grant],
            "issuer": given.issuer or None,
        }
    )


def _json(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_none=True)
