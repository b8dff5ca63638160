"""The base class of all events, and the record that gives an event its position in a stream."""

from collections.abc import Collection
from enum import StrEnum
from typing import Any, ClassVar, Literal

from msgspec import Struct, StructMeta, to_builtins

Tone = Literal["", "muted", "success", "warning", "error"]
Actor = Literal["model", "user", "scenario"]


class Group(StrEnum):
    """A filter on the events page; an event may be in several groups or in none."""

    SEARCHES = "searches"
    CALLS = "calls"
    GUARDS = "guards"
    MODEL = "model"
    SERVERS = "servers"
    ERRORS = "errors"


class _EventType(StructMeta):
    """Gives an event's class what its head says of it."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        kind: str = "",
        groups: Collection[Group] = (),
        tone: Tone = "",
        routine: bool = False,
        **options: Any,
    ) -> Any:
        told = {"kind": kind, "groups": frozenset(groups), "tone": tone, "_routine": routine} if kind else {}
        return super().__new__(mcls, name, bases, namespace | told, **options)


class Event(Struct, frozen=True, gc=False, metaclass=_EventType):
    """Something that happened. `kind` names its type in the store and on the screen.

    None refers to itself, so that the collector of cycles need not look at them: sessions have many.
    """

    kind: ClassVar[str] = ""
    derived: ClassVar[tuple[str, ...]] = ()
    """Properties that an expectation may name as it names fields."""
    groups: ClassVar[frozenset[Group]] = frozenset()
    tone: ClassVar[Tone] = ""
    _routine: ClassVar[bool] = False

    @property
    def is_routine(self) -> bool:
        """Whether it only counts or reports progress: feeds leave it out, to show what happened."""
        return self._routine

    def summary(self) -> str:
        """What happened, on one line for feeds and tables. Raw text: whoever prints it must sanitize it."""
        return self.kind


class Record(Struct, frozen=True, gc=False):
    """An event in a stream. `seq` counts from 1 within a session; `at` is in seconds since 1970, UTC."""

    session: str
    seq: int
    at: float
    event: Event

    @property
    def kind(self) -> str:
        return self.event.kind


def record_json(record: Record) -> dict[str, Any]:
    """The record's position in the stream, and the event's fields under `event`."""
    return {
        "session": record.session,
        "seq": record.seq,
        "at": record.at,
        "kind": record.kind,
        "event": to_builtins(record.event),
    }
