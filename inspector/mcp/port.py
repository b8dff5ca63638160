"""What a session uses of servers, as interfaces: connections, what crosses them, and whom a server asks."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.error import ClientRefusal, ServerExited
from inspector.core.events import Decision as Decision, Event, ServerAnswered, ServerAsked, ServerAskedOften
from inspector.core.events.server import ServerQuestion
from inspector.core.message import OnTask, ToolResult
from inspector.core.ports import ToolListing
from inspector.core.redaction import SECRETS
from inspector.core.server import Era, ServerInfo, ServerSpec
from inspector.core.settings import ClientCapabilities
from inspector.mcp.elicitation import (
    LONGEST_MESSAGE,
    QUESTIONS_A_CALL,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormRequest,
    Relay,
    form_fields,
    recorded_address,
    without_secrets,
)
from inspector.mcp.frame import FrameLog
from inspector.mcp.question import ANSWER, BY, Sampler, SamplingRequest
from inspector.schema.json_value import JsonObject, as_list, as_object, as_text


def ignored(progress: object) -> None:
    """Takes progress that nobody is interested in."""


class ServerLink(Protocol):
    """An open connection to one server. Any task may use it; only its owner task closes it."""

    @property
    def info(self) -> ServerInfo: ...

    async def list_tools(self, progress: Callable[[int], None] = ignored) -> ToolListing:
        """List all pages; `progress` gets the number of tools after each that another one follows.

        A page that cannot be listed is skipped, with those after it. Raises ProtocolError if it is the first
        one, ServerExited if the server is gone.
        """

    async def call(
        self, tool: str, arguments: JsonObject, *, timeout: float, on_task: OnTask = ignored
    ) -> ToolResult:
        """Call a tool by its plain name. `timeout` is in seconds. A tool error is a value, not an exception.

        A call that its server runs as a task is followed to its result, and cancelled with the caller.

        Raises CallTimeout, ServerExited or ProtocolError.
        """

    async def request(self, method: str, params: JsonObject, *, timeout: float) -> JsonObject:
        """Send a request other than a tool call, and return its result. `timeout` is in seconds.

        Raises CallTimeout, ServerExited or ProtocolError.
        """

    async def wait_closed(self) -> ServerExited:
        """Wait until the connection is lost and return why."""

    def stderr_tail(self) -> str:
        """The last lines that the server's process wrote to stderr; empty for HTTP."""


class Opening(Struct, frozen=True):
    """How to open a connection: `era` is the one that worked last time, `on_tools_changed` only sets a flag.

    Without a `client` nothing is declared, and whatever the server asks for is refused.
    """

    era: Era | None = None
    on_tools_changed: Callable[[], None] = lambda: None
    client: "SessionClient | None" = None


class Connector(Protocol):
    """Opens connections. Entering the context raises ConnectError (with the stderr tail) on failure.

    After the spec's `connect_timeout` that is ConnectTimeout; a canceled entry leaves nothing running.
    """

    def connect(self, spec: ServerSpec, opening: Opening) -> AbstractAsyncContextManager[ServerLink]:
        """Connect."""


class Wire(Protocol):
    """What is exchanged with the servers, as it crosses the wire."""

    def frames(self, server: str) -> FrameLog:
        """The log of a server by its name, over all its connections; it is empty before the first."""


class Elicitor(Protocol):
    """Asks the person what a server wants to know, and waits as long as the answer takes.

    A question that is cancelled is taken away.
    """

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer: ...


Heard = Callable[[str, str, JsonObject], None]
"""Hears what a server tells its client: the server's name, a notification's method, and its parameters."""


class Nobody(Struct, frozen=True):
    """An `Elicitor` where there is nobody to ask."""

    why: str = "there is nobody to ask"

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:  # noqa: ARG002
        """Decline."""
        return ElicitationAnswer(Action.DECLINE, why=self.why)


# What the stream keeps of what a server asks its client: a bounded part, cut to what people read.

MOST_RECORDED: Final = 100
"""Requests of a kind that are recorded, of each connection; of further ones only that there are some."""
# In characters; and how many values of one list.
_LONGEST_RECORDED_ADDRESS = 2_000
_LONGEST_NAME = 100
_MOST_CHOSEN = 100


class Answer(Protocol):
    """Records the answer to one request."""

    def __call__(self, answer: str, why: str = "", content: JsonObject | None = None) -> None: ...


