"""Calls that succeeded, and what was asked for before them."""

from collections.abc import Collection
from dataclasses import dataclass

from inspector.core.events.base import Actor
from inspector.core.inertia import OWN_PERSONA
from inspector.core.persona_trail import PersonaTrail


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call of a tool that succeeded, after a request. `at` is in seconds since 1970, UTC.

    `request` is "" where nobody tells it; `persona` is whose habits the session showed then.
    """

    tool: str
    request: str
    at: float
    persona: str = OWN_PERSONA


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whose past calls count: the user's, through the same expert or through none; never an empty user's."""

    user: str
    expert: str = ""

    def has(self, user: str, expert: str) -> bool:
        """Whether a session that was recorded so is one of the viewer's."""
        return bool(self.user) and user == self.user and expert in ("", self.expert)


@dataclass(frozen=True, slots=True)
class _Search:
    by: Actor
    query: str
    found: Collection[str]


class CallTrail(PersonaTrail):
    """Follows one session, event by event, and tells what each successful call was made for.

    That is the newest search since the user's message that found the tool, if who called it searched in
    words; else, for a model's call, the message.
    """

    def __init__(self) -> None:
        super().__init__()
        self._message = ""
        self._searches: list[_Search] = []
        self._callers: dict[str, Actor] = {}

    def said(self, text: str) -> None:
        """The user said something: earlier searches were for something else."""
        self._message = text.strip()
        self._searches.clear()

    def searched(self, by: Actor, query: str, found: Collection[str]) -> None:
        """A search returned the tools with the ids `found`; one by name alone has no query."""
        if query.strip():
            self._searches.append(_Search(by, query.strip(), found))

    def called(self, call_id: str, by: Actor) -> None:
        """A call began."""
        self._callers[call_id] = by

    def finished(self, call_id: str, tool: str, at: float, *, ok: bool) -> PastCall | None:
        """A call ended; None if it failed, or if nothing was asked for before it."""
        by = self._callers.pop(call_id, "model")
        request = self._request(tool, by) if ok else ""
        return PastCall(tool, request, at, self.persona) if request else None

    def _request(self, tool: str, by: Actor) -> str:
        queries = (one.query for one in reversed(self._searches) if one.by == by and tool in one.found)
        return next(queries, self._message if by == "model" else "")
