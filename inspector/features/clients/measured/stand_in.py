"""A stand-in for a model's API on this machine, which a client is pointed at in the model's place.

It listens on the loopback interface alone, under an address with a random part, and takes any key without
looking at it. What it was sent is kept as files, without secrets, until so much has come.
"""

import asyncio
import json
import secrets
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from inspector.cli.asgi import on_free_port
from inspector.core.error import ProtocolError, ToolsightError
from inspector.core.redaction import clean, open_private, private_folder
from inspector.features.clients.measured.answer import answer, events
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.provider import Provider
from inspector.features.clients.measured.wire import api_of, read
from inspector.schema.json_value import JsonObject

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LARGEST_BODY: Final = 16 << 20
"""Bytes of a request; a larger one is refused."""
_LARGEST_RECORD, _MOST_CONNECTIONS = 64 << 20, 64
# Of the headers, only these are kept: what the client is, and what it wants of the API.
_KEPT_HEADERS = ("user-agent", "anthropic-beta", "anthropic-version", "openai-beta", "originator")
_CHARACTERS_A_TOKEN = 4
# A client is waited for until its servers are there: so often, for so long.
_TRIES, _WAIT_SECONDS = 300, 0.1


class StandIn(Struct, eq=False):
    """Answers as the conversation says; it has `begun`, and is `done`. `failure` keeps it from going on.

    `_progress` is told how many things of how many the client was asked to do. With a `provider` the person's
    own model answers, and nobody knows when it is done: the client ends by itself.
    """

    conversation: Conversation
    _folder: Path
    _progress: Callable[[int, int], None] = lambda _done, _total: None
    provider: Provider | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    failure: ToolsightError | None = None
    key: str = field(default_factory=lambda: secrets.token_hex(8))
    port: int = 0
    _kept: int = 0

    @property
    def address(self) -> str:
        """The base address for clients that add /v1 themselves; the others want it at the end."""
        return f"http://127.0.0.1:{self.port}/{self.key}"

    async def respond(self, request: "Request") -> "Response":
        """Answer one request; whatever is not a client's own request to this address is refused."""
        from starlette.responses import JSONResponse, Response

        path = request.url.path.removeprefix(f"/{self.key}")
        is_here = request.headers.get("host") in (f"127.0.0.1:{self.port}", f"localhost:{self.port}")
        if path == request.url.path or "origin" in request.headers or not is_here:
            # A page in a browser says where it comes from, or has another name for this machine.
            return JSONResponse({"error": {"message": "not for you"}}, 403)
        if request.method in ("GET", "HEAD"):
            return JSONResponse(_models(path)) if "/models" in path else Response(status_code=404)
        try:
            sent = await _body(request)
            body = json.loads(sent)
        except OverflowError:
            return JSONResponse({"error": {"message": "too large"}}, 413)
        except (ValueError, RecursionError, zlib.error):
            return JSONResponse({"error": {"message": "not JSON"}}, 400)
        if isinstance(body, dict) and body.get("tools"):
            await self._servers()
        return await self._answer(path, body, request, sent)

    async def _servers(self) -> None:
        """Wait until the client has asked the first server for its tools: some ask their model before.

        What it asks stands in a file, of which nobody tells.
        """
        for _ in range(_TRIES):
            if self.conversation.is_begun or self.conversation.log.is_listed():
                return
            await asyncio.sleep(_WAIT_SECONDS)

    async def _answer(self, path: str, body: Any, request: "Request", sent: bytes) -> "Response":
        from starlette.responses import JSONResponse, Response

        if path.endswith(("/count_tokens", ":countTokens")):
            counted = len(json.dumps(body)) // _CHARACTERS_A_TOKEN
            return JSONResponse({"input_tokens": counted, "totalTokens": counted})
        if (api := api_of(path)) is None:
            return JSONResponse({"error": {"message": "no such address"}}, 404)
        try:
            heard = read(api, body, path)
            calls, text = self.conversation.reply(heard)
            number = len(self.conversation.exchanges)
            self._keep(number, path, body, request)
            if self.provider is not None:
                return await self.provider.respond(api, path, request, sent)
        except ValueError as error:
            return JSONResponse({"error": {"message": str(error)}}, 400)
        except ProtocolError as error:
            self.failure = error
            self.done.set()
            return JSONResponse({"error": {"message": error.message}}, 400)
        self._progress(*self.conversation.progress)
        if self.conversation.is_begun:
            self.begun.set()
        if self.conversation.is_done:
            self.done.set()
        whole = answer(heard, number, calls, text)
        if heard.streamed:
            return Response("".join(events(api, whole)), media_type="text/event-stream")
        return JSONResponse(whole)

    def _keep(self, number: int, path: str, body: Any, request: "Request") -> None:
        """Keep a request in a file of its own."""
        headers = {name: request.headers[name] for name in _KEPT_HEADERS if name in request.headers}
        noted = self.conversation.exchanges[-1].noted
        kept = {"path": path, "headers": headers, "noted": noted, "body": body}
        text = json.dumps(clean(kept), indent=1)
        self._kept += len(text)
        if self._kept <= _LARGEST_RECORD:
            private_folder(self._folder)
            with open_private(self._folder / f"{number:03}.json", "w", encoding="utf-8") as file:
                file.write(text)


# So large that no client makes room in it.
_CONTEXT = 1_000_000


def _models(path: str) -> JsonObject:
    """The one model that there is, or a list of it, with the words that clients look for."""
    sizes = ("context_length", "context_window", "max_context_length", "max_input_tokens", "inputTokenLimit")
    one = {
        "id": "stand-in",
        "name": "models/stand-in",
        "object": "model",
        "type": "model",
        "display_name": "Stand-in",
        "created": 0,
        "supportedGenerationMethods": ["generateContent"],
        **dict.fromkeys(sizes, _CONTEXT),
    }
    if not path.endswith("/models"):
        return one
    return {"object": "list", "data": [one], "models": [one], "has_more": False}


async def _body(request: "Request") -> bytes:
    """Raises OverflowError for one that is too large, zlib.error for one that is not packed as it says."""
    parts, size = [], 0
    is_packed = request.headers.get("content-encoding") == "gzip"
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if is_packed else None
    async for part in request.stream():
        part = part if unpacker is None else unpacker.decompress(part, LARGEST_BODY + 1)
        size += len(part)
        if size > LARGEST_BODY:
            raise OverflowError("too large")
        parts.append(part)
    return b"".join(parts)


@asynccontextmanager
async def listening(stand_in: StandIn) -> AsyncIterator[StandIn]:
    """Listen on a free port of the loopback interface, until the context is left."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    app = Starlette(routes=[Route("/{path:path}", stand_in.respond, methods=methods)])
    async with on_free_port(app) as stand_in.port:
        yield stand_in
