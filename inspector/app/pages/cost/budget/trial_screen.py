"""The what-if of the budget page: its keys, counting for another model, and applying the change."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.app.context import REPLAYED
from inspector.app.dialogs.choice import ChoiceDialog, NamedDialog, model_rows, toolset_rows
from inspector.app.draw.line import failure_text
from inspector.app.job import Job
from inspector.app.pages.cost.budget import change as what_if
from inspector.app.pages.cost.budget.now_view import NowView
from inspector.app.pages.cost.budget.table import is_server, server_of
from inspector.app.tool_keys import ToolKeys
from inspector.core.budget import Prices
from inspector.core.error import ToolsightError
from inspector.session.setup import (
    ChangeEffect,
    FirstCall,
    Setup,
    SetupChange,
    change_effect,
    changed,
    first_call,
    steps,
)
from inspector.session.verdict import setup_dollars
from inspector.session.view import Commands, SessionView
from inspector.tokens.accounting import OtherModel, count_definitions
from widgets import visible

# A what-if change on the budget page: its effect, and how to apply it.


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


# Dialogs of the what-if: another model, another toolset.

_ALL_TOOLS = "all tools"


class OtherModelDialog(NamedDialog):
    """Any model by its name, only to count tokens for."""

    hint = "any litellm model: openai/…, anthropic/…, ollama/…"

    def __init__(self, current: str, choose: Callable[[str], None]) -> None:
        super().__init__("What if: another model", model_rows(current), choose, current)


class OtherToolsetDialog(ChoiceDialog):
    """Every toolset of the configuration, and all tools."""

    def __init__(self, session: SessionView, choose: Callable[[str], None]) -> None:
        toolsets, current = session.configuration.toolsets, session.state.toolset
        everything = _ALL_TOOLS
        while everything in toolsets:
            everything = f"({everything})"
        super().__init__(
            "What if: another toolset",
            toolset_rows(toolsets, current, everything),
            lambda key: choose("" if key == everything else key),
            current or everything,
        )


_COUNTING = "budget-model"


class TrialScreen(ToolKeys):
    """A page with a `NowView`; a change affects the session only once it is applied."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "defer", "defer/bind", id="budget.defer"),
        Binding("P", "pin", "pin", id="budget.pin"),
        Binding("m", "other_model", "model", id="budget.model"),
        Binding("u", "other_toolset", "use toolset", id="budget.toolset"),
        Binding("a", "apply", "apply", id="budget.apply"),
        Binding("0", "reset", "reset", id="budget.reset"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.prices: Prices | None = None
        self._trial: Trial | None = None
        self._counting: Job | None = None

    @property
    def is_trying(self) -> bool:
        return self._trial is not None and not self._trial.is_empty

    def show_effect(self) -> None:
        """Show the effect of the change, or what can be tried; while counting, the progress."""
        self.refresh_bindings()
        if self._counting is not None:
            return
        trial = self._trial
        if trial is None or trial.is_empty:
            self.query_one(NowView).show_effect(what_if.hint, None)
            return
        effect = trial.effect()
        dollars = trial.dollars(self.prices)
        then = {tool_id: effect.then.binding(tool_id) for tool_id in self.session.state.tools}
        self.query_one(NowView).show_effect(lambda width: what_if.effect(effect, dollars, width), then)

    def _try(self, change: Callable[[Trial], None]) -> None:
        """Update the what-if change; a replay has none."""
        if self.context.replay.is_replay:
            self.warn(REPLAYED)
            return
        if self._trial is None:
            self._trial = Trial(self.session)
        change(self._trial)
        self.show_effect()

    @property
    def tool_id(self) -> str:
        return "" if is_server(self._row) else self._row

    @property
    def _row(self) -> str:
        current = self.query_one(NowView).current
        return current.key if current is not None else ""

    def action_defer(self) -> None:
        """Try deferring or binding the server of the row."""
        if self._row:
            self._try(lambda trial: trial.toggle_server(server_of(self._row)))

    def action_pin(self) -> None:
        """Try pinning or unpinning the tool of the row."""
        if not self._row or is_server(self._row):
            self.notify("P pins a tool. Press enter to open a server, then choose a tool.", markup=False)
            return
        self._try(lambda trial: trial.toggle_pin(self._row))

    def action_other_toolset(self) -> None:
        """Try another toolset."""
        self.app.push_screen(
            OtherToolsetDialog(self.session, lambda name: self._try(lambda trial: trial.use_toolset(name)))
        )

    def action_other_model(self) -> None:
        """Try another model: its tokenizer, window and prices."""
        self.app.push_screen(OtherModelDialog(self.session.state.model, self._count_for))

    def _count_for(self, name: str) -> None:
        """Count with another model's tokenizer first. Raises ModelError for an unknown name."""
        if name == self.session.state.model:
            self._try(lambda trial: trial.use_model(None))
            return
        self.session.other_models.check(name)
        self._try(lambda trial: self._begin_counting(trial, name))

    def _begin_counting(self, trial: Trial, name: str) -> None:
        tools, models = trial.setup.connected, self.session.other_models

        def count(job: Job) -> OtherModel | None:
            other = models.named(name)
            return other if count_definitions(other.meter, tools, job.report, job.stopped) else None

        def show(done: int, total: int) -> None:
            if self._counting is not None:
                self.query_one(NowView).show_effect(lambda _: what_if.counting(name, done, total), None)

        self._counting = self.run_job(
            _COUNTING, count, self._use_model, failed=self._not_counted, progress=show
        )
        show(0, len(tools))

    def _use_model(self, other: OtherModel | None) -> None:
        self._counting = None
        if other is not None:
            self._try(lambda trial: trial.use_model(other))
        self.show_effect()

    def _not_counted(self, error: Exception) -> None:
        self._counting = None
        self.notify(failure_text(error)[1], title="Counting failed", severity="error", markup=False)
        self.show_effect()

    async def action_leave(self) -> None:
        """Stop counting, or go back."""
        if self._counting is None:
            await super().action_leave()
            return
        self.drop_job(_COUNTING)
        self._counting = None
        self.show_effect()

    def action_reset(self) -> None:
        """Discard the change."""
        self._try(Trial.reset)

    def action_apply(self) -> None:
        """Apply the change to this session, as far as a session can change."""
        if self._trial is None or self._trial.is_empty:
            return
        try:
            by_hand = self._trial.apply(self.commands)
        except ToolsightError as error:
            self.fail(error)
            return
        self.show_effect()
        if by_hand:
            text = visible("\n".join(by_hand), limit=600)
            self.notify(text, title="For the configuration file", markup=False, timeout=12)
        else:
            self.notify("Takes effect with the next model call.", title="Applied", markup=False)
