"""Events of a session as a whole: its start, its settings, user messages and errors."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from inspector.core.access import viewer
from inspector.core.events.base import Actor, Event, Group, Tone
from inspector.core.events.model import model_at
from inspector.core.number import count
from inspector.core.origin import Origin
from inspector.core.setting_problem import SettingProblem
from inspector.schema.json_value import JsonObject

__all__ = [
    "AccessChanged",
    "Failed",
    "MilestoneReached",
    "SessionStarted",
    "SessionsForgotten",
    "SettingsChanged",
    "SettingsChecked",
    "TurnEnded",
    "TurnOutcome",
    "TurnWaited",
    "UserSaid",
]

TurnOutcome = Literal["answered", "capped", "cancelled", "failed", "refused"]


@dataclass(frozen=True, slots=True)
class SessionStarted(Event):
    """The session's setup. `api_base` is the model's address, "" for the one of its provider.

    `trusted` names the servers whose claims about what their tools do are believed. `origin` is set if the
    session was imported: then `config` is the folder in which the agent worked. With `restricted`, there is
    only what `user` may see, through `expert` if there is one; without a user that is nothing.
    """

    kind: ClassVar[str] = "session"
    config: str
    servers: tuple[str, ...]
    toolset: str
    model: str
    model_label: str
    window: int
    settings: JsonObject = field(default_factory=dict)
    profile: str = ""
    api_base: str = ""
    trusted: tuple[str, ...] = ()
    origin: Origin | None = None
    user: str = ""
    expert: str = ""
    restricted: bool = False

    def summary(self) -> str:
        if self.origin is not None:
            return "  ".join(filter(None, (self.origin.label, self.config, self.model_label)))
        model = model_at(self.model_label, self.api_base)
        seen_by = f"  as {viewer(self.user, self.expert)}" if self.restricted else ""
        return f"{self.config}  {model}  {count(len(self.servers), 'server')}{seen_by}"


@dataclass(frozen=True, slots=True)
class AccessChanged(Event):
    """What the session's user may see may be something else from now on: the policy was read again."""

    kind: ClassVar[str] = "access"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.SERVERS})
    user: str = ""
    expert: str = ""

    def summary(self) -> str:
        whose = f" of {viewer(self.user, self.expert)}" if self.user else ""
        return f"the grants{whose} were reloaded"


@dataclass(frozen=True, slots=True)
class SessionsForgotten(Event):
    """Recorded sessions were deleted because they were too old or too many."""

    kind: ClassVar[str] = "forgotten"
    sessions: tuple[str, ...]

    def summary(self) -> str:
        return f"deleted {count(len(self.sessions), 'recorded session')}: too old or too many"


@dataclass(frozen=True, slots=True)
class SettingsChanged(Event):
    """A profile was chosen or a setting changed; `settings` is the whole tree from the next model call on."""

    kind: ClassVar[str] = "settings"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL})
    profile: str
    settings: JsonObject
    changed: tuple[str, ...] = ()

    def summary(self) -> str:
        changed = f": {', '.join(self.changed)}" if self.changed else ", nothing changed"
        return f"profile {self.profile}{changed}"


@dataclass(frozen=True, slots=True)
class SettingsChecked(Event):
    """The problems of the settings changed: all there are now, worst first."""

    kind: ClassVar[str] = "problems"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.ERRORS})
    tone: ClassVar[Tone] = "warning"
    problems: tuple[SettingProblem, ...] = ()

    def summary(self) -> str:
        if not self.problems:
            return "the settings no longer have any problems"
        more = f"  (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        worst = self.problems[0]
        return f"{worst.severity}: {worst.full}{more}"


@dataclass(frozen=True, slots=True)
class MilestoneReached(Event):
    """The session reached a milestone that preconditions may require."""

    kind: ClassVar[str] = "milestone"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.GUARDS})
    name: str
    by: Actor = "user"

    def summary(self) -> str:
        return f"{self.name}  by {self.by}"


@dataclass(frozen=True, slots=True)
class UserSaid(Event):
    kind: ClassVar[str] = "user"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL})
    text: str

    def summary(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class TurnWaited(Event):
    """A message came while servers were connecting, so the turn waits until each is ready or has failed."""

    kind: ClassVar[str] = "wait"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL, Group.SERVERS})
    servers: tuple[str, ...]

    def summary(self) -> str:
        return f"until {count(len(self.servers), 'server')} connected: {', '.join(self.servers)}"


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """A user message has been handled, with all the model calls it caused."""

    kind: ClassVar[str] = "end"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.MODEL})
    outcome: TurnOutcome
    text: str = ""

    def summary(self) -> str:
        return self.outcome


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """An error that belongs to no other event. `raw` is what a model's provider said, as it came."""

    kind: ClassVar[str] = "error"
    groups: ClassVar[frozenset[Group]] = frozenset({Group.ERRORS})
    tone: ClassVar[Tone] = "error"
    where: str
    message: str
    hint: str = ""
    raw: str = ""

    def summary(self) -> str:
        return f"{self.where}: {self.message}"
