"""The successful calls of sessions in memory, for tests and offline use."""

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.core.events import (
    CallFinished,
    CallStarted,
    Event,
    Record,
    SearchPerformed,
    SessionStarted,
    SettingsChanged,
    UserSaid,
)
from inspector.core.ports import PastCall, TaskCalls, Viewer
from inspector.store.call_history import CallTrail, PersonaTrail, TaskTrail
from inspector.store.memory import MemoryStore


class MemoryCallHistory:
    """A CallHistory of a MemoryStore's sessions; `read` counts how often it was asked."""

    def __init__(self, store: MemoryStore) -> None:
        self.read = 0
        self._store = store

    def successful_calls(self, *, but: str = "", viewer: Viewer | None = None) -> Iterator[PastCall]:
        """The calls of every session but that one, or of the viewer's, the newest session first."""
        self.read += 1
        for session in self._newest(but, viewer):
            yield from _calls(self._store.read(session))

    def tasks(self, *, but: str = "") -> Iterator[TaskCalls]:
        """What models called for each message, the newest session first."""
        self.read += 1
        for session in self._newest(but):
            yield from _tasks(self._store.read(session))

    def _newest(self, but: str, viewer: Viewer | None = None) -> list[str]:
        sessions = sorted(self._store.sessions(), key=lambda one: (one.ended_at, one.id), reverse=True)
        wanted = [one for one in sessions if viewer is None or viewer.has(one.user, one.expert)]
        return [session.id for session in wanted if session.id != but]


def _calls(records: list[Record]) -> Iterator[PastCall]:
    trail = CallTrail()
    for record in records:
        _follow(trail, record.event)
        match record.event:
            case UserSaid(text):
                trail.said(text)
            case SearchPerformed(report, by=by):
                trail.searched(by, report.request.query, [hit.tool_id for hit in report.results])
            case CallStarted(call_id, by=by):
                trail.called(call_id, by)
            case CallFinished(call_id, tool, ok):
                call = trail.finished(call_id, tool, record.at, ok=ok)
                if call is not None:
                    yield call


def _tasks(records: list[Record]) -> Iterator[TaskCalls]:
    trail = TaskTrail()
    for record in records:
        _follow(trail, record.event)
        match record.event:
            case UserSaid():
                yield from trail.said()
            case CallStarted(tool=tool, by=by):
                trail.called(by, tool, record.at)
    yield from trail.said()


def _follow(trail: PersonaTrail, event: Event) -> None:
    match event:
        case SessionStarted(toolset=toolset, settings=settings, origin=origin, user=user):
            agent = origin.agent if origin is not None else ""
            trail.started(agent, _chosen_persona(settings), toolset, user)
        case SettingsChanged(settings=settings):
            trail.set(_chosen_persona(settings))


def _chosen_persona(settings: Mapping[str, Any]) -> str:
    """The name that recorded settings give to a session's habits; "" in records of older versions."""
    section = settings.get("inertia")
    chosen = section.get("persona") if isinstance(section, Mapping) else ""
    return chosen if isinstance(chosen, str) else ""
