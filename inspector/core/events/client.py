"""Events of what a server asks of its client: folders, answers of a person, answers of a model."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from inspector.core.events.base import Event, Group, Tone
from inspector.core.message import arguments_text
from inspector.core.number import count
from inspector.schema.json_value import JsonObject

__all__ = ["ElicitationCompleted", "ServerAnswered", "ServerAsked", "ServerAskedOften", "ServerQuestion"]

ServerQuestion = Literal["roots", "form", "link", "sampling"]
_ASKS = {
    "roots": "asks for the folder",
    "form": "asks you to fill in a form",
    "link": "asks you to visit an address",
    "sampling": "asks the model for an answer",
}

_ASKED = {
    "roots": "the folder",
    "form": "a form",
    "link": "an address to visit",
    "sampling": "an answer from the model",
}


@dataclass(frozen=True, slots=True)
class ServerAsked(Event):
    """A server asks its client for something. `fields` names what a form asks for.

    `url` is the address to visit without the values of its parameters, which may be valid once.
    """

    kind: ClassVar[str] = "asked"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    server: str
    what: ServerQuestion
    message: str = ""
    url: str = ""
    fields: tuple[str, ...] = ()

    @property
    def is_routine(self) -> bool:
        return self.what == "roots"

    @property
    def sentence(self) -> str:
        """What the server wants."""
        return f"{self.server} {_ASKS[self.what]}"

    def summary(self) -> str:
        detail = " ".join(self.message.split()) or self.url
        return f"{self.server}  {_ASKS[self.what]}" + (f": {detail}" if detail else "")


@dataclass(frozen=True, slots=True)
class ServerAnswered(Event):
    """What a server was answered. `content` are the values of a form, without those that may be secret."""

    kind: ClassVar[str] = "answered"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    server: str
    what: ServerQuestion
    answer: str
    why: str = ""
    content: JsonObject | None = None

    @property
    def is_routine(self) -> bool:
        return self.what == "roots" and not self.why

    @property
    def outcome(self) -> str:
        """What was asked and the answer."""
        return f"{_ASKED[self.what]}: {self.answer}"

    def summary(self) -> str:
        said = f"  {arguments_text(self.content)}" if self.content else ""
        return f"{self.server}  {self.outcome}" + (f", {self.why}" if self.why else "") + said


@dataclass(frozen=True, slots=True)
class ServerAskedOften(Event):
    """A server asks for something so often that only the number of times is recorded from now on."""

    kind: ClassVar[str] = "flood"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    tone: ClassVar[Tone] = "warning"
    server: str
    what: ServerQuestion
    times: int

    def summary(self) -> str:
        return f"{self.server}  {_ASKS[self.what]}, {count(self.times, 'time')} so far: counted, not recorded"


@dataclass(frozen=True, slots=True)
class ElicitationCompleted(Event):
    """A server says that what it wanted at an address is done; `id` is the one of its question."""

    kind: ClassVar[str] = "completed"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    tone: ClassVar[Tone] = "success"
    server: str
    id: str = ""

    def summary(self) -> str:
        return f"{self.server}  reports that the task at its address is done"
