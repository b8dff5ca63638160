"""What a server asks while a call runs is asked of the client that called.

A client of 2026-07-28 cannot be asked: its call returns with the question, and it calls once more with the
answer, for which the server's call has waited.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_urlsafe
from typing import Any, Final
from urllib.request import url2pathname
from uuid import uuid4

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from mcp.types import INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from inspector.config.configuration import setting_values
from inspector.core.message import AssistantMessage
from inspector.core.settings import ClientCapabilities
from inspector.mcp.elicitation import CANCELLED, Action, ElicitationAnswer, ElicitationRequest, FormRequest
from inspector.mcp.question import SamplingRequest, accepted
from inspector.schema.json_value import JsonObject, as_object

Context = ServerRequestContext[Any, Any]
Asked = types.ElicitRequest | types.CreateMessageRequest | types.ListRootsRequest
_Given = types.ElicitResult | types.CreateMessageResult | types.ListRootsResult
_NO_REQUEST = "no client waits for this server"
_CANNOT = "the client does not declare it"
_NOT_TEXT = "the client's model can only be asked for text"
_UNREADABLE = "its answer cannot be read"
_KEY: Final = "asked"

EVERYTHING: Final = types.ClientCapabilities(
    elicitation=types.ElicitationCapability(
        form=types.FormElicitationCapability(), url=types.UrlElicitationCapability()
    ),
    sampling=types.SamplingCapability(),
    roots=types.RootsCapability(),
)


def declared(capabilities: types.ClientCapabilities | None) -> dict[str, Any]:
    """The settings that let Toolsight declare to servers what a client can be asked."""
    can = capabilities or types.ClientCapabilities()
    asks = can.elicitation
    # A client of 2025-06-18 declares no kinds: it takes forms.
    is_plain = asks is not None and asks.form is None and asks.url is None
    own = ClientCapabilities(
        roots=can.roots is not None,
        forms=asks is not None and (is_plain or asks.form is not None),
        links=asks is not None and asks.url is not None,
        sampling=can.sampling is not None,
    )
    return setting_values(own)


class Waiting:
    """A request that a client waits for; it lives on while a client of 2026-07-28 is asked.

    `server` is the one that works on it, "" before that is known.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.server = ""
        self.work: asyncio.Task[JsonObject] | None = None
        self.state = ""
        self._asked: asyncio.Future[Asked] = asyncio.get_running_loop().create_future()
        self._given: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()

    @property
    def is_older(self) -> bool:
        """Whether its client can be asked at any time."""
        return self.context.protocol_version not in MODERN_PROTOCOL_VERSIONS

    async def ask(self, asked: Asked, result: type[_Given]) -> Any:
        """Ask the client and return what it said, as `result`. Raises MCPError and ValidationError."""
        if self.is_older:
            related = ServerMessageMetadata(related_request_id=self.context.request_id)
            return await self.context.session.send_request(asked, result, metadata=related)
        self._given = asyncio.get_running_loop().create_future()
        self._asked.set_result(asked)
        return result.model_validate(await self._given, by_name=False)

    def resume(self, context: Context) -> None:
        """The client has called once more, with its answer."""
        self.context, self._asked = context, asyncio.get_running_loop().create_future()
        given = as_object(as_object(context.params).get("inputResponses")).get(_KEY)
        self._given.set_result(as_object(given))

    async def outcome(self) -> JsonObject:
        """The result, or one that asks for more. A client that leaves ends the work."""
        assert self.work is not None
        try:
            awaited: list[asyncio.Future[Any]] = [self.work, self._asked]
            await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.work.cancel()
            raise
        if self.work.done():
            return self.work.result()
        self.state = token_urlsafe()
        asked = self._asked.result().model_dump(by_alias=True, mode="json", exclude_none=True)
        return {"resultType": "input_required", "inputRequests": {_KEY: asked}, "requestState": self.state}


