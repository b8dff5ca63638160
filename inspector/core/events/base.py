"""The base class of all events, and the record that gives an event its position in a stream."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

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


@dataclass(frozen=True, slots=True)
class Event(ABC):
    """Something that happened. `kind` names its type in the store and on the screen."""

    kind: ClassVar[str] = ""
    derived: ClassVar[tuple[str, ...]] = ()
    """Properties that an expectation may name as it names fields."""
    groups: ClassVar[frozenset[Group]] = frozenset()
    tone: ClassVar[Tone] = ""

    @property
    def is_routine(self) -> bool:
        """Whether it only counts or reports progress: feeds leave it out, to show what happened."""
        return False

    @abstractmethod
    def summary(self) -> str:
        """What happened, on one line for feeds and tables. Raw text: whoever prints it must sanitize it."""


@dataclass(frozen=True, slots=True)
class Record:
    """An event in a stream. `seq` counts from 1 within a session; `at` is in seconds since 1970, UTC."""

    session: str
    seq: int
    at: float
    event: Event

    @property
    def kind(self) -> str:
        return self.event.kind
