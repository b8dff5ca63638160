"""The texts of a race: both sides as bars on one scale, call by call, and how it ended."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED
from inspector.app.pages.chat.race.playback import Playback
from inspector.app.scenario_job import Progress
from inspector.config.setting import PROFILES
from inspector.core.number import count, money, percent, tokens
from inspector.core.ranking import IndexPhase
from inspector.scenario.comparison import ANSWERED, STATIC
from inspector.scenario.race import RaceFrame, Racer
from widgets import visible

COLORS = ("$foreground 40%", "$primary")
NAMES = ("$foreground 70%", "$text-primary")
TOOLS, SEARCHES = "█", "▒"
_GAP = "   "
_LINE = 400
_CALL, _COUNT, _BAR = 3, 6, 6
# Cells for a side's total, at the end of its bar.
_TOTAL = 10
# A full bar is worth one of these, times a power of ten: a bar grows, and the scale seldom changes.
_SCALES = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
_MEANS = {
    STATIC: "every tool in every call",
    "toolsight": "tools found when needed",
}


def status(title: str, ground: str, playback: Playback, model: str, width: int) -> Content:
    """Return what is raced and on which servers, then the model and the pace as far as they fit."""
    pace = f"{playback.pace:g} s per call" if playback.pace else "no pause between calls"
    facts = (ground, visible(model, limit=60, newlines=False), pace)
    pieces = [Content.styled(text, MUTED) for text in facts if text]
    if playback.is_paused:
        pieces.insert(0, Content.styled("paused, space resumes", "$text-warning"))
    asked = Content.styled(visible(title, limit=400, newlines=False), "bold")
    room = width - pieces[0].cell_length - len(_GAP)
    return joined([asked.truncate(max(room, width // 2), ellipsis=True), *pieces], width)


def joined(pieces: Sequence[Content], width: int) -> Content:
    """Join as many pieces as fit into a line, always including the first."""
    kept = list(pieces)
    while len(kept) > 1 and Content(_GAP).join(kept).cell_length > width:
        kept.pop()
    return Content(_GAP).join(kept)


def racer_title(profile: str) -> Content:
    """Return a racer's profile and what it means."""
    means = _MEANS.get(profile) or PROFILES[profile].title if profile in PROFILES else ""
    name = visible(profile, limit=40, newlines=False)
    return Content.assemble((name, "bold"), (f"  {means}", MUTED) if means else "")


def outcome(racer: Racer) -> Content:
    """Return in a word whether a racer answered."""
    good = racer.outcome == ANSWERED
    said = f"{'✓' if good else '✕'} {visible(racer.outcome, limit=40, newlines=False) or 'no answer'}"
    return Content.styled(said, "$text-success" if good else "$text-error")


def waiting(progress: Progress) -> str:
    """Return what a run waits for before its first model call."""
    if progress.connected < progress.servers or not progress.servers:
        return f"servers {progress.connected} of {progress.servers or '…'}"
    index = progress.index
    if index.phase in (IndexPhase.OFF, IndexPhase.READY):
        return "ready"
    return f"{index.phase} {index.embedded} of {index.total}" if index.total else str(index.phase)


def scale(most: int) -> int:
    """Return what a full bar is worth: a round number of tokens, `most` or a little more."""
    power = 1
    while most > 10 * power:
        power *= 10
    return next(int(one * power) for one in _SCALES if int(one * power) >= most) if most > 0 else 0


def bars(
    frame: RaceFrame,
    most: int,
    width: int,
    *,
    rows: int = 1,
    over: bool = False,
    states: Sequence[str] = ("", ""),
) -> Content:
    """Return both racers as bars on one scale, and the scale.

    Who answered is told of both at once, when the race is `over`: fewer calls are no win.
    """
    full = scale(most)
    lines: list[Content] = []
    for side, racer in enumerate(frame.racers):
        lines.append(_head(racer, side, width, over=over, state=states[side]))
        drawn = bar(racer, full, width - _TOTAL, COLORS[side])
        number = Content.styled(f"{racer.tokens:,}".rjust(width - drawn.cell_length), f"bold {NAMES[side]}")
        lines += [Content.assemble(drawn, number), *[drawn] * (rows - 1)]
    ends = f"full bar = {tokens(full)} tokens" if full else ""
    told = f"{TOOLS} definitions  {SEARCHES} searches, all calls"
    lines.append(joined([Content.styled(one, MUTED) for one in (told, ends) if one], width))
    return Content("\n").join(lines)


def _head(racer: Racer, side: int, width: int, *, over: bool, state: str) -> Content:
    """Return a racer's name at the left and, at the right, as many facts as fit."""
    name = racer_title(racer.profile).stylize_before(NAMES[side])
    facts = [outcome(racer)] if over else [Content.styled(state, MUTED)] if state else []
    if racer.calls:
        facts.append(Content(count(racer.calls, "model call")))
        facts.append(Content(f"{count(racer.bound, 'tool')} bound"))
        facts.append(Content(f"all input {tokens(racer.input_tokens)}"))
        facts += [Content(money(racer.dollars))] if racer.dollars is not None else []
    if not facts:
        return name
    told = joined(facts, width - name.cell_length - len(_GAP))
    room = width - name.cell_length - told.cell_length
    return Content.assemble(name, " " * max(room, 1), told).truncate(width, ellipsis=True)


def bar(racer: Racer, most: int, width: int, color: str) -> Content:
    """Return a racer's bar, `width` cells for `most` tokens: solid for definitions, shaded for searches."""
    whole = round(racer.tokens / most * width) if most else 0
    solid = min(round(racer.tool_tokens / most * width) if most else 0, whole)
    return Content.styled(TOOLS * solid + SEARCHES * (whole - solid), color)


def log(shown: Sequence[RaceFrame], side: int, lines: int, most: int) -> Content:
    """Return the latest model calls of a racer, one per line, the newest last and bold."""
    calls = [
        frame.racers[side] for number, frame in enumerate(shown) if number == frame.racers[side].calls > 0
    ]
    rows = list(_rows(calls[-max(lines, 1) :], most, COLORS[side]))
    if rows:
        rows[-1] = rows[-1].stylize("bold")
    return Content("\n").join(rows)


def _rows(calls: Sequence[Racer], most: int, color: str) -> Iterator[Content]:
    for racer in calls:
        cells = max(round(racer.present / most * _BAR), 1) if most and racer.present else 0
        yield Content.assemble(
            (f"{racer.calls:>{_CALL}}", MUTED),
            f" {tokens(racer.present):>{_COUNT}} ",
            (f"{TOOLS * cells:<{_BAR}}", color),
            f" {visible(racer.last, limit=_LINE, newlines=False)}",
        )


def so_far(frame: RaceFrame) -> Content:
    """Return what both racers have sent so far."""
    static, other = frame.racers
    if not (static.tokens and other.tokens):
        return Content.styled("Starting servers and indexing tools …", MUTED)
    share = 1 - other.tokens / static.tokens
    return Content.assemble(
        (f"call {frame.call}", "bold"),
        f": {_name(other)} {tokens(other.tokens)} tokens for tools, static {tokens(static.tokens)}, ",
        (f"{percent(abs(share))} {'less' if share >= 0 else 'more'}", "bold"),
    )


def _name(racer: Racer) -> str:
    return visible(racer.profile, limit=40, newlines=False)
