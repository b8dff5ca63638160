"""The texts of the scenarios page: its rows, what a scenario expects or what came of it, the status."""

from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from inspector.app.dialogs.choice import profile_rows as every_profile
from inspector.app.draw.line import MUTED, joined
from inspector.core.number import count
from inspector.features.lab.comparison import ScenarioResult
from inspector.features.lab.expectation import Finding
from inspector.features.lab.scenario import Scenario
from inspector.features.lab.scenario_job import Choice, Progress, ScenarioFile
from widgets import Column, Record, Tone, plain, visible

# The key of the row for no profile; no profile has this name.
OWN = "\0own"
SCENARIO_COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("title", weight=8, min_width=16),
    Column("state", align="right", weight=7),
)
_TEXT = 600
_GAP = "   "


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


def about(file: ScenarioFile, run: Choice | None, result: ScenarioResult | None) -> Content:
    """Return what a scenario is about, and what it expects or, after a run, what came of each expectation."""
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
        *(_expected(scenario) if result is None else map(_outcome, result.findings)),
    ]
    if not (scenario.expect or scenario.never):
        lines.append(Content.styled("No expectations, so every run passes.", MUTED))
    return Content("\n").join(lines)


def _outcome(finding: Finding) -> Content:
    """Return an expectation, and what decided it."""
    mark = ("✓ ", "$text-success") if finding.met else ("✕ ", "bold $text-error")
    never = ("never ", MUTED) if finding.forbidden else ""
    text = plain(finding.expectation.text, newlines=False, limit=200)
    return Content.assemble(
        mark, never, text, ("\n    ", ""), plain(finding.reason, limit=_TEXT).stylize(MUTED)
    )


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


def profile_rows(scenario: Scenario | None, session: str, chosen: str) -> tuple[Record, ...]:
    """Return the profiles to run under; the first row is for choosing none."""
    own = scenario.profile if scenario is not None else ""
    default = f"the scenario's profile: {own}" if own else f"the session's profile: {session}"
    rest = "each scenario's profile, or else the session's"
    return (Record(OWN, ("✓" if not chosen else " ", default, ""), detail=rest), *every_profile(chosen))


def status(result: ScenarioResult | None, run: Choice | None, width: int) -> Content:
    """Return the verdict and the profile or, before a run, how to start one."""
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
    pieces = [
        verdict,
        _fact("profile", result.profile),
        *([_fact("outcome", result.totals.outcome)] if result.totals.outcome else []),
        Content("o opens it in Trace"),
    ]
    return joined(pieces, width)


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
