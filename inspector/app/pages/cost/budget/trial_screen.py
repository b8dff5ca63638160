"""Trying a change on the budget page: its keys, counting for another model, and making the change."""

from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.worker import get_current_worker

from inspector.app.base_screen import BaseScreen
from inspector.app.draw.failure import failure_text
from inspector.app.pages.cost.budget import what_if
from inspector.app.pages.cost.budget.dialogs import OtherModelDialog, OtherToolsetDialog
from inspector.app.pages.cost.budget.now_view import NowView
from inspector.app.pages.cost.budget.table import is_server, server_of
from inspector.app.pages.cost.budget.trial import Trial
from inspector.domain.error import ToolsightError
from inspector.domain.price import Prices
from inspector.engine.tokens.count.other_model import OtherModel, count_definitions
from widgets import visible


class TrialScreen(BaseScreen):
    """A page with a `NowView`; nothing that is tried changes the session before it is applied."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("d", "defer", "defer/bind", id="budget.defer"),
        Binding("p", "pin", "pin", id="budget.pin"),
        Binding("m", "other_model", "model", id="budget.model"),
        Binding("t", "other_toolset", "toolset", id="budget.toolset"),
        Binding("a", "apply", "apply", id="budget.apply"),
        Binding("0", "reset", "reset", id="budget.reset"),
    ]

    class ModelCounted(Message):
        """From the thread: another model that has counted, or what went wrong."""

        def __init__(self, number: int, other: OtherModel | None, problem: str) -> None:
            super().__init__()
            self.number = number
            self.other = other
            self.problem = problem

    class Progress(Message):
        """From the thread: how far counting for another model is."""

        def __init__(self, number: int, name: str, done: int, total: int) -> None:
            super().__init__()
            self.number = number
            self.name = name
            self.done = done
            self.total = total

    def __init__(self) -> None:
        super().__init__()
        self.prices: Prices | None = None
        self._trial: Trial | None = None
        self._model_number = 0
        self._counting = False

    @property
    def is_trying(self) -> bool:
        return self._trial is not None and not self._trial.is_empty

    def show_effect(self) -> None:
        """The effect of what is tried, or what could be; while counting, how far that is."""
        self.refresh_bindings()
        if self._counting:
            return
        trial = self._trial
        if trial is None or trial.is_empty:
            self.query_one(NowView).show_effect(what_if.hint, None)
            return
        found = trial.effect()
        prices = (self.prices, trial.other.prices if trial.other is not None else self.prices)
        then = {tool_id: found.then.binding(tool_id) for tool_id in self.bench.state.tools}
        self.query_one(NowView).show_effect(lambda width: what_if.effect(found, prices, width), then)

    def _try(self, change: Callable[[Trial], None]) -> None:
        """Change what is tried; a replay has nothing to try."""
        if self.toolsight.scrub.is_replay:
            self.notify("A replay changes nothing. f10, then l, goes back to the session.", markup=False)
            return
        if self._trial is None:
            self._trial = Trial(self.bench)
        change(self._trial)
        self.show_effect()

    @property
    def _row(self) -> str:
        current = self.query_one(NowView).current
        return current.key if current is not None else ""

    def action_defer(self) -> None:
        """Try the server of the row the other way round."""
        if self._row:
            self._try(lambda trial: trial.toggle_server(server_of(self._row)))

    def action_pin(self) -> None:
        """Try the tool of the row pinned, or no longer."""
        if not self._row or is_server(self._row):
            self.notify("p pins a tool: enter opens a server, then choose one of its tools.", markup=False)
            return
        self._try(lambda trial: trial.toggle_pin(self._row))

    def action_other_toolset(self) -> None:
        """Try another toolset."""
        self.app.push_screen(
            OtherToolsetDialog(self.bench, lambda name: self._try(lambda trial: trial.use_toolset(name)))
        )

    def action_other_model(self) -> None:
        """Try another model: its tokenizer, window and prices."""
        self.app.push_screen(OtherModelDialog(self.bench.state.model, self._count_for))

    def _count_for(self, name: str) -> None:
        """Count with another model's tokenizer first. Raises ModelError for a name that is none."""
        if name == self.bench.state.model:
            self._try(lambda trial: trial.use_model(None))
            return
        self.bench.ports.model_for(name)
        self._try(lambda trial: self._begin_counting(trial, name))

    def _begin_counting(self, trial: Trial, name: str) -> None:
        self._model_number += 1
        self._counting = True
        self._show_progress(name, 0, len(trial.setup.connected))
        self._count_model(self._model_number, trial, name)

    @work(thread=True, exclusive=True, exit_on_error=False, group="budget-model")
    def _count_model(self, number: int, trial: Trial, name: str) -> None:
        worker, other, problem = get_current_worker(), None, ""
        try:
            found = trial.models.named(name)
            tell = self._teller(number, name)
            if count_definitions(found.meter, trial.setup.connected, tell, lambda: worker.is_cancelled):
                other = found
        except ToolsightError as error:
            problem = failure_text(error)[1]
        self.post_message(self.ModelCounted(number, other, problem))

    def _teller(self, number: int, name: str) -> Callable[[int, int], None]:
        def tell(done: int, total: int) -> None:
            self.post_message(self.Progress(number, name, done, total))

        return tell

    @on(Progress)
    def _progressed(self, event: Progress) -> None:
        if event.number == self._model_number and self._counting:
            self._show_progress(event.name, event.done, event.total)

    def _show_progress(self, name: str, done: int, total: int) -> None:
        self.query_one(NowView).show_effect(lambda _: what_if.counting(name, done, total), None)

    @on(ModelCounted)
    def _use_model(self, event: ModelCounted) -> None:
        if event.number != self._model_number:
            return
        self._counting = False
        if event.problem:
            self.notify(event.problem, title="Not counted", severity="error", markup=False)
        if event.other is not None:
            self._try(lambda trial: trial.use_model(event.other))
        self.show_effect()

    async def action_leave(self) -> None:
        """Stop counting, or go back."""
        if not self._counting:
            await self.app.action_back()
            return
        self._model_number += 1
        self._counting = False
        self.workers.cancel_group(self, "budget-model")
        self.show_effect()

    def action_reset(self) -> None:
        """Forget what is tried."""
        self._try(Trial.reset)

    def action_apply(self) -> None:
        """Make the change in this session, as far as a session can."""
        if self._trial is None or self._trial.is_empty:
            return
        try:
            by_hand = self._trial.apply()
        except ToolsightError as error:
            title, message = failure_text(error)
            self.notify(message, title=title, severity="error", markup=False)
            return
        self.show_effect()
        if by_hand:
            text = visible("\n".join(by_hand), limit=600)
            self.notify(text, title="For the configuration file", markup=False, timeout=12)
        else:
            self.notify("It is in force from the next model call on.", title="Applied", markup=False)
