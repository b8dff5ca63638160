"""What a server asks of its client, between the SDK in the servers' thread and Toolsight's own side."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import copy_context
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

from mcp import types
from mcp.client.session import ClientRequestContext
from pydantic import ConfigDict, TypeAdapter, ValidationError

from inspector import __version__
from inspector.config.configuration import protocol_form
from inspector.core.error import ClientRefusal
from inspector.core.events import CallProgress, Event
from inspector.core.settings import ClientCapabilities
from inspector.mcp.client.task import RELATED
from inspector.mcp.client.translate import flaw_text
from inspector.mcp.elicitation import QUESTIONS_A_CALL, Action, ElicitationRequest, FormRequest, LinkRequest
from inspector.mcp.port import SessionClient
from inspector.mcp.question import sampling_request
from inspector.schema.json_value import as_object, shown

# The time that a call may take, without the time in which a person is asked.


PROGRESS: Final = "notifications/progress"
_REPORT_EVERY = 1.0
_LONGEST_REPORT = 200


class Patience:
    """The time limits of a server's running calls; while its server asks a person, none goes on."""

    def __init__(self) -> None:
        self._limits: dict[asyncio.Timeout, float] = {}
        self._questions = 0

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncGenerator[asyncio.Timeout, None]:
        """Like `asyncio.timeout`, in the event loop of the server."""
        async with asyncio.timeout(None if self._questions else seconds) as limit:
            self._limits[limit] = seconds
            try:
                yield limit
            finally:
                self._limits.pop(limit, None)

    def lift(self, limit: asyncio.Timeout) -> None:
        """Let a running limit never end its call: who follows the call does."""
        del self._limits[limit]
        limit.reschedule(None)

    def renew(self, limit: asyncio.Timeout, seconds: float) -> None:
        """Let a running limit begin anew."""
        if limit not in self._limits:
            return
        if self._questions:
            self._limits[limit] = seconds
        elif not limit.expired():
            limit.reschedule(asyncio.get_running_loop().time() + seconds)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A person is asked; the limits go on where they were after the last answer."""
        now = asyncio.get_running_loop().time
        if not self._questions:
            for limit in self._running:
                self._limits[limit] = max((limit.when() or now()) - now(), 0)
                limit.reschedule(None)
        self._questions += 1
        try:
            yield
        finally:
            self._questions -= 1
            if not self._questions:
                for limit in self._running:
                    limit.reschedule(now() + self._limits[limit])

    @property
    def is_expired(self) -> bool:
        """Whether a call is ended now because its time is over."""
        return any(limit.expired() for limit in self._limits)

    @property
    def _running(self) -> list[asyncio.Timeout]:
        """The limits that can be moved: one that has expired stays until its call has noticed."""
        return [limit for limit in self._limits if not limit.expired()]


# How often a server asks a person while it works on tool calls.


class CallQuestions:
    """Counts the questions of the running calls together: older servers do not say whose they are."""

    def __init__(self) -> None:
        self._running = 0
        self._left = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """A call runs. What it does not use is for the others, until none runs."""
        self._running += 1
        self._left += QUESTIONS_A_CALL
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self._left = 0

    def is_excess(self) -> bool:
        """Count a question; whether it is one too many. Between calls none is: nothing waits for it."""
        if not self._running:
            return False
        self._left -= 1
        return self._left < 0


T = TypeVar("T")
# The specification's code for a person's no to sampling.
_REJECTED = -1
_KINDS: Mapping[object, type[types.InputRequest]] = {
    "elicitation/create": types.ElicitRequest,
    "sampling/createMessage": types.CreateMessageRequest,
    "roots/list": types.ListRootsRequest,
}
_Sampled = types.CreateMessageResult | types.CreateMessageResultWithTools
R = TypeVar("R", bound=types.Result)
_ROOTS, _ELICITED = TypeAdapter(types.ListRootsResult), TypeAdapter(types.ElicitResult)
_SAMPLED = TypeAdapter[_Sampled](_Sampled, config=ConfigDict(defer_build=True))


class ServerRequests:
    """Answers a server's requests with Toolsight's side of its connection, which lives in another event loop.

    Without a `client`, everything is refused. While a person is asked, the time of calls stands still.
    """

    def __init__(self, server: str, client: SessionClient | None, home: asyncio.AbstractEventLoop) -> None:
        """`home` is the event loop that `client` lives in."""
        self.patience = Patience()
        self._calls = CallQuestions()
        self._numbers = count(1)
        self._server = server
        self._client = client
        self._home = home

    @property
    def capabilities(self) -> ClientCapabilities | None:
        """What is declared; None for nothing."""
        return self._client.capabilities if self._client is not None else None

    def declaration(self, *, is_modern: bool = False) -> dict[str, Any]:
        """The capabilities as the protocol writes them; those of a relay may be fewer in one call."""
        if (own := self.capabilities) is None:
            return {}
        relay = self._client.relay if self._client is not None and is_modern else None
        return protocol_form(relay.declares(own) if relay is not None else own, is_modern=is_modern)

    @property
    def identity(self) -> types.Implementation:
        """Toolsight's own name and version, or those of another client that are to be declared."""
        client = self.capabilities
        if client is not None and client.name:
            return types.Implementation(name=client.name, version=client.version or "0")
        own = client.version if client is not None else ""
        return types.Implementation(name="toolsight", version=own or __version__)

    @asynccontextmanager
    async def call(self, timeout: float) -> AsyncGenerator[asyncio.Timeout, None]:
        """A tool call's time limit in seconds, within which its server may ask a few questions."""
        with self._calls.running():
            async with self.patience.limit(timeout) as limit:
                yield limit

    async def roots(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the SDK passes it by name
    ) -> types.ListRootsResult | types.ErrorData:
        """Answer `roots/list`."""
        return await self._for_sdk(types.ListRootsRequest(), _ROOTS, types.METHOD_NOT_FOUND)

    async def elicit(
        self,
        context: ClientRequestContext,  # noqa: ARG002
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        """Answer `elicitation/create`."""
        return await self._for_sdk(types.ElicitRequest(params=params), _ELICITED, types.INVALID_PARAMS)

    async def sample(
        self,
        context: ClientRequestContext,  # noqa: ARG002
        params: types.CreateMessageRequestParams,
    ) -> _Sampled | types.ErrorData:
        """Answer `sampling/createMessage`."""
        request = types.CreateMessageRequest(params=params)
        return await self._for_sdk(request, _SAMPLED, types.METHOD_NOT_FOUND)

    async def _for_sdk(
        self, request: types.InputRequest, kind: TypeAdapter[R], undeclared: int
    ) -> R | types.ErrorData:
        """The answer as the SDK's `kind`; a refusal is an error, by that code for what was not declared."""
        try:
            answer = kind.validate_python(await self._single(request), by_name=False)
        except ClientRefusal as refusal:
            code = _REJECTED if refusal.was_declared else undeclared
            return types.ErrorData(code=code, message=refusal.message)
        except ValidationError as error:
            told = f"the client's answer cannot be read: {flaw_text(error)}"
            return types.ErrorData(code=types.INVALID_PARAMS, message=told)
        meta: Mapping[str, Any] = (request.params.meta if request.params is not None else None) or {}
        if RELATED in meta:
            # An answer is for the same task as its question (2025-11-25).
            answer.meta = {RELATED: meta[RELATED]}
        return answer

    async def answers(self, requests: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer the requests inside a result that needs input (2026-07-28), by their keys.

        A relay gets and answers them as they are. Raises ClientRefusal for the first that is refused, or
        cannot be read.
        """
        return await self._answered(requests, {key: _read(request) for key, request in requests.items()})

    async def _single(self, request: types.InputRequest) -> Any:
        # A task may not ask two things by one key.
        key = f"asked-{next(self._numbers)}"
        raw = request.model_dump(by_alias=True, exclude_none=True, mode="json")
        return (await self._answered({key: raw}, {key: request})).get(key)

    async def _answered(
        self, requests: Mapping[str, Any], read: Mapping[str, types.InputRequest]
    ) -> Mapping[str, Any]:
        """What the relay answers, if it can be asked all of it; else each by itself, or Toolsight."""
        if self._client is not None and self._client.relay is not None:
            about = {key: self._question(one.params) for key, one in read.items()}
            with self.patience.paused():
                given = await self._asked(lambda client: client.hand_on(requests, about))
            if given is not None:
                return given
        if len(read) > 1:
            each = [await self._answered({key: requests[key]}, {key: one}) for key, one in read.items()]
            return dict(item for given in each for item in given.items())
        return {key: await self._own(one) for key, one in read.items()}

    async def _own(self, request: types.InputRequest) -> dict[str, Any]:
        """Toolsight's answer as the protocol writes it. Raises ClientRefusal."""
        if isinstance(request, types.ListRootsRequest):
            found = await self._asked(lambda client: client.roots())
            return {"roots": [{"uri": Path(path).as_uri()} for path in found]}
        question = self._question(request.params, is_excess=self._calls.is_excess())
        assert question is not None
        with self.patience.paused():
            answer = await self._asked(lambda client: client.elicit(question))
        is_yes, said = answer.action is Action.ACCEPT, answer.content
        if not isinstance(request, types.CreateMessageRequest):
            filled = {"content": dict(said or {})} if is_yes and isinstance(question, FormRequest) else {}
            return {"action": answer.action.value, **filled}
        if not is_yes or said is None:
            why = f": {answer.why}" if answer.why else ""
            raise ClientRefusal(f"the person declined{why}", was_declared=True)
        text = {"type": "text", "text": said["text"]}
        return {"role": "assistant", "content": text, "model": said["by"], "stopReason": said["stop"]}

    async def visits(self, data: object) -> bool:
        """Ask for the visits that an error of a call demands (2025-11-25); False unless all are agreed to.

        Raises ClientRefusal.
        """
        try:
            demanded = types.ElicitationRequiredErrorData.model_validate(data, by_name=False).elicitations
        except ValidationError as error:
            raise ClientRefusal(f"it cannot be read: {flaw_text(error)}") from error
        for params in demanded:
            given = as_object(await self._single(types.ElicitRequest(params=params)))
            if given.get("action") != Action.ACCEPT:
                return False
        return bool(demanded)

    def note(self, event: Event) -> None:
        """Record what happened on the connection."""
        if self._client is not None:
            self._home.call_soon_threadsafe(self._client.note, event)

    def heard(self, method: str, params: Mapping[str, Any]) -> None:
        """Pass on a notification, if anybody listens."""
        if self._client is not None and self._client.listens:
            self._home.call_soon_threadsafe(self._client.heard, method, params)

    def follower(self) -> Callable[[Mapping[str, Any]], object] | None:
        """Gets a call's task as its server describes it; None if no relay follows it."""
        relay = self._client.relay if self._client is not None else None
        if relay is None or not relay.follows():
            return None
        return lambda task: self._home.call_soon_threadsafe(relay.task, task)

    def _question(self, params: object, *, is_excess: bool = False) -> ElicitationRequest | None:
        """What is asked and recorded; None for the list of roots."""
        match params:
            case types.CreateMessageRequestParams():
                asked = params.model_dump(by_alias=True, exclude_none=True, mode="json")
                return sampling_request(self._server, asked, is_excess=is_excess)
            case types.ElicitRequestURLParams(message=message, url=url):
                return LinkRequest(self._server, message, url, is_excess)
            case types.ElicitRequestFormParams(message=message, requested_schema=schema):
                return FormRequest(self._server, message, schema, is_excess)
        return None

    async def _asked(self, ask: Callable[[SessionClient], Coroutine[Any, Any, T]]) -> T:
        """Ask Toolsight's side where it lives. Raises ClientRefusal."""
        if self._client is None:
            raise ClientRefusal("the client did not declare it")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ask(self._client), self._home))


