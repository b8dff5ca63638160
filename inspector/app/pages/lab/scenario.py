"""The guard lab: runs a scenario and steps through the run, with the guards' counters and windows."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.pages.lab import scenario_step as step, scenario_text as content
from inspector.app.pages.lab.scenario_text import SCENARIO_COLUMNS, scenario_rows, windows
from inspector.app.pages.lab.walkthrough import Walkthrough, walkthrough
from inspector.app.place import Destination, ProfilesPage, ScenarioPage
from inspector.app.scenario_job import Choice, Lab, ScenarioFile, choice
from inspector.app.scenario_screen import LabScreen
from inspector.app.stream import View
from inspector.core.error import ToolsightError
from inspector.scenario.comparison import ScenarioResult
from inspector.session.view import SessionView
from widgets import RecordList

# The list of scenarios with the outcome of each.

_READING = "Reading the scenarios …"
_NO_LAB = "No scenarios to run in this session. Try `toolsight demo`."
_NO_SCENARIO = "No scenarios found. Toolsight ships with some; reinstall it."


class ScenarioList(RecordList):
    """Reads the scenarios once, and knows the one under the cursor."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(SCENARIO_COLUMNS, empty=_READING, id=id, classes="pane")
        self.border_title = "Scenarios"
        self._files: tuple[ScenarioFile, ...] = ()

    async def read(self, lab: Lab | None) -> None:
        """Read the scenarios. Raises ToolsightError."""
        if lab is None:
            self.empty = _NO_LAB
            return
        try:
            self._files = tuple(await asyncio.to_thread(lab.scenarios))
        finally:
            self.empty = _NO_SCENARIO

    @property
    def file(self) -> ScenarioFile | None:
        """The scenario under the cursor."""
        current = self.current
        return next((file for file in self._files if current and str(file.path) == current.key), None)

    @property
    def key(self) -> str:
        """The path of the scenario under the cursor, "" if there is none."""
        return str(self.file.path) if self.file is not None else ""

    def choice(self, session: SessionView, chosen: str) -> Choice | None:
        """Return what the scenario under the cursor runs under; None if it cannot run."""
        file = self.file
        return (
            choice(file.scenario, session, chosen) if file is not None and file.scenario is not None else None
        )

    def show(self, results: Mapping[str, ScenarioResult], running: str) -> None:
        """Draw the scenarios; `running` is the path of the running one."""
        self.records = scenario_rows(self._files, results, running)


# One step of a run in four sections: guard windows, events, what the model read, what is bound.

_LEAST = 20


class StepDetail(VerticalScroll):
    """Shows a step of a walkthrough or, without a walkthrough, what the scenario is about."""

    DEFAULT_CSS = """
    StepDetail { scrollbar-size-vertical: 1; }
    StepDetail #about { height: auto; padding: 0 1; }
    StepDetail .section { height: auto; padding: 0 1; border-top: solid $border; border-title-color: $text-muted; }
    StepDetail:focus .section { border-top: solid $primary; }
    """  # noqa: E501

    def compose(self) -> ComposeResult:
        yield Static(id="about")
        for name in ("guard", "happened", "read", "bound"):
            yield Static(id=name, classes="section")

    def show_about(self, text: Content) -> None:
        """Show what a scenario is about."""
        self._show_sections(shown=False)
        self.query_one("#about", Static).update(text)

    def show_step(self, walkthrough: Walkthrough, number: int) -> None:
        """Show the step of this number."""
        self._show_sections(shown=True)
        frame = walkthrough.frames[number]
        width = max(self.scrollable_content_region.width - 2, _LEAST)
        title, read = step.read(frame)
        self._show("guard", step.guard_title(frame), windows(frame, width))
        self._show("happened", step.step_title(frame), step.happened(frame, width))
        self._show("read", title, read)
        self._show("bound", "Bound after this step", step.bound(walkthrough, number, width))

    def _show_sections(self, *, shown: bool) -> None:
        self.query_one("#about").display = not shown
        for section in self.query(".section"):
            section.display = shown

    def _show(self, name: str, title: str, text: Content) -> None:
        section = self.query_one(f"#{name}", Static)
        section.border_title = title
        section.update(text)


