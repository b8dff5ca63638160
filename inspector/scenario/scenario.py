"""A scenario: what the user says, what a scripted model answers, on which settings, and what must happen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.scenario.expectation import Expectation
from inspector.scenario.fault import Fault
from inspector.schema.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call within a step. `name` is the wire name."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One model call: what the model says and which tools it calls.

    `think` is its answer if it has to think before this step; `wait` is how many seconds it takes to answer.
    """

    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    think: str = ""
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class AddedTool:
    """A tool added to a server. Calling it returns `answer`, or an error without one."""

    id: str
    description: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """A change to one server's tools: ids to `remove`, tools to `add`, new descriptions, new parameters."""

    server: str
    remove: tuple[str, ...] = ()
    add: tuple[AddedTool, ...] = ()
    describe: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, JsonObject] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whom the session is seen as from now on: a user of the policy, through an expert if one is named."""

    user: str
    expert: str = ""


@dataclass(frozen=True, slots=True)
class Preparation:
    """What happens before a user message, in this order.

    Another session begins, as somebody else sees it.
    Seconds pass, settings change (values by path), a milestone is reached, a server is stopped, a server's
    tools change (at once, or when it is back), a server is connected again, a server's next calls fail, a
    plugin of the marketplace is installed, a server is removed: the scenario's author stands for the person.
    """

    wait: float = 0.0
    milestone: str = ""
    change: CatalogChange | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    stop: str = ""
    reconnect: str = ""
    fault: Fault | None = None
    install: str = ""
    uninstall: str = ""
    see_as: Viewer | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the user says in each turn, and the model's steps for it.

    `users`, `turns` and `prepare` match by position. `settings` are values by setting path that override the
    profile. The events in `expect` must occur in that order, those in `never` must not occur. `window` is the
    scripted model's window in tokens, 0 for one that never fills.
    """

    title: str
    users: tuple[str, ...]
    turns: tuple[tuple[Step, ...], ...]
    about: str = ""
    profile: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    prepare: tuple[Preparation, ...] = ()
    expect: tuple[Expectation, ...] = ()
    never: tuple[Expectation, ...] = ()
    window: int = 0

    def preparation(self, turn: int) -> Preparation:
        """What happens before a turn, counted from 0; nothing if the scenario does not say."""
        return self.prepare[turn] if turn < len(self.prepare) else Preparation()

    @property
    def changes_servers(self) -> bool:
        """Whether it changes what servers list or how they answer."""
        return any(one.change is not None or one.fault is not None for one in self.prepare)
