"""The budget page: what the servers cost, what discovery saves, the alternatives, and what if."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import ContentSwitcher

from inspector.app.base_screen import ToolKeys
from inspector.app.context import REPLAYED, Job
from inspector.app.draw.budget import flow
from inspector.app.draw.line import MUTED
from inspector.app.stream import View
from inspector.core.budget import Prices, ToolCost
from inspector.core.error import ToolsightError
from inspector.core.number import count, money, money_decimals, percent, saving, tokens
from inspector.core.session import Binding as Bound
from inspector.features.cost.budget_view import NowView, hint, is_server, server_of
from inspector.features.cost.strategies_view import Question, WaysView
from inspector.session.setup import ChangeEffect, FirstCall, SetupChange, change_effect, changed, steps
from inspector.session.verdict import setup_dollars
from inspector.session.view import SessionView
from widgets import RecordList, visible

if TYPE_CHECKING:
    from inspector.session.workbench import Workbench


class Trial:
    """One change to a session. Its effect is kept until something differs."""

    def __init__(self, session: SessionView) -> None:
        self.change = SetupChange()
        self._session = session
        self._made_of: tuple[object, ...] = ()
        self._effect: tuple[ChangeEffect, tuple[float | None, float | None]] | None = None

    def effect(self, prices: Prices | None) -> tuple[ChangeEffect, tuple[float | None, float | None]]:
        """Return the first call before and after the change, and what an assumed session costs then."""
        setup, meter = self._session.setup, self._session.accounting.meter
        made_of = (meter, self._session.catalog, setup.settings, self.change, prices)
        if self._effect is None or made_of != self._made_of:
            found = change_effect(setup, self.change, meter)
            dollars = (
                setup_dollars(setup, found.now, meter, prices),
                setup_dollars(changed(setup, self.change, found.now), found.then, meter, prices),
            )
            self._made_of, self._effect = made_of, (found, dollars)
        return self._effect

    def apply(self, commands: "Workbench", prices: Prices | None) -> tuple[str, ...]:
        """Apply the change to the session; return the steps that only the configuration file allows.

        Raises ToolsightError.
        """
        todo = steps(self._session.setup, self.change, self.effect(prices)[0])
        for path, value in todo.knobs.items():
            commands.change_setting(path, value)
        self.change = SetupChange()
        return todo.by_hand


def effect_text(trial: ChangeEffect, dollars: tuple[float | None, float | None], width: int) -> Content:
    """Return the first call before and after: tokens, parts, static, share of the window.

    `dollars` are the price of an assumed session with its searches before and after; None if unknown.
    """
    now, then = trial.now, trial.then
    pieces = [
        Content.assemble(("What if ", "bold $text-accent"), _change_text(trial)),
        _moved("first call", tokens(now.tokens), tokens(then.tokens), better=then.tokens <= now.tokens),
        Content.styled(f"({_parts(then)})", MUTED),
        _moved("static", tokens(now.budget.static_tools), tokens(then.budget.static_tools)),
        _moved("against static", saving(now.budget.saved_fraction), saving(then.budget.saved_fraction)),
        _moved("window share", percent(now.share, 1), percent(then.share, 1)),
    ]
    before, after = dollars
    if before is not None and after is not None:
        decimals = money_decimals((before, after))
        prices = money(before, decimals), money(after, decimals)
        pieces.append(_moved("session with searches", *prices, better=after <= before))
    if now.decision != then.decision and then.decision:
        pieces.append(Content.assemble(("discovery ", MUTED), then.decision))
    pieces.append(Content.styled("a applies, 0 resets", MUTED))
    return flow(pieces, width)


def _parts(call: FirstCall) -> str:
    parts = call.budget.parts
    every = {
        "search_tools": parts.meta,
        "manifest": parts.manifest,
        "summaries": parts.pool,
        "pinned": parts.tools,
    }
    return " + ".join(f"{name} {tokens(value)}" for name, value in every.items() if value) or "nothing"


def _moved(label: str, now: str, then: str, *, better: bool | None = None) -> Content:
    if now == then:
        return Content.assemble((f"{label} ", MUTED), then)
    color = "" if better is None else ("$text-success" if better else "$text-warning")
    return Content.assemble((f"{label} ", MUTED), f"{now} → ", (then, f"bold {color}".strip()))


def _change_text(trial: ChangeEffect) -> str:
    """Return the change in words."""
    change, texts = trial.change, []
    if change.servers:
        waits = {tool.server for tool in trial.then.catalog.deferred}
        for names, what in ((change.servers & waits, "deferred"), (change.servers - waits, "bound")):
            texts += [f"{_counted(names, 'server')} {what}"] if names else []
    if change.pins:
        is_out = len(change.pins) == 1 and trial.then.binding(next(iter(change.pins))) is not Bound.PINNED
        texts.append(f"{_counted(change.pins, 'tool')} {'not pinned' if is_out else 'pinned'}")
    return ", ".join(filter(None, texts))


def _counted(names: frozenset[str], noun: str) -> str:
    return (
        visible(next(iter(names)), limit=40, newlines=False) if len(names) == 1 else count(len(names), noun)
    )


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
        "task share: how much of the request is the task itself (history), not system prompt or tools.",
        "Tool tokens so far: the tokens spent on tools in all calls, next to those of static binding.",
        "The table lists servers and tools by cost. enter opens a server or a tool, o opens all servers.",
        "What if: d defers or binds a server, P pins a tool. The line shows the first call and a session,",
        "before → after. Nothing changes until you press a; 0 resets.",
        "Trace shows what each model call cost, and why the cache was lost.",
        "Strategies: this session's calls under all six; before there are any, an assumed session's.",
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
        return self._trial is not None and self._trial.change != SetupChange()

    def show_effect(self) -> None:
        """Show the effect of the change, or what can be tried."""
        self.refresh_bindings()
        tried = self._trial
        if tried is None or not self.is_trying:
            self.query_one(NowView).show_effect(hint, None)
            return
        effect, dollars = tried.effect(self.prices)
        then = {tool_id: effect.then.binding(tool_id) for tool_id in self.session.state.tools}
        self.query_one(NowView).show_effect(lambda width: effect_text(effect, dollars, width), then)

    def _try(self, change: Callable[[SetupChange], SetupChange]) -> None:
        """Update the what-if change; a replay has none."""
        if self.context.replay.is_replay:
            self.warn(REPLAYED)
            return
        if self._trial is None:
            self._trial = Trial(self.session)
        self._trial.change = change(self._trial.change)
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
            self._try(lambda tried: tried.with_server(server_of(self._row)))

    def action_pin(self) -> None:
        """Try pinning or unpinning the tool of the row."""
        if not self._row or is_server(self._row):
            self.notify("P pins a tool. Press enter to open a server, then choose a tool.", markup=False)
            return
        self._try(lambda tried: tried.with_pin(self._row))

    def action_reset(self) -> None:
        """Discard the change."""
        self._try(lambda _: SetupChange())

    def action_apply(self) -> None:
        """Apply the change to this session, as far as a session can change."""
        if self._trial is None or not self.is_trying:
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
