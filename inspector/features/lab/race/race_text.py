"""A race in time and in words: its playback, both sides as bars on one scale, call by call, how it ended."""

from collections.abc import Callable, Iterator, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED, joined
from inspector.config.profile import PROFILES
from inspector.core.events import Record
from inspector.core.number import count, large_saving, money, money_decimals, saving, tokens
from inspector.features.lab.comparison import ANSWERED, STATIC
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
_MEANS = {STATIC: "every tool in every call", "toolsight": "tools found when needed"}


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


def racer_title(profile: str) -> Content:
    """Return a racer's profile and what it means."""
    means = _MEANS.get(profile) or PROFILES[profile].title if profile in PROFILES else ""
    name = visible(profile, limit=40, newlines=False)
    return Content.assemble((name, "bold"), (f"  {means}", MUTED) if means else "")


def answered(racer: Racer) -> Content:
    """Return whether a racer answered; an answer without a solved step is no success yet."""
    if racer.outcome != ANSWERED:
        return Content.styled(
            f"✕ {visible(racer.outcome, limit=40, newlines=False) or 'no answer'}", "$text-error"
        )
    if not racer.steps:
        return Content.styled("✓ answered without a solved step", MUTED)
    return Content.styled("✓ answered", "$text-success")


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


def so_far(frame: RaceFrame) -> Content:
    """Return what both racers have sent so far."""
    static, other = frame.racers
    bound, found = static.discovery_tokens, other.discovery_tokens
    if not (bound and found):
        return Content.styled("Starting servers and indexing tools …", MUTED)
    share, name = 1 - found / bound, visible(other.profile, limit=40, newlines=False)
    return Content.assemble(
        (f"call {frame.call}", "bold"),
        f": {name} {tokens(found)} tokens for tools, static {tokens(bound)}, ",
        (saving(share), "bold"),
    )


_CELL = 11
NOT_COMPARABLE = "NOT COMPARABLE"


def big_share(verdict: Verdict) -> str:
    """Return what is saved for the large number; "" if nothing was sent for tools."""
    if verdict.shortfall:
        return NOT_COMPARABLE
    return "" if verdict.saved is None else large_saving(verdict.saved)


def headline(verdict: Verdict) -> Content:
    """Return the result in a sentence: the saving, or why there is none."""
    static, other = verdict.racers
    if verdict.saved is None:
        return Content("no tokens were sent for tools")
    numbers = f"for tools: {tokens(other.discovery_tokens)} instead of {tokens(static.discovery_tokens)}"
    if verdict.shortfall:
        return Content.assemble((visible(verdict.shortfall, limit=400), "bold"), f"\nTokens {numbers}")
    color = "$text-success" if verdict.saved >= 0 else "$text-warning"
    return Content.assemble((saving(verdict.saved), f"bold {color}"), (f" {numbers}", "bold"))


def table_rows(verdict: Verdict) -> list[tuple[str, str, str, str]]:
    """Return both sides in numbers: what it is, static binding, discovery, and the share saved."""
    static, other = verdict.racers
    return [
        ("", _short(static), _short(other), ""),
        *_tokens(verdict),
        *_money(verdict),
        ("model calls", str(static.model_calls), str(other.model_calls), ""),
        ("solved steps", str(static.steps), str(other.steps), ""),
    ]


def measured(title: str, verdict: Verdict) -> str:
    """Return in one sentence what was measured."""
    static, other = verdict.racers
    said = f"“{title}”, asked once with every tool bound ({static.profile}) and once with {other.profile}"
    answered = f"; answered by {other.model}" if other.model else ""
    return visible(f"{said}{answered}; tokens counted by {other.tokenizer}.", limit=600, newlines=False)


def table(verdict: Verdict) -> Content:
    """Return both sides in numbers, a fact a line."""
    found = table_rows(verdict)
    first = max(len(row[0]) for row in found)
    return Content("\n").join(
        Content.assemble(
            (label.ljust(first), MUTED),
            one.rjust(_CELL),
            two.rjust(_CELL),
            (f"  {share}" if share else "", MUTED),
        )
        for label, one, two, share in found
    )


def _short(racer: Racer) -> str:
    return visible(racer.profile, limit=_CELL - 1, newlines=False)[: _CELL - 1]


def _tokens(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    static, other = verdict.racers
    yield _row("definitions", static, other, lambda racer: f"{racer.tool_tokens:,}")
    yield _row("searches", static, other, lambda racer: f"{racer.search_tokens:,}" if racer.searches else "–")
    shares = (None, None) if verdict.shortfall else (verdict.input_saved, verdict.billed_saved)
    yield _row("all input", static, other, lambda racer: f"{racer.input_tokens:,}", shares[0])
    if other.billed is not None and static.billed is not None and (other.has_cache or static.has_cache):
        yield _row("with prompt cache", static, other, lambda racer: f"{racer.billed or 0:,.0f}", shares[1])


def _money(verdict: Verdict) -> Iterator[tuple[str, str, str, str]]:
    static, other = verdict.racers
    if static.dollars is None or other.dollars is None:
        return
    decimals = money_decimals((static.dollars, other.dollars))
    yield _row("input price", static, other, lambda racer: money(racer.dollars or 0.0, decimals))
    if static.dollars_per_step is not None and other.dollars_per_step is not None:
        steps = money_decimals((static.dollars_per_step, other.dollars_per_step))
        yield _row(
            "per solved step", static, other, lambda racer: money(racer.dollars_per_step or 0.0, steps)
        )


def _row(
    label: str, static: Racer, other: Racer, write: Callable[[Racer], str], saved: float | None = None
) -> tuple[str, str, str, str]:
    share = "" if saved is None else saving(saved)
    return label, write(static), write(other), share


def note_lines(verdict: Verdict) -> Content:
    """Return what to know before trusting the number, and whose prices were taken."""
    told = list(verdict.notes)
    if verdict.prices is not None and all(racer.dollars is not None for racer in verdict.racers):
        told.append(f"Prices: {prices(verdict)}.")
    return Content("\n").join(
        Content.assemble(("· ", MUTED), visible(note, limit=300, newlines=False)) for note in told
    )


def result(verdict: Verdict) -> Content:
    """Return everything below one another, for where there is no room for a large number."""
    return Content("\n").join([headline(verdict), table(verdict), note_lines(verdict)])


def prices(verdict: Verdict, *, source: bool = False) -> str:
    """Return the model and date of the input prices, with `source` also their list."""
    known = verdict.prices
    facts = (known.model, known.source if source else "", known.date) if known is not None else ()
    return visible(", ".join(fact for fact in facts if fact), limit=200, newlines=False)
