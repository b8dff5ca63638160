"""The race: a question with every tool bound, beside the same question with discovery, call by call."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen
from inspector.app.context import Job
from inspector.app.dialogs.choice import ChoiceDialog, profile_rows
from inspector.app.draw.line import MUTED, failure_text, joined
from inspector.app.draw.table import table_lines
from inspector.app.place import Destination, RacePage
from inspector.app.stream import View
from inspector.config.profile import DEFAULT_PROFILE
from inspector.core.conversation import ItemKind
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.number import count, tokens
from inspector.core.report import Block
from inspector.core.session import SessionState
from inspector.features.lab.comparison import STATIC, ScenarioResult
from inspector.features.lab.feature import LAB
from inspector.features.lab.ground import Lab, ground_of, question, require_own_mind
from inspector.features.lab.race.facts import (
    answered,
    big_share,
    headline,
    notes,
    race_report,
    racer_facts,
    racer_title,
    sides,
    so_far,
)
from inspector.features.lab.race.race import Race, RaceFrame, Racer, Side, Verdict, run_race
from widgets import BigNumber, Choice as Answer, GuardedConfirm, plain, visible

# Seconds between two model calls that are shown.
_PACE = 0.6
_COLORS = ("$foreground 40%", "$primary")
_NAMES = ("$foreground 70%", "$text-primary")
_TOOLS, _SEARCHES = "█", "▒"
_GAP = "   "
# The longest texts; cells for a side's total at the end of its bar, and for a call's own bar.
_LONGEST, _TOTAL, _BAR = 400, 10, 6
_ASK = (Answer("", "race"), Answer("", "no"))


def bars(frame: RaceFrame, width: int, *, over: bool = False) -> Content:
    """Return both racers as bars on one scale, each below its name and as many facts as fit.

    Who answered is told of both at once, when the race is `over`: fewer calls are no win.
    """
    most, lines = max(racer.discovery_tokens for racer in frame.racers), []
    for side, racer in enumerate(frame.racers):
        name = plain(racer_title(racer.profile), limit=_LONGEST, newlines=False).stylize(
            f"bold {_NAMES[side]}"
        )
        facts = [*([answered(racer)] if over else []), *racer_facts(racer)]
        told = [name, *(plain(one, limit=_LONGEST, newlines=False) for one in facts)]
        lines.append(joined(told, width).truncate(width, ellipsis=True))
        parts = (racer.tool_tokens, racer.discovery_tokens)
        cells = [round(part / most * (width - _TOTAL)) if most else 0 for part in parts]
        drawn = _TOOLS * min(cells) + _SEARCHES * (max(cells) - min(cells))
        number = f"{racer.discovery_tokens:,}".rjust(width - len(drawn))
        lines.append(Content.assemble((drawn, _COLORS[side]), (number, f"bold {_NAMES[side]}")))
    lines.append(Content.styled(f"{_TOOLS} definitions  {_SEARCHES} searches, all calls", MUTED))
    return Content("\n").join(lines)


def log(shown: Sequence[RaceFrame], side: int, lines: int) -> Content:
    """Return the latest model calls of a racer, one per line, the newest last."""
    racers = [frame.racers[side] for frame in shown]
    calls = [racer for number, racer in enumerate(racers) if number == racer.model_calls > 0]
    most = max((racer.present for frame in shown for racer in frame.racers), default=0)
    rows = [
        Content.assemble(
            (f"{one.model_calls:>3}", MUTED),
            f" {tokens(one.present):>6} ",
            (f"{_TOOLS * round(one.present / most * _BAR if most else 0):<{_BAR}} ", _COLORS[side]),
            visible(one.last, limit=_LONGEST, newlines=False),
        )
        for one in calls[-max(lines, 1) :]
    ]
    return Content("\n").join(rows)


def last_question(session: SessionState) -> str:
    """Return the user's newest message; "" if there is none."""
    return next(iter(_said(session)[::-1]), "")


def _said(session: SessionState) -> list[str]:
    return [item.text for item in session.conversation.items if item.kind is ItemKind.USER]


class RacePanel(Vertical):
    """Draws a moment of the race; at its end the calls make room for the result."""

    def compose(self) -> ComposeResult:
        yield Static(id="race-bars", markup=False)
        with Horizontal(id="race-calls"):
            for side in (0, 1):
                yield Static(id=f"racer-{side}", classes="pane racer", markup=False)

    def show(self, shown: Sequence[RaceFrame], *, over: bool) -> None:
        """Draw the last of the moments."""
        drawn = self.query_one("#race-bars", Static)
        drawn.update(bars(shown[-1], drawn.content_size.width, over=over))
        for side, racer in enumerate(shown[-1].racers):
            calls = self.query_one(f"#racer-{side}", Static)
            calls.border_title = plain(racer_title(racer.profile), limit=_LONGEST, newlines=False)
            calls.update(log(shown, side, calls.content_size.height))


