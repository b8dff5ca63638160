"""What every event of a session is, and the record that puts it in its stream."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

Tone = Literal["", "muted", "success", "warning", "error"]
Actor = Literal["model", "user", "scenario"]


class Group(StrEnum):
    """What the events page can be restricted to; an event may be in several groups, or in none."""

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
    groups: ClassVar[frozenset[Group]] = frozenset()
    tone: ClassVar[Tone] = ""

    @abstractmethod
    def summary(self) -> str:
        """What happened, in one line for feeds and tables. Raw text: whoever prints it makes it harmless."""


@dataclass(frozen=True, slots=True)
class Record:
    """An event in its stream. `seq` counts from 1 within a session; `at` is seconds since 1970, UTC."""

    session: str
    seq: int
    at: float
    event: Event

    @property
    def kind(self) -> str:
        return self.event.kind
