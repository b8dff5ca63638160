"""The settings dialog: model, toolset, profile, and every other setting of the session."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from inspector.app.base_screen import BaseScreen
from inspector.app.context import REPLAYED, Context
from inspector.app.dialogs.choice import DIALOGS, ChoiceDialog, profile_rows
from inspector.app.draw.line import MUTED, failure_text, problem_count, problem_lines, sign
from inspector.app.stream import View
from inspector.config.profile import find_profile
from inspector.config.setting import (
    HEADINGS,
    Knob,
    KnobKind,
    Origin,
    find_knob,
    knobs,
    origins,
    parse_value,
    render_value,
    value_of,
)
from inspector.core.error import SettingProblem, ToolsightError
from inspector.search.ranker.ranker_list import RANKERS
from inspector.session.view import SessionView
from widgets import Column, PlainInput, Record, RecordList, middle, visible

FRONT = frozenset(
    {
        "discovery.enabled",
        "discovery.ranker",
        "discovery.max_search_results",
        "discovery.min_probability",
        "binding.delivery",
        "binding.capacity",
        "guard.enabled",
        "budget.prompt_cache",
        "consent.changed_files",
    }
)
"""What people change; with model, toolset and profile these are twelve."""
MODEL, TOOLSET, PROFILE = "model", "toolset", "profile"

# Paths are indented below their heading.
_PATH_WIDTH = 2 + max(len(knob.path) for knob in knobs())
_KNOB_COLUMNS = (
    Column("path", "setting", width=_PATH_WIDTH, shorten="middle", weight=3),
    Column("mark", width=1, weight=2),
    Column("value", "value", min_width=7, shorten="middle", weight=1),
    Column("origin", "from", width=8, weight=2),
)
_CHOICE_COLUMNS = (Column("mark", width=1), Column("name"))
# Prefix of the headings' keys; no setting's path begins like it.
_HEADING = "\0"
_RANKER_KNOBS = frozenset({"discovery.ranker", "gate.ranker"})
_LONGEST, _LONGEST_DEFAULT, _LONGEST_VALUE = 400, 24, 48
_PROBLEMS, _MOST_ROWS = 3, 12
_KEYS = "enter changes   a all   backspace resets   / search"
_ORIGIN: Mapping[Origin, str] = {
    Origin.DEFAULT: "the default",
    Origin.FILE: "from the file's tool_discovery",
    Origin.PROFILE: "from the profile",
    Origin.SETTINGS: "from the file's settings",
    Origin.SESSION: "from the session",
}
_ABOUT = {
    MODEL: "The model that answers: any litellm model, or a demo stand-in, which needs no key.",
    PROFILE: "A published design as a set of settings; ● below marks what differs from the default.",
    TOOLSET: "The tools this session may use. No other tool can be listed, found or called.",
}


def _problems_of(session: SessionView, knob: Knob) -> tuple[SettingProblem, ...]:
    return tuple(problem for problem in session.state.problems if problem.path == knob.path)


def _origins(session: SessionView) -> dict[str, Origin]:
    """Return the source of every setting's value."""
    configuration, values = session.configuration, find_profile(session.profile).values
    return origins(configuration.settings, values, configuration.values, session.session_values)


def _differs(session: SessionView, knob: Knob) -> bool:
    """Whether the value differs from the default."""
    return bool(value_of(session.settings, knob.path) != knob.default)


def _choices(knob: Knob) -> tuple[str, ...]:
    """Return the values of which one is chosen, if they are a few names."""
    if knob.path in _RANKER_KNOBS:
        return tuple(RANKERS)
    return knob.choices if knob.kind is KnobKind.TEXT else ()


def _shown(value: Any) -> str:
    """Return a value as one safe line; an empty one says so."""
    text = visible(render_value(value), limit=_LONGEST, newlines=False)
    if text in ("", "{}"):
        return "empty"
    return {"true": "on", "false": "off"}.get(text, text) if isinstance(value, bool) else text


def setting_rows(session: SessionView, *, every: bool) -> tuple[Record, ...]:
    """Return what the session works with, then the settings in front, or all, each under its heading."""
    values = {
        MODEL: session.state.model_label,
        TOOLSET: session.state.toolset or "all tools",
        PROFILE: session.profile,
    }
    rows = [_heading("session", "This session")]
    for key, value in values.items():
        rows.append(
            Record(key, (f"  {key}", "", visible(value, limit=_LONGEST, newlines=False), ""), copy=value)
        )
    from_where, section = _origins(session), ""
    for knob in knobs():
        if every or knob.path in FRONT:
            if knob.path.partition(".")[0] != section:
                section = knob.path.partition(".")[0]
                rows.append(_heading(section, HEADINGS[section]))
            rows.append(_row(session, knob, from_where[knob.path]))
    return tuple(rows)


def _heading(section: str, title: str) -> Record:
    return Record(_HEADING + section, (Content.styled(title, "bold"), "", "", ""), copy=title)


