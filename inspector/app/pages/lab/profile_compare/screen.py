"""One scenario under several profiles in turn: totals side by side, tokens call by call."""

import asyncio
from functools import partial
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from inspector.app.base_screen import HeaderLine
from inspector.app.dialogs.choice import ChoiceDialog, scenario_choices
from inspector.app.pages.lab.profile_compare import content
from inspector.app.pages.lab.scenario.content import running
from inspector.app.place import Destination, ProfilesPage
from inspector.app.scenario_job import Lab, ScenarioFile, choice
from inspector.app.scenario_screen import RUN, LabScreen
from inspector.app.stream import View
from inspector.config.setting import DEFAULT_PROFILE
from inspector.core.error import ToolsightError
from inspector.scenario.comparison import ProfileComparison
from widgets import KeyBar, RecordList

_SCENARIO = "demo"
_NO_SCENARIO = "no scenarios to run; try `toolsight demo`"
_NO_TABLE = "Press r to run the scenario under each profile marked ✓, space to mark one."
_NO_BARS = "Tool tokens per model call appear here."


class ProfileCompareScreen(LabScreen):
    """Runs the scenario under each chosen profile, and shows each as soon as it is done."""

    page = "profiles"
    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#compared RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "scenarios", id="page.view"),
        Binding("space", "choose", "choose", id="profiles.choose"),
        Binding("r", "run", "run", id="profiles.run"),
        Binding("c", "scenario", "scenario", id="profiles.scenario"),
        Binding("left", "shift(-1)", "left", show=False, id="profiles.left"),
        Binding("right", "shift(1)", "more profiles", key_display="← →", id="profiles.right"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "c chooses the scenario; v on the scenarios page opens this page with the scenario chosen there.",
        "space chooses a profile, r or enter runs the scenario under each chosen profile in turn.",
        "Every run uses fresh servers and the same script; the profile decides which tools it may call.",
        "The scenario's settings apply under every profile, your settings only under the session's profile.",
        "definitions: tokens of the definitions sent, search_tools included. + searches: with the searches",
        "and their results. saved: compared with binding every tool in every call.",
        "Call 2.3 is the third model call after the second message. ⚠ shows where the script misleads.",
        "Expectations are written for one profile; under another, some may not be met.",
        "← → show more profiles. tab goes to the next pane, esc stops.",
    )

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__(lab)
        self._files: tuple[ScenarioFile, ...] = ()
        self.file: ScenarioFile | None = None
        self._chosen = frozenset({content.BASE, DEFAULT_PROFILE})
        self._ran: tuple[str, ...] = ()
        self._failed: dict[str, str] = {}
        self._offset = 0

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="compare-status")
        with Horizontal(id="compare-page"):
            yield RecordList(content.CHOICE_COLUMNS, filterable=False, id="compared", classes="pane")
            yield RecordList((), header=True, empty=_NO_TABLE, id="measures", classes="pane")
        yield Static(id="compare-notes")
        yield RecordList(content.BAR_COLUMNS, header=True, empty=_NO_BARS, id="bars", classes="pane")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#compared").border_title = "Profiles"
        self.query_one("#measures").border_title = "Totals"
        self.query_one("#bars").border_title = "Tool tokens per call"
        self._read()
        self.show()

    @work(exit_on_error=False, group="read")
    async def _read(self) -> None:
        if self.lab is None:
            return
        try:
            self._files = tuple(await asyncio.to_thread(self.lab.scenarios))
        except ToolsightError as error:
            self.fail(error)
        if self.file is None:
            runnable = [file for file in self._files if file.scenario is not None]
            demo = (file for file in runnable if file.path.stem == _SCENARIO)
            self.file = next(demo, next(iter(runnable), None))
        self.show()

    def arrive(self, destination: Destination) -> None:
        """Compare the scenario that was asked for."""
        if isinstance(destination, ProfilesPage):
            self._chosen = frozenset({content.BASE, destination.choice.profile})
            self._use(destination.file)

    def action_scenario(self) -> None:
        """Choose another scenario."""
        current = str(self.file.path) if self.file is not None else ""
        rows = scenario_choices(self._files, current)
        self.app.push_screen(ChoiceDialog("Compare this scenario", rows, self._choose_file, current))

    def _choose_file(self, path: str) -> None:
        self._use(next(file for file in self._files if str(file.path) == path))

    def _use(self, file: ScenarioFile) -> None:
        """Compare another scenario; the results of the one before go."""
        if self.file is None or file.path != self.file.path:
            self.stop()
            self.job.results.clear()
            self._failed.clear()
            self._ran, self.said = (), Content()
        self.file = file
        self.show()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - a run has a session of its own
        self.show_status()

    def on_descendant_focus(self) -> None:
        """In little room, give it to the focused pane."""
        self.set_class(self.query_one("#bars").has_focus_within, "-on-bars")

    def action_choose(self) -> None:
        """Choose the profile under the cursor, or undo the choice."""
        current = self.query_one("#compared", RecordList).current
        if current is not None:
            self._chosen = self._chosen ^ {current.key}
            self.show()

    @on(RecordList.Selected, "#compared")
    def action_run(self) -> None:
        """Run the scenario under each chosen profile."""
        names, file, lab = content.order(tuple(self._chosen)), self.file, self.lab
        if self.job.progress is None and names and file is not None and lab is not None:
            self.job.results.clear()
            self._failed.clear()
            self._ran, self._offset, self.said = names, 0, Content()
            self._run(lab, file, names)

    @work(exclusive=True, exit_on_error=False, group=RUN)
    async def _run(self, lab: Lab, file: ScenarioFile, names: tuple[str, ...]) -> None:
        scenario = file.scenario
        assert scenario is not None
        for name in names:
            run = choice(scenario, self.session, name)
            number = self.job.begin(file, name)
            self.show()
            try:
                note = partial(self.job.note, number)
                result = await lab.run(file, name, run.values, note)
            except ToolsightError as error:
                self._failed[name] = error.message
                if self.job.drop(number):
                    self.fail(error, name)
            else:
                self.job.finish(number, name, result)
            self.show()

    def show(self) -> None:
        if not self.is_attached:
            return
        progress, results = self.job.progress, self.job.results
        name = progress.profile if progress is not None else ""
        rows = content.choice_rows(self._chosen, results, name, self._failed)
        self.query_one("#compared", RecordList).records = rows
        measures, bars = self.query_one("#measures", RecordList), self.query_one("#bars", RecordList)
        shown = self._window
        measures.columns = content.table_columns(shown)
        measures.records = content.table_rows(results, shown)
        found = content.compared(results)
        bars.records = content.bar_rows(found, bars.content_size.width)
        self._show_notes(found)
        self.show_status()

    def _show_notes(self, found: ProfileComparison) -> None:
        notes = self.query_one("#compare-notes", Static)
        notes.display = bool(found.notes)
        notes.update(content.notes(found, 2 if self.has_class("-narrow") else 4))

    @property
    def _window(self) -> tuple[str, ...]:
        width = self.query_one("#measures").content_size.width
        return content.window(self._ran, self._offset, content.room(width))

    def show_status(self) -> None:
        line = self.said
        if self.job.progress is not None:
            line = running(self.job.progress)
        elif not line:
            title = self.file.title if self.file is not None else _NO_SCENARIO
            line = content.status(tuple(self._chosen), self.job.results, self._window, title)
        self.query_one("#compare-status", Static).update(line)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leave the arrow keys to the filter while it has the focus."""
        return action != "shift" or not isinstance(self.focused, Input)

    def action_shift(self, step: int) -> None:
        """Show other profiles."""
        count = content.room(self.query_one("#measures").content_size.width)
        self._offset = min(max(self._offset + step, 0), content.furthest(self._ran, count))
        self.show()

    async def action_leave(self) -> None:
        """Stop the runs and keep the finished ones, or go back."""
        if not self.stop("r reruns all of them."):
            await super().action_leave()
