"""A what-if of the budget page: a change to the session, its effect on the first call, and how it is told."""

from typing import TYPE_CHECKING

from textual.content import Content

from inspector.app.draw.budget import flow, no_budget
from inspector.app.draw.line import MUTED
from inspector.core.budget import Prices
from inspector.core.number import count, money, money_decimals, percent, saving, tokens
from inspector.core.session import Binding, SessionState
from inspector.session.setup import ChangeEffect, FirstCall, SetupChange, change_effect, changed, steps
from inspector.session.verdict import setup_dollars
from inspector.session.view import SessionView
from widgets import visible

if TYPE_CHECKING:
    from inspector.session.workbench import Workbench


class Trial:
    """One change to a session. Its effect is kept until something differs."""

    def __init__(self, session: SessionView) -> None:
        self.change = SetupChange()
        self._session = session
        self._made_of: tuple[object, ...] = ()
        self._effect: tuple[ChangeEffect, tuple[float | None, float | None]] | None = None

    @property
    def is_empty(self) -> bool:
        return self.change == SetupChange()

    def reset(self) -> None:
        """Discard the change."""
        self.change = SetupChange()

    def toggle_server(self, name: str) -> None:
        """Defer a server's tools, or bind them."""
        self.change = self.change.with_server(name)

    def toggle_pin(self, tool_id: str) -> None:
        """Pin or unpin a tool."""
        self.change = self.change.with_pin(tool_id)

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
        self.reset()
        return todo.by_hand


_HINT = "What if?  d defers or binds a server   P pins a tool"


def headline(session: SessionState, width: int) -> Content:
    """Return what binding every tool costs, and what this session sends instead."""
    budget, owned = session.budget, len(session.tools)
    if budget is None or not owned:
        none = "No tools yet: no server is ready (see Tools)."
        return no_budget(session, none).stylize("$text-warning")
    servers = len({tool.server for tool in session.tools.values()})
    all_bound = Content.assemble(
        f"{count(servers, 'server')}, {count(owned, 'tool')}: binding them all costs ",
        (tokens(budget.static_tools), "bold $text-warning"),
        " tokens per call",
    )
    if not session.has_search and not session.pool:
        none = "all bound; press d on a server to see what discovery would save"
        return flow([all_bound, Content.styled(none, MUTED)], width)
    color = f"bold {'$text-success' if budget.saved >= 0 else '$text-warning'}"
    next_call = Content.assemble(
        "the next call ",
        (tokens(budget.parts.discovery_tokens), color),
        " with searches: ",
        (f"{'' if budget.saved >= 0 else '⚠ '}{saving(budget.saved_fraction)}", color),
    )
    return flow([all_bound, next_call], width)


def effect(trial: ChangeEffect, dollars: tuple[float | None, float | None], width: int) -> Content:
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


def hint(width: int) -> Content:
    """Return what can be tried, while nothing is."""
    return Content.styled(_HINT, MUTED).truncate(width, ellipsis=True)


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
        is_out = len(change.pins) == 1 and trial.then.binding(next(iter(change.pins))) is not Binding.PINNED
        texts.append(f"{_counted(change.pins, 'tool')} {'not pinned' if is_out else 'pinned'}")
    return ", ".join(filter(None, texts))


def _counted(names: frozenset[str], noun: str) -> str:
    return (
        visible(next(iter(names)), limit=40, newlines=False) if len(names) == 1 else count(len(names), noun)
    )
