"""What servers ask while a call runs is asked of the client that called, in the servers' own words.

A client of 2026-07-28 cannot be asked: its call returns with every question that is open, and it calls once
more with the answers, for which the server's call has waited. A client that knows tasks gets the task that
its call became (SEP-2663); the call goes on behind it, and questions and result come with the polls.
"""

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from secrets import token_urlsafe
from typing import Any, Final
from uuid import uuid4

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from msgspec.structs import replace
from pydantic import RootModel, ValidationError

from inspector.core.error import ClientRefusal
from inspector.core.settings import ClientCapabilities
from inspector.mcp.client.translate import flaw_text
from inspector.mcp.elicitation import Relay
from inspector.schema.json_value import JsonObject, as_object, as_text

Context = ServerRequestContext[Any, Any]
TASKS: Final = "io.modelcontextprotocol/tasks"
# Seconds in which a client may answer, and how many clients may still come back for what they were promised.
_LONGEST_QUESTION, _MOST_KEPT = 600.0, 1_000
_ASKED = ("forms", "links", "sampling")
_Anything = RootModel[dict[str, Any]]
# What a task of 2025-11-25 calls otherwise; and what is added as the task goes.
_RENAMED = {"ttl": "ttlMs", "pollInterval": "pollIntervalMs"}
_ADDED = frozenset({"resultType", "_meta", "inputRequests", "result", "error", "status"})

EVERYTHING: Final = ClientCapabilities(sampling=True)
"""Whatever a client can be asked."""


def declared(capabilities: types.ClientCapabilities | None) -> ClientCapabilities:
    """What Toolsight declares to servers where this client can be asked."""
    can = capabilities or types.ClientCapabilities()
    asks = can.elicitation
    # A client of 2025-06-18 declares no kinds: it takes forms.
    is_plain = asks is not None and asks.form is None and asks.url is None
    return ClientCapabilities(
        roots=can.roots is not None,
        forms=asks is not None and (is_plain or asks.form is not None),
        links=asks is not None and asks.url is not None,
        sampling=can.sampling is not None,
    )


def _needs(request: JsonObject) -> str:
    """The capability that says whether a client can be asked that."""
    method, mode = request.get("method"), as_object(request.get("params")).get("mode")
    if method == "elicitation/create":
        return "links" if mode == "url" else "forms"
    return "sampling" if method == "sampling/createMessage" else "roots"


class _Question(Struct, frozen=True, eq=False):
    """Requests that belong together, and what is to come of them: the answers, by the requests' keys."""

    requests: Mapping[str, JsonObject]
    answers: asyncio.Future[JsonObject]