# More steps than any walkthrough has.
_ALL = 1_000_000


class Walkthroughs:
    """The last run of each scenario by path, and the step shown of it."""

    def __init__(self) -> None:
        self._walkthroughs: dict[str, Walkthrough] = {}
        self._steps: dict[str, int] = {}

    def get(self, key: str) -> Walkthrough | None:
        """Return the last run, None if there was none."""
        return self._walkthroughs.get(key)

    def add(self, key: str, result: ScenarioResult) -> None:
        """Store a run, and show its first model call."""
        self._walkthroughs[key] = walkthrough(result.records, result.findings)
        self.go(key, 1)

    def number(self, key: str) -> int:
        """Return the number of the shown step."""
        return self._steps.get(key, 0)

    def go(self, key: str, number: int) -> int:
        """Show a step, or the nearest one there is; return its number."""
        last = len(self._walkthroughs.get(key, ())) - 1
        self._steps[key] = max(min(number, last), 0)
        return self._steps[key]


# Long because choosing a scenario, running it and stepping through it are one page.
class GuardLabScreen(LabScreen):
    """Scenarios on the left, the last run of the current one as steps, and one step in detail."""

    page = "scenarios"
    CSS_PATH = "scenario.tcss"
    AUTO_FOCUS = "#scenarios RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "other_view", "profiles", id="page.view"),
        Binding("left", "step(-1)", "step", key_display="← →", priority=True, id="lab.previous"),
        Binding("right", "step(1)", "step", show=False, priority=True, id="lab.next"),
        Binding("home", f"step(-{_ALL})", "first step", show=False, priority=True, id="lab.first"),
        Binding("end", f"step({_ALL})", "last step", show=False, priority=True, id="lab.last"),
        Binding("r", "run", "run", id="lab.run"),
        Binding("p", "profile", "pick profile", id="lab.profile"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "enter runs a scenario: fresh servers, the real loop, a scripted model, a clock that skips waiting.",
        "Then ← → step through the run, home and end go to its first and last step. A step is a model call",
        "or a tool call. ✓ marks an expected event, ✕ a forbidden one, or an expected one that never came.",
        "Equal calls share a letter: the same tool and the same arguments after normalization.",
        "■ counts equal calls in the time window and among the last calls; exceeding either limit is a loop.",
        "A loop evicts its tool. Once the tool is found again, its calls show as (A) and counting restarts.",
        "p runs under another profile; v runs the scenario under several and compares their costs.",
        "tab goes to the next pane, esc stops a run or goes back. / filters, y copies, r runs again.",
    )

    when_not_typing = frozenset({"step"})
    again = "enter runs it again."

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__(lab)
        self._walkthroughs = Walkthroughs()
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
            with Vertical(id="lab-left"):
                yield ScenarioList(id="scenarios")
                yield RecordList(step.STEP_COLUMNS, id="steps", classes="pane")
            yield StepDetail(id="lab-detail")

    def on_mount(self) -> None:
        self._read()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_step)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the policy has the profile
        self.show()

    @work(exit_on_error=False, group="read")
    async def _read(self) -> None:
        try:
            await self._scenarios.read(self.lab)
        except ToolsightError as error:
            self.fail(error)
        self.show()
        self._run_wanted()

    @property
    def _scenarios(self) -> ScenarioList:
        return self.query_one("#scenarios", ScenarioList)

    @property
    def _walkthrough(self) -> Walkthrough | None:
        """The last run of the scenario under the cursor."""
        return self._walkthroughs.get(self._scenarios.key)

    @property
    def _number(self) -> int:
        return self._walkthroughs.number(self._scenarios.key)

    @property
    def _choice(self) -> Choice | None:
        return self._scenarios.choice(self.session, self._chosen)

    @on(RecordList.Selected, "#scenarios")
    def action_run(self) -> None:
        """Run the scenario under the cursor, dropping any current run."""
        file, lab, run = self._scenarios.file, self.lab, self._choice
        if file is None or run is None or lab is None:
            return
        key, self.said = str(file.path), Content()

        def ended(result: ScenarioResult) -> None:
            self.results[key] = result
            self._walkthroughs.add(key, result)
            self.show()
            if key == self._scenarios.key and self._scenarios.has_focus_within:
                self.query_one("#steps", RecordList).focus()

        self.play(lab, file, run, ended)

    def show(self) -> None:
        """Draw the scenarios and the walkthrough of the one under the cursor."""
        if self.is_attached:
            running = self.progress if self.running is not None else None
            self._scenarios.show(self.results, str(running.file.path) if running is not None else "")
            self._show_scenario()

    @on(RecordList.Highlighted, "#scenarios")
    def _show_scenario(self) -> None:
        """Draw the walkthrough of the scenario under the cursor, or what it is about."""
        shown = self._walkthrough
        self.set_class(shown is not None, "-walkthrough")
        self.on_descendant_focus()
        if shown is not None:
            steps = self.query_one("#steps", RecordList)
            steps.border_title = content.steps_title(self._scenarios.file)
            steps.records = step.step_rows(shown)
            steps.move_to(str(self._number))
        self._show_step()

    def on_descendant_focus(self) -> None:
        """In little room, show the walkthrough instead of the scenarios."""
        self.set_class(self._walkthrough is not None and not self._scenarios.has_focus_within, "-stepping")

    @on(RecordList.Highlighted, "#steps")
    def _moved(self, event: RecordList.Highlighted) -> None:
        shown = self._walkthrough
        if event.key is None or shown is None:
            return
        if event.key.startswith(step.MISSED):
            self.query_one(StepDetail).show_about(step.missed(shown, event.key))
        else:
            self._walkthroughs.go(self._scenarios.key, int(event.key))
            self._show_step()

    def _show_step(self) -> None:
        self.show_progress()
        shown, detail, file = self._walkthrough, self.query_one(StepDetail), self._scenarios.file
        if shown is not None:
            detail.show_step(shown, self._number)
        elif file is not None:
            detail.show_about(content.about(file, self._choice))

    def show_progress(self) -> None:
        line, result = self.said, self.results.get(self._scenarios.key)
        if self.running is not None and self.progress is not None:
            line = content.running(self.progress)
        elif not line and self._scenarios.file is not None:
            shown, width = self._walkthrough or Walkthrough(), self.size.width - 2
            line = content.status(result, shown, self._number, self._choice, width)
        self.write(line, "#lab-status")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the walkthrough's keys only if there is a walkthrough."""
        offered = action != "step" or (self.is_mounted and self._walkthrough is not None)
        return offered and super().check_action(action, parameters)

    def action_step(self, by: int) -> None:
        """Move by that many steps, within the run."""
        if self._walkthrough is not None:
            number = self._walkthroughs.go(self._scenarios.key, self._number + by)
            self.query_one("#steps", RecordList).move_to(str(number))
            self._show_step()

    def action_profile(self) -> None:
        """Choose the profile to run under."""
        file = self._scenarios.file
        rows = content.profile_rows(file.scenario if file else None, self.session.profile, self._chosen)
        dialog = ChoiceDialog("Run under", rows, self._choose, self._chosen or content.OWN)
        self.app.push_screen(dialog, lambda _: self.show())

    def _choose(self, name: str) -> None:
        self._chosen = "" if name == content.OWN else name

    def action_other_view(self) -> None:
        """Compare the scenario under several profiles."""
        file, run = self._scenarios.file, self._choice
        if file is not None and run is not None:
            self.open(ProfilesPage(file, run))

    async def action_leave(self) -> None:
        """Stop the run, or go back: from the walkthrough to the scenarios, from there to the session."""
        if self.running or self._scenarios.has_focus_within or not self._scenarios.records:
            await super().action_leave()
            return
        # A hidden widget cannot take the focus.
        self.remove_class("-stepping")
        self.call_after_refresh(self._scenarios.focus)
