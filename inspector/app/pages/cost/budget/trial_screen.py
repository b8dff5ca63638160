"""The what-if of the budget page: its keys, counting for another model, and applying the change."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from inspector.app.context import REPLAYED
from inspector.app.draw.failure import failure_text
from inspector.app.job import Job
from inspector.app.pages.cost.budget import change as what_if
from inspector.app.pages.cost.budget.dialogs import OtherModelDialog, OtherToolsetDialog
from inspector.app.pages.cost.budget.now_view import NowView
from inspector.app.pages.cost.budget.table import is_server, server_of
from inspector.app.pages.cost.budget.trial import Trial
from inspector.app.tool_keys import ToolKeys
from inspector.domain.error import ToolsightError
from inspector.domain.price import Prices
from inspector.engine.tokens.count.other_model import OtherModel, count_definitions
from widgets import visible

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
