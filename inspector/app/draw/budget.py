"""The budget in words and bars: what a request takes of the window, beside static binding."""

from collections.abc import Iterable, Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.domain.budget import Budget, TokenParts, tools_tax, turns_left
from inspector.domain.number import count, percent, tokens
from inspector.domain.session import SessionState
from widgets import Segment, legend

COLORS = {
    "system": "$secondary",
    "pool": "$secondary 60%",
    "search_tools": "$accent",
    "manifest": "$accent 60%",
    "tools": "$success",
    "searches": "$primary 60%",
    "history": "$primary",
    "output": "$foreground 30%",
}
_GAP = Content("   ")


def segments(parts: TokenParts) -> tuple[Segment, ...]:
    """The parts of a request, in the order they are sent; what there is nothing of is left out."""
    every = (
        Segment("system", parts.system, COLORS["system"]),
        Segment("summary pool", parts.pool, COLORS["pool"]),
        Segment("search_tools", parts.meta, COLORS["search_tools"]),
        Segment("manifest", parts.manifest, COLORS["manifest"]),
        Segment("tools", parts.tools, COLORS["tools"]),
        Segment("searches", parts.searches, COLORS["searches"]),
        Segment("history", parts.history, COLORS["history"]),
        Segment("output reserve", parts.output_reserve, COLORS["output"]),
    )
    return tuple(segment for segment in every if segment.value)


def few_segments(parts: TokenParts) -> tuple[Segment, ...]:
    """The same in five, for little room: summaries go with the manifest, searches with the history."""
    advertised = parts.meta + parts.manifest + parts.pool
    return (
        Segment("system", parts.system, COLORS["system"]),
        Segment("meta+manifest", advertised, COLORS["search_tools"]),
        Segment("tools", parts.tools, COLORS["tools"]),
        Segment("history", parts.history + parts.searches, COLORS["history"]),
        Segment("output reserve", parts.output_reserve, COLORS["output"]),
    )


def flow(pieces: Iterable[Content], width: int) -> Content:
    """Pieces in as many lines as they need; none is torn apart."""
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


def flowing_legend(parts: Sequence[Segment], width: int) -> Content:
    """What the colours of a bar are, with numbers."""
    return flow((legend([part], number=_number) for part in parts), width)


def _number(value: float) -> str:
    return tokens(round(value))


def window_label(budget: Budget) -> str:
    """How full the window is, in one short line."""
    # Over the window the meter itself says so.
    tight = "⚠ " if budget.is_tight and budget.fraction <= 1 else ""
    return f"{tight}{tokens(budget.parts.used)} of {tokens(budget.window)}"


def saving(budget: Budget) -> Content:
    """Tool tokens now, searches among them, beside binding every tool, and what that saves."""
    color = "$text-success" if budget.saved >= 0 else "$text-warning"
    return Content.assemble(
        ("tool tokens ", MUTED),
        (tokens(budget.parts.discovery_tokens), "bold"),
        ("   static ", MUTED),
        tokens(budget.static_tools),
        ("   saved ", MUTED),
        (f"{tokens(budget.saved)}  {percent(budget.saved_fraction)}", f"bold {color}"),
    )


def counted_by(budget: Budget) -> Content:
    """Whose tokens these are, and whether they are exact."""
    return fact("tokens of", budget.tokenizer.name, "exact" if budget.tokenizer.exact else "estimate")


def facts(session: SessionState) -> list[Content]:
    """What follows from the window: utilization, tools tax, how long it lasts, and what was decided."""
    budget = session.budget
    if budget is None:
        return []
    found = [
        fact("ρ", _utilization(budget.rho), f"{_utilization(budget.static_rho)} static"),
        *_tax(session),
        _lasting(session, budget),
    ]
    if session.decision:
        found.append(fact("discovery", session.decision))
    if session.reductions:
        times = "once" if session.reductions == 1 else f"{session.reductions} times"
        found.append(Content.styled(f"⚠ history made shorter {times} (f6)", "$text-warning"))
    return found


def _utilization(rho: float) -> str:
    return f"{rho:.2f}" if rho >= 0.1 else f"{rho:.3f}"


def fact(label: str, value: str, beside: str = "") -> Content:
    """A value with what it is, and what to hold it against."""
    behind = f" ({beside})" if beside else ""
    return Content.assemble((f"{label} ", MUTED), (value, "bold"), (behind, MUTED))


def _tax(session: SessionState) -> list[Content]:
    """What having tools has cost until now (Tool Attention, equation 2)."""
    calls = len(session.costs)
    if not calls:
        return []
    paid = sum(cost.parts.discovery_tokens for cost in session.costs)
    static = tools_tax(sum(cost.static_tools for cost in session.costs) / calls, calls)
    return [fact("tools tax so far", tokens(paid), f"{tokens(round(static))} static")]


def _lasting(session: SessionState, budget: Budget) -> Content:
    growth = mean_growth(session)
    if growth is None:
        return fact("window full in", "?", "no call yet")
    left = turns_left(budget, growth)
    if left is None:
        return fact("window", "not filling", "no growth")
    return fact("window full in", count(left, "call"), f"+{tokens(round(growth))} a call")


def mean_growth(session: SessionState) -> float | None:
    """Tokens that a model call added to the request, on average; None before the first."""
    if session.budget is None or not session.costs:
        return None
    return (session.budget.parts.used - session.costs[0].parts.used) / len(session.costs)
