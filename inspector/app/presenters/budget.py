"""The budget panel: what a request takes of the window, beside static binding."""

from textual.content import Content

from inspector.app.presenters.style import MUTED
from inspector.domain.budget import Budget, TokenParts
from inspector.domain.number import percent, tokens
from widgets import Segment

COLORS = {
    "system": "$secondary",
    "history": "$primary",
    "tools": "$success",
    "meta": "$accent",
    "output": "$foreground 30%",
}


def segments(parts: TokenParts) -> tuple[Segment, ...]:
    """The parts of a request, in the order they are sent."""
    return (
        Segment("system", parts.system, COLORS["system"]),
        Segment("meta+manifest", parts.meta, COLORS["meta"]),
        Segment("tools", parts.tools, COLORS["tools"]),
        Segment("history", parts.history, COLORS["history"]),
        Segment("output reserve", parts.output_reserve, COLORS["output"]),
    )


def window_label(budget: Budget) -> str:
    """How full the window is, in one short line."""
    # Over the window the meter itself says so.
    tight = "⚠ " if budget.is_tight and budget.fraction <= 1 else ""
    return f"{tight}{tokens(budget.parts.used)} of {tokens(budget.window)}"


def saving(budget: Budget) -> Content:
    """Tool tokens now, beside binding every tool, and what that saves."""
    color = "$text-success" if budget.saved >= 0 else "$text-warning"
    return Content.assemble(
        ("tool tokens ", MUTED),
        (tokens(budget.parts.tool_tokens), "bold"),
        ("   static ", MUTED),
        tokens(budget.static_tools),
        ("   saved ", MUTED),
        (f"{tokens(budget.saved)}  {percent(budget.saved_fraction)}", f"bold {color}"),
    )
