"""What a person tries on the budget page: a change, its effect, and how to make it."""

from dataclasses import replace

from inspector.engine.commands import Commands
from inspector.engine.tokens.cost.setup_change import (
    ChangeEffect,
    FirstCall,
    Setup,
    SetupChange,
    change_effect,
    first_call,
    steps,
)
from inspector.engine.tokens.count.other_model import OtherModel
from inspector.engine.view import SessionView


class Trial:
    """One change over a session. Computing its effect again is free as long as nothing is different."""

    def __init__(self, session: SessionView) -> None:
        self.change = SetupChange()
        self.other: OtherModel | None = None
        self._session = session
        self._known: tuple[tuple[object, ...], FirstCall] | None = None
        self._computed: tuple[tuple[object, ...], ChangeEffect] | None = None

    @property
    def is_empty(self) -> bool:
        return self.change == SetupChange()

    def reset(self) -> None:
        """Try nothing."""
        self.change, self.other = SetupChange(), None

    def toggle_server(self, name: str) -> None:
        """Let a server wait for a search, or bind it."""
        self.change = self.change.with_server(name)

    def toggle_pin(self, tool_id: str) -> None:
        """Pin a tool, or no longer."""
        self.change = self.change.with_pin(tool_id)

    def use_toolset(self, name: str) -> None:
        """Restrict to another toolset; the session's own is none of a change. Raises ConfigError."""
        self._session.configuration.toolset(name)
        toolset = None if name == self._session.state.toolset else name
        self.change = replace(self.change, toolset=toolset)

    def use_model(self, other: OtherModel | None) -> None:
        """Count and price for another model, whose definitions are counted; None for the session's."""
        self.other = other
        self.change = replace(self.change, model=None if other is None else other.name)

    @property
    def setup(self) -> Setup:
        """What the session is made of now."""
        return self._session.setup

    def effect(self) -> ChangeEffect:
        """The first call now and then. Raises ConfigError."""
        session, setup = self._session, self.setup
        meter = session.accounting.meter
        given = (meter, session.catalog, setup.settings)
        if self._known is None or _differ(self._known[0], given):
            self._known = (given, first_call(setup, meter))
        asked = (self._known, self.change, self.other)
        if self._computed is None or _differ(self._computed[0], asked):
            then = self.other.meter if self.other is not None else None
            found = change_effect(setup, self.change, meter, then=then, now=self._known[1])
            self._computed = (asked, found)
        return self._computed[1]

    def apply(self, commands: Commands) -> tuple[str, ...]:
        """Make the change in the session; what only the configuration can say is returned.

        Raises ToolsightError.
        """
        change = self.change
        todo = steps(self.setup, change, self.effect())
        if change.toolset is not None:
            commands.switch_toolset(change.toolset)
        for path, value in todo.knobs.items():
            commands.change_setting(path, value)
        if change.model is not None:
            commands.switch_model(change.model)
        self.reset()
        return todo.by_hand


def _differ(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return any(left is not right for left, right in zip(one, other, strict=True))
