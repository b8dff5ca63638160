"""The race: a question with every tool bound, beside the same question with discovery, call by call."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from inspector.app.context import Job
from inspector.app.dialogs.choice import ChoiceDialog, profile_rows
from inspector.app.place import Destination, RacePage
from inspector.app.stream import View
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events import Record
from inspector.core.number import count
from inspector.features.lab.comparison import STATIC, ScenarioResult
from inspector.features.lab.ground import ground_of
from inspector.features.lab.race.facts import big_share, headline, note_lines, racer_title, so_far, table
from inspector.features.lab.race.race import SECONDS_A_CALL, RaceFrame, Side, Verdict, run_race
from inspector.features.lab.race.race_text import Playback, bars_text, log, status, waiting
from inspector.features.lab.race.selection import Selection
from inspector.features.lab.scenario_job import Lab, Progress, ScenarioFile
from inspector.features.lab.scenario_screen import LabScreen
from widgets import BigNumber, Choice as Answer, GuardedConfirm

# Seconds between redraws of a race without pauses.
_DRAWN_EVERY = 0.1
# Both racers: their bars on one scale, and the model calls of each.

# From this height of the terminal a bar is two rows high.
_TALL = 30


class RacePanel(Vertical):
    """Draws a moment of the race; at its end the calls make room for the result."""

    def compose(self) -> ComposeResult:
        yield Static(id="race-bars", markup=False)
        with Horizontal(id="race-calls"):
            for side in (0, 1):
                yield Static(id=f"racer-{side}", classes="pane racer", markup=False)

    def show(
        self,
        shown: Sequence[RaceFrame],
        frame: RaceFrame,
        most: tuple[int, int],
        progress: Sequence[Progress | None],
        *,
        over: bool,
    ) -> None:
        """Draw the moment; `most` holds the tokens of the larger racer, and of the largest model call."""
        bars = self.query_one("#race-bars", Static)
        rows = 2 if self.app.size.height >= _TALL else 1
        states = [waiting(one) if one is not None and not shown[1:] else "" for one in progress]
        bars.update(bars_text(frame, most[0], bars.content_size.width, rows=rows, over=over, states=states))
        for side, racer in enumerate(frame.racers):
            calls = self.query_one(f"#racer-{side}", Static)
            calls.border_title = racer_title(racer.profile)
            calls.update(log(shown, side, calls.content_size.height, most[1]))


# The result of a race: the saved share as large as the screen allows, both sides in numbers, the notes.


class RaceResult(Vertical):
    """What is said of the race; at its end the number and its footnotes, which scroll with the keys."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="race-end"):
            yield BigNumber(id="race-saved")
            yield Static(id="race-table", markup=False)
        with VerticalScroll(id="race-text", can_focus=False):
            yield Static(id="race-said", markup=False)

    def show(self, said: Content, verdict: Verdict | None) -> None:
        """Draw the text, or the verdict of a race that is over."""
        if verdict is not None:
            saved = self.query_one(BigNumber)
            saved.value = big_share(verdict)
            saved.display = bool(saved.value)
            saved.set_class(bool(verdict.shortfall) or (verdict.saved or 0) < 0, "-more")
            self.query_one("#race-table", Static).update(table(verdict))
            said = Content("\n").join([headline(verdict), note_lines(verdict)])
        self.query_one("#race-said", Static).update(said)

    def scroll_text(self, by: int) -> None:
        """Scroll by that many lines."""
        self.query_one("#race-text").scroll_relative(y=by, animate=False)


_ASK = (Answer("", "race"), Answer("", "no"))


