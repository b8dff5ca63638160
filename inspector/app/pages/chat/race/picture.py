"""A race as a picture for a slide: what both sent, call by call and added up, and what was saved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from xml.sax.saxutils import escape, quoteattr

from inspector.app.pages.chat.race import content as present
from inspector.app.theme import DARK
from inspector.domain.number import count, money, percent, tokens
from inspector.engine.scenario.lane import Lane
from inspector.engine.scenario.race import Frame, Verdict
from widgets import middle

_WIDTH, _HEIGHT = 1280, 720
_LEFT, _RIGHT = 64, 1216
_FONT = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_INK, _SOFT, _LINE = "#c8d3f5", "#8b93b8", "#3b4261"
_COLORS = (DARK.primary, "#e0af68")
# Static binding is dashed, so that it is told apart without its colour.
_DASHES = ("10 6", "")
_GOOD, _BAD = "#9ece6a", "#ff9e64"
_TICKS = 4
_NOTES, _NOTE_WIDTH = 5, 160


@dataclass(frozen=True, slots=True)
class _Chart:
    """A field of the picture for numbers by model call: the x of `calls` and the y of 0 to `most`."""

    left: float
    top: float
    right: float
    bottom: float
    calls: int
    most: int

    def x(self, call: float) -> float:
        return self.left + (self.right - self.left) * call / max(self.calls, 1)

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - self.top) * value / max(self.most, 1)


def picture(title: str, frames: Sequence[Frame], verdict: Verdict) -> str:
    """The race as SVG, 1280 by 720. Texts are escaped, and hidden characters in them are visible."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" font-family={quoteattr(_FONT)}>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="{DARK.background}"/>',
        *_head(title, verdict),
        *_totals(verdict),
        *_sums(frames),
        *_calls(frames),
        *_notes(verdict),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, text: str, size: int, fill: str = _INK, **extra: str) -> str:
    attributes = "".join(f" {name.replace('_', '-')}={quoteattr(value)}" for name, value in extra.items())
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}"'
    return f"<text {place}{attributes}>{escape(text)}</text>"


def _head(title: str, verdict: Verdict) -> Iterator[str]:
    static, other = verdict.lanes
    yield _text(_LEFT, 84, middle(title, 56), 38, font_weight="bold")
    facts = [f"{static.profile} against {other.profile}", other.tokenizer, other.model]
    yield _text(_LEFT, 118, middle("   ·   ".join(one for one in facts if one), 120), 18, _SOFT)


def _totals(verdict: Verdict) -> Iterator[str]:
    saved = verdict.saved
    good = saved is None or saved >= 0
    share = "–" if saved is None else percent(abs(saved))
    yield _text(_LEFT, 246, share, 104, _GOOD if good else _BAD, font_weight="bold")
    yield _text(_LEFT, 282, f"{'fewer' if good else 'more'} tokens sent for tools", 22)
    if verdict.input_saved is not None:
        less = "less" if verdict.input_saved >= 0 else "more"
        yield _text(_LEFT, 310, f"and {percent(abs(verdict.input_saved))} {less} of all input", 18, _SOFT)
    for side, lane in enumerate(verdict.lanes):
        yield from _total(lane, 384 + 120 * side, side)


def _total(lane: Lane, y: float, side: int) -> Iterator[str]:
    yield _stroke([(_LEFT, y - 6), (_LEFT + 36, y - 6)], side)
    yield _text(_LEFT + 48, y, middle(lane.profile, 24), 20, _COLORS[side], font_weight="bold")
    yield _text(_LEFT, y + 44, f"{lane.tokens:,}", 42, font_weight="bold")
    rest = f"in {count(lane.calls, 'model call')}, all input {tokens(lane.input_tokens)}"
    if lane.dollars is not None:
        rest += f", {money(lane.dollars)}"
    yield _text(_LEFT, y + 70, rest, 17, _SOFT)


def _sums(frames: Sequence[Frame]) -> Iterator[str]:
    """Tokens for tools, added up."""
    most = max(lane.tokens for lane in frames[-1].lanes)
    chart = _Chart(560, 186, _RIGHT - 70, 420, len(frames) - 1, most)
    yield _text(
        chart.left, chart.top - 22, "tokens for tools (definitions, manifest, searches), added up", 17, _SOFT
    )
    yield from _grid(chart)
    for side in (0, 1):
        lanes = _own(frames, side)
        points = [(chart.x(lane.calls), chart.y(lane.tokens)) for lane in lanes]
        yield _stroke(points, side)
        yield from (_dot(x, y, _COLORS[side]) for x, y in points[1:])
        x, y = points[-1]
        yield _text(x + 12, y + 6, tokens(lanes[-1].tokens), 18, _COLORS[side], font_weight="bold")


