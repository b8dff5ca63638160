"""One scenario under several profiles in turn: totals side by side, tokens call by call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from inspector.app.dialogs.choice import ChoiceDialog, scenario_choices
from inspector.app.draw.line import MUTED, failure_text
from inspector.app.pages.lab.scenario_text import running
from inspector.app.place import Destination, ProfilesPage
from inspector.app.scenario_job import Lab, ScenarioFile, choice
from inspector.app.scenario_screen import LabScreen
from inspector.app.stream import View
from inspector.config.profile import DEFAULT_PROFILE, PROFILES
from inspector.core.number import bar, count, money, percent, tokens
from inspector.scenario.comparison import (
    STATIC,
    AlignedCall,
    ProfileComparison,
    ScenarioResult,
    Totals,
    compare_profiles,
)
from widgets import Column, Record, RecordList, Tone, visible

# Long because a scenario under several profiles, its choice, totals and bars, is one page.
CHOICE_COLUMNS = (
    Column("mark", width=1, weight=9),
    Column("name", weight=8, min_width=9),
    Column("state", weight=1, min_width=7),
)
BAR_COLUMNS = (
    Column("call", "call", align="right", weight=9),
    Column("profile", "profile", weight=8, min_width=9),
    Column("bar", "", weight=1, min_width=4),
    Column("tokens", "tokens", align="right", weight=7),
)
# The profile that the others are compared with.
BASE = STATIC
_LABEL = 18
_CELL = 9 + 2
_EDGES = 4
_BAR_REST = 5 + 9 + 6 + 3 * 2 + 4
_LEAST_BAR = 4
_COLORS = ("$text-primary", "$text-accent", "$text-success", "$text-secondary", "$text-warning")
_SLIVER = "▏"
_WAITS = "…"

Measure = Callable[[Totals], str]
_MEASURES: tuple[tuple[str, Measure], ...] = (
    ("model calls", lambda totals: str(totals.model_calls)),
    ("definitions", lambda totals: tokens(totals.tool_tokens)),
    ("  + searches", lambda totals: tokens(totals.discovery_tokens)),
    ("all input", lambda totals: tokens(totals.input_tokens)),
    ("cost", lambda totals: "–" if totals.dollars is None else money(totals.dollars)),
    ("solved steps", lambda totals: str(totals.steps)),
    (
        "cost per step",
        lambda totals: "–" if totals.dollars_per_step is None else money(totals.dollars_per_step),
    ),
    ("searches", lambda totals: str(totals.searches)),
    ("loads", lambda totals: str(totals.loads)),
    ("evictions", lambda totals: str(totals.evictions)),
    ("calls", lambda totals: str(totals.calls)),
    ("rejections", lambda totals: str(totals.rejections)),
    ("loops", lambda totals: str(totals.loops)),
    ("outcome", lambda totals: totals.outcome or "none"),
    ("redundant searches", lambda totals: str(totals.redundant)),
)
_AFTER_TOKENS = "  + searches"


def order(names: Sequence[str]) -> tuple[str, ...]:
    """Return the profiles in the order they run and are shown: the base first."""
    first = (BASE,) if BASE in names else ()
    return (*first, *(name for name in PROFILES if name in names and name != BASE))


def compared(results: Mapping[str, ScenarioResult]) -> ProfileComparison:
    """Compare the results so far; a script is the same under every profile."""
    return compare_profiles(tuple(results.values()), scripted=True)


def choice_rows(
    chosen: frozenset[str], done: Mapping[str, ScenarioResult], running: str, failed: Mapping[str, str]
) -> tuple[Record, ...]:
    """Return the profiles with their state; chosen ones are marked."""
    rows = []
    for name in order(tuple(PROFILES)):
        state = (
            "running" if name == running else "failed" if name in failed else "done" if name in done else ""
        )
        tone: Tone = "error" if name in failed else "" if name in chosen else "muted"
        rows.append(Record(name, ("✓" if name in chosen else "·", name, state), tone))
    return tuple(rows)


def note_lines(found: ProfileComparison, most: int) -> Content:
    """Return where the script or the scenario's own settings mislead, in at most `most` lines."""
    lines = [
        Content.styled(f"⚠ {visible(note, limit=200, newlines=False)}", "$text-warning")
        for note in found.notes
    ]
    if len(lines) > most:
        lines[most - 1 :] = [Content.styled(f"… and {len(lines) - most + 1} more notes", MUTED)]
    return Content("\n").join(lines)