class Waiting:
    """A request that a client waits for; it lives on while a client of 2026-07-28 is asked, or polls.

    `server` is the one that works on it, "" before that is known.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.server = ""
        self.work: asyncio.Task[JsonObject] | None = None
        self.task: JsonObject = {}
        self._questions: list[_Question] = []
        self._news = asyncio.Event()

    @property
    def is_older(self) -> bool:
        """Whether its client can be asked at any time."""
        return self.context.protocol_version not in MODERN_PROTOCOL_VERSIONS

    @property
    def takes_tasks(self) -> bool:
        """Whether its client knows what to do with a task."""
        can = self.context.session.client_capabilities
        return not self.is_older and can is not None and TASKS in (can.extensions or {})

    @property
    def can(self) -> ClientCapabilities:
        """What its client can be asked."""
        return declared(self.context.session.client_capabilities)

    def begin(self, work: Coroutine[Any, Any, JsonObject]) -> None:
        """Do the work, which goes on after a client has got its task or its questions."""
        self.work = asyncio.create_task(work)
        self.work.add_done_callback(self._done)

    def _done(self, work: asyncio.Task[JsonObject]) -> None:
        # Its error may be nobody's.
        _ = work.cancelled() or work.exception()
        self._news.set()

    async def answers(self, requests: Mapping[str, JsonObject]) -> JsonObject:
        """What the client answers, by the requests' keys. Raises ClientRefusal."""
        if self.is_older:
            given = await asyncio.gather(*map(self._ask_now, requests.values()))
            return dict(zip(requests, given, strict=True))
        question = _Question(requests, asyncio.get_running_loop().create_future())
        self._questions.append(question)
        self._news.set()
        try:
            # Who follows a task may take as long as the task's server waits.
            async with asyncio.timeout(None if self.task else _LONGEST_QUESTION):
                return await question.answers
        except TimeoutError:
            raise ClientRefusal("the client did not call again with an answer") from None
        finally:
            self._questions.remove(question)

    async def _ask_now(self, request: JsonObject) -> JsonObject:
        params = as_object(request.get("params"))
        if params.get("mode") == "url":
            params = {"elicitationId": uuid4().hex, **params}
        asked: Any = types.Request[dict[str, Any], str](method=as_text(request.get("method")), params=params)
        related = ServerMessageMetadata(related_request_id=self.context.request_id)
        try:
            return (await self.context.session.send_request(asked, _Anything, metadata=related)).root
        except MCPError as error:
            raise ClientRefusal(error.message, was_declared=True) from error
        except ValidationError as error:
            raise ClientRefusal(f"the client's answer cannot be read: {flaw_text(error)}") from error

    def resume(self, context: Context, given: JsonObject) -> None:
        """The client has come back with answers; what it left out stays open."""
        self.context = context
        for question in self._open:
            if mine := {key: answer for key, answer in given.items() if key in question.requests}:
                question.answers.set_result(mine)

    @property
    def _open(self) -> list[_Question]:
        return [one for one in self._questions if not one.answers.done()]

    def went_on(self, task: JsonObject) -> None:
        """The work is a task, which its server describes like this now."""
        self.task = task
        self._news.set()

    async def outcome(self) -> JsonObject:
        """What the client gets now: the result, the task, or what is asked.

        A client that leaves before that ends the work.
        """
        assert self.work is not None
        try:
            while not (self.work.done() or self.task or self._open):
                self._news.clear()
                await self._news.wait()
        except asyncio.CancelledError:
            self.work.cancel()
            raise
        if self.work.done():
            return self.work.result()
        if self.task:
            return {**self._described, "resultType": "task", "status": "working"}
        return {"resultType": "input_required", "inputRequests": self._asks}

    @property
    def _asks(self) -> JsonObject:
        return {key: request for one in self._open for key, request in one.requests.items()}

    @property
    def _described(self) -> JsonObject:
        return {_RENAMED.get(name, name): value for name, value in self.task.items() if name not in _ADDED}

    def polled(self) -> JsonObject:
        """The task with its questions, its result or its error."""
        assert self.work is not None
        told, error = self.task.get("status"), self.task.get("error")
        if not self.work.done():
            asks = self._asks
            now = {"status": "input_required", "inputRequests": asks} if asks else {"status": "working"}
        elif self.work.cancelled() or told == "cancelled":
            now = {"status": "cancelled"}
        elif (failure := self.work.exception()) is not None:
            now = {"status": "failed", "error": {"code": INTERNAL_ERROR, "message": str(failure)}}
        elif told == "failed" and isinstance(error, dict):
            now = {"status": "failed", "error": error}
        else:
            now = {"status": "completed", "result": self.work.result()}
        return {**self._described, **now}


CALLING: ContextVar[Waiting | None] = ContextVar("calling", default=None)
"""The request that a server works on, in the context of that work, whatever thread it is in."""