def _calls(frames: Sequence[Frame]) -> Iterator[str]:
    """Tokens for tools of each model call, both beside each other."""
    most = max((lane.present for frame in frames for lane in frame.lanes), default=0)
    chart = _Chart(560, 486, _RIGHT - 70, 592, len(frames) - 1, most)
    yield _text(chart.left, chart.top - 22, "the same in each model call", 17, _SOFT)
    yield from _grid(chart, ticks=2)
    width = min((chart.right - chart.left) / max(chart.calls, 1) * 0.34, 22)
    for side in (0, 1):
        for lane in _own(frames, side)[1:]:
            x, y = chart.x(lane.calls - 0.5) + (side - 1) * width, chart.y(lane.present)
            # An outline for static binding, so that it is told apart without its colour.
            look = (
                f'fill="{_COLORS[side]}"'
                if side
                else f'fill="none" stroke="{_COLORS[side]}" stroke-width="2"'
            )
            yield (
                f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{max(width - 2, 1):.1f}" '
                f'height="{chart.bottom - y:.1f}" {look}/>'
            )
    for call in range(1, chart.calls + 1, max(chart.calls // 16, 1)):
        yield _text(chart.x(call - 0.5), chart.bottom + 20, str(call), 14, _SOFT, text_anchor="middle")


def _own(frames: Sequence[Frame], side: int) -> list[Lane]:
    """A lane after each of its own model calls; where it stands still, it has none."""
    return [frame.lanes[side] for number, frame in enumerate(frames) if frame.lanes[side].calls == number]


def _grid(chart: _Chart, ticks: int = _TICKS) -> Iterator[str]:
    for value in _marks(chart.most, ticks):
        y = chart.y(value)
        yield f'<path d="M{chart.left} {y:.1f}H{chart.right}" stroke="{_LINE}" stroke-width="1"/>'
        yield _text(chart.left - 12, y + 5, tokens(value), 14, _SOFT, text_anchor="end")


def _marks(most: int, count: int) -> list[int]:
    """Round numbers from 0 up to `most`, about so many."""
    step = 1
    while most // step > count:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return list(range(0, most + 1, step))


def _stroke(points: Sequence[tuple[float, float]], side: int) -> str:
    path = " ".join(f"{'L' if number else 'M'}{x:.1f} {y:.1f}" for number, (x, y) in enumerate(points))
    dashes = f' stroke-dasharray="{_DASHES[side]}"' if _DASHES[side] else ""
    return f'<path d="{path}" fill="none" stroke="{_COLORS[side]}" stroke-width="4"{dashes}/>'


def _dot(x: float, y: float, color: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{color}"/>'


def _notes(verdict: Verdict) -> Iterator[str]:
    """In one column where they fit, else in two."""
    said = [middle(note, 400) for note in _said(verdict)]
    lines, columns = [line for note in said for line in wrap(note, _NOTE_WIDTH)], 1
    if len(lines) > _NOTES:
        lines, columns = [line for note in said for line in wrap(note, _NOTE_WIDTH // 2 - 3)], 2
    if len(lines) > _NOTES * columns:
        kept = _NOTES * columns - 1
        lines = [*lines[:kept], f"… and {len(lines) - kept} more lines of notes"]
    for number, line in enumerate(lines):
        x = _LEFT + number // _NOTES * (_RIGHT - _LEFT) / 2
        yield _text(x, 640 + 17 * (number % _NOTES), line, 14, _SOFT)


def _said(verdict: Verdict) -> Iterator[str]:
    """What a cache makes of it and whose prices count come first: without them the rest misleads."""
    static, other = verdict.lanes
    if verdict.billed_saved is not None and (static.has_cache or other.has_cache):
        less = "less" if verdict.billed_saved >= 0 else "more"
        share = f"As a prompt cache bills it, {percent(abs(verdict.billed_saved))} {less} of all input"
        dollars = f", at the prices of {present.prices(verdict, source=True)}" if verdict.prices else ""
        yield f"{share}{dollars}."
    yield from verdict.notes