def _row(session: SessionView, knob: Knob, origin: Origin) -> Record:
    section, _, name = knob.path.partition(".")
    problems, differs = _problems_of(session, knob), _differs(session, knob)
    value = value_of(session.settings, knob.path)
    cells = (
        Content.assemble(("  ", ""), (f"{section}.", MUTED), name),
        sign(problems[0]) if problems else Content.styled("●" if differs else " ", "$text-accent"),
        _shown(value),
        Content.styled(origin.value, MUTED if origin is Origin.DEFAULT else "$text-accent"),
    )
    search = f"{knob.path} {_shown(value)} {'non-default' if differs else ''} {knob.about}"
    return Record(knob.path, cells, search=search, copy=f"{knob.path}={render_value(value)}")


def facts(session: SessionView, *, every: bool) -> Content:
    """Return the profile, and what is listed."""
    different = sum(_differs(session, knob) for knob in knobs())
    said = f"press a to show all {len(knobs())} settings, / to search them"
    if every:
        said = f"{different} of {len(knobs())} differ from the default"
    here = f"{len(session.session_values)} set in this session" if session.session_values else ""
    line = " · ".join(filter(None, (said, here)))
    wrong = problem_count(session.state.problems)
    gap = "   " if wrong else ""
    return Content.assemble(("profile ", MUTED), (session.profile, "bold"), "   ", wrong, gap, (line, MUTED))


def knob_detail(session: SessionView, knob: Knob) -> Content:
    """Return what a setting does, the values it takes, and the source of its value."""
    where = _ORIGIN[_origins(session)[knob.path]]
    value = middle(_shown(value_of(session.settings, knob.path)), _LONGEST_VALUE)
    head = [Content.assemble((knob.path, "bold"), " = ", (value, "bold $text-accent"), (f"  {where}", MUTED))]
    if _differs(session, knob):
        head.append(Content.assemble(("default ", MUTED), middle(_shown(knob.default), _LONGEST_DEFAULT)))
    about = Content.assemble(knob.about, ("" if knob.choices else f"   {knob.allowed}", MUTED))
    wrong = problem_lines(_problems_of(session, knob), _PROBLEMS)
    return Content("\n").join([Content("   ").join(head), *wrong, about])


def _hint(knob: Knob) -> str:
    """Return how to type a value."""
    how = {
        KnobKind.LIST: "separated by commas",
        KnobKind.TABLE: 'as JSON: {"mail:*": ["…"]}',
        KnobKind.TEXTS: 'as JSON: {"mail:*": "…"}',
    }
    return f"{knob.allowed} {how[knob.kind]}" if knob.kind in how else knob.allowed


class KnobDialog(ModalScreen[None]):
    """Changes one setting of the session; closes only once the value is accepted."""

    CSS_PATH = "settings.tcss"
    AUTO_FOCUS = "PlainInput, RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "close", show=False)]

    def __init__(self, context: Context, knob: Knob) -> None:
        super().__init__()
        self._page = context
        self._knob = knob
        self._value = value_of(context.session.settings, knob.path)

    def compose(self) -> ComposeResult:
        knob = self._knob
        with Vertical(id="knob") as box:
            box.border_title = knob.path
            box.border_subtitle = "enter applies (takes effect with the next model call)   esc closes"
            yield Static(Content(knob.about), id="knob-about")
            if names := _choices(knob):
                rows = (Record(name, ("✓" if name == self._value else " ", name)) for name in names)
                yield RecordList(_CHOICE_COLUMNS, tuple(rows), filterable=False)
            else:
                yield Static(Content.styled(_hint(knob), MUTED), id="knob-hint")
                is_number = knob.kind in (KnobKind.COUNT, KnobKind.NUMBER)
                text = render_value(self._value) if self._value != {} else ""
                yield PlainInput(text, placeholder="empty", id="knob-value", select_on_focus=is_number)
            yield Static(id="knob-error", markup=False)

    def on_mount(self) -> None:
        for rows in self.query(RecordList):
            rows.styles.height = min(len(rows.records), _MOST_ROWS)
            rows.move_to(str(self._value))

    @on(PlainInput.Changed, "#knob-value")
    def _check(self, event: PlainInput.Changed) -> None:
        self._say(None)
        try:
            parse_value(self._knob, event.value)
        except ToolsightError as error:
            self._say(error)

    @on(PlainInput.Submitted, "#knob-value")
    def _typed(self, event: PlainInput.Submitted) -> None:
        self._apply(event.value)

    @on(RecordList.Selected)
    def _chosen(self, event: RecordList.Selected) -> None:
        self._apply(event.key)

    def _apply(self, text: str) -> None:
        try:
            self._page.commands.change_setting(self._knob.path, parse_value(self._knob, text))
        except ToolsightError as error:
            self._say(error)
        else:
            self.dismiss()

    def _say(self, error: ToolsightError | None) -> None:
        if error is not None and self._knob.about[1:] in error.hint:
            # What the setting does stands above.
            error = ToolsightError(error.message)
        self.query_one("#knob-error", Static).update(failure_text(error)[1] if error is not None else "")


class ProfileDialog(ChoiceDialog):
    """Every profile with what it is."""

    def __init__(self, context: Context) -> None:
        current, use = context.session.profile, context.commands.use_profile
        super().__init__("Profile", profile_rows(current), lambda name: use(name), current)