class ClientRecord:
    """Records the requests of one connection's server and their answers; each kind has its own limit.

    So no request can hide one of another kind by coming often. What was accepted is always recorded: a person
    did that.
    """

    def __init__(self, server: str, emit: Callable[[Event], None]) -> None:
        self._server = server
        self._emit = emit
        self._counts: dict[ServerQuestion, int] = {}

    def asked(
        self, what: ServerQuestion, message: str = "", url: str = "", fields: tuple[str, ...] = ()
    ) -> Answer:
        """The server asks; what is returned records its answer."""
        count = self._counts[what] = self._counts.get(what, 0) + 1
        names = tuple(name[:_LONGEST_NAME] for name in fields)
        request = ServerAsked(
            self._server, what, message[:LONGEST_MESSAGE], url[:_LONGEST_RECORDED_ADDRESS], names
        )
        is_recorded = count <= MOST_RECORDED
        if is_recorded:
            self._emit(request)
        elif count == MOST_RECORDED + 1:
            self._emit(ServerAskedOften(self._server, what, count))

        def answered(answer: str, why: str = "", content: JsonObject | None = None) -> None:
            if not is_recorded:
                if answer != Action.ACCEPT:
                    return
                self._emit(request)
            self._emit(ServerAnswered(self._server, what, str(answer), why, _cut(content)))

        return answered


def _cut(content: JsonObject | None) -> JsonObject | None:
    """The values of a form without what is too long: its names and choices are the server's."""
    if content is None:
        return None
    return {name[:_LONGEST_NAME]: _cut_value(value) for name, value in content.items()}


def _cut_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_cut_value(each) for each in value[:_MOST_CHOSEN]]
    return value[:LONGEST_MESSAGE] if isinstance(value, str) else value


# A server that asks more at a time does not wait for answers.
MAX_WAITING = 3
NO_MODEL = "there is no model here"
TOO_MANY = f"a call may ask at most {QUESTIONS_A_CALL} questions"
NO_CONSENT = "you have not agreed to share a folder with it"
WITHDRAWN = "a new session began before it was answered"
_NOT_DECLARED = "the client did not declare it"
_WITHDRAWN = "the question was withdrawn"


class SessionClient:
    """Toolsight as the client of one server: what it declares, and how it answers what the server asks.

    A connector calls it in the event loop that opened the connection. Its methods raise ClientRefusal for
    what the server does not get. What is asked and answered is an event, without values of secret fields. A
    connection outlasts a session: question and answer are in the record of the one in which it was asked.
    `folders` are those that the person agreed to; without any, the list of roots is empty.
    """

    def __init__(
        self,
        server: str,
        capabilities: ClientCapabilities,
        folders: Sequence[str],
        elicitor: Elicitor,
        emit: Callable[[], Callable[[Event], None]],
        sampler: Callable[[], Sampler] | None = None,
        heard: Heard | None = None,
        relay: Relay | None = None,
    ) -> None:
        """`emit` gives what records an event in the session that runs, `sampler` the model of that moment.

        `heard` gets every notification; nothing of them is passed on without it.
        """
        self._sampler = sampler
        self.listens, self._heard = heard is not None, heard
        self._capabilities = capabilities
        self._folders, self.relay = tuple(folders), relay
        self._elicitor = elicitor
        self._server, self._emit, self._its_emit = server, emit, emit()
        self._its_record = ClientRecord(server, self._its_emit)
        self._open: set[asyncio.Task[Any] | None] = set()
        self._withdrawn: set[asyncio.Task[Any] | None] = set()

    @property
    def capabilities(self) -> ClientCapabilities:
        """What is declared; it does not change while the connection is open."""
        return self._capabilities

    @property
    def _record(self) -> ClientRecord:
        """The record of the session that runs."""
        if (now := self._emit()) != self._its_emit:
            self._its_emit, self._its_record = now, ClientRecord(self._server, now)
        return self._its_record

    async def roots(self) -> tuple[str, ...]:
        """The absolute paths of the folders that the server may know."""
        answer = self._record.asked("roots")
        if not self._capabilities.roots:
            raise _refusal("roots", answer)
        answer(", ".join(self._folders) or "no folder", "" if self._folders else NO_CONSENT)
        return self._folders

    async def hand_on(
        self, requests: Mapping[str, JsonObject], read: Mapping[str, ElicitationRequest | None]
    ) -> JsonObject | None:
        """What the relay answers, if it can be asked all of it; `read` is recorded. Raises ClientRefusal."""
        if self.relay is None or not self.relay.takes(self._server, requests):
            return None
        record, given, why = self._record, dict[str, Any](), _WITHDRAWN
        answers = {key: _asked(record, one) if one else record.asked("roots") for key, one in read.items()}
        try:
            given |= await self.relay.answers(self._server, requests)
            why = "it was left unanswered"
        except ClientRefusal as refusal:
            why = refusal.message
            raise
        finally:
            for key, request in read.items():
                _note_given(answers[key], request, given.get(key), why)
        return given

    async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        """Ask the person, and wait as long as the answer takes; cancelled if the server withdraws it.

        Where a model's answer is asked for, it may be the model's after a yes.
        """
        record, what = self._record, _what(request)
        answer = _asked(record, request)
        declared = self._capabilities
        if not {"form": declared.forms, "link": declared.links, "sampling": declared.sampling}[what]:
            raise _refusal(what, answer)
        if refusal := TOO_MANY if request.is_excess else self._refuses(request):
            answer("refused", refusal)
            raise ClientRefusal(refusal, was_declared=True)
        if len(self._open) >= MAX_WAITING:
            answer(Action.CANCEL, f"{MAX_WAITING} other questions from this server are waiting")
            return ElicitationAnswer(Action.CANCEL)
        task = asyncio.current_task()
        self._open.add(task)
        try:
            given = await self._given(request)
        except asyncio.CancelledError:
            if task is None or task not in self._withdrawn or task.uncancel():
                answer(Action.CANCEL, _WITHDRAWN)
                raise
            answer(Action.CANCEL, WITHDRAWN)
            return ElicitationAnswer(Action.CANCEL)
        finally:
            self._open.discard(task)
            self._withdrawn.discard(task)
        answer(given.action, given.why, _recorded(request, given))
        return given

    def _refuses(self, request: ElicitationRequest) -> str:
        """Why nobody is asked for a model's answer; "" for any other request."""
        if not isinstance(request, SamplingRequest):
            return ""
        return request.refusal or ("" if self._sampler is not None else NO_MODEL)

    async def _given(self, request: ElicitationRequest) -> ElicitationAnswer:
        """The person's answer, or the model's where the person wants that."""
        if not isinstance(request, SamplingRequest) or self._sampler is None:
            return await self._elicitor.ask(request)
        sampler = self._sampler()
        model = "" if request.has_media else sampler.model.label
        request = replace(request, model=model, tokens=sampler.count(request.message))
        given = await self._elicitor.ask(request)
        if given.action is not Action.ACCEPT:
            return given
        text = (given.content or {}).get(ANSWER)
        if BY in (given.content or {}):
            return given
        return await sampler.by_model(request) if text is None else sampler.by_person(request, str(text))

    def note(self, event: Event) -> None:
        """Record what happened on the connection."""
        self._emit()(event)

    def heard(self, method: str, params: JsonObject) -> None:
        """The server has told something."""
        if self._heard is not None:
            self._heard(self._server, method, params)

    def withdraw(self) -> None:
        """Cancel the questions that nobody has answered: whom they were asked is gone."""
        for task in self._open - self._withdrawn:
            if task is not None:
                self._withdrawn.add(task)
                task.cancel()


