"""A what-if change on the budget page: its effect, and how to apply it."""

from dataclasses import replace

from inspector.domain.price import Prices
from inspector.engine.commands import Commands
from inspector.engine.tokens.cost.priced_session import setup_dollars
from inspector.engine.tokens.cost.setup_change import (
    ChangeEffect,
    FirstCall,
    Setup,
    SetupChange,
    change_effect,
    changed,
    first_call,
    steps,
)
from inspector.engine.tokens.count.other_model import OtherModel
from inspector.engine.view import SessionView


class Trial:
    """One change to a session. Its effect is cached until something differs."""

    def __init__(self, session: SessionView) -> None:
        self.change = SetupChange()
        self.other: OtherModel | None = None
        self._session = session
        self._known: tuple[tuple[object, ...], FirstCall] | None = None
        self._computed: tuple[tuple[object, ...], ChangeEffect] | None = None
        self._priced: tuple[tuple[object, ...], tuple[float | None, float | None]] | None = None

    @property
    def is_empty(self) -> bool:
        return self.change == SetupChange()

    def reset(self) -> None:
        """Discard the change."""
        self.change, self.other = SetupChange(), None

    def toggle_server(self, name: str) -> None:
        """Defer a server's tools, or bind them."""
        self.change = self.change.with_server(name)

    def toggle_pin(self, tool_id: str) -> None:
        """Pin or unpin a tool."""
        self.change = self.change.with_pin(tool_id)

    def use_toolset(self, name: str) -> None:
        """Switch to a toolset; the session's own counts as no change. Raises ConfigError."""
        self._session.configuration.toolset(name)
        toolset = None if name == self._session.state.toolset else name
        self.change = replace(self.change, toolset=toolset)

    def use_model(self, other: OtherModel | None) -> None:
        """Count and price for another model, its definitions counted already; None is the session's model."""
        self.other = other
        self.change = replace(self.change, model=None if other is None else other.name)

    @property
    def setup(self) -> Setup:
        """The session's current setup."""
        return self._session.setup

    def effect(self) -> ChangeEffect:
        """Return the first call before and after the change. Raises ConfigError."""
        session, setup = self._session, self.setup
        meter = session.accounting.meter
        given = (meter, session.catalog, setup.settings)
        if self._known is None or _differ(self._known[0], given):
            self._known = (given, first_call(setup, meter))
        asked = (self._known, self.change, self.other)
        if self._computed is None or _differ(self._computed[0], asked):
            then = self.other.meter if self.other is not None else None
            effect = change_effect(setup, self.change, meter, then=then, now=self._known[1])
            self._computed = (asked, effect)
        return self._computed[1]

    def dollars(self, prices: Prices | None) -> tuple[float | None, float | None]:
        """What an assumed session costs before and after the change, both at their own model's prices.

        `prices` are those of the session's model. Raises ConfigError.
        """
        effect = self.effect()
        asked = (effect, prices, self.other)
        if self._priced is None or _differ(self._priced[0], asked):
            meter, other = self._session.accounting.meter, self.other
            then = (meter, prices) if other is None else (other.meter, other.prices)
            before = setup_dollars(self.setup, effect.now, meter, prices)
            after = setup_dollars(changed(self.setup, self.change, effect.now), effect.then, *then)
            self._priced = (asked, (before, after))
        return self._priced[1]

    def apply(self, commands: Commands) -> tuple[str, ...]:
        """Apply the change to the session; return the steps that only the configuration file allows.

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
