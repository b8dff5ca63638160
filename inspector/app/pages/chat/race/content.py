"""The texts of a race: two racers with what they sent, call by call, and the result."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.app.pages.chat.race.playback import Playback
from inspector.app.scenario_job import Progress, ScenarioFile
from inspector.domain.index_state import IndexPhase
from inspector.domain.number import count, money, money_decimals, percent, tokens
from inspector.domain.profile import PROFILES
from inspector.engine.scenario.profile_comparison import STATIC
from inspector.engine.scenario.race import RaceFrame, Verdict
from inspector.engine.scenario.racer import Racer
from inspector.engine.scenario.totals import ANSWERED
from widgets import Record, visible

COLORS = ("$text-primary", "$text-accent")
TOOLS, SEARCHES = "█", "▒"
_GAP = "   "
_LINE = 400
_CALL, _COUNT, _BAR = 3, 6, 6
_MEANS = {
    STATIC: "every tool in every call",
    "toolsight": "tools found when needed",
}


ELSEWHERE = "on the demo's servers, not on yours"


def status(title: str, racer: Racer, playback: Playback, width: int, *, elsewhere: bool = False) -> Content:
    """Return scenario, tokenizer, pace and model, as far as they fit.

    With `elsewhere` the race is not on the session's servers.
    """
    scenario = visible(title, limit=60, newlines=False)
    about = (f"  {ELSEWHERE}", "$text-warning") if elsewhere else ""
    pieces = [Content.assemble((scenario, "bold"), about)]
    if playback.is_paused:
        pieces.append(Content.styled("paused, space resumes", "$text-warning"))
    if racer.tokenizer:
        pieces.append(Content(visible(racer.tokenizer, limit=60, newlines=False)))
    pace = f"{playback.pace:g} s per call" if playback.pace else "no pause between calls"
    pieces.append(Content.styled(pace, MUTED))
    if racer.model:
        pieces.append(Content.styled(visible(racer.model, limit=60, newlines=False), MUTED))
    return joined(pieces, width)


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


def racer_state(racer: Racer, progress: Progress | None) -> Content:
    """Return in a few words whether a racer is waiting, running or finished."""
    if racer.is_over:
        good = racer.outcome == ANSWERED
        outcome = f"{'✓' if good else '✕'} {visible(racer.outcome, limit=40, newlines=False) or 'no answer'}"
        return Content.styled(outcome, "$text-success" if good else "$text-error")
    if racer.calls:
        return Content(f"message {racer.message}")
    return Content.styled(_waiting(progress), MUTED) if progress is not None else Content()


def _waiting(progress: Progress) -> str:
    if progress.connected < progress.servers or not progress.servers:
        return f"servers {progress.connected} of {progress.servers or '…'}"
    index = progress.index
    if index.phase in (IndexPhase.OFF, IndexPhase.READY):
        return "ready"
    return f"{index.phase} {index.embedded} of {index.total}" if index.total else str(index.phase)


def facts(racer: Racer, width: int) -> Content:
    """Return the three lines beside the big number."""
    sent = "tokens sent for tools"
    if racer.search_tokens:
        searches = tokens(racer.search_tokens)
        whole = f"tokens sent for tools, {SEARCHES} {searches} searches"
        sent = whole if len(whole) <= width else f"tokens for tools ({SEARCHES} {searches})"
    calls = count(racer.calls, "model call")
    bound = f", {count(racer.bound, 'tool')}" if racer.calls else ""
    dollars = f"{_GAP}{money(racer.dollars)}" if racer.dollars is not None else ""
    return Content.assemble(
        (f"{sent}\n", MUTED),
        (calls, "bold"),
        f"{bound}\nall input {tokens(racer.input_tokens)}{dollars}",
    )


def bar(racer: Racer, most: int, width: int, color: str) -> Content:
    """Return a racer's bar, scaled to the larger total: solid for definitions, shaded for searches."""
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


