"""The race: a scenario under static binding beside the same one with discovery, call by call."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from inspector.app.base_screen import HeaderLine
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.dialogs.export import ExportDialog
from inspector.app.pages.chat.race import content
from inspector.app.pages.chat.race.export import ENDINGS, exported
from inspector.app.pages.chat.race.job import read_scenarios, run_race
from inspector.app.pages.chat.race.playback import Playback
from inspector.app.pages.chat.race.racer_panel import RacerPanel
from inspector.app.pages.chat.race.result import RaceResult
from inspector.app.scenario_job import Choice, Lab, ScenarioFile, choice
from inspector.app.scenario_screen import RUN, LabScreen
from inspector.domain.error import ToolsightError
from inspector.domain.events import Record
from inspector.domain.profile import DEFAULT_PROFILE
from inspector.engine.scenario.profile_comparison import STATIC
from inspector.engine.scenario.race import SECONDS_A_CALL, Race, RaceFrame
from widgets import KeyBar, visible

_SCENARIO = "demo"
# Seconds between redraws of a race without pauses.
_DRAWN_EVERY = 0.1


class RaceScreen(LabScreen):
    """Runs both racers for real and shows them call by call."""

    page = "race"
    CSS_PATH = "screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "run", "race", id="race.run"),
        Binding("space", "pause", "pause", id="race.pause"),
        Binding("plus,equals_sign", "pace(-1)", "faster", key_display="+", id="race.faster"),
        Binding("minus", "pace(1)", "slower", key_display="-", id="race.slower"),
        Binding("left", "step(-1)", "step", key_display="← →", id="race.previous"),
        Binding("right", "step(1)", "step", show=False, id="race.next"),
        Binding("s", "scenario", "scenario", id="race.scenario"),
        Binding("p", "profile", "profile", id="race.profile"),
        Binding("e", "export", "export", id="race.export"),
        Binding("up", "scroll_text(-1)", "up", show=False, id="race.up"),
        Binding("down", "scroll_text(1)", "down", show=False, id="race.down"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "r or enter starts the race: the scenario runs under static and under a profile, on fresh servers.",
        "Both racers show their n-th model call at the same moment: the race compares tokens, not time.",
        "Tokens for tools: definitions and manifest (█), searches and their results (▒), in every call.",
        "All input: everything sent, that is system prompt, conversation and tools.",
        "Static binding plays the scenario without its searches, so it pays for no call it would not make.",
        "space pauses, ← → step by model call, + and - change the pace, ↑ ↓ scroll the notes.",
        "s chooses the scenario, p the profile. e exports an .svg slide or a .cast for asciinema.",
        "esc stops the runs; when none is running, it goes back.",
    )

    def __init__(self, lab: Lab | None = None, pace: float = SECONDS_A_CALL) -> None:
        super().__init__(lab)
        self._playback = Playback(pace)
        self._files: tuple[ScenarioFile, ...] = ()
        self._file: ScenarioFile | None = None
        self._profile = ""
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="race-status")
        with Container(id="racers"):
            yield RacerPanel(0)
            yield RacerPanel(1)
        yield RaceResult(id="race-result")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self._profile = self.session.profile
        if self._profile == STATIC:
            self._profile = DEFAULT_PROFILE
        if self.app.animation_level == "none":
            self._playback.pace = 0.0
        self._read()

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self.show)

    @work(exit_on_error=False, group="read")
    async def _read(self) -> None:
        try:
            self._files = await read_scenarios(self.lab)
        except ToolsightError as error:
            self.fail(error)
        self._file = next((file for file in self._files if file.path.stem == _SCENARIO), None)
        self._file = self._file or next(iter(self._files), None)
        self.show()

    def action_run(self) -> None:
        """Start a race, dropping any current runs."""
        file, lab = self._file, self.lab
        if file is None or file.scenario is None or lab is None:
            return
        run = choice(file.scenario, self.session, self._profile)
        race = Race(file.scenario, (STATIC, run.profile), prices=self.session.accounting.prices())
        self._playback.begin(race, file)
        self.said = Content()
        self._run(lab, file, run, race, self.job.begin(file, run.profile))
        self._restart()

    @work(exclusive=True, exit_on_error=False, group=RUN)
    async def _run(self, lab: Lab, file: ScenarioFile, run: Choice, race: Race, number: int) -> None:
        try:
            await run_race(lab, file, run, race, partial(self._note, number))
        except ToolsightError as error:
            if self.job.drop(number):
                self.fail(error)
            return
        if self.job.drop(number):
            self._playback.finish()
            self.show()

    def _note(self, number: int, side: int, record: Record) -> None:
        if number == self.job.number:
            self._playback.note(side, record)

    def _restart(self) -> None:
        """Show the current frame, and continue at the chosen pace."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_interval(self._playback.pace or _DRAWN_EVERY, self._advance)
        self.show()

    def _advance(self) -> None:
        if self._playback.advance():
            self.show()

    def show(self) -> None:
        if not self.is_attached:
            return
        playback = self._playback
        shown, frame, most = playback.shown, playback.frame(self._profile), playback.most
        progress = playback.progress if self.job.progress is not None else (None, None)
        for side, view in enumerate(self.query(RacerPanel)):
            view.show(shown, frame.racers[side], progress[side], most)
        self._show_result(frame)
        self.show_status()

    def _show_result(self, frame: RaceFrame) -> None:
        verdict, said, share = self._playback.verdict, self.said, ""
        if verdict is not None and self._playback.is_finished:
            said, share = content.result(verdict), content.big_share(verdict)
        elif not said and self._playback.race is not None:
            said = content.so_far(frame)
        elif not said:
            said = content.before(self._file, self._profile, has_lab=self.lab is not None)
        self.query_one(RaceResult).show(said, share)

    def show_status(self) -> None:
        title = self._file.title if self._file is not None else "Race"
        racer = self._playback.frame(self._profile).racers[1]
        elsewhere = self.lab is not None and not self.lab.has_servers_of(self.session.configuration)
        line = content.status(title, racer, self._playback, self.size.width - 2, elsewhere=elsewhere)
        self.query_one("#race-status", Static).update(line)

    def action_pause(self) -> None:
        """Pause or resume."""
        self._playback.pause()
        self._restart()

    def action_pace(self, by: int) -> None:
        """Show the race slower or faster."""
        self._playback.slower(by)
        self._restart()

    def action_step(self, by: int) -> None:
        """Pause, and move by that many model calls."""
        self._playback.step(by)
        self.show()

    def action_scroll_text(self, by: int) -> None:
        """Scroll notes that do not fit."""
        self.query_one(RaceResult).scroll_text(by)

    def action_scenario(self) -> None:
        """Choose the scenario."""
        current = str(self._file.path) if self._file is not None else ""
        rows = content.scenario_choices(self._files, current)
        self.app.push_screen(ChoiceDialog("Race this scenario", rows, self._choose_file, current))

    def _choose_file(self, path: str) -> None:
        self._file = next(file for file in self._files if str(file.path) == path)
        self._reset()

    def action_profile(self) -> None:
        """Choose the profile that races against static binding."""
        rows = content.profile_choices(self._profile)
        dialog = ChoiceDialog("Race against static binding", rows, self._choose_profile, self._profile)
        self.app.push_screen(dialog)

    def _choose_profile(self, name: str) -> None:
        self._profile = name
        self._reset()

    def _reset(self) -> None:
        """Clear the race after another choice."""
        self.job.drop()
        self.workers.cancel_group(self, RUN)
        self._playback.clear()
        self.said = Content()
        self.show()

    def action_export(self) -> None:
        """Export the race as a picture or a terminal recording."""
        race = self._playback.race
        if race is None or self._playback.verdict is None or self._file is None:
            self.notify("Nothing to export yet: r starts a race.", markup=False, timeout=4)
            return
        suggested = Path.cwd() / f"race-{self._file.path.stem}.svg"
        self.app.push_screen(ExportDialog(suggested, partial(exported, race), ENDINGS), self._tell_written)

    def _tell_written(self, path: str | None) -> None:
        if path is not None:
            self.notify(visible(path, limit=200), title="Exported", markup=False, timeout=4)

    async def action_leave(self) -> None:
        """Stop the runs and keep what is shown, or go back."""
        if not self.stop("r starts another race."):
            await super().action_leave()
