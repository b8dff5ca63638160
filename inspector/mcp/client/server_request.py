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
from pydantic import ConfigDict, FileUrl, TypeAdapter, ValidationError

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
_Answer = types.ElicitResult | _Sampled | types.ListRootsResult | types.ErrorData


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
        """The capabilities as the protocol writes them."""
        return protocol_form(self.capabilities, is_modern=is_modern) if self.capabilities is not None else {}

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
        handed: types.ListRootsResult | types.ErrorData | None = await self._handed_on(
            types.ListRootsRequest(), types.ListRootsResult
        )
        if handed is not None:
            return handed
        found = await self._asked(lambda client: client.roots(), types.METHOD_NOT_FOUND)
        if isinstance(found, types.ErrorData):
            return found
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(Path(path).as_uri())) for path in found])

    async def elicit(
        self,
        context: ClientRequestContext,  # noqa: ARG002
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        """Answer `elicitation/create`."""
        handed: types.ElicitResult | types.ErrorData | None = await self._handed_on(
            types.ElicitRequest(params=params), types.ElicitResult
        )
        if handed is not None:
            return handed
        request = self._question(params, is_excess=self._calls.is_excess())
        with self.patience.paused():
            answer = await self._asked(lambda client: client.elicit(request), types.INVALID_PARAMS)
        if isinstance(answer, types.ErrorData):
            return answer
        is_filled = isinstance(request, FormRequest) and answer.action is Action.ACCEPT
        content = dict(answer.content or {}) if is_filled else None
        return types.ElicitResult(action=answer.action.value, content=content, _meta=_related(params))

    async def sample(
        self,
        context: ClientRequestContext,  # noqa: ARG002
        params: types.CreateMessageRequestParams,
    ) -> _Sampled | types.ErrorData:
        """Answer `sampling/createMessage`."""
        handed: _Sampled | types.ErrorData | None = await self._handed_on(
            types.CreateMessageRequest(params=params), _Sampled
        )
        if handed is not None:
            return handed
        request = self._question(params, is_excess=self._calls.is_excess())
        with self.patience.paused():
            answer = await self._asked(lambda client: client.elicit(request), types.METHOD_NOT_FOUND)
        if isinstance(answer, types.ErrorData):
            return answer
        said = answer.content
        if answer.action is not Action.ACCEPT or said is None:
            return _error(_REJECTED, f"the person declined{f': {answer.why}' if answer.why else ''}")
        content = types.TextContent(type="text", text=said["text"])
        return types.CreateMessageResult(
            role="assistant",
            content=content,
            model=said["by"],
            stop_reason=said["stop"],
            _meta=_related(params),
        )

    async def answers(self, requests: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer the requests inside a result that needs input (2026-07-28), by their keys.

        A relay gets and answers them as they are. Raises ClientRefusal for the first that is refused, or
        cannot be read.
        """
        read = {str(key): _read_request(request) for key, request in requests.items()}
        given = await self._relayed(requests, read)
        if isinstance(given, types.ErrorData):
            raise ClientRefusal(given.message)
        if given is None:
            given = {key: await self._answer(one) for key, one in read.items()}
        return given

    async def _answer(self, request: types.InputRequest) -> dict[str, Any]:
        context: Any = None
        answer: _Answer
        match request:
            case types.ElicitRequest(params=params):
                answer = await self.elicit(context, params)
            case types.CreateMessageRequest(params=asked):
                answer = await self.sample(context, asked)
            case _:
                answer = await self.roots(context)
        if isinstance(answer, types.ErrorData):
            raise ClientRefusal(answer.message)
        return answer.model_dump(by_alias=True, exclude_none=True, mode="json")

    async def visits(self, data: object) -> bool:
        """Ask for the visits that an error of a call demands (2025-11-25); False unless all are agreed to.

        Raises ClientRefusal.
        """
        try:
            demanded = types.ElicitationRequiredErrorData.model_validate(data, by_name=False).elicitations
        except ValidationError as error:
            raise ClientRefusal(f"it cannot be read: {flaw_text(error)}") from error
        context: Any = None
        for params in demanded:
            answer = await self.elicit(context, params)
            if isinstance(answer, types.ErrorData):
                raise ClientRefusal(answer.message)
            if answer.action != Action.ACCEPT.value:
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

    async def _handed_on(self, request: types.InputRequest, kind: Any) -> Any:
        """What the relay answers to one request, as the SDK's `kind`; None if it cannot be asked that."""
        raw = request.model_dump(by_alias=True, exclude_none=True, mode="json")
        # A task may not ask two things by one key.
        key = f"asked-{next(self._numbers)}"
        given = await self._relayed({key: raw}, {key: request})
        if given is None or isinstance(given, types.ErrorData):
            return given
        try:
            answer: Any = TypeAdapter(kind).validate_python(given.get(key), by_name=False)
        except ValidationError as error:
            return _error(types.INVALID_PARAMS, f"the client's answer cannot be read: {flaw_text(error)}")
        answer.meta = _related(request.params) if request.params is not None else None
        return answer

    async def _relayed(
        self, requests: Mapping[str, Any], read: Mapping[str, types.InputRequest]
    ) -> Mapping[str, Any] | types.ErrorData | None:
        if self._client is None or self._client.relay is None:
            return None
        questions = {
            key: None if isinstance(one, types.ListRootsRequest) else self._question(one.params)
            for key, one in read.items()
        }
        with self.patience.paused():
            return await self._asked(lambda client: client.hand_on(requests, questions), types.INVALID_PARAMS)

    def _question(
        self, params: types.ElicitRequestParams | types.CreateMessageRequestParams, *, is_excess: bool = False
    ) -> ElicitationRequest:
        if isinstance(params, types.CreateMessageRequestParams):
            asked = params.model_dump(by_alias=True, exclude_none=True, mode="json")
            return sampling_request(self._server, asked, is_excess=is_excess)
        if isinstance(params, types.ElicitRequestURLParams):
            return LinkRequest(self._server, params.message, params.url, is_excess)
        return FormRequest(self._server, params.message, params.requested_schema, is_excess)

    async def _asked(
        self, ask: Callable[[SessionClient], Coroutine[Any, Any, T]], undeclared: int
    ) -> T | types.ErrorData:
        """Ask Toolsight's side where it lives; a refusal becomes an error, `undeclared` by its code."""
        if self._client is None:
            return _error(undeclared, "the client did not declare it")
        asked = asyncio.run_coroutine_threadsafe(ask(self._client), self._home)
        try:
            return await asyncio.wrap_future(asked)
        except ClientRefusal as refusal:
            return _error(_REJECTED if refusal.was_declared else undeclared, refusal.message)


def _read_request(raw: object) -> types.InputRequest:
    """A request inside a result, as the SDK's. Raises ClientRefusal."""
    method = as_object(raw).get("method")
    if (kind := _KINDS.get(method if isinstance(method, str) else "")) is None:
        raise ClientRefusal(f"its request is none that a client knows: {shown(method)}")
    try:
        return kind.model_validate(raw, by_name=False)
    except ValidationError as error:
        raise ClientRefusal(f"its {method} cannot be read: {flaw_text(error)}") from error


def _related(params: types.RequestParams) -> dict[str, Any] | None:
    """What says in an answer that it is for the same task as its question (2025-11-25)."""
    meta: Mapping[str, Any] = params.meta or {}
    return {RELATED: meta[RELATED]} if RELATED in meta else None


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


def _error(code: int, message: str) -> types.ErrorData:
    return types.ErrorData(code=code, message=message)
