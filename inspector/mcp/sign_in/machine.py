"""How a client signs in for itself: with its own credentials, or with a JWT that another issuer gives it."""

import asyncio
import re
from base64 import urlsafe_b64decode
from errno import ENOENT
from pathlib import Path
from warnings import catch_warnings, simplefilter

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.auth.utils import issuers_match
from mcp.shared.auth import JWT_BEARER_GRANT_TYPE
from mcp.shared.exceptions import MCPDeprecationWarning
from pydantic import BaseModel, ValidationError

from inspector.core.error import AuthRequired
from inspector.core.redaction import SECRETS
from inspector.core.server import Grant, OAuthClient
from inspector.mcp.sign_in.exchange import in_time, limited, limits, refused
from inspector.schema.json_value import read_object

# RFC 8693, section 3, and the type of an identity assertion grant (draft-ietf-oauth-identity-assertion).
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
_JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
_LONGEST_JWT = 64 * 1024


async def token_request(given: OAuthClient, context: OAuthContext) -> httpx2.Request:
    """The request for a token, once the flow has found the issuer. Raises AuthRequired."""
    if given.grant is Grant.JWT_BEARER:
        return await _bearer_request(given, context)
    provider = _credentials(given, context)
    provider.context = context
    return await provider._perform_authorization()


def _credentials(given: OAuthClient, context: OAuthContext) -> OAuthClientProvider:
    """The SDK's provider for client credentials."""
    url, storage, issuer = context.server_url, context.storage, given.issuer or None
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

        async def assertion(audience: str) -> str:
            try:
                return await signed(audience)
            except Exception as error:  # a key may be wrong in many ways
                told = f"the configured privateKey cannot sign with {given.algorithm}"
                raise AuthRequired(told, hint="Give it an unencrypted PEM key for that algorithm.") from error

        return PrivateKeyJWTOAuthProvider(url, storage, given.client_id, assertion, issuer=issuer)


async def _bearer_request(given: OAuthClient, context: OAuthContext) -> httpx2.Request:
    """The request of RFC 7523, section 2.1, which carries a JWT for the issuer, and for no other.

    The SDK's provider for it wants a secret of every client; a workload has none.
    """
    issuer, host = context.oauth_metadata, httpx2.URL(context.server_url).host
    if issuer is None:
        raise refused(host, f"the metadata of {given.issuer} cannot be read")
    if not issuers_match(str(issuer.issuer), given.issuer):
        raise refused(host, f"it leads to {issuer.issuer}, not to {given.issuer}")
    asked = {"resource": context.get_resource_url()}
    if context.client_metadata.scope:
        asked["scope"] = context.client_metadata.scope
    jwt = await _assertion(given)
    if given.idp_token_url:
        jwt = await _exchanged(jwt, given, {**asked, "audience": str(issuer.issuer)})
    form = {"grant_type": JWT_BEARER_GRANT_TYPE, "assertion": jwt, "client_id": given.client_id, **asked}
    form, headers = context.prepare_token_auth(form)
    return httpx2.Request("POST", str(issuer.token_endpoint), data=form, headers=headers)


async def _assertion(given: OAuthClient) -> str:
    """The JWT as it is now; whoever renews it writes it to the file again."""
    if not given.assertion_file:
        return _jwt(given.assertion, "the configured assertion")
    try:
        text = await asyncio.to_thread(_beginning, given.assertion_file)
    except OSError as error:
        told = f"cannot read {given.assertion_file}: {error.strerror}"
        raise AuthRequired(told, hint="It should hold the JWT to sign in with.") from error
    return _jwt(text, given.assertion_file)


def _beginning(path: str) -> str:
    if not Path(path).is_file():
        # A pipe would hold the thread until somebody writes to it.
        raise FileNotFoundError(ENOENT, "no file is there")
    with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
        return file.read(_LONGEST_JWT + 1)


def _jwt(text: str, source: str) -> str:
    """The text without blanks around it. Raises AuthRequired, lest any other file's content goes out."""
    found = text.strip()
    if len(text) > _LONGEST_JWT or not _JWT.fullmatch(found) or not _has_header(found):
        raise AuthRequired(f"no JWT in {source}", hint="A JWT is one line that begins with eyJ.")
    SECRETS.learn({"oauth.assertion.secret": found})
    return found


def _has_header(jwt: str) -> bool:
    """Whether the first part names an algorithm (RFC 7515, section 4.1.1)."""
    try:
        return "alg" in read_object(urlsafe_b64decode(jwt.partition(".")[0] + "=="))
    except ValueError:
        return False


class _Answer(BaseModel):
    """The identity provider's answer (RFC 8693, section 2.2)."""

    access_token: str | None = None
    issued_token_type: str | None = None
    error: str | None = None
    error_description: str | None = None


async def _exchanged(id_token: str, given: OAuthClient, asked: dict[str, str]) -> str:
    """What the identity provider gives for an ID token (MCP, Enterprise-Managed Authorization, section 4)."""
    where = httpx2.URL(given.idp_token_url)
    form = {
        "grant_type": _EXCHANGE,
        "requested_token_type": _ID_JAG,
        "subject_token": id_token,
        "subject_token_type": _ID_TOKEN,
        "client_id": given.idp_client_id,
        **asked,
    }
    if given.idp_client_secret:
        form["client_secret"] = given.idp_client_secret
    request = httpx2.Request("POST", where, data=form, extensions=limited())
    try:
        async with in_time(), httpx2.AsyncClient(**limits()) as client:
            response = await client.send(request)
        answer = _Answer.model_validate_json(response.content)
    except (httpx2.TransportError, httpx2.StreamError, TimeoutError) as error:
        why = str(error) if isinstance(error, httpx2.StreamError) else "it does not answer"
        raise refused(where.host, why) from error
    except ValidationError:
        # Its text has parts of the answer, which the SDK would log.
        raise refused(where.host, f"no token in its answer (HTTP {response.status_code})") from None
    if response.status_code != httpx2.codes.OK or answer.error:
        said = [each for each in (answer.error, answer.error_description) if each]
        raise refused(where.host, f"it said no: {' '.join(said) or f'HTTP {response.status_code}'}")
    if answer.issued_token_type != _ID_JAG:
        raise refused(where.host, f"not an ID-JAG, but {answer.issued_token_type or 'a token of no type'}")
    return _jwt(answer.access_token or "", f"the answer of {where.host}")
