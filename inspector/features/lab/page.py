"""Scenarios: runs one, shows what came of each of its expectations, and replays the run in Trace."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen
from inspector.app.context import Job
from inspector.app.draw.line import MUTED, failure_text, joined
from inspector.app.place import TracePage
from inspector.app.stream import View
from inspector.core.events import Record as EventRecord, UserSaid
from inspector.core.fold.tool import step
from inspector.core.number import count
from inspector.core.ranking import IndexPhase
from inspector.core.server import ServerPhase
from inspector.core.session import SessionState
from inspector.features.lab.comparison import ScenarioResult
from inspector.features.lab.expectation import Finding
from inspector.features.lab.feature import LAB
from inspector.features.lab.ground import Lab, ScenarioFile
from inspector.features.lab.scenario import Scenario
from widgets import Column, Record, RecordList, Tone, plain, visible

_READING = "Reading the scenarios …"
_NO_LAB = "No scenarios to run in this session. Try `toolsight demo`."
_NO_SCENARIO = "No scenarios found. Toolsight ships with some; reinstall it."
_COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("title", weight=8, min_width=16),
    Column("state", align="right", weight=7),
)
_TEXT, _GAP = 600, "   "


class Progress(Struct, frozen=True):
    """The progress of a run: the state of its session so far, and its user messages (`turns`)."""

    file: ScenarioFile
    profile: str
    state: SessionState = SessionState()
    turns: int = 0

    def after(self, record: EventRecord) -> "Progress":
        """Return the progress after one more record."""
        state = step(record.event, self.state)
        return replace(self, state=state, turns=self.turns + (record.kind == UserSaid.kind))

    def line(self) -> Content:
        """Return how far the conversation is or, before it starts, the index."""
        servers, index = self.state.servers.values(), self.state.index
        connected = sum(server.phase in (ServerPhase.READY, ServerPhase.FAILED) for server in servers)
        turns = len(self.file.scenario.turns) if self.file.scenario is not None else 0
        played = f"message {self.turns} of {turns}{_GAP}model call {self.state.model_calls}"
        if not self.turns and index.phase not in (IndexPhase.OFF, IndexPhase.READY):
            played = f"{index.phase} {index.embedded} of {index.total}"
        pieces = [
            Content.styled(f"running under {visible(self.profile, limit=40)}", "$text-warning"),
            Content(f"servers {connected} of {len(servers) or '…'}"),
            Content(played),
            Content.styled("esc stops", MUTED),
        ]
        return Content(_GAP).join(pieces)


def scenario_row(file: ScenarioFile, result: ScenarioResult | None, *, running: bool = False) -> Record:
    """Return a scenario with the outcome of its last run; the key is its path."""
    mark, state, tone = _state(file, result, running=running)
    return Record(
        str(file.path),
        (mark, visible(file.title, limit=200, newlines=False), state),
        tone=tone,
        search=f"{file.title} {file.path.stem} {state}",
        copy=str(file.path),
    )


def _state(file: ScenarioFile, result: ScenarioResult | None, *, running: bool) -> tuple[str, str, Tone]:
    if file.scenario is None:
        return "✕", "unreadable", "error"
    if running:
        return "…", "running", "accent"
    if result is None:
        return "·", "", ""
    return ("✓", "passed", "success") if result.passed else ("✕", _unmet(result), "error")


def _unmet(result: ScenarioResult) -> str:
    missed = sum(not finding.met for finding in result.findings)
    return f"{missed} of {len(result.findings)} not met"


def about(file: ScenarioFile, profile: str, result: ScenarioResult | None) -> Content:
    """Return what a scenario is about, and what it expects or, after a run, what came of each expectation."""
    if file.scenario is None:
        problem = file.problem.replace(str(file.path), file.path.name)
        return Content.assemble(("✕ ", "$text-error"), plain(problem, limit=_TEXT))
    scenario = file.scenario
    changed = ", ".join(f"{path}={value}" for path, value in scenario.settings.items())
    script = f"{count(len(scenario.turns), 'message')}, {count(len(scenario.steps), 'model step')}"
    lines = [
        plain(scenario.title, limit=_TEXT, newlines=False).stylize("bold"),
        plain(" ".join(scenario.about.split()), limit=_TEXT),
        Content(),
        _fact("runs under", f"{profile}  with {changed}" if changed else profile),
        _fact("script", script),
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


def _fact(name: str, value: str) -> Content:
    return Content.assemble((f"{name} ", MUTED), plain(value, newlines=False, limit=_TEXT))


def _expected(scenario: Scenario) -> Iterator[Content]:
    for title, wanted in (("Expected, in this order", scenario.expect), ("Never", scenario.never)):
        if wanted:
            yield Content.styled(title, "bold")
            texts = (plain(expectation.text, newlines=False, limit=200) for expectation in wanted)
            yield from (Content("  ") + text for text in texts)


def status(result: ScenarioResult | None, profile: str, width: int) -> Content:
    """Return the verdict and the profile or, before a run, how to start one."""
    if result is None:
        return joined([Content("enter runs it on fresh servers"), _fact("profile", profile)], width)
    met = len(result.findings)
    verdict = (
        Content.styled(f"✓ passed, {met} of {met}", "$text-success")
        if result.passed
        else Content.styled(f"✕ {_unmet(result)}", "bold $text-error")
    )
    outcome = [_fact("outcome", result.totals.outcome)] if result.totals.outcome else []
    profile_fact = _fact("profile", result.profile)
    return joined([verdict, profile_fact, *outcome, Content("o opens it in Trace")], width)


class ScenarioScreen(BaseScreen):
    """Scenarios, and what the one under the cursor expects or what came of its last run.

    A run goes on while other pages are shown.
    """

    page = "scenarios"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#scenarios RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "run", "run", id="lab.run"),
        Binding("o", "replay", "open the run", id="lab.replay"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "enter runs a scenario: fresh servers, the real loop, a scripted model, a clock that skips waiting.",
        "✓ marks an expectation that was met, ✕ one that was not, with what decided it.",
        "o opens the run in Trace, from its first model call: what was bound, searched and guarded.",
        "`toolsight scenario run NAME --profile kaman` runs one under a profile, `compare` under several.",
        "tab goes to the next pane, esc stops a run or goes back. / filters, y copies, r runs again.",
    )

    _scenarios = query_one("#scenarios", RecordList)

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__()
        self._given = lab
        self._files: Sequence[ScenarioFile] = ()
        self._results: dict[str, ScenarioResult] = {}
        self._progress: Progress | None = None
        self._message = Content()

    @property
    def lab(self) -> Lab | None:
        """The lab given to this page, else the app's."""
        return self._given if self._given is not None else self.context.parts.get(LAB)

    def body(self) -> ComposeResult:
        yield Static(id="lab-status")
        with Container(id="lab-page"):
            scenarios = RecordList(_COLUMNS, empty=_READING, id="scenarios", classes="pane")
            scenarios.border_title = "Scenarios"
            yield scenarios
            with VerticalScroll(id="lab-detail"):
                yield Static(id="about")

    def on_mount(self) -> None:
        lab = self.lab

        def read(files: Sequence[ScenarioFile]) -> None:
            self._files = files
            self._scenarios.empty = _NO_SCENARIO if lab is not None else _NO_LAB
            self._show()

        self.run_job("read", lambda _: lab.scenarios() if lab is not None else (), read, failed=self.fail)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the policy has the profile
        self._show()

    @property
    def _file(self) -> ScenarioFile | None:
        """The scenario under the cursor."""
        current = self._scenarios.current
        return next((file for file in self._files if current and str(file.path) == current.key), None)

    @property
    def _key(self) -> str:
        """The path of the scenario under the cursor, "" if there is none."""
        return str(self._file.path) if self._file is not None else ""

    @property
    def _profile(self) -> str:
        """What the scenario under the cursor runs under: its own profile, else the session's."""
        scenario = self._file.scenario if self._file is not None else None
        return (scenario.profile if scenario is not None else "") or self.session.profile

    @on(RecordList.Selected, "#scenarios")
    def action_run(self) -> None:
        """Run the scenario under the cursor, dropping any current run."""
        file, lab, profile = self._file, self.lab, self._profile
        if file is None or file.scenario is None or lab is None:
            return
        # The session's own values apply only to the session's profile.
        values: Mapping[str, Any] = self.session.session_values if profile == self.session.profile else {}
        self._progress, self._message = Progress(file, profile), Content()

        async def work(job: Job) -> ScenarioResult:
            return await lab.run(file, profile, values, lambda record: job.tell(partial(self._note, record)))

        def ended(result: ScenarioResult) -> None:
            self._results[str(file.path)] = result
            self._show()

        self.run_stoppable(file.title, work, ended)
        self._show()

    def _note(self, record: EventRecord) -> None:
        if self._progress is not None:
            self._progress = self._progress.after(record)

    def action_replay(self) -> None:
        """Replay the last run of the scenario under the cursor on every page."""
        result = self._results.get(self._key)
        if result is not None and result.records:
            self.context.replay.keep(result.records)
            self.open(TracePage(result.records[0].session))

    def _show(self) -> None:
        """Draw the scenarios, and what is known of the one under the cursor."""
        if self.is_attached:
            running = self._progress.file if self._progress is not None and self.running is not None else None
            self._scenarios.records = tuple(
                scenario_row(file, self._results.get(str(file.path)), running=file is running)
                for file in self._files
            )
            self._show_scenario()

    @on(RecordList.Highlighted, "#scenarios")
    def _show_scenario(self) -> None:
        self.show_progress()
        if self._file is not None:
            self.write(about(self._file, self._profile, self._results.get(self._key)), "#about")

    def show_progress(self) -> None:
        line = self._message
        if self.running is not None and self._progress is not None:
            line = self._progress.line()
        elif not line and self._file is not None:
            line = status(self._results.get(self._key), self._profile, self.size.width - 2)
        self.write(line, "#lab-status")

    def why_not(self, action: str) -> str:
        """Only what has run can be replayed."""
        if action == "replay" and not (self.is_mounted and self._key in self._results):
            return "This scenario has not run yet."
        return super().why_not(action)

    def fail(self, error: BaseException) -> None:
        """Show the error that ended a run."""
        title, message = failure_text(error)
        self._say(Content.assemble((f"✕ {title}: ", "bold $text-error"), message))

    def stop_running(self) -> None:
        """Stop the run, and say how to start another."""
        self.drop_running()
        self._say(Content.styled("Stopped. enter runs it again.", "$text-warning"))

    def _say(self, text: Content) -> None:
        """Show a message instead of the status, until the next run."""
        self._message = text
        self._show()
