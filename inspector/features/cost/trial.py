"""A what-if of the budget page: a change to the session, its effect on the first call, and how it is told."""

from collections.abc import Callable
from dataclasses import replace
from operator import is_not
from typing import Generic, TypeVar

from textual.content import Content

from inspector.app.draw.budget import flow, no_budget
from inspector.app.draw.line import MUTED
from inspector.core.budget import Prices
from inspector.core.number import count, money, money_decimals, percent, saving, tokens
from inspector.core.session import Binding, SessionState
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
from inspector.tokens.accounting import OtherModel
from widgets import visible

_Dollars = tuple[float | None, float | None]
T = TypeVar("T")


class _Last(Generic[T]):
    """The last thing that was made, for as long as it would be made of the same objects."""

    def __init__(self) -> None:
        self._made: tuple[tuple[object, ...], T] | None = None

    def __call__(self, made_of: tuple[object, ...], make: Callable[[], T]) -> T:
        if self._made is None or any(map(is_not, self._made[0], made_of)):
            self._made = (made_of, make())
        return self._made[1]


class Trial:
    """One change to a session. Its effect is cached until something differs."""

    def __init__(self, session: SessionView) -> None:
        self.change = SetupChange()
        self.other: OtherModel | None = None
        self._session = session
        self._first, self._effect, self._dollars = (
            _Last[FirstCall](),
            _Last[ChangeEffect](),
            _Last[_Dollars](),
        )

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
        setup, meter = self.setup, self._session.accounting.meter
        made_of = (meter, self._session.catalog, setup.settings)
        now = self._first(made_of, lambda: first_call(setup, meter))
        then = self.other.meter if self.other is not None else None
        return self._effect(
            (now, self.change, self.other),
            lambda: change_effect(setup, self.change, meter, then=then, now=now),
        )

    def dollars(self, prices: Prices | None) -> _Dollars:
        """What an assumed session costs before and after the change, both at their own model's prices.

        `prices` are those of the session's model. Raises ConfigError.
        """
        effect, setup, other = self.effect(), self.setup, self.other
        meter = self._session.accounting.meter
        then = (meter, prices) if other is None else (other.meter, other.prices)
        return self._dollars(
            (effect, prices, other),
            lambda: (
                setup_dollars(setup, effect.now, meter, prices),
                setup_dollars(changed(setup, self.change, effect.now), effect.then, *then),
            ),
        )

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


_HINT = "What if?  d defers or binds a server   P pins a tool   m model   u toolset"


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


def counting(model: str, done: int, total: int) -> Content:
    """Return the progress of counting the definitions for another model."""
    name = visible(model, limit=60, newlines=False)
    return Content.assemble(
        ("What if ", "bold $text-accent"),
        f"counting for {name}: {done} of {count(total, 'tool')}",
        ("   esc stops", MUTED),
    )


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
    if change.model is not None:
        texts.append(f"model {_short(change.model)}")
    if change.toolset is not None:
        texts.append(f"toolset {_short(change.toolset) or 'all'}")
    if change.servers:
        waits = {tool.server for tool in trial.then.catalog.deferred}
        for names, what in ((change.servers & waits, "deferred"), (change.servers - waits, "bound")):
            texts += [f"{_counted(names, 'server')} {what}"] if names else []
    if change.pins:
        is_out = len(change.pins) == 1 and trial.then.binding(next(iter(change.pins))) is not Binding.PINNED
        texts.append(f"{_counted(change.pins, 'tool')} {'not pinned' if is_out else 'pinned'}")
    return ", ".join(filter(None, texts))


def _counted(names: frozenset[str], noun: str) -> str:
    return _short(next(iter(names))) if len(names) == 1 else count(len(names), noun)


def _short(name: str) -> str:
    return visible(name, limit=40, newlines=False)
