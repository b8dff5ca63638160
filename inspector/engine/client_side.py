"""Toolsight's side of a connection: what it declares, and its answers to what the server asks."""

import asyncio
from collections.abc import Callable, Sequence

from inspector.domain.elicitation import (
    LONGEST_MESSAGE,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormRequest,
)
from inspector.domain.elicitation_form import form_fields, without_secrets
from inspector.domain.error import ClientRefusal
from inspector.domain.events import ElicitationCompleted, Event, ServerAnswered, ServerAsked
from inspector.domain.events.client import ServerQuestion
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.settings import ClientCapabilities
from inspector.engine.ports import ClientSide, Elicitor, Nobody

# A server that asks more at a time does not wait for answers.
MAX_WAITING = 3
NO_SAMPLING = "Toolsight does not let servers use its model"
NO_CONSENT = "nobody agreed that it may learn a folder"
_NOT_DECLARED = "the client did not declare it"


class SessionClient(ClientSide):
    """See `ClientSide`. What is asked and answered is an event, without values of secret fields.

    `folders` are those that the person agreed to; without any, the list of roots is empty.
    """

    def __init__(
        self,
        server: str,
        capabilities: ClientCapabilities,
        folders: Sequence[str],
        elicitor: Elicitor,
        emit: Callable[[Event], None],
    ) -> None:
        self._server = server
        self._capabilities = capabilities
        self._folders = tuple(folders)
        self._elicitor = elicitor
        self._emit = emit
        self._waiting = 0

    @property
    def capabilities(self) -> ClientCapabilities:
        return self._capabilities

    def roots(self) -> tuple[str, ...]:
        self._emit(ServerAsked(self._server, "roots"))
        if not self._capabilities.roots:
            raise self._refusal("roots")
        self._answered("roots", ", ".join(self._folders) or "no folder", "" if self._folders else NO_CONSENT)
        return self._folders

    async def elicit(self, request: ElicitationRequest) -> ElicitationAnswer:
        is_form = isinstance(request, FormRequest)
        what: ServerQuestion = "form" if is_form else "link"
        self._emit(_asked(self._server, what, request))
        if not (self._capabilities.forms if is_form else self._capabilities.links):
            raise self._refusal(what)
        if self._waiting >= MAX_WAITING:
            self._answered(what, Action.CANCEL, f"{MAX_WAITING} other questions of the server wait")
            return ElicitationAnswer(Action.CANCEL)
        self._waiting += 1
        try:
            answer = await self._elicitor.ask(request)
        except asyncio.CancelledError:
            self._answered(what, Action.CANCEL, "the question was taken back")
            raise
        finally:
            self._waiting -= 1
        self._answered(what, answer.action, answer.why, _recorded(request, answer))
        return answer

    def sample(self, message: str) -> None:
        """Raises ClientRefusal."""
        self._emit(ServerAsked(self._server, "sampling", message[:LONGEST_MESSAGE]))
        if not self._capabilities.sampling:
            raise self._refusal("sampling")
        self._answered("sampling", "refused", NO_SAMPLING)
        raise ClientRefusal(NO_SAMPLING, was_declared=True)

    def completed(self, elicitation: str) -> None:
        self._emit(ElicitationCompleted(self._server, elicitation))

    def _refusal(self, what: ServerQuestion) -> ClientRefusal:
        self._answered(what, "refused", _NOT_DECLARED)
        return ClientRefusal(f"{what}: {_NOT_DECLARED}")

    def _answered(
        self, what: ServerQuestion, answer: str, why: str = "", content: JsonObject | None = None
    ) -> None:
        self._emit(ServerAnswered(self._server, what, str(answer), why, content))


class Unattended(SessionClient):
    """Declares what a session does by default where nobody looks, so that the same tools are listed."""

    def __init__(self) -> None:
        super().__init__("", ClientCapabilities(), (), Nobody(), lambda _event: None)


def _asked(server: str, what: ServerQuestion, request: ElicitationRequest) -> ServerAsked:
    message = request.message[:LONGEST_MESSAGE]
    if isinstance(request, FormRequest):
        fields = tuple(field.name for field in form_fields(request.schema))
        return ServerAsked(server, what, message, fields=fields)
    return ServerAsked(server, what, message, url=request.url)


def _recorded(request: ElicitationRequest, answer: ElicitationAnswer) -> JsonObject | None:
    if not isinstance(request, FormRequest) or answer.content is None:
        return None
    return without_secrets(form_fields(request.schema), answer.content)
