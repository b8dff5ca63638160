"""A race in time: its playback, both sides as bars on one scale, call by call."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED, joined
from inspector.core.events import Record
from inspector.core.number import count, money, tokens
from inspector.features.lab.comparison import STATIC
from inspector.features.lab.race.facts import answered, racer_title
from inspector.features.lab.race.race import SECONDS_A_CALL, Race, RaceFrame, Racer, Verdict
from inspector.features.lab.scenario_job import Progress, ScenarioFile
from widgets import visible

# Seconds between model calls, fastest first; 0 shows everything at once.
PACES = (0.0, 0.1, 0.2, 0.4, SECONDS_A_CALL, 1.0, 1.5, 2.5)


class Playback:
    """A race that may still be running while it is shown. `progress` is that of both runs, by side."""

    def __init__(self, pace: float) -> None:
        self.pace = pace
        self.is_paused = False
        self.race: Race | None = None
        self.verdict: Verdict | None = None
        self.progress: tuple[Progress, ...] = ()
        self._position = 0

    def begin(self, race: Race, file: ScenarioFile) -> None:
        """Show this race from its start."""
        self.clear()
        self.race = race
        self.progress = tuple(Progress(file, profile) for profile in race.profiles)

    def clear(self) -> None:
        """Show no race."""
        self.race = self.verdict = None
        self.progress = ()
        self.is_paused, self._position = False, 0

    def note(self, side: int, record: Record) -> None:
        """Take one record of a run."""
        self.progress = tuple(
            run.after(record) if number == side else run for number, run in enumerate(self.progress)
        )

    def finish(self) -> None:
        """Take the verdict once both runs are over."""
        self.verdict = self.race.verdict if self.race is not None else None

    @property
    def frames(self) -> tuple[RaceFrame, ...]:
        """Every frame so far."""
        return self.race.frames() if self.race is not None else ()

    @property
    def shown(self) -> tuple[RaceFrame, ...]:
        """The frames from the start to the current one."""
        return self.frames[: self._position + 1]

    @property
    def is_finished(self) -> bool:
        """Whether both runs are over and the last frame is shown."""
        return self.verdict is not None and self._position == len(self.frames) - 1

    def frame(self, profile: str) -> RaceFrame:
        """Return the current frame; before a race, empty racers with `profile` in the second."""
        shown = self.shown
        return shown[-1] if shown else RaceFrame(0.0, (Racer(profile=STATIC), Racer(profile=profile)))

    @property
    def most(self) -> tuple[int, int]:
        """The tokens of the larger racer so far, and of the largest model call."""
        racers = self.race.racers if self.race is not None else ()
        return max((racer.discovery_tokens for racer in racers), default=0), max(
            (racer.present for racer in racers), default=0
        )

    def advance(self) -> bool:
        """Show the next model call (all of them at pace 0); return whether anything can change."""
        if self.race is None or self.is_paused or self.is_finished:
            return False
        last = len(self.frames) - 1
        self._position = min(self._position + 1, last) if self.pace else last
        return True

    def step(self, by: int) -> None:
        """Pause and move by that many model calls, within the race."""
        if self.race is not None:
            self.is_paused = True
            self._position = max(min(self._position + by, len(self.frames) - 1), 0)

    def pause(self) -> None:
        """Pause or resume."""
        self.is_paused = not self.is_paused and self.race is not None

    def slower(self, by: int) -> None:
        """Change the pace by that many steps; negative is faster."""
        nearest = min(range(len(PACES)), key=lambda number: abs(PACES[number] - self.pace))
        self.pace = PACES[min(max(nearest + by, 0), len(PACES) - 1)]


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


def waiting(progress: Progress) -> str:
    """Return what a run waits for before its first model call."""
    if progress.connected < progress.servers or not progress.servers:
        return f"servers {progress.connected} of {progress.servers or '…'}"
    return progress.indexing or "ready"


def scale(most: int) -> int:
    """Return what a full bar is worth: a round number of tokens, `most` or a little more."""
    power = 1
    while most > 10 * power:
        power *= 10
    return next(int(one * power) for one in _SCALES if int(one * power) >= most) if most > 0 else 0


def bars_text(
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
        number = f"{racer.discovery_tokens:,}".rjust(width - drawn.cell_length)
        lines += [Content.assemble(drawn, (number, f"bold {NAMES[side]}")), *[drawn] * (rows - 1)]
    ends = f"full bar = {tokens(full)} tokens" if full else ""
    told = f"{TOOLS} definitions  {SEARCHES} searches, all calls"
    lines.append(joined([Content.styled(one, MUTED) for one in (told, ends) if one], width))
    return Content("\n").join(lines)


def _head(racer: Racer, side: int, width: int, *, over: bool, state: str) -> Content:
    """Return a racer's name at the left and, at the right, as many facts as fit."""
    name = racer_title(racer.profile).stylize_before(NAMES[side])
    facts = [answered(racer)] if over else [Content.styled(state, MUTED)] if state else []
    if racer.model_calls:
        facts.append(Content(count(racer.model_calls, "model call")))
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
    whole = round(racer.discovery_tokens / most * width) if most else 0
    solid = min(round(racer.tool_tokens / most * width) if most else 0, whole)
    return Content.styled(TOOLS * solid + SEARCHES * (whole - solid), color)


def log(shown: Sequence[RaceFrame], side: int, lines: int, most: int) -> Content:
    """Return the latest model calls of a racer, one per line, the newest last and bold."""
    racers = [frame.racers[side] for frame in shown]
    calls = [racer for number, racer in enumerate(racers) if number == racer.model_calls > 0]
    rows = list(_rows(calls[-max(lines, 1) :], most, COLORS[side]))
    if rows:
        rows[-1] = rows[-1].stylize("bold")
    return Content("\n").join(rows)


def _rows(calls: Sequence[Racer], most: int, color: str) -> Iterator[Content]:
    for racer in calls:
        cells = max(round(racer.present / most * _BAR), 1) if most and racer.present else 0
        yield Content.assemble(
            (f"{racer.model_calls:>{_CALL}}", MUTED),
            f" {tokens(racer.present):>{_COUNT}} ",
            (f"{TOOLS * cells:<{_BAR}}", color),
            f" {visible(racer.last, limit=_LINE, newlines=False)}",
        )
