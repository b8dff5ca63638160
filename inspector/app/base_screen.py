"""The base of every page: two lines on top, drawing the newest view, and going back."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Input, TextArea

from inspector.app.activity import Activity
from inspector.app.context import InContext
from inspector.app.draw.header import header
from inspector.app.place import Destination, Page, other_view
from inspector.app.stream import View
from inspector.core.error import ToolsightError
from widgets import FilterBar, RecordRows, StillText


class HeaderLine(StillText):
    """The places and what is connected; below, the pages of the place and the settings in force."""

    DEFAULT_CSS = """
    HeaderLine {
        dock: top; height: 2; padding: 0 1; background: $panel; color: $foreground;
        link-style: none; link-color: $foreground; link-background: $panel;
        link-style-hover: underline; link-color-hover: $foreground; link-background-hover: $boost;
    }
    """

    def on_resize(self) -> None:
        """Fit the lines into the terminal, or into what a panel beside the page leaves."""
        if isinstance(self.screen, BaseScreen):
            self.screen.redraw_header()


class BaseScreen(InContext, Screen[None]):
    """A page of the app. Subclasses implement `show_view`, which runs on every change.

    `page` names the page in `place.PLACES`; it is "" for what opens on top of a page.
    """

    page: str = ""
    help_lines: ClassVar[tuple[str, ...]] = ()
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: a digit that follows at once is a place, and not typed into the input.
        Binding("escape", "leave_input", show=False, priority=True, id="page.leave_input"),
        Binding("escape,q", "leave", "back", show=False, id="page.back"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (40, "-tall")]  # noqa: RUF012 - as Textual declares it
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-narrow"),
        (100, "-medium"),
        (170, "-wide"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._due: list[Callable[[], None]] | None = []

    def fit(self, size: Size) -> None:
        """Take the classes of a size before anything is styled; Textual does it later and styles again."""
        for length, breakpoints in (
            (size.width, self.HORIZONTAL_BREAKPOINTS),
            (size.height, self.VERTICAL_BREAKPOINTS),
        ):
            names = [name for start, name in breakpoints if length >= start]
            self.add_class(*names[-1:])

    @property
    def view(self) -> View:
        return self.context.shown

    @property
    def activity(self) -> Activity | None:
        """What this page measures now, for the header of every page."""
        return None

    def on_mount(self) -> None:
        self.watch(self.app, "view", self._on_view, init=False)
        self.watch(self.app, "activities", self.redraw_header, init=False)
        self.call_next(self._be_ready)

    def when_ready(self, act: Callable[[], None]) -> None:
        """Call a function once the page is mounted."""
        if self._due is None:
            act()
        else:
            self._due.append(act)

    def _be_ready(self) -> None:
        due, self._due = self._due or (), None
        for act in due:
            act()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Draw what happened in the meantime; styles are as they were, or renewed with the theme."""
        event.refresh_styles = False
        self._on_view(self.view)

    def show_view(self, view: View) -> None:
        """Draw the view; the default draws nothing."""

    def arrive(self, destination: Destination) -> None:
        """Show what another page asked for; the default shows the page as it was left."""

    def show_page(self, page: str) -> None:
        """Show one of the pages that this screen holds; the default has only one."""

    def action_leave_input(self) -> None:
        """Leave an input for the list beside it; a filter closes itself."""
        if not isinstance(self.focused, Input | TextArea) or self.is_filtering:
            raise SkipAction
        self.leave_input()

    @property
    def is_filtering(self) -> bool:
        """Whether a filter or a search within a text is typed."""
        focused = self.focused
        return focused is not None and any(isinstance(node, FilterBar) for node in focused.ancestors)

    async def action_leave(self) -> None:
        """Go back to where one came from."""
        await self.app.run_action("app.back")

    def action_other_view(self) -> None:
        """Show the other view of this page; pages with one bind the key v to this."""
        self.open(Page(other_view(self.page)))

    def may(self, what: str) -> bool:
        """Whether the session does what only the administrator does; an error says why not."""
        from inspector.access.restriction import require_whole

        try:
            require_whole(self.session.sight, what)
        except ToolsightError as error:
            self.fail(error)
            return False
        return True

    def leave_input(self) -> None:
        """Put the cursor into the first list of the page, or nowhere."""
        rows = next((rows for rows in self.query(RecordRows) if rows.focusable), None)
        self.set_focus(rows)

    def _on_view(self, view: View | None) -> None:
        if view is not None and self.is_current:
            self.redraw_header()
            self.show_view(view)

    def redraw_header(self) -> None:
        """Draw the lines on top, if the page is in sight."""
        if not self.is_current:
            return
        for line in self.query(HeaderLine):
            line.update(header(self.view.state, self.context.where, line.outer_size.width or self.size.width))