class RaceResult(Vertical):
    """What is said of the race; at its end the saving as large as the screen allows, and both in numbers."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="race-end"):
            yield BigNumber(id="race-saved")
            yield Static(id="race-table", markup=False)
        with VerticalScroll(id="race-text"):
            yield Static(id="race-said", markup=False)

    def show(self, said: Content, verdict: Verdict | None) -> None:
        """Draw the text, or the verdict of a race that is over."""
        if verdict is not None:
            saved = self.query_one(BigNumber)
            saved.value = big_share(verdict)
            saved.display = bool(saved.value)
            saved.set_class(bool(verdict.shortfall) or (verdict.saved or 0) < 0, "-more")
            table = Content("\n").join(table_lines(sides(verdict), self.size.width))
            self.query_one("#race-table", Static).update(table)
            told = [plain(headline(verdict), limit=_LONGEST).stylize("bold")]
            told += [Content.assemble(("· ", MUTED), plain(one, limit=_LONGEST)) for one in notes(verdict)]
            said = Content("\n").join(told)
        self.query_one("#race-said", Static).update(said)


# Long because asking, running and drawing step by step share one race.
class RaceScreen(BaseScreen):
    """Runs both sides for real and shows them call by call. A race goes on while another page is shown."""

    page = "race"
    CSS_PATH = "page.tcss"
    AUTO_FOCUS = "#race-text"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,enter", "run", "race", id="race.run"),
        Binding("p", "profile", "pick profile", id="race.profile"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "r or enter races the last chat question: static binding against a profile, each on fresh servers.",
        "Both sides advance one model call at a time: the race compares tokens, not speed.",
        "Tokens for tools: definitions and manifest (█), searches and their results (▒), over all calls.",
        "If a side solves less, no saving is shown: fewer tokens for less work save nothing.",
        "Calls that need approval are skipped, except for tools you allowed for this session.",
        "p chooses the profile. esc stops the runs, then goes back. ↑ ↓ scroll the notes.",
        "`toolsight scenario compare NAME` compares profiles over the script of a scenario.",
    )

    def __init__(self, lab: Lab | None = None, pace: float = _PACE) -> None:
        super().__init__()
        self._given, self._pace = lab, pace
        self._profile = ""
        self._race: Race | None = None
        self._place = 0
        self._message = Content()
        self._timer: Timer | None = None

    @property
    def lab(self) -> Lab | None:
        """The lab given to this page, else the app's."""
        return self._given if self._given is not None else self.context.parts.get(LAB)

    @property
    def is_finished(self) -> bool:
        """Whether both runs are over and the last model call is shown."""
        race = self._race
        return race is not None and race.is_over and self._place == len(race.frames()) - 1

    def report(self) -> Iterable[Block]:
        race = self._race if self.is_finished else None
        return super().report() if race is None or race.verdict is None else race_report(race, race.verdict)

    def words(self) -> Sequence[str]:
        asked = self._race.scenario.title if self._race is not None else last_question(self.session.state)
        return ["race", asked, "--profile", self._other, *self.context.opened.source]

    def body(self) -> ComposeResult:
        yield Static(id="race-status", markup=False)
        yield RacePanel(id="race")
        yield RaceResult(id="race-result")

    def on_mount(self) -> None:
        if self.app.animation_level == "none":
            self._pace = 0.0

    def arrive(self, destination: Destination) -> None:
        """Race the last question, after asking if that costs money; a race that is on goes on."""
        if isinstance(destination, RacePage) and self.running is None:
            self.action_run()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def show_view(self, view: View) -> None:
        if self._race is None and not view.state.busy:
            self._show()

    @property
    def _other(self) -> str:
        """The profile that races against static binding."""
        own = self._profile or self.session.profile
        return DEFAULT_PROFILE if own == STATIC else own

    def action_run(self) -> None:
        """Start a race, dropping any current runs; ask first if a real model is to answer twice."""
        asked, lab, state = last_question(self.session.state), self.lab, self.session.state
        if not asked or lab is None:
            self._show()
            return
        try:
            if self.context.replay.is_replay:
                raise ConfigError("a replay is shown", hint="A race needs the running session.")
            if not state.ready_servers:
                raise ConfigError("no server is ready", hint="A race needs connected servers.")
            require_own_mind(state.model)
        except ToolsightError as error:
            self.fail(error)
            return
        if not (spends := self._spends()):
            self._start(lab, asked)
            return

        def answered(answer: str | None) -> None:
            if answer == "race":
                self._start(lab, asked)

        self.app.push_screen(GuardedConfirm("Race this question?", Content(spends), _ASK), answered)

    def _spends(self) -> str:
        """What a race will take of a real model; "" if it takes nothing."""
        state = self.session.state
        if state.model.startswith("demo/"):
            return ""
        name = visible(state.model_label, limit=60, newlines=False)
        return f"This asks {name} twice: once with discovery, as in the chat, and once with every tool bound."

    def _start(self, lab: Lab, asked: str) -> None:
        session, scenario = self.session, question(asked)
        values = dict(session.session_values) if self._other == session.profile else {}
        alone = "The question was asked alone, without the earlier conversation."
        told = (alone,) if len(_said(session.state)) > 1 else ()
        prices = session.accounting.prices()
        self._race = race = Race(scenario, (STATIC, self._other), prices=prices, notes=told)
        self._place, self._message, ground = 0, Content(), ground_of(session)

        async def work(job: Job) -> None:  # noqa: ARG001 - it is cancelled, not asked to stop
            async def play(side: Side) -> ScenarioResult:
                return await lab.race(scenario, ground, side.profile, side.values, side.listen)

            await run_race(race, values, play)

        self.run_stoppable(scenario.title, work, self._ended)
        if self._timer is None:
            self._timer = self.set_interval(self._pace or 0.1, self._advance)
        self._show()

    def _ended(self, _: None) -> None:
        self._show()

    def _advance(self) -> None:
        """Show the next model call; without a pace, all that there are."""
        if self._race is not None and not self.is_finished:
            last = len(self._race.frames()) - 1
            self._place = min(self._place + 1, last) if self._pace else last
            self._show()

    def _show(self) -> None:
        if not self.is_attached:
            return
        race, over = self._race, self.is_finished
        self.set_class(over, "-over")
        self.set_class(race is None, "-before")
        before = RaceFrame((Racer(profile=STATIC), Racer(profile=self._other)))
        shown = race.frames()[: self._place + 1] if race is not None else (before,)
        self.query_one(RacePanel).show(shown, over=over)
        said = self._message or (self._before() if race is None else plain(so_far(shown[-1])))
        self.query_one(RaceResult).show(said, race.verdict if race is not None and over else None)
        self._show_status(shown[-1])

    def _show_status(self, frame: RaceFrame) -> None:
        """Draw what is raced and on which servers, then the model as far as it fits."""
        state, width = self.session.state, self.size.width - 2
        title = self._race.scenario.title if self._race is not None else last_question(state) or "Race"
        ready = f"{count(state.ready_servers, 'server')}, {count(len(state.tools), 'tool')}"
        facts = (
            ready if state.ready_servers else "no server is ready",
            frame.racers[1].model or state.model_label,
        )
        pieces = [plain(one, limit=60, newlines=False).stylize(MUTED) for one in facts]
        room = max(width - pieces[0].cell_length - len(_GAP), width // 2)
        asked = plain(title, limit=_LONGEST, newlines=False).stylize("bold").truncate(room, ellipsis=True)
        self.write(joined([asked, *pieces], width), "#race-status")

    def _before(self) -> Content:
        """What the page is for, before the first race."""
        if self.lab is None:
            return Content("Nothing to race in this session. Try `toolsight demo`.")
        if not last_question(self.session.state):
            return Content("Ask something in Chat first.")
        where = f"once with every tool bound and once under {visible(self._other, limit=40)}"
        calls = "Calls that need your approval are skipped, except for tools you allowed for this session."
        lines = [
            Content.assemble(
                ("r or enter starts the race", "bold"),
                f": it asks the question {where}, each on its own servers.",
            ),
            Content.styled(self._spends(), "$text-warning"),
            Content.styled(calls, MUTED),
            Content.styled("p picks the profile to race against static binding.", MUTED),
        ]
        return Content("\n").join(line for line in lines if line)

    def fail(self, error: BaseException) -> None:
        """Show the error that ended a run."""
        title, message = failure_text(error)
        self._say(Content.assemble((f"✕ {title}: ", "bold $text-error"), message))

    def stop_running(self) -> None:
        """Stop the runs, and say how to start another race."""
        self.drop_running()
        self._say(Content.styled("Stopped. r starts another race.", "$text-warning"))

    def _say(self, text: Content) -> None:
        self._message = text
        self._show()

    def action_profile(self) -> None:
        """Choose the profile that races against static binding; that clears the race."""

        def choose(name: str) -> None:
            self.drop_running()
            self._profile, self._race, self._message = name, None, Content()
            self._show()

        rows = profile_rows(self._other, leaving_out=STATIC)
        self.app.push_screen(ChoiceDialog("Race against static binding", rows, choose, self._other))
