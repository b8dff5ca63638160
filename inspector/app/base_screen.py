"""The base of every page: its lines on top, drawing the newest view, going back, and the keys of tools."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Input, Static, TextArea

from inspector.app.context import SELECTION, InContext, Stoppable
from inspector.app.draw.header import header
from inspector.app.place import (
    Destination,
    EditPage,
    Page,
    WhyNotPage,
    other_view,
    page_info,
    printed_by,
)
from inspector.app.stream import View
from inspector.core.error import ToolsightError
from inspector.core.ranking import SearchRequest
from inspector.core.report import Block
from inspector.core.server import ServerPhase
from inspector.core.session import Binding as Bound
from inspector.session.verdict import Answer, Verdict
from widgets import FilterBar, KeyBar, RecordRows, StillText, visible

_ANSWERS = {
    Answer.PAYS: ("✓", "$text-success"),
    Answer.DEPENDS: ("◐", "$text-warning"),
    Answer.COSTS: ("✕", "$text-warning"),
}


def verdict_text(answer: Answer, text: str) -> Content:
    """Return whether discovery pays, with a sign and a color for the answer."""
    sign, color = _ANSWERS[answer]
    return Content.assemble((f"{sign} ", color), (text, "bold"))


class VerdictLine(InContext, Static):
    """Judges in the background when what decides has changed; empty until that is done."""

    DEFAULT_CSS = "VerdictLine { height: auto; }"

    _judged: tuple[object, ...] = ()

    def look(self) -> None:
        """Judge again if something changed; while servers connect, every answer would be too early."""
        state = self.session.state
        if any(server.phase is ServerPhase.CONNECTING for server in state.servers.values()):
            return
        session = self.session
        key = (session.setup, session.accounting.meter, state.model)
        if key != self._judged:
            self._judged = key
            self.run_job("verdict", lambda job: self.context.verdicts.of(session, job.stopped), self.show)

    def show(self, found: Verdict | None) -> None:
        """Draw a verdict, or none."""
        self.update("" if found is None else verdict_text(found.answer, found.short))


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


class BaseScreen(Stoppable, Screen[None]):
    """A page of the app. Subclasses implement `show_view`, which runs on every change.

    `page` names the page in `place.PLACES`; it is "" for what opens on top of a page.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = SELECTION
    page: str = ""
    help_lines: ClassVar[tuple[str, ...]] = ()
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: esc leaves an input before anything nearer takes it.
        Binding("escape", "leave_input", "leave field", priority=True, id="page.leave_input"),
        Binding("escape,q", "leave", "back", show=False, id="page.back"),
    ]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (40, "-tall")]  # noqa: RUF012 - as Textual declares it
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (170, "-wide")]  # noqa: RUF012

    when_idle: ClassVar[frozenset[str]] = frozenset()
    """The actions that are offered only while no job is `running`."""
    when_not_typing: ClassVar[frozenset[str]] = frozenset()
    """The actions whose keys are an input's own while something is typed into one."""

    def __init__(self) -> None:
        super().__init__()
        self._due: list[Callable[[], None]] | None = []
        self._misses_recorded = False

    def compose(self) -> ComposeResult:
        yield HeaderLine(markup=False)
        yield from self.body()
        yield KeyBar()

    def body(self) -> ComposeResult:
        """Yield what is between the header and the keys."""
        yield from ()

    def fit(self, size: Size) -> None:
        """Take the classes of a size before anything is styled; Textual does it later and styles again."""
        fits = (size.width, self.HORIZONTAL_BREAKPOINTS), (size.height, self.VERTICAL_BREAKPOINTS)
        for length, breakpoints in fits:
            names = [name for start, name in breakpoints if length >= start]
            self.add_class(*names[-1:])

    @property
    def view(self) -> View:
        return self.context.shown

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only the keys that work now."""
        if self.why_not(action):
            return False
        if action == "leave_input":
            return isinstance(self.focused, Input | TextArea) and not self.is_filtering
        if action in self.when_not_typing:
            return not isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def why_not(self, action: str) -> str:
        """Why an action cannot be done now, as a sentence that its key is answered with; "" if it can."""
        job = self.running
        return f"{job.title.capitalize()} runs; esc stops it." if action in self.when_idle and job else ""

    def on_key(self, event: events.Key) -> None:
        """Say why a key of the page does nothing now."""
        if event.key not in self.active_bindings:
            bound = self._bindings.key_to_bindings.get(event.key, ())
            reasons = (self.why_not(one.action.partition("(")[0]) for one in bound)
            if why := next(filter(None, reasons), ""):
                event.stop()
                self.warn(why)

    def on_mount(self) -> None:
        self.watch(self.app, "view", self._on_view, init=False)
        self.watch(self.app, "activities", self.redraw_header, init=False)
        self.watch(self.app, "filled", self.redraw_header, init=False)
        self.watch(self.app, "recorded", self._on_recorded, init=False)
        self.call_next(self._be_ready)

    def on_unmount(self) -> None:
        """Stop watching: Textual forgets a closed screen only once what it watched changes."""
        for watchers in getattr(self.app, "__watchers", {}).values():
            watchers[:] = [watcher for watcher in watchers if watcher[0] is not self]

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
        if self._misses_recorded:
            self._on_recorded()

    def _on_recorded(self) -> None:
        self._misses_recorded = not self.is_current
        if self.is_current:
            self.show_recorded()

    def show_recorded(self) -> None:
        """Read the recorded sessions again: they are others; the default lists none."""

    def show_view(self, view: View) -> None:
        """Draw the view; the default draws nothing."""

    def arrive(self, destination: Destination) -> None:
        """Show what another page asked for; the default shows the page as it was left."""

    def show_page(self, page: str) -> None:
        """Show one of the pages that this screen holds; the default has only one."""

    def action_leave_input(self) -> None:
        """Leave an input for the list beside it; a filter closes itself."""
        self.leave_input()

    @property
    def is_filtering(self) -> bool:
        """Whether a filter or a search within a text is typed."""
        focused = self.focused
        return focused is not None and any(isinstance(node, FilterBar) for node in focused.ancestors)

    async def action_leave(self) -> None:
        """Stop the job, or go back to where one came from."""
        if self.running is not None and not self.running.is_stopped:
            self.stop_running()
        else:
            await self.app.run_action("app.back")

    def report(self) -> Iterable[Block]:
        """What the page shows, for a file; the default is what is in sight."""
        from inspector.app.share import page_report

        return tuple(page_report(self))

    @property
    def shared_session(self) -> str:
        """The session that goes into a file."""
        return self.session.session_id

    def words(self) -> Sequence[str]:
        """The words after `toolsight` that print what the page shows."""
        words = printed_by(self.page)
        session = (self.shared_session,) if words[:1] == ("sessions",) and words[1:] else ()
        return [*words, *(session or self.context.opened.source)]

    def share(self, name: str = "", own: Callable[[], str] | None = None, what: str = "") -> None:
        """Ask for a file, and write this page, its session, or `own` into it, by the ending of its name.

        `own` runs in a thread; `what` says what it is, and which ending its name has.
        """
        from inspector.app.share import Shared

        title = page_info(self.page).title
        made = Shared(title, self.report(), self.words(), self.context.replay, self.shared_session, own)
        note = [".html: this page", ".toolsight: the session, to replay without its servers", what]
        suggested = Path.cwd() / (name or f"{title.replace(' ', '-')}.html")
        self.export(suggested, made.written, "\n".join(filter(None, note)))

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


NO_TOOL = "Put the cursor on a tool first."
_LONGEST = 80


class ToolKeys(BaseScreen):
    """A page with tools in a list; `tool_id` is the one under the cursor, "" if there is none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "why", "why", id="tool.why"),
        Binding("e", "edit_tool", "edit", id="tool.edit"),
        Binding("l", "load", "load/unload", id="tool.load"),
    ]

    @property
    def tool_id(self) -> str:
        return ""

    @property
    def request(self) -> SearchRequest:
        """What a tool is explained against: what the model searched for last, or nothing yet."""
        return self.view.state.conversation.last_search or SearchRequest()

    def action_why(self) -> None:
        """Show why the tool is found or not, in Find."""
        if self._has_tool():
            self.open(WhyNotPage(self.tool_id, self.request))

    def action_edit_tool(self) -> None:
        """Edit the tool's texts and see what that changes, in Find."""
        if self._has_tool():
            self.open(EditPage(self.tool_id, self.request.query))

    def action_load(self) -> None:
        """Load the tool, so that the model sees it, or take a loaded one away again."""
        if not self._has_tool():
            return
        try:
            told = self._loaded_or_unloaded()
        except ToolsightError as error:
            self.fail(error)
        else:
            self.notify(told, title=visible(self.tool_id, limit=_LONGEST, newlines=False), markup=False)

    def _loaded_or_unloaded(self) -> str:
        """Turn the tool's binding around, and return what is so now. Raises ToolsightError."""
        state = self.session.state.known(self.tool_id)
        if state is not None and (state.binding is Bound.LOADED or state.returns_loaded):
            self.commands.evict(self.tool_id)
            return "Unloaded. The model must search for it again."
        if state is not None and state.binding.is_bound:
            return "The configuration pins this tool, so it stays bound."
        self.commands.load(self.tool_id)
        return "Loaded. The model sees it in its next call."

    def _has_tool(self) -> bool:
        if not self.tool_id:
            self.warn(NO_TOOL)
        return bool(self.tool_id)
