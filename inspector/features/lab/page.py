"""Scenarios: runs one, shows what came of each of its expectations, and replays the run in Trace."""

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.place import Destination, ScenarioPage, TracePage
from inspector.app.stream import View
from inspector.features.lab import scenario_text as content
from inspector.features.lab.comparison import ScenarioResult
from inspector.features.lab.scenario_job import Choice, Lab, ScenarioFile, choice
from inspector.features.lab.scenario_screen import LabScreen
from inspector.features.lab.scenario_text import SCENARIO_COLUMNS, scenario_rows
from widgets import RecordList

_READING = "Reading the scenarios …"
_NO_LAB = "No scenarios to run in this session. Try `toolsight demo`."
_NO_SCENARIO = "No scenarios found. Toolsight ships with some; reinstall it."


class ScenarioScreen(LabScreen):
    """Scenarios, and what the one under the cursor expects or what came of its last run."""

    page = "scenarios"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#scenarios RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "run", "run", id="lab.run"),
        Binding("o", "replay", "open the run", id="lab.replay"),
        Binding("p", "profile", "pick profile", id="lab.profile"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "enter runs a scenario: fresh servers, the real loop, a scripted model, a clock that skips waiting.",
        "✓ marks an expectation that was met, ✕ one that was not, with what decided it.",
        "o opens the run in Trace, from its first model call: what was bound, searched and guarded.",
        "p runs under another profile; `toolsight scenario compare NAME` compares the costs of several.",
        "tab goes to the next pane, esc stops a run or goes back. / filters, y copies, r runs again.",
    )
    again = "enter runs it again."

    _scenarios = query_one("#scenarios", RecordList)

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__(lab)
        self._chosen = ""
        self._wanted = ""

    def arrive(self, destination: Destination) -> None:
        """Run the scenario that another page, or the command line, names."""
        match destination:
            case ScenarioPage(name):
                self._wanted = name
                self._run_wanted()

    def _run_wanted(self) -> None:
        """Run it as soon as the scenarios are read."""
        keys = [record.key for record in self._scenarios.records]
        found = next((key for key in keys if self._wanted and Path(key).stem == self._wanted), None)
        if found is not None:
            self._wanted = ""
            self._scenarios.move_to(found)
            self.action_run()

    def body(self) -> ComposeResult:
        yield Static(id="lab-status")
        with Container(id="lab-page"):
            scenarios = RecordList(SCENARIO_COLUMNS, empty=_READING, id="scenarios", classes="pane")
            scenarios.border_title = "Scenarios"
            yield scenarios
            with VerticalScroll(id="lab-detail"):
                yield Static(id="about")

    def on_mount(self) -> None:
        self.read(self._show_read)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the policy has the profile
        self.show()

    def _show_read(self) -> None:
        self._scenarios.empty = _NO_SCENARIO if self.lab is not None else _NO_LAB
        self.show()
        self._run_wanted()

    @property
    def _file(self) -> ScenarioFile | None:
        """The scenario under the cursor."""
        current = self._scenarios.current
        return next((file for file in self.files if current and str(file.path) == current.key), None)

    @property
    def _key(self) -> str:
        """The path of the scenario under the cursor, "" if there is none."""
        return str(self._file.path) if self._file is not None else ""

    @property
    def _choice(self) -> Choice | None:
        """What the scenario under the cursor runs under; None if it cannot run."""
        scenario = self._file.scenario if self._file is not None else None
        return choice(scenario, self.session, self._chosen) if scenario is not None else None

    @on(RecordList.Selected, "#scenarios")
    def action_run(self) -> None:
        """Run the scenario under the cursor, dropping any current run."""
        file, lab, run = self._file, self.lab, self._choice
        if file is None or run is None or lab is None:
            return
        key, self.said = str(file.path), Content()

        def ended(result: ScenarioResult) -> None:
            self.results[key] = result
            self.show()

        self.play(lab, file, run, ended)

    def action_replay(self) -> None:
        """Replay the last run of the scenario under the cursor on every page."""
        result = self.results.get(self._key)
        if result is not None and result.records:
            self.context.replay.keep(result.records)
            self.open(TracePage(result.records[0].session))

    def show(self) -> None:
        """Draw the scenarios, and what is known of the one under the cursor."""
        if self.is_attached:
            running = self.progress if self.running is not None else None
            path = str(running.file.path) if running is not None else ""
            self._scenarios.records = scenario_rows(self.files, self.results, path)
            self._show_scenario()

    @on(RecordList.Highlighted, "#scenarios")
    def _show_scenario(self) -> None:
        self.show_progress()
        file = self._file
        if file is not None:
            text = content.about(file, self._choice, self.results.get(self._key))
            self.query_one("#about", Static).update(text)

    def show_progress(self) -> None:
        line = self.said
        if self.running is not None and self.progress is not None:
            line = content.running(self.progress)
        elif not line and self._file is not None:
            line = content.status(self.results.get(self._key), self._choice, self.size.width - 2)
        self.write(line, "#lab-status")

    def why_not(self, action: str) -> str:
        """Only what has run can be replayed."""
        if action == "replay" and not (self.is_mounted and self._key in self.results):
            return "This scenario has not run yet."
        return super().why_not(action)

    def action_profile(self) -> None:
        """Choose the profile to run under."""
        scenario = self._file.scenario if self._file is not None else None
        rows = content.profile_rows(scenario, self.session.profile, self._chosen)

        def choose(name: str) -> None:
            self._chosen = "" if name == content.OWN else name

        dialog = ChoiceDialog("Run under", rows, choose, self._chosen or content.OWN)
        self.app.push_screen(dialog, lambda _: self.show())
