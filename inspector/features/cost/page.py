"""The budget page: what the servers cost, what discovery saves, the alternatives, and what if."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import ContentSwitcher

from inspector.app.base_screen import ToolKeys
from inspector.app.context import REPLAYED, Job
from inspector.app.stream import View
from inspector.core.budget import Prices, ToolCost
from inspector.core.error import ToolsightError
from inspector.features.cost import trial
from inspector.features.cost.budget_view import NowView, is_server, server_of
from inspector.features.cost.strategies_view import Question, WaysView
from inspector.features.cost.trial import Trial
from widgets import RecordList, visible

_NOW, _WAYS = "budget", "ways"
_VIEW_OF = {
    **dict.fromkeys(("defer", "pin", "reset", "apply", "open_all"), _NOW),
    **dict.fromkeys(("why", "edit_tool", "load"), _NOW),
}


# Long because what is tried on the first view has many keys.
class BudgetScreen(ToolKeys):
    """Two views: the next request, and the ways to deliver tools."""

    page = "budget"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#budget-table RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "defer", "defer/bind", id="budget.defer"),
        Binding("P", "pin", "pin", id="budget.pin"),
        Binding("a", "apply", "apply", id="budget.apply"),
        Binding("0", "reset", "reset", id="budget.reset"),
        Binding("o", "open_all", "open all", id="budget.open"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "Budget: how much of the window the next request fills, tight beyond ┊. Static binds every tool.",
        "ρ: the share of the request that is the task itself (history), not system prompt or tools.",
        "Tool tokens so far: the tokens spent on tools in all calls, next to those of static binding.",
        "The table lists servers and tools by cost. enter opens a server or a tool, o opens all servers.",
        "What if: d defers or binds a server, P pins a tool. The line shows the first call and a session,",
        "before → after. Nothing changes until you press a; 0 resets.",
        "Trace shows what each model call cost, and why the cache was lost.",
        "Strategies: this session's calls under all five; before there are any, an assumed session's.",
        "Dollar amounts include searches and use prompt cache prices.",
    )

    prices: Prices | None = None
    _trial: Trial | None = None
    _counted: tuple[object, ...] = ()

    def body(self) -> ComposeResult:
        with ContentSwitcher(initial=_view(_NOW), id="budget-views"):
            yield NowView(id=_view(_NOW))
            yield WaysView(id=_view(_WAYS))

    def show_view(self, view: View) -> None:
        self.query_one(NowView).show(view.state, self.prices)
        # Every tool's parts are counted again if catalog, tokenizer or model changed.
        key = (self.session.accounting.meter, self.session.catalog, self.session.state.model)
        if key != self._counted:
            self._counted = key
            self.run_job("budget", self._count, self.query_one(NowView).show_costs)
        self.show_effect()
        self._compare()

    def _count(self, job: Job) -> Mapping[str, ToolCost]:
        """Runs in a thread; prices come first, because they are known at once."""
        accounting, tools = self.session.accounting, self.session.catalog.tools
        prices = accounting.prices()

        def show() -> None:
            if prices != self.prices:
                self.prices = prices
                self.show_view(self.view)

        job.tell(show)
        costs: dict[str, ToolCost] = {}
        for tool in tools:
            if job.stopped():
                break
            costs[tool.id] = accounting.cost(tool)
        return costs

    def _compare(self) -> None:
        """Compare the ways, if their view is open."""
        if self.page != _WAYS:
            return
        accounting = self.session.accounting
        question = Question(
            self.session.setup,
            accounting.meter,
            self.prices,
            accounting.terms,
            tuple(self.session.records()) if self.session.state.costs else (),
        )
        self.query_one(WaysView).ask(question)

    # What if: a change affects the session only once it is applied.

    @property
    def is_trying(self) -> bool:
        return self._trial is not None and not self._trial.is_empty

    def show_effect(self) -> None:
        """Show the effect of the change, or what can be tried."""
        self.refresh_bindings()
        tried = self._trial
        if tried is None or tried.is_empty:
            self.query_one(NowView).show_effect(trial.hint, None)
            return
        effect, dollars = tried.effect(self.prices)
        then = {tool_id: effect.then.binding(tool_id) for tool_id in self.session.state.tools}
        self.query_one(NowView).show_effect(lambda width: trial.effect(effect, dollars, width), then)

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
            self._try(lambda tried: tried.toggle_server(server_of(self._row)))

    def action_pin(self) -> None:
        """Try pinning or unpinning the tool of the row."""
        if not self._row or is_server(self._row):
            self.notify("P pins a tool. Press enter to open a server, then choose a tool.", markup=False)
            return
        self._try(lambda tried: tried.toggle_pin(self._row))

    def action_reset(self) -> None:
        """Discard the change."""
        self._try(Trial.reset)

    def action_apply(self) -> None:
        """Apply the change to this session, as far as a session can change."""
        if self._trial is None or self._trial.is_empty:
            return
        try:
            by_hand = self._trial.apply(self.commands, self.prices)
        except ToolsightError as error:
            self.fail(error)
            return
        self.show_effect()
        if by_hand:
            text = visible("\n".join(by_hand), limit=600)
            self.notify(text, title="For the configuration file", markup=False, timeout=12)
        else:
            self.notify("Takes effect with the next model call.", title="Applied", markup=False)

    def action_open_all(self) -> None:
        """Expand every server, or collapse them all."""
        self.query_one(NowView).toggle_all()

    def show_page(self, page: str) -> None:
        """Switch to another view and focus its list."""
        if page == self.page:
            return
        self.page = page
        self.query_one(ContentSwitcher).current = _view(page)
        self.query_one(f"#{_view(page)} RecordRows").focus()
        self.redraw_header()
        self.refresh_bindings()
        self._compare()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the keys of the open view."""
        if action in _VIEW_OF and self.is_mounted:
            if self.page != _VIEW_OF[action]:
                return False
            if action in ("apply", "reset"):
                return self.is_trying
        return super().check_action(action, parameters)

    @on(RecordList.Selected, "#budget-table")
    def _open_tool(self, event: RecordList.Selected) -> None:
        self.open_tool(event.key)


def _view(page: str) -> str:
    """Return the id of the view that shows a page."""
    return f"view-{page}"
