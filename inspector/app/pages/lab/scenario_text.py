"""The texts of the guard lab: scenarios as rows, a scenario's description, the status line."""

from collections.abc import Iterator, Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content

from inspector.app.dialogs.choice import profile_rows as every_profile
from inspector.app.draw.line import MUTED, joined
from inspector.app.pages.lab.walkthrough import CountedCall, Counter, StepFrame, Walkthrough
from inspector.app.scenario_job import Choice, Progress, ScenarioFile
from inspector.core.number import count
from inspector.core.settings import GuardSettings
from inspector.scenario.comparison import ScenarioResult
from inspector.scenario.scenario import Scenario
from widgets import Column, Record, Tone, middle, plain, visible

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


# The key of the row for no profile; no profile has this name.
OWN = "\0own"
SCENARIO_COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("title", weight=8, min_width=16),
    Column("state", align="right", weight=7),
)
_TEXT = 600
_GAP = "   "
# The room for a title in the narrowest pane.
_TITLE = 40


def scenario_rows(
    files: Sequence[ScenarioFile], results: Mapping[str, ScenarioResult], running: str = ""
) -> tuple[Record, ...]:
    """Return one row per scenario, with the outcome of its last run; keys are paths."""
    return tuple(_scenario_row(file, results.get(str(file.path)), running) for file in files)


def _scenario_row(file: ScenarioFile, result: ScenarioResult | None, running: str) -> Record:
    mark, state, tone = _state(file, result, running)
    return Record(
        str(file.path),
        (mark, visible(file.title, limit=200, newlines=False), state),
        tone=tone,
        search=f"{file.title} {file.path.stem} {state}",
        copy=str(file.path),
    )


def _state(file: ScenarioFile, result: ScenarioResult | None, running: str) -> tuple[str, str, Tone]:
    if file.scenario is None:
        return "✕", "unreadable", "error"
    if str(file.path) == running:
        return "…", "running", "accent"
    if result is None:
        return "·", "", ""
    return ("✓", "passed", "success") if result.passed else ("✕", _unmet(result), "error")


def _unmet(result: ScenarioResult) -> str:
    missed = sum(not finding.met for finding in result.findings)
    return f"{missed} of {len(result.findings)} not met"


def about(file: ScenarioFile, run: Choice | None) -> Content:
    """Return what a scenario is about and what it expects."""
    if file.scenario is None or run is None:
        problem = file.problem.replace(str(file.path), file.path.name)
        return Content.assemble(("✕ ", "$text-error"), plain(problem, limit=_TEXT))
    scenario = file.scenario
    steps = len(scenario.steps)
    changed = [f"{path}={value}" for path, value in scenario.settings.items()]
    changed += [f"{path}={value} from this session" for path, value in run.values.items()]
    lines = [
        plain(scenario.title, limit=_TEXT, newlines=False).stylize("bold"),
        plain(" ".join(scenario.about.split()), limit=_TEXT),
        Content(),
        _fact("runs under", run.profile, f"  with {', '.join(changed)}" if changed else ""),
        _fact("script", f"{count(len(scenario.turns), 'message')}, {count(steps, 'model step')}"),
        Content(),
        *_expected(scenario),
    ]
    return Content("\n").join(lines)


def _fact(name: str, value: str, rest: str = "") -> Content:
    return Content.assemble(
        (f"{name} ", MUTED),
        plain(value, newlines=False, limit=_TEXT),
        plain(rest, newlines=False, limit=_TEXT),
    )


def _expected(scenario: Scenario) -> Iterator[Content]:
    for title, wanted in (("Expected, in this order", scenario.expect), ("Never", scenario.never)):
        if wanted:
            yield Content.styled(title, "bold")
            texts = (plain(expectation.text, newlines=False, limit=200) for expectation in wanted)
            yield from (Content("  ") + text for text in texts)
    if not (scenario.expect or scenario.never):
        yield Content.styled("No expectations, so every run passes.", MUTED)


def profile_rows(scenario: Scenario | None, session: str, chosen: str) -> tuple[Record, ...]:
    """Return the profiles to run under; the first row is for choosing none."""
    own = scenario.profile if scenario is not None else ""
    default = f"the scenario's profile: {own}" if own else f"the session's profile: {session}"
    rest = "each scenario's profile, or else the session's"
    return (Record(OWN, ("✓" if not chosen else " ", default, ""), detail=rest), *every_profile(chosen))


def status(
    result: ScenarioResult | None, shown: Walkthrough, number: int, run: Choice | None, width: int
) -> Content:
    """Return the step, the verdict and the profile."""
    if result is None:
        if run is None:
            return Content("This file cannot run. y copies its path; reopen the page to reread it.")
        return joined([Content("enter runs it on fresh servers"), _fact("profile", run.profile)], width)
    met = sum(finding.met for finding in result.findings)
    verdict = (
        Content.styled(f"✓ passed, {met} of {met}", "$text-success")
        if result.passed
        else Content.styled(f"✕ {_unmet(result)}", "bold $text-error")
    )
    frame = shown.frames[number]
    seconds = frame.at - shown.frames[min(1, len(shown) - 1)].records[0].at
    pieces = [
        Content.styled(f"step {number} of {len(shown) - 1}", "bold"),
        verdict,
        _fact("profile", result.profile),
        _fact("after", clock(seconds) if number else "0:00"),
        *([_fact("outcome", result.totals.outcome)] if result.totals.outcome else []),
    ]
    return joined(pieces, width)


def steps_title(file: ScenarioFile | None) -> Content:
    """Return the title of the list of steps."""
    return Content.assemble("Steps: ", middle(file.title, _TITLE)) if file is not None else Content("Steps")


def clock(seconds: float) -> str:
    """Format a duration as minutes and seconds: 9:02."""
    whole = int(max(seconds, 0.0))
    return f"{whole // 60}:{whole % 60:02}"


def running(progress: Progress) -> Content:
    """Return the progress of a run: of the conversation or, before it starts, of the index."""
    scenario = progress.file.scenario
    turns = len(scenario.turns) if scenario is not None else 0
    played = f"message {progress.turns} of {turns}{_GAP}model call {progress.state.model_calls}"
    pieces = [
        Content.styled(f"running under {visible(progress.profile, limit=40)}", "$text-warning"),
        Content(f"servers {progress.connected} of {progress.servers or '…'}"),
        Content(played if progress.turns else progress.indexing or played),
        Content.styled("esc stops", MUTED),
    ]
    return Content(_GAP).join(pieces)
