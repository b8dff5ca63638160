"""Draws the iteration guard's windows: a letter for equal calls, and a bar for each limit."""

from rich.cells import cell_len
from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.app.pages.lab.scenario.walkthrough import CountedCall, Counter, StepFrame
from inspector.core.number import count
from inspector.core.settings import GuardSettings
from widgets import middle, visible

# Limits up to this have one bar cell per call.
_CELLS = 6
_COLORS = ("$text-primary", "$text-accent", "$text-success", "$text-secondary")
_SHOWN = 8
_HASH = 8
_FIRST = ord("A")
_NONE = "(A): the tool was found again, or there was progress, so counting restarted. Both windows are empty."


def color(letter: str) -> str:
    """Return the color of a group of equal calls; its letter says the same."""
    return _COLORS[(ord(letter[:1] or "A") - _FIRST) % len(_COLORS)]


def windows(frame: StepFrame, width: int) -> Content:
    """Return the sliding window as a row of letters, then every group of equal calls with its counts."""
    if not frame.calls:
        return Content.styled("Nothing counted yet.", MUTED)
    counters = frame.counters()
    blocks = [_strip(frame, width), *(_counter(counter, frame, width) for counter in counters[:_SHOWN])]
    if len(counters) > _SHOWN:
        blocks.append(Content.styled(f"… and {len(counters) - _SHOWN} more", MUTED))
    if not counters:
        blocks.append(Content.styled(_NONE, MUTED))
    return Content("\n").join(blocks)


def _strip(frame: StepFrame, width: int) -> Content:
    """Return the last calls, the newest on the right: [A] is this step's, (A) no longer counts."""
    calls = frame.window
    label = f"last {count(len(calls), 'call')} "
    room = max((width - len(label) - 2) // 3, 1)
    shown = calls[-room:]
    cells = [_cell(call, frame.counted) for call in shown]
    more = Content.styled("… ", MUTED) if len(shown) < len(calls) else Content()
    return Content.assemble((label, MUTED), more, *cells)


def _cell(call: CountedCall | None, counted: CountedCall | None) -> Content:
    if call is None:
        return Content.styled(" · ", MUTED)
    if call.cleared:
        return Content.styled(f"({call.letter})", MUTED)
    text = f"[{call.letter}]" if call is counted else f" {call.letter} "
    return Content.styled(text, f"bold {color(call.letter)}")


def _counter(counter: Counter, frame: StepFrame, width: int) -> Content:
    """Return two lines: the call, and how often it is in either window."""
    guard, counted = frame.guard, counter.counted
    short = visible(counted.arguments_hash[:_HASH], newlines=False)
    name = middle(counted.tool, max(width // 2 - 6, 8))
    form = middle(counted.normalised, max(width - cell_len(name) - len(short) - 6, 8))
    leaves = f", expires in {counter.leaves:.0f} s" if counter.leaves is not None else ""
    return Content.assemble(
        (counter.letter, f"bold {color(counter.letter)}"),
        (f" {short}  ", MUTED),
        (name, "bold" if counter.is_current else ""),
        (f"  {form}\n", MUTED),
        ("  time ", MUTED),
        _bar(counter.in_time, guard.max_repeats),
        f" {counter.in_time}/{guard.max_repeats}",
        _fired(counter, "time"),
        (leaves, MUTED),
        ("   calls ", MUTED),
        _bar(counter.in_calls, guard.window_repeats),
        f" {counter.in_calls}/{guard.window_repeats}",
        _fired(counter, "calls"),
        _verdict(counter, guard),
    )


def _bar(count: int, limit: int) -> Content:
    """Draw a cell per call up to the limit, and an excess apart from it."""
    cells = min(limit, _CELLS)
    filled = min(round(count / limit * cells), cells) if limit else cells
    filled = max(filled, 1) if count else 0
    over = Content.styled("▸■", "bold $text-error") if count > limit else Content()
    style = "$text-warning" if count >= limit else "$text-primary"
    return Content.assemble(("■" * filled, style), ("□" * (cells - filled), MUTED), over)


def _verdict(counter: Counter, guard: GuardSettings) -> Content:
    if counter.fired == "again":
        return Content.styled("   ⚠ the loop continues", "bold $text-warning")
    if counter.counted.exempt:
        return Content.styled("   exempt", MUTED)
    # Over a limit the loop was detected, which the bar shows.
    is_over = counter.in_time > guard.max_repeats or counter.in_calls > guard.window_repeats
    if is_over or not counter.fires_next:
        return Content()
    return Content.styled("   one more is a loop", "$text-warning")


def _fired(counter: Counter, window: str) -> Content:
    return Content.styled(" ⚠ loop", "bold $text-warning") if counter.fired == window else Content()