# Long because what a race is run on, how it is played back and what is made of it meet here.
class RaceScreen(LabScreen):
    """Runs both sides for real and shows them call by call. A race goes on while another page is shown."""

    page = "race"
    CSS_PATH = "page.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "run", "race", id="race.run"),
        Binding("space", "pause", "pause", id="race.pause"),
        Binding("left", "step(-1)", "step", key_display="← →", id="race.previous"),
        Binding("right", "step(1)", "step", show=False, id="race.next"),
        Binding("plus,equals_sign", "pace(-1)", "faster", key_display="+", id="race.faster"),
        Binding("minus", "pace(1)", "slower", key_display="-", id="race.slower"),
        Binding("c", "scenario", "scenario", id="race.scenario"),
        Binding("p", "profile", "pick profile", id="race.profile"),
        Binding("up,k", "scroll_text(-1)", "up", show=False, id="race.up"),
        Binding("down,j", "scroll_text(1)", "down", show=False, id="race.down"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "r or enter races the last chat question: static binding against a profile, each on fresh servers.",
        "Both sides advance one model call at a time: the race compares tokens, not speed.",
        "Tokens for tools: definitions and manifest (█), searches and their results (▒), over all calls.",
        "If a side solves less, no saving is shown: fewer tokens for less work save nothing.",
        "Calls that need approval are skipped, except for tools you allowed for this session.",
        "space pauses, ← → step by model call, + and - change the pace, ↑ ↓ scroll the notes.",
        "c chooses the question or a scenario that fits the servers, p the profile.",
        "esc stops the runs, then goes back.",
    )

    again = "r starts another race."

    def __init__(self, lab: Lab | None = None, pace: float = SECONDS_A_CALL) -> None:
        super().__init__(lab)
        self.playback = Playback(pace)
        self.selection = Selection()
        self._raced: ScenarioFile | None = None
        self._timer: Timer | None = None

    def body(self) -> ComposeResult:
        yield Static(id="race-status", markup=False)
        yield RacePanel(id="race")
        yield RaceResult(id="race-result")

    def on_mount(self) -> None:
        if self.app.animation_level == "none":
            self.playback.pace = 0.0
        self.read(lambda: None)

    def arrive(self, destination: Destination) -> None:
        """Race the last question, after asking if that costs money; a race that is on goes on."""
        if isinstance(destination, RacePage) and self.running is None:
            self.selection.chosen = None
            self.action_run()

    def restart(self) -> None:
        """Show the current frame, and continue at the chosen pace."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_interval(self.playback.pace or _DRAWN_EVERY, self._advance)
        self.show()

    def _advance(self) -> None:
        if self.playback.advance():
            self.show()

    def action_pause(self) -> None:
        """Pause or resume."""
        self.playback.pause()
        self.restart()

    def action_pace(self, by: int) -> None:
        """Show the race slower or faster."""
        self.playback.slower(by)
        self.restart()

    def action_step(self, by: int) -> None:
        """Pause, and move by that many model calls."""
        self.playback.step(by)
        self.show()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show)

    def show_view(self, view: View) -> None:
        if self.playback.race is None and not view.state.busy:
            self.show()

    def action_run(self) -> None:
        """Start a race, dropping any current runs; ask first if a real model is to answer twice."""
        file, lab = self.selection.file(self.session), self.lab
        if file is None or file.scenario is None or lab is None:
            self.show()
            return
        try:
            if self.context.replay.is_replay:
                raise ConfigError("a replay is shown", hint="A race needs the running session.")
            self.selection.require_ready(self.session)
        except ToolsightError as error:
            self.fail(error)
            return
        spends = self.selection.spends(self.session)
        if not spends:
            self._start(lab, file)
            return

        def answered(answer: str | None) -> None:
            if answer == "race":
                self._start(lab, file)

        self.app.push_screen(GuardedConfirm("Race this question?", Content(spends), _ASK), answered)

    def _start(self, lab: Lab, file: ScenarioFile) -> None:
        race, values = self.selection.race(file, self.session)
        ground, note = ground_of(self.session), self.playback.note
        self._raced, self.said = file, Content()
        self.playback.begin(race, file)

        async def work(job: Job) -> None:
            async def play(side: Side) -> ScenarioResult:
                def on_record(record: Record) -> None:
                    side.listen(record)
                    job.tell(partial(note, side.number, record))

                on = replace(ground, model=side.model) if side.model else ground
                return await lab.race(side.scenario, on, side.profile, side.values, on_record)

            await run_race(race, values, file.path, play)

        self.run_stoppable(file.title, work, self._ended)
        self.restart()

    def _ended(self, _: None) -> None:
        self.playback.finish()
        self.show()

    def show(self) -> None:
        if not self.is_attached:
            return
        playback = self.playback
        over = playback.is_finished
        self.set_class(over, "-over")
        self.set_class(playback.race is None, "-before")
        progress = playback.progress if self.running is not None else (None, None)
        frame = playback.frame(self.selection.other(self.session))
        self.query_one(RacePanel).show(playback.shown, frame, playback.most, progress, over=over)
        self.query_one(RaceResult).show(self._text, playback.verdict if over else None)
        self.show_progress()

    @property
    def _text(self) -> Content:
        """What is said while there is no verdict."""
        playback = self.playback
        if self.said:
            return self.said
        if playback.race is not None:
            return so_far(playback.frame(self.selection.other(self.session)))
        return self.selection.before(self.session, has_lab=self.lab is not None)

    def show_progress(self) -> None:
        state = self.session.state
        file = self._raced or self.selection.file(self.session)
        title = file.title if file is not None else "Race"
        model = self.playback.frame(self.selection.other(self.session)).racers[1].model or state.model_label
        ready = state.ready_servers
        ground = (
            f"{count(ready, 'server')}, {count(len(state.tools), 'tool')}" if ready else "no server is ready"
        )
        line = status(title, ground, self.playback, model, self.size.width - 2)
        self.write(line, "#race-status")

    def action_scroll_text(self, by: int) -> None:
        """Scroll notes that do not fit."""
        self.query_one(RaceResult).scroll_text(by)

    def action_scenario(self) -> None:
        """Choose what is raced; a scenario that does not fit the servers is refused."""
        rows, current = self.selection.rows(self.files, self.session), self.selection.current
        self.app.push_screen(ChoiceDialog("Race this", rows, self.choose_file, current))

    def choose_file(self, path: str) -> None:
        """Race this scenario next. Raises ConfigError if it does not fit the servers."""
        self.selection.choose(self.files, path, self.session)
        self._reset()

    def action_profile(self) -> None:
        """Choose the profile that races against static binding."""
        current = self.selection.other(self.session)
        rows = profile_rows(current, leaving_out=STATIC)

        def choose(name: str) -> None:
            self.selection.profile = name
            self._reset()

        self.app.push_screen(ChoiceDialog("Race against static binding", rows, choose, current))

    def _reset(self) -> None:
        """Clear the race after another choice."""
        self.drop_running()
        self.playback.clear()
        self._raced = None
        self.said = Content()
        self.show()