def _read(raw: object) -> types.InputRequest:
    """A request inside a result, as the SDK's. Raises ClientRefusal."""
    method = as_object(raw).get("method")
    if (kind := _KINDS.get(method if isinstance(method, str) else "")) is None:
        raise ClientRefusal(f"its request is none that a client knows: {shown(method)}")
    try:
        return kind.model_validate(raw, by_name=False)
    except ValidationError as error:
        raise ClientRefusal(f"its {method} cannot be read: {flaw_text(error)}") from error


class ProgressReport:
    """Takes what a server reports of one call: `goes_on` hears of all of it, and one a second is recorded."""

    def __init__(self, tool: str, requests: ServerRequests, goes_on: Callable[[], None]) -> None:
        self.is_begun = False
        self._tool = tool
        self._requests = requests
        self._goes_on = goes_on
        self._next = 0.0
        # The SDK reports in the connection's context; who relays it has to know the call.
        self._context = copy_context()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.is_begun = True
        self._goes_on()
        told = {"progress": progress, "total": total, "message": message}
        self._context.run(self._requests.heard, PROGRESS, told)
        now = asyncio.get_running_loop().time()
        if now >= self._next:
            self._next = now + _REPORT_EVERY
            said = (message or "")[:_LONGEST_REPORT]
            self._requests.note(CallProgress(self._tool, progress, total, said))