class ClientRelay(Relay):
    """Asks the client whose request a server works on. `first` is the first client's."""

    def __init__(self) -> None:
        self.first: Context | None = None
        self._waiting: list[Waiting] = []
        # By the request states and task ids that clients come back with.
        self._promised: dict[str, Waiting] = {}

    @contextmanager
    def waits(self, waiting: Waiting) -> Iterator[None]:
        """A client waits for the end of a request."""
        self._waiting.append(waiting)
        CALLING.set(waiting)
        try:
            yield
        finally:
            self._waiting.remove(waiting)

    def contexts(self, server: str) -> list[Context]:
        """The requests that wait for a server, the oldest first; in the context of one, that alone."""
        if (calling := CALLING.get()) in self._waiting and calling is not None:
            return [calling.context]
        return [waiting.context for waiting in self._waiting if waiting.server == server]

    def _asked(self, server: str, requests: Mapping[str, JsonObject]) -> Waiting | None:
        """Whom to ask: who is known to wait, else who called that server last.

        Many servers ask for folders as they start: then it is the `first` client, if that can be asked.
        """
        if (calling := CALLING.get()) in self._waiting:
            return calling
        last = [waiting for waiting in self._waiting if waiting.server == server][-1:]
        if not last and self.first is not None and {*map(_needs, requests.values())} == {"roots"}:
            last = [one for one in (Waiting(self.first),) if one.is_older]
        return last[0] if last else None

    def declares(self, capabilities: ClientCapabilities) -> ClientCapabilities:
        """See Relay. Folders stay, as Toolsight's own answer where a client has none."""
        if (calling := CALLING.get()) is None:
            return capabilities
        both = {name: getattr(capabilities, name) and getattr(calling.can, name) for name in _ASKED}
        return replace(capabilities, **both)

    def takes(self, server: str, requests: Mapping[str, JsonObject]) -> bool:
        """See Relay."""
        if (waiting := self._asked(server, requests)) is None:
            return False
        return all(getattr(waiting.can, _needs(request)) for request in requests.values())

    async def answers(self, server: str, requests: Mapping[str, JsonObject]) -> JsonObject:
        """See Relay."""
        waiting = self._asked(server, requests)
        return await waiting.answers(requests) if waiting is not None else {}

    def follows(self) -> bool:
        """See Relay."""
        calling = CALLING.get()
        return calling is not None and calling.takes_tasks

    def task(self, task: JsonObject) -> None:
        """See Relay."""
        if (calling := CALLING.get()) is not None:
            id_ = calling.task.get("taskId") or self.promise(calling, as_text(task.get("taskId")))
            calling.went_on({**task, "taskId": id_})

    def promise(self, waiting: Waiting, key: str = "") -> str:
        """What a client comes back to this request with: the key, if no other request has it."""
        key = key if key and key not in self._promised else token_urlsafe()
        self._promised[key] = waiting
        if len(self._promised) > _MOST_KEPT:
            del self._promised[next(iter(self._promised))]
        return key

    def resumed(self, context: Context, state: object) -> Waiting:
        """The request that was given this `requestState`, with the client's answers. Raises MCPError."""
        waiting = self._promised.pop(as_text(state), None)
        if waiting is None:
            raise MCPError(INVALID_PARAMS, "this requestState was not given out, or its question is over")
        waiting.resume(context, as_object(as_object(context.params).get("inputResponses")))
        return waiting

    def task_answer(self, context: Context) -> JsonObject:
        """What a client gets that polls, answers or cancels its task. Raises MCPError."""
        params = as_object(context.params)
        waiting = self._promised.get(as_text(params.get("taskId")))
        if waiting is None or waiting.work is None or not waiting.task:
            raise MCPError(INVALID_PARAMS, "there is no such task, or it ended long ago")
        if context.method == "tasks/get":
            return waiting.polled()
        if context.method == "tasks/cancel":
            waiting.work.cancel()
        else:
            waiting.resume(context, as_object(params.get("inputResponses")))
        return {}

    async def end(self) -> None:
        """End what still runs for clients that are gone."""
        works = {waiting.work for waiting in self._waiting if waiting.work is not None}
        for work in works:
            work.cancel()
        if works:
            await asyncio.wait(works)