def room(width: int) -> int:
    """Return how many profiles fit into a table of this width."""
    return max((width - _EDGES - _LABEL) // _CELL, 1)


def window(names: Sequence[str], offset: int, count: int) -> tuple[str, ...]:
    """Return the profiles to show: the first, and `count - 1` of the others from `offset` on."""
    start = min(max(offset, 0), furthest(names, count))
    return (*names[:1], *names[1 + start : start + count])


def furthest(names: Sequence[str], count: int) -> int:
    """Return the last offset that still fills the table."""
    return max(len(names) - count, 0)


def table_columns(shown: Sequence[str]) -> tuple[Column, ...]:
    return (
        Column("measure", "", min_width=_LABEL, weight=30),
        *(
            Column(name, name, align="right", width=_CELL - 2, weight=20 - number)
            for number, name in enumerate(shown)
        ),
    )


def table_rows(results: Mapping[str, ScenarioResult], shown: Sequence[str]) -> tuple[Record, ...]:
    """Return one row per measure with a column per profile."""
    if not results:
        return ()
    rows = []
    for label, measure in _MEASURES:
        cells = (measure(results[name].totals) if name in results else _WAITS for name in shown)
        rows.append(Record(label, (label, *cells)))
        if label == _AFTER_TOKENS:
            # The share of tokens saved compared with static binding.
            shares = {row.profile: row.saved for row in compared(results).rows}
            saved = (_share(shares[name], name) if name in shares else _WAITS for name in shown)
            rows.append(Record("saved", ("  saved", *saved)))
    cells = (
        f"{sum(finding.met for finding in results[name].findings)} of {len(results[name].findings)}"
        if name in results
        else _WAITS
        for name in shown
    )
    return (*rows, Record("expected", ("expectations met", *cells), tone="muted"))


def _share(saved: float | None, name: str) -> Content | str:
    if saved is None or name == BASE:
        return "–"
    return Content.styled(percent(saved), "bold $text-success" if saved > 0 else "$text-warning")


def bar_rows(found: ProfileComparison, width: int) -> tuple[Record, ...]:
    """Return each profile's tool tokens by call, on one scale; calls are named `message.call`."""
    most = max((count or 0 for call in found.calls for count in call.tool_tokens), default=0)
    cells = max(width - _BAR_REST, _LEAST_BAR)
    return tuple(row for call in found.calls for row in _call_rows(found, call, most, cells))


def _call_rows(found: ProfileComparison, call: AlignedCall, most: int, cells: int) -> Iterator[Record]:
    for index, (row, sent) in enumerate(zip(found.rows, call.tool_tokens, strict=True)):
        number = f"{call.message}.{call.call}"
        first, key = number if not index else "", f"{number}:{row.profile}"
        if sent is None:
            ended = Content.styled("no more calls needed", MUTED)
            yield Record(key, (first, row.profile, ended, "–"), tone="muted")
            continue
        drawn = (bar(sent / most, cells) or _SLIVER) if sent and most else ""
        colored = Content.styled(drawn, _COLORS[index % len(_COLORS)])
        yield Record(key, (first, row.profile, colored, tokens(sent)), search=f"{number} {row.profile}")


def status(
    chosen: Sequence[str], done: Mapping[str, ScenarioResult], shown: Sequence[str], title: str
) -> Content:
    """Return the scenario, and what to do next or how many profiles ran."""
    name = Content.styled(visible(title, limit=60, newlines=False), "bold")
    if not done:
        what = "r runs it under each chosen profile" if chosen else "space chooses a profile"
        return Content.assemble(name, "   ", (what, MUTED))
    hidden = len(done) - sum(profile in done for profile in shown)
    more = f", ← → show {hidden} more" if hidden > 0 else ""
    return Content.assemble(name, "   ", (f"{count(len(done), 'profile')} ran{more}", MUTED))


_SCENARIO = "demo"
_NO_SCENARIO = "no scenarios to run; try `toolsight demo`"
_NO_TABLE = "Press r to run the scenario under each profile marked ✓, space to mark one."
_NO_BARS = "Tool tokens per model call appear here."


class ProfileCompareScreen(LabScreen):
    """Runs the scenario under each chosen profile, and shows each as soon as it is done."""

    page = "profiles"
    CSS_PATH = "profile_compare.tcss"
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

    when_not_typing = frozenset({"shift"})
    again = "r reruns all of them."

    def __init__(self, lab: Lab | None = None) -> None:
        super().__init__(lab)
        self.file: ScenarioFile | None = None
        self._chosen = frozenset({BASE, DEFAULT_PROFILE})
        self._ran: tuple[str, ...] = ()
        self._failed: dict[str, str] = {}
        self._offset = 0

    def body(self) -> ComposeResult:
        yield Static(id="compare-status")
        with Horizontal(id="compare-page"):
            yield RecordList(CHOICE_COLUMNS, filterable=False, id="compared", classes="pane")
            yield RecordList((), header=True, empty=_NO_TABLE, id="measures", classes="pane")
        yield Static(id="compare-notes")
        yield RecordList(BAR_COLUMNS, header=True, empty=_NO_BARS, id="bars", classes="pane")

    def on_mount(self) -> None:
        self.query_one("#compared").border_title = "Profiles"
        self.query_one("#measures").border_title = "Totals"
        self.query_one("#bars").border_title = "Tool tokens per call"
        self.read(self._show_read)
        self.show()

    def _show_read(self) -> None:
        if self.file is None:
            runnable = [file for file in self.files if file.scenario is not None]
            demo = (file for file in runnable if file.path.stem == _SCENARIO)
            self.file = next(demo, next(iter(runnable), None))
        self.show()

    def arrive(self, destination: Destination) -> None:
        """Compare the scenario that was asked for."""
        if isinstance(destination, ProfilesPage):
            self._chosen = frozenset({BASE, destination.choice.profile})
            self._use(destination.file)

    def action_scenario(self) -> None:
        """Choose another scenario."""
        current = str(self.file.path) if self.file is not None else ""
        rows = scenario_choices(self.files, current)

        def choose(path: str) -> None:
            self._use(next(file for file in self.files if str(file.path) == path))

        self.app.push_screen(ChoiceDialog("Compare this scenario", rows, choose, current))

    def _use(self, file: ScenarioFile) -> None:
        """Compare another scenario; the results of the one before go."""
        if self.file is None or file.path != self.file.path:
            self.drop_running()
            self.results.clear()
            self._failed.clear()
            self._ran, self.said = (), Content()
        self.file = file
        self.show()

    def on_resize(self) -> None:
        self.call_after_refresh(self.show)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - a run has a session of its own
        self.show_progress()

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
        names, file, lab = order(tuple(self._chosen)), self.file, self.lab
        if self.running is None and names and file is not None and lab is not None:
            self.results.clear()
            self._failed.clear()
            self._ran, self._offset, self.said = names, 0, Content()
            self._run(lab, file, names)

    def _run(self, lab: Lab, file: ScenarioFile, names: Sequence[str]) -> None:
        """Run the scenario under the first of these profiles, then under the others."""
        if not names or file.scenario is None:
            self.show()
            return
        name, *others = names

        def ended(result: ScenarioResult) -> None:
            self.results[name] = result
            self._run(lab, file, others)

        def failed(error: Exception) -> None:
            self._failed[name] = failure_text(error)[1]
            self.fail(error, name)
            self._run(lab, file, others)

        self.play(lab, file, choice(file.scenario, self.session, name), ended, failed)

    def show(self) -> None:
        if not self.is_attached:
            return
        results = self.results
        name = self.progress.profile if self.running is not None and self.progress is not None else ""
        rows = choice_rows(self._chosen, results, name, self._failed)
        self.query_one("#compared", RecordList).records = rows
        measures, bars = self.query_one("#measures", RecordList), self.query_one("#bars", RecordList)
        shown = self._window
        measures.columns = table_columns(shown)
        measures.records = table_rows(results, shown)
        found = compared(results)
        bars.records = bar_rows(found, bars.content_size.width)
        notes = self.query_one("#compare-notes", Static)
        notes.display = bool(found.notes)
        notes.update(note_lines(found, 2 if self.has_class("-narrow") else 4))
        self.show_progress()

    @property
    def _window(self) -> tuple[str, ...]:
        width = self.query_one("#measures").content_size.width
        return window(self._ran, self._offset, room(width))

    def show_progress(self) -> None:
        line = self.said
        if self.running is not None and self.progress is not None:
            line = running(self.progress)
        elif not line:
            title = self.file.title if self.file is not None else _NO_SCENARIO
            line = status(tuple(self._chosen), self.results, self._window, title)
        self.write(line, "#compare-status")

    def action_shift(self, step: int) -> None:
        """Show other profiles."""
        count = room(self.query_one("#measures").content_size.width)
        self._offset = min(max(self._offset + step, 0), furthest(self._ran, count))
        self.show()