OF_THE_SESSION: Mapping[str, Callable[[Context], ChoiceDialog]] = {**DIALOGS, PROFILE: ProfileDialog}
"""The dialogs for what a session works with besides its settings."""


class SettingsDialog(BaseScreen, ModalScreen[None]):
    """Chooses model, toolset and profile, and changes single settings."""

    CSS_PATH = "settings.tcss"
    AUTO_FOCUS = "#knobs RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "all", "all settings", id="profile.all"),
        Binding("slash", "search", "search", id="profile.search", priority=True),
        Binding("backspace", "reset", "reset", id="profile.reset"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "enter changes the row under the cursor. model: who answers; toolset: which tools may be used.",
        "A profile is a published design as a set of settings.",
        "The last of these to set a value wins: the default, the file's",
        "tool_discovery, the profile, the file's settings, this session. The last column shows which.",
        "Twelve main settings are listed first; press a for all, / to search names, values and descriptions.",
        "● marks settings that differ from the default; / non-default lists them.",
        "✕ marks a setting that blocks every turn, ⚠ a setting that has no effect.",
        "enter flips a switch at once; for any other setting it opens a dialog.",
        "backspace resets a setting changed in this session.",
        "Changes take effect with the next model call. y copies PATH=VALUE for --set.",
    )

    def __init__(self, path: str = "") -> None:
        """`path` is the setting to begin with, "" for the model."""
        super().__init__()
        self._path = path or MODEL
        self._every = bool(path) and path not in FRONT

    def compose(self) -> ComposeResult:
        with Vertical(id="settings") as box:
            box.border_title = "Settings of this session"
            box.border_subtitle = _KEYS
            yield Static(id="profile-facts")
            yield RecordList(_KNOB_COLUMNS, header=True, id="knobs")
            yield Static(id="profile-detail")

    def on_mount(self) -> None:
        self.query_one("#knobs").border_title = "Settings   ● differs from the default"
        self.query_one("#profile-detail").border_title = "Changes take effect with the next model call"
        self.show_view(self.view)
        self.query_one("#knobs", RecordList).move_to(self._path)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the settings
        self.query_one("#knobs", RecordList).records = setting_rows(self.session, every=self._every)
        self.write(facts(self.session, every=self._every), "#profile-facts")
        self._show_detail()

    @on(RecordList.Highlighted)
    def _show_detail(self) -> None:
        knob, detail = self._knob, Content("Choose a setting to see what it does.")
        if knob is not None:
            detail = knob_detail(self.session, knob)
        elif self._key in _ABOUT:
            told = Content.assemble((self._key, "bold"), "   enter chooses another\n", _ABOUT[self._key])
            wrong = problem_lines(self.view.state.problems, _PROBLEMS) if self._key == PROFILE else []
            detail = Content("\n").join([*wrong, told])
        self.write(detail, "#profile-detail")

    @property
    def _key(self) -> str:
        current = self.query_one("#knobs", RecordList).current
        return current.key if current is not None else ""

    @property
    def _knob(self) -> Knob | None:
        """The setting under the cursor."""
        is_setting = self._key and not self._key.startswith(_HEADING) and self._key not in OF_THE_SESSION
        return find_knob(self._key) if is_setting else None

    @on(RecordList.Selected, "#knobs")
    def _open(self) -> None:
        knob = self._knob
        if knob is not None and knob.kind is KnobKind.SWITCH:
            turned = not value_of(self.session.settings, knob.path)
            self._change(lambda: self.commands.change_setting(knob.path, turned))
        elif (knob is not None or self._key in OF_THE_SESSION) and not self._is_replay():
            dialog = (
                OF_THE_SESSION[self._key](self.context) if knob is None else KnobDialog(self.context, knob)
            )
            if knob is not None:
                # The dialog says it again.
                self.write("", "#profile-detail")
            self.app.push_screen(dialog, lambda _: self.show_view(self.view))

    def action_reset(self) -> None:
        """Reset a setting that was changed in this session."""
        knob = self._knob
        if knob is None or knob.path not in self.session.session_values:
            self.notify("Only settings changed in this session can be reset.", markup=False, timeout=3)
            return
        self._change(lambda: self.commands.reset_setting(knob.path))

    def _change(self, change: Callable[[], None]) -> None:
        if self._is_replay():
            return
        try:
            change()
        except ToolsightError as error:
            self.fail(error)
        self.show_view(self.view)

    def _is_replay(self) -> bool:
        """Whether a replay is shown; if so, say that it is read-only."""
        if self.context.replay.is_replay:
            self.warn(REPLAYED)
        return self.context.replay.is_replay

    async def action_leave(self) -> None:
        """Close the dialog."""
        self.dismiss()

    def action_all(self) -> None:
        """Show all settings, or those in front again."""
        self._every = not self._every
        self.show_view(self.view)

    async def action_search(self) -> None:
        """Search all settings."""
        if isinstance(self.focused, Input):
            raise SkipAction
        self._every = True
        self.show_view(self.view)
        await self.query_one("#knobs", RecordList).action_filter()
