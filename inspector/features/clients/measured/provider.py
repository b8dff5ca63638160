"""The person's own model in the stand-in's place: a client's requests go on to it, with the person's key."""

import os
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from inspector.core.error import ConfigError, ProtocolError
from inspector.core.redaction import clean
from inspector.core.text import one_line, shortened
from inspector.features.clients.measured.wire import Api

if TYPE_CHECKING:
    import httpx2
    from starlette.requests import Request
    from starlette.responses import Response

_SECONDS = 600.0
# A client has made-up keys; the others are of its connection to this machine.
_DROPPED: Final = frozenset(
    {"authorization", "x-api-key", "x-goog-api-key", "host", "connection", "content-length"}
    | {"content-encoding", "accept-encoding", "transfer-encoding"}
)
_KEPT = ("content-type", "retry-after")
_REFUSALS, _SHOWN = (401, 403, 404), 200


class _Known(Struct, frozen=True):
    """A provider: the APIs that it speaks, its address, variables for another and the key, and its header."""

    apis: tuple[Api, ...]
    address: str
    address_variable: str
    key_variable: str
    header: str
    value: str = "{}"


_KNOWN: Final[Mapping[str, _Known]] = {
    "anthropic": _Known(
        ("messages",),
        "https://api.anthropic.com",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_API_KEY",
        "x-api-key",
    ),
    "openai": _Known(
        ("chat", "responses"),
        "https://api.openai.com/v1",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "authorization",
        "Bearer {}",
    ),
    "gemini": _Known(
        ("gemini",),
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
        "GEMINI_API_KEY",
        "x-goog-api-key",
    ),
}


class Provider(Struct, frozen=True):
    """Where a model is asked, what it is called there, and the headers with the person's key."""

    name: str
    model: str
    apis: tuple[Api, ...]
    address: str
    headers: Mapping[str, str]

    async def respond(self, api: Api, path: str, request: "Request", body: bytes) -> "Response":
        """The provider's answer, as it comes.

        Raises ProtocolError for an API that it does not speak, and if it refuses the key or does not have the
        model: clients would only try again.
        """
        import httpx2
        from starlette.responses import JSONResponse, StreamingResponse

        if api not in self.apis:
            spoken = " and ".join(self.apis)
            hint = "Choose a model of another provider with --model."
            raise ProtocolError(f"the client speaks {api}, and {self.name} speaks {spoken}", hint=hint)
        headers = {name: text for name, text in request.headers.items() if name not in _DROPPED}
        # OpenAI's address has the version, as clients are given it.
        place = path.removeprefix("/v1") if "chat" in self.apis else path
        client = httpx2.AsyncClient(timeout=_SECONDS)
        asked = client.build_request(
            "POST",
            f"{self.address}{place}",
            params=str(request.query_params),
            content=body,
            headers={**headers, **self.headers},
        )
        try:
            answer = await client.send(asked, stream=True)
        except httpx2.HTTPError as error:
            await client.aclose()
            return JSONResponse({"error": {"message": f"{self.name} cannot be reached: {error}"}}, 502)
        if answer.status_code in _REFUSALS:
            said = clean(shortened(one_line((await answer.aread()).decode(errors="replace")), _SHOWN))
            await client.aclose()
            raise ProtocolError(f"{self.name} refused the request: HTTP {answer.status_code}", hint=said)
        told = {name: answer.headers[name] for name in _KEPT if name in answer.headers}
        return StreamingResponse(_parts(client, answer), answer.status_code, told)


async def _parts(client: "httpx2.AsyncClient", answer: "httpx2.Response") -> AsyncIterator[bytes]:
    try:
        async for part in answer.aiter_bytes():
            yield part
    finally:
        await client.aclose()


def provider_of(model: str) -> Provider:
    """Where PROVIDER/MODEL is asked. Raises ConfigError for an unknown provider, or without its key."""
    name, _, own = model.partition("/")
    known = _KNOWN.get(name)
    if known is None or not own:
        hint = f"Write PROVIDER/MODEL, with one of {', '.join(_KNOWN)}; others that speak as OpenAI does "
        raise ConfigError(
            f"there is no address known for the model '{model}'",
            hint=f"{hint}are openai, at the address in OPENAI_BASE_URL.",
        )
    key = os.environ.get(known.key_variable, "")
    if not key:
        raise ConfigError(f"{known.key_variable} is not set", hint="The client's requests need your own key.")
    address = os.environ.get(known.address_variable) or known.address
    return Provider(name, own, known.apis, address.rstrip("/"), {known.header: known.value.format(key)})
