"""A scenario: what a user says and a scripted model answers, on which settings, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from inspector.domain.expectation import Expectation


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call of a step. `name` is the wire name."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One model call of the scenario: what it says and what it calls.

    `think` is what the model answers where it has to think before this step; `wait` are the seconds it takes
    to answer.
    """

    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    think: str = ""
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class AddedTool:
    """A tool that a server has from now on. A call of it returns `answer`; without one, it is an error."""

    id: str
    description: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """What becomes of one server's tools: ids to `remove`, tools to `add`, new descriptions by id."""

    server: str
    remove: tuple[str, ...] = ()
    add: tuple[AddedTool, ...] = ()
    describe: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preparation:
    """What happens before the user speaks: seconds pass, a milestone is reached, a server changes."""

    wait: float = 0.0
    milestone: str = ""
    change: CatalogChange | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the user says, turn by turn, and for each turn the steps of the model.

    `users`, `turns` and `prepare` go together by position. `settings` are values by the path of the knob,
    over the profile's. `expect` has to occur in its order, `never` must not occur. `window` are the tokens
    of the scripted model's window, 0 for one that nothing fills.
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
        """What happens before a turn, counted from 0; nothing where the scenario says nothing."""
        return self.prepare[turn] if turn < len(self.prepare) else Preparation()

    @property
    def changes_catalog(self) -> bool:
        return any(preparation.change is not None for preparation in self.prepare)
