"""Profiles: the published designs as settings, and every setting of the session."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from inspector.app.base_screen import BaseScreen, HeaderLine
from inspector.app.bridge import View
from inspector.app.pages.settings.profile import content
from inspector.app.pages.settings.profile.knob_dialog import KnobDialog
from inspector.domain.error import ToolsightError
from inspector.domain.knob import Knob, KnobKind, find_knob
from widgets import KeyBar, RecordList

_NONE_DIFFERS = "Every setting is at its default. d shows them all, enter on a profile uses it."


class ProfileScreen(BaseScreen):
    """Chooses a profile, and turns single knobs."""

    CSS_PATH = "screen.tcss"
    AUTO_FOCUS = "#profiles RecordRows"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "only_different", "differences", id="profile.different"),
        Binding("r,backspace", "reset", "reset", id="profile.reset"),
    ]
    help_lines: ClassVar[tuple[str, ...]] = (
        "A profile is a design as a set of values: enter on one uses it. tab goes to the settings.",
        "A setting has the last value of: default, the file's tool_discovery, the profile,",
        "the file's settings, this session. The last column says which it was.",
        "● marks what differs from the default; d shows only that. / filters by name, value and meaning.",
        "enter changes a setting: a switch turns at once, everything else opens a dialog.",
        "r or backspace takes back what was set in this session.",
        "Below stands what the setting does, what it may be, and its value in every profile.",
        "What is changed here takes effect on the next turn. y copies PATH=VALUE, for --set.",
    )

    def __init__(self) -> None:
        super().__init__()
        self._only_different = False

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield Static(id="profile-facts")
        with Horizontal(id="profile-body"):
            yield RecordList(content.PROFILE_COLUMNS, filterable=False, id="profiles")
            yield RecordList(content.KNOB_COLUMNS, empty=_NONE_DIFFERS, header=True, id="knobs")
        yield Static(id="profile-detail")
        yield KeyBar()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#profiles").border_title = "Profiles"
        self.query_one("#knobs").border_title = f"Settings   {content.LEGEND}"
        self.query_one("#profile-detail").border_title = content.WHEN
        self.show_view(self.view)
        self.query_one("#profiles", RecordList).move_to(self.session.profile)

    def show_view(self, view: View) -> None:  # noqa: ARG002 - the bench has the settings
        self.query_one("#profiles", RecordList).records = content.profile_rows(self.session.profile)
        self._show_knobs()
        self._show_facts()
        self._show_detail()

    @property
    def _setup(self) -> content.Setup:
        session = self.session
        return content.Setup(session.configuration, session.profile, session.settings, session.session_values)

    def _show_knobs(self) -> None:
        rows = content.knob_rows(self._setup, only_different=self._only_different)
        self.query_one("#knobs", RecordList).records = rows

    def _show_facts(self) -> None:
        text = content.facts(self._setup, only_different=self._only_different)
        self.query_one("#profile-facts", Static).update(text)

    @on(RecordList.Highlighted)
    def _show_detail(self) -> None:
        knob, detail = self._knob, Content("Choose a setting to see what it does.")
        profile = self.query_one("#profiles", RecordList).current
        if knob is not None:
            detail = content.knob_detail(self._setup, knob)
        elif self._on_profiles and profile is not None:
            detail = content.profile_detail(profile.key)
        self.query_one("#profile-detail", Static).update(detail)

    def on_descendant_focus(self) -> None:
        """The detail is about the list that has the focus."""
        self._show_detail()

    @property
    def _on_profiles(self) -> bool:
        return self.query_one("#profiles").has_focus_within

    @property
    def _knob(self) -> Knob | None:
        """The knob under the cursor, unless the profiles have the focus."""
        current = self.query_one("#knobs", RecordList).current
        if self._on_profiles or current is None or current.key.startswith(content.HEADING):
            return None
        return find_knob(current.key)

    @on(RecordList.Selected, "#profiles")
    def _use(self, event: RecordList.Selected) -> None:
        self._change(lambda: self.commands.use_profile(event.key))

    @on(RecordList.Selected, "#knobs")
    def _open(self) -> None:
        knob = self._knob
        if knob is None:
            return
        if knob.kind is KnobKind.SWITCH:
            turned = not self._setup.value(knob)
            self._change(lambda: self.commands.change_setting(knob.path, turned))
        elif not self._is_replay():
            self.app.push_screen(KnobDialog(self.context, knob), lambda _: self.show_view(self.view))

    def action_reset(self) -> None:
        """Take back what was set in this session."""
        knob = self._knob
        if knob is None or knob.path not in self.session.session_values:
            self.notify("Only what was set in this session can be reset.", markup=False, timeout=3)
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
        """Whether a replay is on, which changes nothing; says so."""
        if self.context.replay.is_replay:
            self.notify("A replay changes nothing. f10, then l, goes back to the session.", markup=False)
        return self.context.replay.is_replay

    def action_only_different(self) -> None:
        """Show only what differs from the default, or everything."""
        self._only_different = not self._only_different
        self.show_view(self.view)
