"""The settings dialog: the published designs as profiles, and every setting of the session."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from inspector.app.base_screen import BaseScreen
from inspector.app.context import REPLAYED, Context
from inspector.app.dialogs import settings_text as content
from inspector.app.dialogs.choice import DIALOGS, ChoiceDialog, profile_rows as choice_profile_rows
from inspector.app.dialogs.settings_text import FRONT, Listed, heading
from inspector.app.draw.line import MUTED
from inspector.app.stream import View
from inspector.config.setting import Knob, KnobKind, find_knob, parse_value, render_value, value_of
from inspector.core.error import ToolsightError
from widgets import Column, PlainInput, Record, RecordList, visible

_COLUMNS = (Column("mark", width=1), Column("name", weight=3), Column("meaning", min_width=10, weight=2))
_MOST_ROWS = 12
_WHEN = "takes effect with the next model call"


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
            box.border_subtitle = f"enter applies ({_WHEN})   esc closes"
            if not content.has_meanings(knob):
                yield Static(Content(knob.about), id="knob-about")
            if content.choices(knob):
                yield RecordList(_COLUMNS, content.choice_rows(knob, self._value), filterable=False)
            else:
                yield Static(Content.styled(content.hint(knob), MUTED), id="knob-hint")
                is_number = knob.kind in (KnobKind.COUNT, KnobKind.NUMBER)
                text = render_value(self._value) if self._value != {} else ""
                yield PlainInput(text, placeholder="empty", id="knob-value", select_on_focus=is_number)
            yield Static(id="knob-error")

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
        line = self.query_one("#knob-error", Static)
        line.update(Content(content.wrong(self._knob, error)) if error is not None else Content())


MODEL, TOOLSET, PROFILE = "model", "toolset", "profile"
_LONGEST = 400


def session_rows(model: str, toolset: str, profile: str) -> tuple[Record, ...]:
    """Return what a session works with besides its settings; enter changes it."""
    values = {MODEL: model, TOOLSET: toolset or "all tools", PROFILE: profile}
    rows = (
        Record(key, (f"  {key}", "", visible(value, limit=_LONGEST, newlines=False), ""), copy=value)
        for key, value in values.items()
    )
    return (heading("session", "This session"), *rows)


def session_detail(key: str) -> Content:
    """Return what can be chosen instead of the session's model, toolset or profile."""
    about = {
        MODEL: "The model that answers: any litellm model, or a demo stand-in, which needs no key.",
        PROFILE: "A published design as a set of settings; ● below marks what differs from the default.",
        TOOLSET: "The tools this session may use. No other tool can be listed, found or called.",
    }
    return Content.assemble((key, "bold"), "   enter chooses another\n", about[key])


_KEYS = "enter changes   a all   c changed   backspace resets   / search"
_NONE_DIFFERS = (
    "Every setting is at its default. Press a to list them all, or enter on a profile to apply it."
)


class ProfileDialog(ChoiceDialog):
    """Every profile with what it is."""

    def __init__(self, context: Context) -> None:
        current = context.session.profile
        rows = choice_profile_rows(current)
        super().__init__("Profile", rows, lambda name: context.commands.use_profile(name), current)


OF_THE_SESSION: Mapping[str, Callable[[Context], ChoiceDialog]] = {**DIALOGS, PROFILE: ProfileDialog}
"""The dialogs for what a session works with besides its settings."""


