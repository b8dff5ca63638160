"""The effect of a change on the first model call, in a few lines."""

from textual.content import Content

from inspector.app.draw.budget import flow, no_budget
from inspector.app.draw.line import MUTED
from inspector.core.number import count, money, money_decimals, percent, tokens
from inspector.core.session import Binding, SessionState
from inspector.session.setup import ChangeEffect, FirstCall
from widgets import visible

_HINT = "What if?  d defers or binds a server   P pins a tool   m model   u toolset"


def headline(session: SessionState, width: int) -> Content:
    """Return what binding every tool costs, and what this session sends instead."""
    budget, owned = session.budget, len(session.tools)
    if budget is None or not owned:
        none = "No tools yet: no server is ready (see Tools)."
        return no_budget(session, none).stylize("$text-warning")
    servers = len({tool.server for tool in session.tools.values()})
    pieces = [
        Content.assemble(
            f"{count(servers, 'server')}, {count(owned, 'tool')}: binding them all costs ",
            (tokens(budget.static_tools), "bold $text-warning"),
            " tokens per call",
        )
    ]
    return flow([*pieces, _discovery(session)], width)


def _discovery(session: SessionState) -> Content:
    budget = session.budget
    assert budget is not None
    spent = budget.parts.discovery_tokens
    if not session.has_search and not session.pool:
        return Content.styled("all bound; press d on a server to see what discovery would save", MUTED)
    share = percent(abs(budget.saved_fraction))
    color = "$text-success" if budget.saved >= 0 else "$text-warning"
    return Content.assemble(
        "the next call ",
        (tokens(spent), f"bold {color}"),
        " with searches: ",
        (f"{share} saved" if budget.saved >= 0 else f"⚠ {share} more than static", f"bold {color}"),
    )


def effect(trial: ChangeEffect, dollars: tuple[float | None, float | None], width: int) -> Content:
    """Return the first call before and after: tokens, parts, static, share of the window.

    `dollars` are the price of an assumed session with its searches before and after; None if unknown.
    """
    now, then = trial.now, trial.then
    pieces = [
        Content.assemble(("What if ", "bold $text-accent"), (_change_text(trial), "")),
        _moved("first call", tokens(now.tokens), tokens(then.tokens), better=then.tokens <= now.tokens),
        Content.styled(f"({_parts(then)})", MUTED),
        _moved("static", tokens(now.budget.static_tools), tokens(then.budget.static_tools)),
        _moved("saved", percent(now.budget.saved_fraction), percent(then.budget.saved_fraction)),
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
        texts += [_servers(change.servers & waits, "deferred"), _servers(change.servers - waits, "bound")]
    if change.pins:
        pinned = "pinned" if len(change.pins) > 1 else _pinned(trial)
        texts.append(f"{_counted(change.pins, 'tool')} {pinned}")
    return ", ".join(filter(None, texts))


def _servers(names: frozenset[str], what: str) -> str:
    return f"{_counted(names, 'server')} {what}" if names else ""


def _pinned(trial: ChangeEffect) -> str:
    (tool_id,) = trial.change.pins
    return "pinned" if trial.then.binding(tool_id) is Binding.PINNED else "not pinned"


def _counted(names: frozenset[str], noun: str) -> str:
    return _short(next(iter(names))) if len(names) == 1 else count(len(names), noun)


def _short(name: str) -> str:
    return visible(name, limit=40, newlines=False)
