"""The race: a question with every tool bound, beside the same question with discovery, call by call."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from inspector.app.base_screen import HeaderLine
from inspector.app.bridge import View
from inspector.app.dialogs.choice import ChoiceDialog
from inspector.app.dialogs.export import ExportDialog
from inspector.app.navigation import Destination, RacePage
from inspector.app.pages.chat.race import content, entry
from inspector.app.pages.chat.race.export import ENDINGS, exported
from inspector.app.pages.chat.race.job import read_scenarios, run_race
from inspector.app.pages.chat.race.playback import Playback
from inspector.app.pages.chat.race.racer_panel import RacePanel
from inspector.app.pages.chat.race.result import RaceResult
from inspector.app.scenario_job import Choice, Lab, ScenarioFile, choice
from inspector.app.scenario_screen import RUN, LabScreen
from inspector.domain.error import ConfigError, ToolsightError
from inspector.domain.events import Record
from inspector.domain.profile import DEFAULT_PROFILE
from inspector.engine.scenario.estimate import estimate
from inspector.engine.scenario.ground import ground_of, require_fit
from inspector.engine.scenario.profile_comparison import STATIC
from inspector.engine.scenario.race import SECONDS_A_CALL, Race
from widgets import Choice as Answer, Confirm, KeyBar, visible

# Long because every key of the page is an action of its screen.

# Seconds between redraws of a race without pauses.
_DRAWN_EVERY = 0.1
_ASK = (Answer("y", "race", "race"), Answer("n", "no", "no"))


class RaceScreen(LabScreen):
    """Runs both sides for real and shows them call by call. A race goes on while another page is shown."""

    CSS_PATH = "screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "run", "race", id="race.run"),
        Binding("x", "export", "slide", id="race.export"),
        Binding("space", "pause", "pause", id="race.pause"),
        Binding("left", "step(-1)", "step", key_display="← →", id="race.previous"),
        Binding("right", "step(1)", "step", show=False, id="race.next"),
        Binding("plus,equals_sign", "pace(-1)", "faster", key_display="+", id="race.faster"),
        Binding("minus", "pace(1)", "slower", key_display="-", id="race.slower"),
        Binding("s", "scenario", "scenario", id="race.scenario"),
        Binding("p", "profile", "profile", id="race.profile"),
        Binding("up,k", "scroll_text(-1)", "up", show=False, id="race.up"),
        Binding("down,j", "scroll_text(1)", "down", show=False, id="race.down"),
        Binding("escape", "stop_or_leave", "back", show=False),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "r or enter races the last question of the chat: under static and under a profile, on fresh servers.",
        "Both sides show their n-th model call at the same moment: the race compares tokens, not time.",
        "Tokens for tools: definitions and manifest (█), searches and their results (▒), in every call.",
        "All input: everything sent, that is system prompt, conversation and tools.",
        "A side that solves less gets no number: fewer tokens for less work are no saving.",
        "Calls that need a yes are not made, except of tools that were allowed for the session.",
        "space pauses, ← → step by model call, + and - change the pace, ↑ ↓ scroll the notes.",
        "s chooses the question or a scenario that fits the servers, p the profile.",
        "x exports an .svg slide or a .cast for asciinema. esc stops the runs, then goes back.",
    )

    def __init__(self, lab: Lab | None = None, pace: float = SECONDS_A_CALL, *, begin: bool = False) -> None:
        """With `begin` the last question is raced at once, after asking if that costs money."""
        super().__init__(lab)
        self._playback = Playback(pace)
        self._files: tuple[ScenarioFile, ...] = ()
        self._chosen: ScenarioFile | None = None
        self._raced: ScenarioFile | None = None
        self._profile = ""
        self._begin = begin
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="race-status", markup=False)
        yield RacePanel(id="race")
        yield RaceResult(id="race-result")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        if self.app.animation_level == "none":
            self._playback.pace = 0.0
        self._read()
        if self._begin:
            self.call_after_refresh(self.action_run)

    def arrive(self, destination: Destination) -> None:
        """Race the last question, unless a race is on."""
        if isinstance(destination, RacePage) and self.job.progress is None:
            self._chosen = None
            self.action_run()

    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self.show)

    def show_view(self, view: View) -> None:
        if self._playback.race is None and not view.state.busy:
            self.show()

    @work(exit_on_error=False, group="read")
    async def _read(self) -> None:
        try:
            self._files = await read_scenarios(self.lab)
        except ToolsightError as error:
            self.fail(error)

    @property
    def _file(self) -> ScenarioFile | None:
        """What `r` would race: the chosen scenario, else the last question."""
        return self._chosen or entry.last_question(self.session.state.conversation)

    @property
    def _other(self) -> str:
        """The profile that races against static binding."""
        own = self._profile or self.session.profile
        return DEFAULT_PROFILE if own == STATIC else own

    def action_run(self) -> None:
        """Start a race, dropping any current runs; ask first if a real model is to answer twice."""
        file, lab = self._file, self.lab
        if file is None or file.scenario is None or lab is None:
            self.show()
            return
        try:
            self._require_ready(file)
        except ToolsightError as error:
            self.fail(error)
            return
        spends = self._spends
        if not spends:
            self._start(lab, file)
            return

        def answered(answer: str | None) -> None:
            if answer == "race":
                self._start(lab, file)

        self.app.push_screen(Confirm("Race this question?", Content(spends), _ASK), answered)

    def _require_ready(self, file: ScenarioFile) -> None:
        """Raise ConfigError if the race cannot be run on what is shown."""
        if self.context.replay.is_replay:
            raise ConfigError("a replay is shown", hint="A race needs the running session.")
        if not self.session.state.ready_servers:
            raise ConfigError("no server is ready", hint="The race starts the session's connected servers.")
        if self._chosen is not None and file.scenario is not None:
            require_fit(file.scenario, self.session.catalog)

    @property
    def _spends(self) -> str:
        """What a race will take of a real model; "" if it takes nothing."""
        if self._chosen is not None or entry.is_stand_in(self.session.state.model):
            return ""
        return entry.spending(self.session.state.model_label, estimate(self.session))

    def _start(self, lab: Lab, file: ScenarioFile) -> None:
        assert file.scenario is not None
        run = choice(file.scenario, self.session, self._other)
        notes = () if self._chosen or entry.is_alone(self.session.state.conversation) else (entry.ALONE,)
        race = Race(
            file.scenario,
            (STATIC, run.profile),
            scripted=self._chosen is not None,
            prices=self.session.accounting.prices(),
            notes=notes,
        )
        self._raced = file
        self._playback.begin(race, file)
        self.said = Content()
        self._run(lab, file, run, race, self.job.begin(file, run.profile))
        self._restart()

    @work(exclusive=True, exit_on_error=False, group=RUN)
    async def _run(self, lab: Lab, file: ScenarioFile, run: Choice, race: Race, number: int) -> None:
        try:
            ground = ground_of(self.session)
            await run_race(lab, file, ground, run.values, race, partial(self._note, number))
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
        over = playback.is_finished
        self.set_class(over, "-over")
        self.set_class(playback.race is None, "-before")
        progress = playback.progress if self.job.progress is not None else (None, None)
        frame = playback.frame(self._other)
        panel = self.query_one(RacePanel)
        panel.show(playback.shown, frame, playback.most, progress, over=over)
        self.query_one(RaceResult).show(self._text, playback.verdict if over else None)
        self.show_status()

    @property
    def _text(self) -> Content:
        """What is said while there is no verdict."""
        playback = self._playback
        if self.said:
            return self.said
        if playback.race is not None:
            return content.so_far(playback.frame(self._other))
        has_lab, asked = self.lab is not None, self._chosen is None
        return entry.before(self._file, self._other, has_lab=has_lab, asked=asked, spends=self._spends)

    def show_status(self) -> None:
        state = self.session.state
        file = self._raced or self._file
        title = file.title if file is not None else "Race"
        model = self._playback.frame(self._other).racers[1].model or state.model_label
        line = content.status(title, entry.servers(state), self._playback, model, self.size.width - 2)
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
        """Choose what is raced; a scenario that does not fit the servers is refused."""
        asked = entry.last_question(self.session.state.conversation)
        current = str(self._chosen.path) if self._chosen is not None else entry.QUESTION
        rows = entry.choices(self._files, asked, current, self.session.catalog)
        self.app.push_screen(ChoiceDialog("Race this", rows, self._choose_file, current))

    def _choose_file(self, path: str) -> None:
        chosen = next((file for file in self._files if str(file.path) == path), None)
        if chosen is not None and chosen.scenario is not None:
            require_fit(chosen.scenario, self.session.catalog)
        self._chosen = chosen
        self._reset()

    def action_profile(self) -> None:
        """Choose the profile that races against static binding."""
        rows = entry.profile_choices(self._other)
        dialog = ChoiceDialog("Race against static binding", rows, self._choose_profile, self._other)
        self.app.push_screen(dialog)

    def _choose_profile(self, name: str) -> None:
        self._profile = name
        self._reset()

    def _reset(self) -> None:
        """Clear the race after another choice."""
        self.job.drop()
        self.workers.cancel_group(self, RUN)
        self._playback.clear()
        self._raced = None
        self.said = Content()
        self.show()

    def action_export(self) -> None:
        """Export the race as a slide or a terminal recording."""
        race = self._playback.race
        if race is None or self._playback.verdict is None or self._raced is None:
            self.notify("Nothing to export yet: r starts a race.", markup=False, timeout=4)
            return
        suggested = Path.cwd() / f"race-{self._raced.path.stem}.svg"
        self.app.push_screen(ExportDialog(suggested, partial(exported, race), ENDINGS), self._tell_written)

    def _tell_written(self, path: str | None) -> None:
        if path is not None:
            self.notify(visible(path, limit=200), title="Exported", markup=False, timeout=4)

    async def action_stop_or_leave(self) -> None:
        """Stop the runs and keep what is shown, or go back."""
        if not self.stop("r starts another race."):
            await self.app.run_action("back")
