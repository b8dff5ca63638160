"""A race as lines of a terminal, a recording, a picture, Markdown or HTML: what both sent, and the saving."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap

from rich.cells import cell_len

from inspector.app.draw.line import joined
from inspector.core.number import count, large_saving, money, saving, tokens
from inspector.core.report import Table, markdown_table
from inspector.features.lab.race import svg
from inspector.features.lab.race.race import Race, RaceFrame, Racer, Verdict
from inspector.features.lab.race.race_text import (
    NOT_COMPARABLE,
    SEARCHES,
    answered,
    bar,
    headline,
    measured,
    note_lines,
    prices,
    racer_title,
    result,
    so_far,
    table_rows,
)
from widgets import middle, plain, shorten, visible

# Text and its ANSI style codes, "" for none.
Piece = tuple[str, str]
Line = tuple[Piece, ...]
_BOLD, _DIM, _GOOD = "1", "2", "1;32"
_STYLES = ("37", "94")
_LONGEST = 400
# Cells for a racer's total.
_TOTAL = 9


def drawn(
    title: str, frame: RaceFrame, verdict: Verdict | None, width: int, most: int | None = None
) -> list[Line]:
    """Return a moment of the race as lines of at most `width` cells, or its end if there is a verdict.

    `most` is the number of tokens of a full bar, by default those of the larger racer so far.
    """
    longest = most if most is not None else max(racer.discovery_tokens for racer in frame.racers)
    lines = list(_title_lines(title, frame, width))
    for side, racer in enumerate(frame.racers):
        state = answered(racer).plain if verdict is not None else ""
        lines += [(), *_racer(racer, state, _STYLES[side], longest, width)]
    lines.append(())
    summary = result(verdict) if verdict is not None else so_far(frame)
    for number, text in enumerate(summary.plain.splitlines()):
        style = (_BOLD if verdict.shortfall else _GOOD) if verdict is not None and not number else ""
        lines += [
            ((part, style),)
            for part in (wrap(text, width, subsequent_indent="  ", break_on_hyphens=False) or [""])
        ]
    return lines


def _title_lines(title: str, frame: RaceFrame, width: int) -> Iterator[Line]:
    racer = frame.racers[1]
    yield (("Race  ", _DIM), (visible(title, limit=_LONGEST, newlines=False), _BOLD))
    facts = [racer.tokenizer, racer.model, f"call {frame.call}" if frame.call else "getting ready"]
    pieces = [plain(fact, limit=_LONGEST, newlines=False) for fact in facts if fact]
    yield ((joined(pieces, width).plain, _DIM),)


def _racer(racer: Racer, state: str, color: str, most: int, width: int) -> Iterator[Line]:
    name = racer_title(racer.profile).plain
    yield ((name, f"1;{color}"), (f"   {state}" if state else "", ""))
    yield ((f"{racer.discovery_tokens:>{_TOTAL},}", f"1;{color}"), (_facts(racer, width - _TOTAL - 1), ""))
    yield ((bar(racer, most, width, "").plain, color),)
    call = f"{racer.model_calls:>3} {tokens(racer.present):>6}  {racer.last}" if racer.model_calls else ""
    yield ((visible(call, limit=_LONGEST, newlines=False), ""),)


def _facts(racer: Racer, width: int) -> str:
    """Return as many facts as fit whole."""
    searches = f" ({SEARCHES} {tokens(racer.search_tokens)} searches)" if racer.search_tokens else ""
    facts = [
        f" tokens for tools{searches}",
        count(racer.model_calls, "model call"),
        f"all input {tokens(racer.input_tokens)}",
        *([money(racer.dollars)] if racer.dollars is not None else []),
        f"{count(racer.bound, 'tool')} bound",
    ]
    return joined([plain(fact) for fact in facts], width).plain


def ansi_line(line: Line, width: int, *, colored: bool = True) -> str:
    """Return the line with its styles, cut at `width` cells and free of any other control sequence."""
    room, pieces = width, []
    for text, style in line:
        shown = shorten(plain(text, limit=_LONGEST, newlines=False), room).plain
        room -= cell_len(shown)
        pieces.append(f"\x1b[{style}m{shown}\x1b[0m" if colored and style and shown else shown)
    return "".join(pieces)


_LEFT, _RIGHT = 64, 1216
_LINE = "#3b4261"
_COLORS = (svg.DIM, svg.BLUE)
# Static binding is dashed, so that it can be told apart without color.
_DASHES = ("10 6", "")
_TICKS = 4
_NOTES, _NOTE_WIDTH = 5, 160
# Letters in a line of the sentence that stands where there is no number.
_SHORTFALL_WIDTH = 48


@dataclass(frozen=True, slots=True)
class _Chart:
    """A chart of numbers by model call: x runs over `calls`, y from 0 to `most`."""

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


def picture(title: str, frames: Sequence[RaceFrame], verdict: Verdict) -> str:
    """Return the race as SVG."""
    return svg.slide(
        (*_head(title, verdict), *_totals(verdict), *_sums(frames), *_calls(frames), *_notes(verdict))
    )


def _head(title: str, verdict: Verdict) -> Iterator[str]:
    static, other = verdict.racers
    yield svg.text(_LEFT, 84, middle(title, 56), 38, weight=700)
    facts = [f"{static.profile} against {other.profile}", other.tokenizer, other.model]
    yield svg.text(_LEFT, 118, middle("   ·   ".join(one for one in facts if one), 120), 18, svg.DIM)


def _totals(verdict: Verdict) -> Iterator[str]:
    saved = verdict.saved
    good = saved is None or saved >= 0
    fewer = "as many" if saved is not None and saved <= -1 else "fewer" if good else "more"
    if verdict.shortfall:
        yield svg.text(_LEFT, 190, NOT_COMPARABLE, 48, svg.BAD, weight=700)
        for number, line in enumerate(wrap(verdict.shortfall, _SHORTFALL_WIDTH)):
            yield svg.text(_LEFT, 224 + 24 * number, line, 18)
    else:
        share = "–" if saved is None else large_saving(saved)
        yield svg.text(_LEFT, 246, share, 104, svg.GOOD if good else svg.BAD, weight=700)
        yield svg.text(_LEFT, 282, f"{fewer} tokens sent for tools", 22)
    if verdict.input_saved is not None and not verdict.shortfall:
        yield svg.text(_LEFT, 310, f"and {saving(verdict.input_saved)} input overall", 18, svg.DIM)
    for side, racer in enumerate(verdict.racers):
        yield from _total(racer, 384 + 120 * side, side)


def _total(racer: Racer, y: float, side: int) -> Iterator[str]:
    yield _stroke([(_LEFT, y - 6), (_LEFT + 36, y - 6)], side)
    yield svg.text(_LEFT + 48, y, middle(racer.profile, 24), 20, _COLORS[side], weight=700)
    yield svg.text(_LEFT, y + 44, f"{racer.discovery_tokens:,}", 42, weight=700)
    rest = f"in {count(racer.model_calls, 'model call')}, all input {tokens(racer.input_tokens)}"
    if racer.dollars is not None:
        rest += f", {money(racer.dollars)}"
    yield svg.text(_LEFT, y + 70, rest, 17, svg.DIM)


def _sums(frames: Sequence[RaceFrame]) -> Iterator[str]:
    """Draw the cumulative tokens for tools."""
    most = max(racer.discovery_tokens for racer in frames[-1].racers)
    chart = _Chart(560, 186, _RIGHT - 70, 420, len(frames) - 1, most)
    yield svg.text(
        chart.left,
        chart.top - 22,
        "tokens for tools (definitions, manifest, searches), cumulative",
        17,
        svg.DIM,
    )
    yield from _grid(chart)
    for side in (0, 1):
        racers = _own(frames, side)
        points = [(chart.x(racer.model_calls), chart.y(racer.discovery_tokens)) for racer in racers]
        yield _stroke(points, side)
        yield from (svg.dot(x, y, _COLORS[side]) for x, y in points[1:])
        x, y = points[-1]
        yield svg.text(x + 12, y + 6, tokens(racers[-1].discovery_tokens), 18, _COLORS[side], weight=700)


def _calls(frames: Sequence[RaceFrame]) -> Iterator[str]:
    """Draw the tokens for tools of each model call, side by side."""
    most = max((racer.present for frame in frames for racer in frame.racers), default=0)
    chart = _Chart(560, 486, _RIGHT - 70, 592, len(frames) - 1, most)
    yield svg.text(chart.left, chart.top - 22, "tokens for tools per model call", 17, svg.DIM)
    yield from _grid(chart, ticks=2)
    width = min((chart.right - chart.left) / max(chart.calls, 1) * 0.34, 22)
    for side in (0, 1):
        for racer in _own(frames, side)[1:]:
            x, y = chart.x(racer.model_calls - 0.5) + (side - 1) * width, chart.y(racer.present)
            # Static binding is an outline, so that it can be told apart without color.
            draw = svg.box if side else svg.outline
            yield draw(x + 1, y, max(width - 2, 1), chart.bottom - y, _COLORS[side])
    for call in range(1, chart.calls + 1, max(chart.calls // 16, 1)):
        yield svg.text(chart.x(call - 0.5), chart.bottom + 20, str(call), 14, svg.DIM, anchor="middle")


def _own(frames: Sequence[RaceFrame], side: int) -> list[Racer]:
    """Return a racer after each of its own model calls; frames in which it made none are skipped."""
    racers = [frame.racers[side] for frame in frames]
    return [racer for number, racer in enumerate(racers) if racer.model_calls == number]


def _grid(chart: _Chart, ticks: int = _TICKS) -> Iterator[str]:
    for value in _marks(chart.most, ticks):
        y = chart.y(value)
        yield svg.line(((chart.left, y), (chart.right, y)), _LINE, 1)
        yield svg.text(chart.left - 12, y + 5, tokens(value), 14, svg.DIM, anchor="end")


def _marks(most: int, count: int) -> list[int]:
    """Return about `count` round numbers from 0 up to `most`."""
    step = 1
    while most // step > count:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return list(range(0, most + 1, step))


def _stroke(points: Sequence[tuple[float, float]], side: int) -> str:
    return svg.line(points, _COLORS[side], 4, dashes=_DASHES[side])


def _notes(verdict: Verdict) -> Iterator[str]:
    """Draw the notes in one column if they fit, else in two."""
    notes = [middle(note, 400) for note in _note_texts(verdict)]
    lines, columns = [line for note in notes for line in wrap(note, _NOTE_WIDTH)], 1
    if len(lines) > _NOTES:
        lines, columns = [line for note in notes for line in wrap(note, _NOTE_WIDTH // 2 - 3)], 2
    if len(lines) > _NOTES * columns:
        kept = _NOTES * columns - 1
        lines = [*lines[:kept], f"… and {len(lines) - kept} more lines"]
    for number, line in enumerate(lines):
        x = _LEFT + number // _NOTES * (_RIGHT - _LEFT) / 2
        yield svg.text(x, 640 + 17 * (number % _NOTES), line, 14, svg.DIM)


def _note_texts(verdict: Verdict) -> Iterator[str]:
    """Yield the effect of a prompt cache with its prices first, because the rest misleads without it."""
    static, other = verdict.racers
    if verdict.billed_saved is not None and (static.has_cache or other.has_cache):
        share = f"With a prompt cache, {saving(verdict.billed_saved)} input is billed"
        dollars = f", at the prices of {prices(verdict, source=True)}" if verdict.prices else ""
        yield f"{share}{dollars}."
    yield from verdict.notes


# A race as a page to hand on: Markdown, or HTML with its picture.

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "td{padding:.1rem 1rem}td:not(:first-child){text-align:right}svg{max-width:100%;height:auto}"
)


def markdown(race: Race, verdict: Verdict) -> str:
    """Return the race as Markdown: what was measured, what came of it, both sides, the notes."""
    head, *rows = table_rows(verdict)
    table = markdown_table(Table("", head, tuple(rows), frozenset({1, 2, 3})))
    notes = "\n".join(f"- {line}" for line in _export_notes(verdict))
    title = f"# {headline(verdict).plain.splitlines()[0]}"
    return "\n\n".join([title, measured(race.scenario.title, verdict), table, notes]) + "\n"


def _export_notes(verdict: Verdict) -> list[str]:
    return [line.removeprefix("· ") for line in note_lines(verdict).plain.splitlines()]


def html(race: Race, verdict: Verdict) -> str:
    """Return the race as a page that stands alone."""
    title = race.scenario.title
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in table_rows(verdict))
    rows = (f"<tr>{row}</tr>" for row in cells)
    notes = (f"<li>{escape(line)}</li>" for line in _export_notes(verdict))
    drawing = picture(title, race.frames(), verdict)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n"
        f"<h1>{escape(headline(verdict).plain.splitlines()[0])}</h1>\n"
        f"<p>{escape(measured(title, verdict))}</p>\n{drawing[drawing.index('<svg') :]}\n"
        f"<table>{''.join(rows)}</table>\n<ul>{''.join(notes)}</ul>\n</body></html>\n"
    )


ENDINGS = ".svg is a picture for a slide, .md and .html a page."
FORMATS: Mapping[str, Callable[[Race, Verdict], str]] = {
    ".svg": lambda race, verdict: picture(race.scenario.title, race.frames(), verdict),
    ".md": markdown,
    ".html": html,
}


def exported(race: Race, path: Path) -> str:
    """Return the race in the format of the path's extension.

    Raises ValueError for any other extension, and while the race is not over.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f"the name has to end in {', '.join(FORMATS)}")
    if race.verdict is None:
        raise ValueError("the race is not over")
    return FORMATS[path.suffix](race, race.verdict)
