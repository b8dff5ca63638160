"""What the stream keeps of what a server asks its client: a bounded part, cut to what people read."""

from collections.abc import Callable
from typing import Any, Final, Protocol

from inspector.domain.elicitation import LONGEST_MESSAGE, Action
from inspector.domain.events import ElicitationCompleted, Event, ServerAnswered, ServerAsked, ServerAskedOften
from inspector.domain.events.client import ServerQuestion
from inspector.domain.jsonvalue import JsonObject

MOST_RECORDED: Final = 100
"""Requests of a kind that are recorded, of each connection; further ones are counted."""
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
        self._told: dict[ServerQuestion, int] = {}

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
        elif count > self._told.get(what, MOST_RECORDED):
            self._told[what] = count * 10
            self._emit(ServerAskedOften(self._server, what, count))

        def answered(answer: str, why: str = "", content: JsonObject | None = None) -> None:
            if not is_recorded:
                if answer != Action.ACCEPT:
                    return
                self._emit(request)
            self._emit(ServerAnswered(self._server, what, str(answer), why, _cut(content)))

        return answered

    def completed(self, elicitation: str) -> None:
        """The server says that what it wanted at an address is done."""
        self._emit(ElicitationCompleted(self._server, elicitation[:_LONGEST_NAME]))


def _cut(content: JsonObject | None) -> JsonObject | None:
    """The values of a form without what is too long: its names and choices are the server's."""
    if content is None:
        return None
    return {name[:_LONGEST_NAME]: _cut_value(value) for name, value in content.items()}


def _cut_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_cut_value(each) for each in value[:_MOST_CHOSEN]]
    return value[:LONGEST_MESSAGE] if isinstance(value, str) else value
