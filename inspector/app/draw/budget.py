"""The budget in words and bars: how much of the window a request takes, compared with static binding."""

from collections.abc import Iterable

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.core.budget import Budget, TokenParts, tools_tax, turns_left
from inspector.core.number import bar, count, large_saving, saving, tokens
from inspector.core.session import SessionState
from widgets import Segment

_COLORS = {
    "system": "$secondary",
    "instructions": "$secondary 80%",
    "summary pool": "$secondary 60%",
    "search_tools": "$accent",
    "manifest": "$accent 60%",
    "tools": "$success",
    "searches": "$primary 60%",
    "history": "$primary",
    "output reserve": "$foreground 30%",
}
_GAP = Content("   ")
# The columns of the two bars.
_LABEL, _NUMBER_WIDTH, _BESIDE = 13, 7, 16


def segments(parts: TokenParts) -> tuple[Segment, ...]:
    """Return the parts of a request in the order they are sent, without empty ones."""
    return tuple(_segment(name, value) for name, value in parts.by_name.items() if value)


def few_segments(parts: TokenParts) -> tuple[Segment, ...]:
    """Return a few parts for narrow layouts: summaries join the manifest, searches the history."""
    advertised = Segment("meta+manifest", parts.meta + parts.manifest + parts.pool, _COLORS["search_tools"])
    return (
        _segment("system", parts.system),
        *((_segment("instructions", parts.instructions),) if parts.instructions else ()),
        advertised,
        _segment("tools", parts.tools),
        _segment("history", parts.history + parts.searches),
        _segment("output reserve", parts.output_reserve),
    )


def _segment(name: str, value: int) -> Segment:
    return Segment(name, value, _COLORS[name])


def flow(pieces: Iterable[Content], width: int) -> Content:
    """Break the pieces over as many lines as needed; no piece is split."""
    lines: list[list[Content]] = []
    room = 0
    for piece in pieces:
        needed = piece.cell_length + _GAP.cell_length
        if not lines or needed > room:
            lines.append([])
            room = width + _GAP.cell_length
        lines[-1].append(piece)
        room -= needed
    return Content("\n").join(_GAP.join(line) for line in lines)


def window_label(budget: Budget) -> str:
    """Return how full the window is, in a few words."""
    # Above 100 % the meter itself warns.
    tight = "⚠ " if budget.is_tight and budget.fraction <= 1 else ""
    return f"{tight}{tokens(budget.parts.used)} of {tokens(budget.window)}"


def no_budget(session: SessionState, otherwise: str) -> Content:
    """Return why nothing is known of the next request; `otherwise` is said if nothing is missing."""
    if not session.uncounted:
        return Content(otherwise)
    told = f"The transcript lacks the definitions of {count(session.uncounted, 'tool')}, so "
    return Content.styled(
        f"{told}they count as 0 tokens. The provider's numbers are correct.", "$text-warning"
    )


def two_bars(session: SessionState, width: int) -> Content:
    """Return the tool tokens of the next call (searches included) over those of binding every tool.

    Two lines of `width` cells on one scale, and what is saved as a share.
    """
    budget = session.budget
    if budget is None:
        return Content()
    now, static = budget.parts.discovery_tokens, budget.static_tools
    color = "$text-success" if budget.saved >= 0 else "$text-warning"
    saved = budget.saved_fraction
    # There is no room for more words.
    share = (saving(saved) if saved > -1 else f"{large_saving(saved)} as much") if static else ""
    told = Content.styled(share, f"bold {color}")
    here = "with search" if session.has_search else "this call"
    rows = (
        (here, now, "$primary", Content(f"{count(len(session.bound_ids), 'tool')} bound")),
        ("all bound", static, "$foreground 40%", told),
    )
    room = width - _LABEL - _NUMBER_WIDTH - _BESIDE
    scale = max(now, static, 1)
    lines = []
    for label, value, tone, beside in rows:
        number = Content.styled(tokens(value).rjust(_NUMBER_WIDTH), "bold")
        drawn = Content.styled(bar(value / scale, max(room, 1)).ljust(room), tone)
        gap = Content(" " * (_BESIDE - beside.cell_length))
        lines.append(Content.assemble((label.ljust(_LABEL), MUTED), drawn, number, gap, beside))
    return Content("\n").join(lines)


def facts(session: SessionState) -> list[Content]:
    """Return what follows from the budget: utilization, tools tax, calls left, the discovery decision."""
    budget = session.budget
    if budget is None:
        return []
    pieces = [
        fact("task share", _utilization(budget.rho), f"{_utilization(budget.static_rho)} static"),
        *_tax(session),
        _lasting(session, budget),
    ]
    if session.decision:
        pieces.append(fact("discovery", session.decision))
    if session.reductions:
        times = "once" if session.reductions == 1 else f"{session.reductions} times"
        pieces.append(Content.styled(f"⚠ history shortened {times} (see Trace)", "$text-warning"))
    return pieces


def _utilization(rho: float) -> str:
    return f"{rho:.2f}" if rho >= 0.1 else f"{rho:.3f}"


def fact(label: str, value: str, beside: str = "") -> Content:
    """Return a labelled value, with a value to compare it with in parentheses."""
    behind = f" ({beside})" if beside else ""
    return Content.assemble((f"{label} ", MUTED), (value, "bold"), (behind, MUTED))


def _tax(session: SessionState) -> list[Content]:
    """Return what having tools has cost so far (Tool Attention, equation 2)."""
    calls = len(session.costs)
    if not calls:
        return []
    paid = sum(cost.parts.discovery_tokens for cost in session.costs)
    static = tools_tax(sum(cost.static_tools for cost in session.costs) / calls, calls)
    return [fact("tool tokens so far", tokens(paid), f"{tokens(round(static))} static")]


def _lasting(session: SessionState, budget: Budget) -> Content:
    growth = mean_growth(session)
    if growth is None:
        return fact("window full in", "?", "no call yet")
    left = turns_left(budget, growth)
    if left is None:
        return fact("window", "not filling", "no growth")
    return fact("window full in", count(left, "call"), f"+{tokens(round(growth))} per call")


def mean_growth(session: SessionState) -> float | None:
    """Return the mean tokens that a model call added to the request; None before the first."""
    if session.budget is None or not session.costs:
        return None
    return (session.budget.parts.used - session.costs[0].parts.used) / len(session.costs)