class ClientElicitor:
    """Asks the client whose request a server works on; see `Elicitor`. `first` is the first client's."""

    def __init__(self) -> None:
        self.first: Context | None = None
        self._waiting: list[Waiting] = []

    @contextmanager
    def waits(self, waiting: Waiting) -> Iterator[None]:
        """A client waits for the end of a request."""
        self._waiting.append(waiting)
        try:
            yield
        finally:
            self._waiting.remove(waiting)

    def contexts(self, server: str) -> list[Context]:
        """The requests that wait for a server, the oldest first."""
        return [waiting.context for waiting in self._waits_for(server)]

    def _waits_for(self, server: str) -> list[Waiting]:
        return [waiting for waiting in self._waiting if waiting.server == server]

    def asked(self, state: object) -> Waiting:
        """The request that waits for the answer with that `requestState`. Raises MCPError for no such."""
        for waiting in self._waiting:
            if waiting.state == state:
                return waiting
        raise MCPError(INVALID_PARAMS, "this requestState was not given out, or its question is over")

    async def folders(self, server: str) -> list[str] | None:
        """The folders of the client that called last, as absolute paths; None if it cannot be asked.

        Many servers ask as they start: then it is the `first` client, if that can be asked at any time.
        """
        first = [Waiting(self.first)] if self.first is not None else []
        waiting = [*(one for one in first if one.is_older), *self._waits_for(server)]
        if not waiting or not declared(waiting[-1].context.session.client_capabilities)["client.roots"]:
            return None
        try:
            given = await waiting[-1].ask(types.ListRootsRequest(), types.ListRootsResult)
        except (MCPError, ValidationError):
            return None
        return [url2pathname(root.uri.path or "") for root in given.roots]

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:
        """Ask the client that called last; declined for a client that cannot be asked."""
        waiting = self._waits_for(request.server)
        if not waiting:
            return ElicitationAnswer(Action.DECLINE, why=_NO_REQUEST)
        can = declared(waiting[-1].context.session.client_capabilities)
        if not can[_path(request)]:
            return ElicitationAnswer(Action.DECLINE, why=_CANNOT)
        try:
            return await _answered(waiting[-1], request)
        except (MCPError, ValidationError) as error:
            told = error.message if isinstance(error, MCPError) else _UNREADABLE
            return ElicitationAnswer(Action.DECLINE, why=f"the client: {told}")


def _path(request: ElicitationRequest) -> str:
    """The setting that says whether a client can be asked for that."""
    if isinstance(request, SamplingRequest):
        return "client.sampling"
    return "client.forms" if isinstance(request, FormRequest) else "client.links"


async def _answered(call: Waiting, request: ElicitationRequest) -> ElicitationAnswer:
    if isinstance(request, SamplingRequest):
        return await _sampled(call, request)
    params: types.ElicitRequestParams
    if isinstance(request, FormRequest):
        params = types.ElicitRequestFormParams(message=request.message, requested_schema=dict(request.schema))
    else:
        params = types.ElicitRequestURLParams(
            message=request.message, url=request.url, elicitation_id=uuid4().hex
        )
    given = await call.ask(types.ElicitRequest(params=params), types.ElicitResult)
    action = Action(given.action)
    return CANCELLED if action is Action.CANCEL else ElicitationAnswer(action, given.content)


async def _sampled(call: Waiting, request: SamplingRequest) -> ElicitationAnswer:
    """The answer of the client's model to a prompt of text."""
    if request.has_media:
        return ElicitationAnswer(Action.DECLINE, why=_NOT_TEXT)
    messages = [
        types.SamplingMessage(
            role="assistant" if isinstance(one, AssistantMessage) else "user",
            content=types.TextContent(type="text", text=one.text),
        )
        for one in request.messages
    ]
    params = types.CreateMessageRequestParams(
        messages=messages, system_prompt=request.system or None, max_tokens=request.max_tokens
    )
    given = await call.ask(types.CreateMessageRequest(params=params), types.CreateMessageResult)
    if not isinstance(given.content, types.TextContent):
        return ElicitationAnswer(Action.DECLINE, why=_NOT_TEXT)
    return accepted(given.content.text, given.model, request.tokens, 0, given.stop_reason or "endTurn")