class SettingsDialog(BaseScreen, ModalScreen[None]):
    """Chooses model, toolset and profile, and changes single settings."""

    CSS_PATH = "settings.tcss"
    AUTO_FOCUS = "#knobs RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "all", "all settings", id="profile.all"),
        Binding("c", "only_different", "changed", id="profile.different"),
        Binding("slash", "search", "search", id="profile.search", priority=True),
        Binding("backspace", "reset", "reset", id="profile.reset"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "enter changes the row under the cursor. model: who answers; toolset: which tools may be used.",
        "A profile is a published design as a set of settings. tab goes to the profiles, enter applies one.",
        "The last of these to set a value wins: the default, the file's",
        "tool_discovery, the profile, the file's settings, this session. The last column shows which.",
        "Twelve main settings are listed first; press a for all, / to search names, values and descriptions.",
        "● marks settings that differ from the default; c shows only those.",
        "✕ marks a setting that blocks every turn, ⚠ a setting that has no effect.",
        "enter flips a switch at once; for any other setting it opens a dialog.",
        "backspace resets a setting changed in this session.",
        "The lower pane shows what a setting does, the values it takes, and its value in every profile.",
        "Changes take effect with the next model call. y copies PATH=VALUE for --set.",
    )

    def __init__(self, path: str = "") -> None:
        """`path` is the setting to begin with, "" for the model."""
        super().__init__()
        self._path = path or MODEL
        self._listed = Listed.FRONT if path in ("", *FRONT) else Listed.ALL

    def compose(self) -> ComposeResult:
        with Vertical(id="settings") as box:
            box.border_title = "Settings of this session"
            box.border_subtitle = _KEYS
            yield Static(id="profile-facts")
            with Horizontal(id="profile-body"):
                yield RecordList(content.PROFILE_COLUMNS, filterable=False, id="profiles")
                yield RecordList(content.KNOB_COLUMNS, empty=_NONE_DIFFERS, header=True, id="knobs")
            yield Static(id="profile-detail")

    def on_mount(self) -> None:
        self.query_one("#profiles").border_title = "Profiles"
        self.query_one("#knobs").border_title = f"Settings   {content.LEGEND}"
        self.query_one("#profile-detail").border_title = content.WHEN
        self.show_view(self.view)
        self.query_one("#profiles", RecordList).move_to(self.session.profile)
        self.query_one("#knobs", RecordList).move_to(self._path)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the settings
        self.query_one("#profiles", RecordList).records = content.profile_rows(self.session.profile)
        state = self.view.state
        session = session_rows(state.model_label, state.toolset, self.session.profile)
        rows = content.knob_rows(self.session, self._listed)
        self.query_one("#knobs", RecordList).records = (*session, *rows)
        text = content.facts(self.session, self._listed)
        self.write(text, "#profile-facts")
        self._show_detail()

    @on(RecordList.Highlighted)
    def _show_detail(self) -> None:
        knob, detail = self._knob, Content("Choose a setting to see what it does.")
        profile = self.query_one("#profiles", RecordList).current
        if knob is not None:
            detail = content.knob_detail(self.session, knob)
        elif not self._on_profiles and self._key in OF_THE_SESSION:
            detail = session_detail(self._key)
        elif self._on_profiles and profile is not None:
            detail = content.profile_detail(profile.key, self.view.state.problems)
        self.write(detail, "#profile-detail")

    def on_descendant_focus(self) -> None:
        """Show the detail of the focused list."""
        self._show_detail()

    @property
    def _on_profiles(self) -> bool:
        return self.query_one("#profiles").has_focus_within

    @property
    def _knob(self) -> Knob | None:
        """The setting under the cursor, unless the profiles have the focus."""
        current = self.query_one("#knobs", RecordList).current
        if self._on_profiles or current is None:
            return None
        is_setting = not current.key.startswith(content.HEADING) and current.key not in OF_THE_SESSION
        return find_knob(current.key) if is_setting else None

    @property
    def _key(self) -> str:
        current = self.query_one("#knobs", RecordList).current
        return current.key if current is not None else ""

    @on(RecordList.Selected, "#profiles")
    def _use(self, event: RecordList.Selected) -> None:
        self._change(lambda: self.commands.use_profile(event.key))

    @on(RecordList.Selected, "#knobs")
    def _open(self) -> None:
        knob = self._knob
        if not self._on_profiles and self._key in OF_THE_SESSION and not self._is_replay():
            self.app.push_screen(OF_THE_SESSION[self._key](self.context), lambda _: self.show_view(self.view))
        if knob is None:
            return
        if knob.kind is KnobKind.SWITCH:
            turned = not value_of(self.session.settings, knob.path)
            self._change(lambda: self.commands.change_setting(knob.path, turned))
        elif not self._is_replay():
            self.app.push_screen(KnobDialog(self.context, knob), lambda _: self.show_view(self.view))

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

    def action_only_different(self) -> None:
        """Show only the settings that differ from the default, or those in front again."""
        self._list(Listed.DIFFERENT)

    def action_all(self) -> None:
        """Show all settings, or those in front again."""
        self._list(Listed.ALL)

    async def action_search(self) -> None:
        """Search all settings."""
        if isinstance(self.focused, Input):
            raise SkipAction
        self._listed = Listed.ALL
        self.show_view(self.view)
        await self.query_one("#knobs", RecordList).action_filter()

    def _list(self, listed: Listed) -> None:
        self._listed = Listed.FRONT if self._listed is listed else listed
        self.show_view(self.view)
