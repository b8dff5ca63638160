"""The guard lab: runs a scenario and steps through the run, with the guards' counters and windows."""

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.pages.lab import scenario_step as step, scenario_text as content
from inspector.app.pages.lab.scenario_text import SCENARIO_COLUMNS, scenario_rows, windows
from inspector.app.pages.lab.walkthrough import Walkthrough, walkthrough
from inspector.app.place import Destination, ScenarioPage
from inspector.app.scenario_job import Choice, Lab, ScenarioFile, choice
from inspector.app.scenario_screen import LabScreen
from inspector.app.stream import View
from inspector.scenario.comparison import ScenarioResult
from widgets import RecordList

_READING = "Reading the scenarios …"
_NO_LAB = "No scenarios to run in this session. Try `toolsight demo`."
_NO_SCENARIO = "No scenarios found. Toolsight ships with some; reinstall it."

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


# Long because choosing a scenario, running it and stepping through it are one page.
class GuardLabScreen(LabScreen):
    """Scenarios on the left, the last run of the current one as steps, and one step in detail."""

    page = "scenarios"
    CSS_PATH = "scenario.tcss"
    AUTO_FOCUS = "#scenarios RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
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
        "p runs under another profile; `toolsight scenario compare` compares the costs of several.",
        "tab goes to the next pane, esc stops a run or goes back. / filters, y copies, r runs again.",
    )

    when_not_typing = frozenset({"step"})
    again = "enter runs it again."

    _scenarios = query_one("#scenarios", RecordList)

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__(lab)
        # The last run of each scenario by its path, and the step shown of it.
        self._walkthroughs: dict[str, Walkthrough] = {}
        self._steps: dict[str, int] = {}
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
                scenarios = RecordList(SCENARIO_COLUMNS, empty=_READING, id="scenarios", classes="pane")
                scenarios.border_title = "Scenarios"
                yield scenarios
                yield RecordList(step.STEP_COLUMNS, id="steps", classes="pane")
            yield StepDetail(id="lab-detail")

    def on_mount(self) -> None:
        self.read(self._show_read)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_step)

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
    def _walkthrough(self) -> Walkthrough | None:
        """The last run of the scenario under the cursor."""
        return self._walkthroughs.get(self._key)

    @property
    def _number(self) -> int:
        return self._steps.get(self._key, 0)

    @property
    def _choice(self) -> Choice | None:
        """What the scenario under the cursor runs under; None if it cannot run."""
        scenario = self._file.scenario if self._file is not None else None
        return choice(scenario, self.session, self._chosen) if scenario is not None else None

    def _go(self, number: int) -> None:
        """Show a step, or the nearest one there is."""
        last = len(self._walkthroughs.get(self._key, ())) - 1
        self._steps[self._key] = max(min(number, last), 0)

    @on(RecordList.Selected, "#scenarios")
    def action_run(self) -> None:
        """Run the scenario under the cursor, dropping any current run."""
        file, lab, run = self._file, self.lab, self._choice
        if file is None or run is None or lab is None:
            return
        key, self.said = str(file.path), Content()

        def ended(result: ScenarioResult) -> None:
            self.results[key] = result
            self._walkthroughs[key], self._steps[key] = walkthrough(result.records, result.findings), 1
            self.show()
            if key == self._key and self._scenarios.has_focus_within:
                self.query_one("#steps", RecordList).focus()

        self.play(lab, file, run, ended)

    def show(self) -> None:
        """Draw the scenarios and the walkthrough of the one under the cursor."""
        if self.is_attached:
            running = self.progress if self.running is not None else None
            path = str(running.file.path) if running is not None else ""
            self._scenarios.records = scenario_rows(self.files, self.results, path)
            self._show_scenario()

    @on(RecordList.Highlighted, "#scenarios")
    def _show_scenario(self) -> None:
        """Draw the walkthrough of the scenario under the cursor, or what it is about."""
        shown = self._walkthrough
        self.set_class(shown is not None, "-walkthrough")
        self.on_descendant_focus()
        if shown is not None:
            steps = self.query_one("#steps", RecordList)
            steps.border_title = content.steps_title(self._file)
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
            self._go(int(event.key))
            self._show_step()

    def _show_step(self) -> None:
        self.show_progress()
        shown, detail, file = self._walkthrough, self.query_one(StepDetail), self._file
        if shown is not None:
            detail.show_step(shown, self._number)
        elif file is not None:
            detail.show_about(content.about(file, self._choice))

    def show_progress(self) -> None:
        line, result = self.said, self.results.get(self._key)
        if self.running is not None and self.progress is not None:
            line = content.running(self.progress)
        elif not line and self._file is not None:
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
            self._go(self._number + by)
            self.query_one("#steps", RecordList).move_to(str(self._number))
            self._show_step()

    def action_profile(self) -> None:
        """Choose the profile to run under."""
        scenario = self._file.scenario if self._file is not None else None
        rows = content.profile_rows(scenario, self.session.profile, self._chosen)

        def choose(name: str) -> None:
            self._chosen = "" if name == content.OWN else name

        dialog = ChoiceDialog("Run under", rows, choose, self._chosen or content.OWN)
        self.app.push_screen(dialog, lambda _: self.show())

    async def action_leave(self) -> None:
        """Stop the run, or go back: from the walkthrough to the scenarios, from there to the session."""
        if self.running or self._scenarios.has_focus_within or not self._scenarios.records:
            await super().action_leave()
            return
        # A hidden widget cannot take the focus.
        self.remove_class("-stepping")
        self.call_after_refresh(self._scenarios.focus)