def before(file: ScenarioFile | None, profile: str, *, has_lab: bool) -> Content:
    """Return what the page is for, before the first race."""
    if not has_lab:
        return Content("This session has no scenarios to race. `toolsight demo` opens one that has.")
    if file is None:
        return Content.styled("Reading the scenarios …", MUTED)
    if file.scenario is None:
        return Content.assemble(("✕ ", "$text-error"), visible(file.problem, limit=_LINE))
    return Content.assemble(
        ("r or enter starts the race", "bold"),
        f": the scenario runs once under static and once under {visible(profile, limit=40)}.\n",
        ("s chooses another scenario, p another profile to race against static.", MUTED),
    )


def so_far(frame: RaceFrame) -> Content:
    """Return what both racers have sent so far."""
    static, other = frame.racers
    if not (static.tokens and other.tokens):
        return Content.styled("Getting ready: servers start and tools are indexed.", MUTED)
    share = 1 - other.tokens / static.tokens
    return Content.assemble(
        (f"call {frame.call}", "bold"),
        f": tokens for tools: {_name(other)} {tokens(other.tokens)}, static {tokens(static.tokens)}: ",
        (f"{percent(abs(share))} {'less' if share >= 0 else 'more'}", "bold"),
    )


def _name(racer: Racer) -> str:
    return visible(racer.profile, limit=40, newlines=False)


def big_share(verdict: Verdict) -> str:
    """Return the saved share for the big digits; empty if unknown."""
    return "" if verdict.saved is None else percent(verdict.saved).replace(" ", "")


def result(verdict: Verdict) -> Content:
    """Return the tokens of both racers, the savings, and notes on what limits the comparison."""
    return Content("\n").join([*_shares(verdict), *_noted(verdict.notes)])


def _shares(verdict: Verdict) -> Iterator[Content]:
    static, other = verdict.racers
    yield _share("for tools", other.tokens, static.tokens, verdict.saved, "bold")
    yield _share("all input", other.input_tokens, static.input_tokens, verdict.input_saved, "")
    if other.billed is not None and static.billed is not None and (other.has_cache or static.has_cache):
        billed = (round(other.billed), round(static.billed))
        yield _share("as a prompt cache bills it", *billed, verdict.billed_saved, "")
    if other.dollars is not None and static.dollars is not None:
        text = f"input: {money(other.dollars)} instead of {money(static.dollars)}"
        if other.dollars_per_step is not None and static.dollars_per_step is not None:
            steps = money_decimals((other.dollars_per_step, static.dollars_per_step))
            each = (money(racer.dollars_per_step or 0.0, steps) for racer in (other, static))
            text += f", {' instead of '.join(each)} a solved step"
        yield Content.assemble(text, (f", {prices(verdict)}", MUTED))


def prices(verdict: Verdict, *, source: bool = False) -> str:
    """Return the model and date of the input prices, with `source` also their list."""
    known = verdict.prices
    facts = (known.model, known.source if source else "", known.date) if known is not None else ()
    return visible(", ".join(fact for fact in facts if fact), limit=200, newlines=False)


def _share(what: str, other: int, static: int, saved: float | None, style: str) -> Content:
    if saved is None:
        return Content(f"{what}: nothing was sent")
    verb = "saved" if saved >= 0 else "more"
    color = "$text-success" if saved >= 0 else "$text-warning"
    return Content.assemble(
        (f"{percent(abs(saved))} {verb}", f"bold {color}"),
        (f" {what}: {tokens(other)} instead of {tokens(static)}", style),
    )


def _noted(notes: Sequence[str]) -> Iterator[Content]:
    return (Content.assemble(("· ", MUTED), visible(note, limit=200, newlines=False)) for note in notes)


def scenario_choices(files: Sequence[ScenarioFile], chosen: str) -> tuple[Record, ...]:
    """Return the scenarios that can be raced, by path."""
    return tuple(
        Record(
            str(file.path),
            ("✓" if str(file.path) == chosen else " ", visible(file.title, limit=200, newlines=False), ""),
            detail=visible(" ".join(file.scenario.about.split()), limit=200, newlines=False),
            search=f"{file.title} {file.path.stem}",
        )
        for file in files
        if file.scenario is not None
    )


def profile_choices(chosen: str) -> tuple[Record, ...]:
    """Return every profile except static, which is the other racer."""
    return tuple(
        Record(name, ("✓" if name == chosen else " ", name, ""), detail=profile.title)
        for name, profile in PROFILES.items()
        if name != STATIC
    )