class Unattended(SessionClient):
    """Declares what a session does by default where nobody looks, so that the same tools are listed."""

    def __init__(self) -> None:
        super().__init__("", ClientCapabilities(), (), Nobody(), lambda: lambda _event: None)


def _refusal(what: ServerQuestion, answer: Answer) -> ClientRefusal:
    answer("refused", _NOT_DECLARED)
    return ClientRefusal(f"{what}: {_NOT_DECLARED}")


def _what(request: ElicitationRequest) -> ServerQuestion:
    if isinstance(request, SamplingRequest):
        return "sampling"
    return "form" if isinstance(request, FormRequest) else "link"


def _asked(record: ClientRecord, request: ElicitationRequest) -> Answer:
    if isinstance(request, SamplingRequest):
        return record.asked("sampling", request.message)
    if isinstance(request, FormRequest):
        fields = tuple(field.name for field in form_fields(request.schema))
        return record.asked("form", request.message, fields=fields)
    return record.asked("link", request.message, url=recorded_address(request.url))


def _recorded(request: ElicitationRequest, answer: ElicitationAnswer) -> JsonObject | None:
    if not isinstance(request, FormRequest) or answer.content is None:
        return None
    if isinstance(request, SamplingRequest):
        return answer.content
    fields = form_fields(request.schema)
    given = {field.name: answer.content.get(field.name) for field in fields if field.is_secret}
    # A server may repeat what a person typed all the same.
    SECRETS.learn({f"{name}.secret": value for name, value in given.items() if isinstance(value, str)})
    return without_secrets(fields, answer.content)


def _note_given(answer: Answer, request: ElicitationRequest | None, given: object, why: str) -> None:
    """Record what a relay answered, of any shape."""
    said = as_object(given)
    if not said:
        answer(Action.CANCEL, why)
    elif request is None:
        answer(", ".join(as_text(as_object(root).get("uri")) for root in as_list(said.get("roots"))))
    elif isinstance(request, SamplingRequest):
        text = as_text(as_object(said.get("content")).get("text"))
        answer(Action.ACCEPT, content={"text": text, BY: as_text(said.get("model"))})
    else:
        content = as_object(said.get("content")) or None
        answer(
            as_text(said.get("action")), content=_recorded(request, ElicitationAnswer(Action.ACCEPT, content))
        )
