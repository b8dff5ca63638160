"""The Textual application: draws its frame at once, then opens the session and gives every page its view.

Top-level imports are limited to what the first frame needs; a thread imports the session and the pages while
the frame is already on screen.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.reactive import reactive
from textual.widgets import Static
from textual.worker import Worker

from inspector.app import command
from inspector.app.command import CommandSource
from inspector.app.place import PLACES, Place, page_info
from inspector.app.place_app import PlaceApp
from inspector.app.terminal import DARK, LIGHT
from inspector.core.error import ToolsightError
from inspector.core.feature import Parts

if TYPE_CHECKING:
    from inspector.app.base_screen import BaseScreen
    from inspector.app.opening import Opened
    from inspector.app.replay import Replay
    from inspector.app.requests import Requests
    from inspector.app.stream import Bridge, Stream, View
    from inspector.core.ports import StoreVersion
    from inspector.session.verdict import Verdicts
    from inspector.session.view import SessionView
    from inspector.session.workbench import Workbench

# Seconds between two looks at what other programs record.
_FOLLOWED_EVERY = 1.0
_TODAY = 24 * 3600
HOME = "session"


# Long because it is all that a page has of the app.
class ToolsightApp(PlaceApp):
    """Shows one workbench; the app is the `Context` of its pages.

    `start` opens the workbench, and the caller that passed `start` closes it after the app has ended.
    `failure` is the error that kept the session from opening, if any; `copied_to` says where the last copy
    is, "" if only the terminal may know.
    """

    TITLE = "Toolsight"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar[set[type[CommandSource]]] = {CommandSource}  # type: ignore[assignment]
    BINDINGS: ClassVar[list[BindingType]] = [*command.bindings()]

    view: "reactive[View | None]" = reactive(None, init=False)
    recorded: "reactive[StoreVersion | None]" = reactive(None, init=False)
    """Differs once another program has recorded something, or has begun or ended a session."""

    def __init__(
        self, start: "Callable[[], Awaitable[Opened]]", own_keys: Callable[[], Mapping[str, Any]] = dict
    ) -> None:
        """`own_keys` reads a person's own keys by binding id, and may raise ToolsightError."""
        super().__init__()
        self._own_keys = own_keys
        self.failure: ToolsightError | None = None
        self.copied_to = ""
        self._start = start
        self._opened: Opened | None = None
        self._drawn = asyncio.Event()
        self._bridge: Bridge | None = None
        self._replay: Replay | None = None
        self._following: Worker[None] | None = None
        self._looked_with: Mapping[str, Any] | None = None

    @property
    def replay(self) -> "Replay":
        """The replay control; it exists once the first page does."""
        assert self._replay is not None
        return self._replay

    @property
    def session(self) -> "SessionView":
        return self.replay.session

    @property
    def commands(self) -> "Workbench":
        return self.replay.commands

    @property
    def shown(self) -> "View":
        from inspector.app.stream import View

        return self.view or View()

    @property
    def opened(self) -> "Opened":
        assert self._opened is not None
        return self._opened

    @property
    def parts(self) -> Parts:
        parts = self.opened.parts
        return parts if self.opened.bench.sight.is_whole else parts.of_session()

    @cached_property
    def verdicts(self) -> "Verdicts":
        from inspector.session.verdict import Verdicts

        return Verdicts()

    @cached_property
    def requests(self) -> "Requests":
        from inspector.app.requests import Requests

        path = self.opened.bench.configuration.requests
        return Requests(Path(path) if path else None)

    def copy_to_clipboard(self, text: str) -> None:
        """Copy with the machine's own programs, and ask the terminal, which never answers, to copy too."""
        super().copy_to_clipboard(text)
        clipboard = self._opened.clipboard if self._opened is not None else None
        self.copied_to = clipboard.copy(text) if clipboard is not None else ""

    def compose(self) -> ComposeResult:
        yield Static("Toolsight   starting …", id="starting", markup=False)

    def on_mount(self) -> None:
        self.set_interval(_FOLLOWED_EVERY, self._follow)
        self.call_after_refresh(lambda: self.run_worker(self._open(), exit_on_error=False))

    def on_unmount(self) -> None:
        if self._bridge is not None:
            self._bridge.close()
        if self._replay is not None:
            self._replay.close()

    async def _open(self) -> None:
        await asyncio.to_thread(import_module, "inspector.features.chat.page")
        from inspector.app.opening import connect
        from inspector.app.replay import Replay
        from inspector.app.stream import Bridge

        try:
            self._opened = await self._start()
            # A message may be typed before the servers are started.
            self._opened.bench.expect_connection()
            self._replay = Replay(self._opened.bench, self._show)
            self._bridge = Bridge(self._opened.bench, self.soon, self._replay.follow)
            # Servers take both processors for a while: the page is drawn before they start.
            self.go(self._opened.home).call_after_refresh(self._drawn.set)
            await self._drawn.wait()
            await self._use_own_keys()
            await self.answer_typed()  # No dialog may open before that: it would be answered.
            if not await connect(self, self._opened):
                self.exit(message="No server was started.")
            elif self._opened.first is not None:
                self.open(self._opened.first)
        except ToolsightError as error:
            self.failure = error
            self.exit()

    def go(self, page: str) -> "BaseScreen":
        """Show a page as it was left; whoever leaves an optional one may have filled it."""
        if self.page and page_info(self.page).has_content is not None:
            self._look_for_content()
        return super().go(page)

    def _look_for_content(self) -> None:
        """List the optional pages that have something to show, or that cannot be read, which they say."""

        def look() -> frozenset[str]:
            pages = (page for place in PLACES for page in place.pages)
            return frozenset(page.name for page in pages if page.has_content and has(page.has_content))

        def has(content: Callable[[Any, Parts], bool]) -> bool:
            try:
                return content(self.opened.bench, self.opened.parts)
            except ToolsightError:
                return True

        async def find() -> None:
            await self._drawn.wait()  # It imports what gives the pages their parts.
            self.filled = await asyncio.to_thread(look)

        # What an earlier look finds later is of other settings, or of somebody else's session.
        self.run_worker(find(), exit_on_error=False, group="content", exclusive=True)

    async def _use_own_keys(self) -> None:
        """Change the keys that a person has changed, and say what cannot be used of them."""
        try:
            wanted = self._own_keys()
        except ToolsightError as error:
            self.notify(
                f"{error.message}\n{error.hint}", title="Key bindings", severity="warning", markup=False
            )
            return
        if not wanted:
            return
        from inspector.app.command import checked

        keymap, problems = await asyncio.to_thread(checked, wanted, type(self))
        self.set_keymap(keymap)
        if problems:
            self.notify(
                "\n".join(problems), title="Key bindings", severity="warning", markup=False, timeout=10
            )

    def soon(self, callback: Callable[[], None], seconds: float) -> None:
        """Call a function that draws the page, so many seconds later.

        A Textual timer would skip its only turn where the process is held up as it starts.
        """
        asyncio.get_running_loop().call_later(seconds, self.call_later, callback)

    def _show(self, view: "View") -> None:
        self.view = view
        if view.state.settings is not self._looked_with:
            self._looked_with = view.state.settings
            self._look_for_content()

    def action_stop_embedding(self) -> None:
        """Stop downloading or embedding; searches use what is ready."""
        self.commands.stop_embedding()

    def action_toggle_theme(self) -> None:
        """Switch between the dark and the light theme."""
        dark = self.theme == DARK.name
        self.theme = LIGHT.name if dark else DARK.name

    def first_page(self, place: Place) -> str:
        """The sessions, where an agent has done something today."""
        agent_at = self.recorded.agent_at if self.recorded is not None else 0.0
        is_new = place.name == "trace" and agent_at > self.opened.bench.ports.clock.now() - _TODAY
        return "sessions" if is_new else super().first_page(place)

    def _follow(self) -> None:
        """Look for what other programs have recorded, also of the shown session."""
        is_idle = self._following is None or self._following.is_finished
        if is_idle and self._replay is not None:
            self._following = self.run_worker(self._look_at_store(self._replay))

    async def _look_at_store(self, replay: "Replay") -> None:
        with suppress(ToolsightError):
            self.recorded = await asyncio.to_thread(replay.version)
        if replay.stream.is_live:
            await self._grow(replay, replay.stream)

    async def _grow(self, replay: "Replay", stream: "Stream") -> None:
        """Add the news; who is at the end of the session stays there."""
        with suppress(ToolsightError):
            fresh, is_live = await asyncio.to_thread(replay.news, stream)
            at, was_live = replay.column, stream.is_live
            column = -1 if at == stream.timeline.now else at
            stream.extend(fresh)
            stream.is_live = is_live
            if replay.stream is stream and (fresh or is_live is not was_live):
                column = stream.timeline.now if column < 0 else at
                view = await asyncio.to_thread(replay.moment, stream, column)
                if (replay.stream, replay.column) == (stream, at):
                    replay.show(stream, column, view)

    def see_as(self, user: str, expert: str = "") -> None:
        """Begin a session as a user, or as the administrator without one; every page is a new one then."""
        self.run_worker(self._see_as(user, expert), exit_on_error=False)

    async def _see_as(self, user: str, expert: str) -> None:
        from inspector.app.draw.line import failure_text

        async def begin() -> None:
            await self.commands.see_as(user, expert)
            self.replay.renew()
            self.__dict__.pop("verdicts", None)
            self.__dict__.pop("requests", None)

        try:
            await self.renew_pages(begin, self.page or HOME)
        except ToolsightError as error:
            title, message = failure_text(error)
            self.notify(message, title=title, severity="error", markup=False)

    def action_live(self) -> None:
        """End a replay: every page shows the running session again."""
        self.replay.live()

    def action_export(self) -> None:
        """Write the page, or its session, to a file."""
        if self.can_go and len(self.screen_stack) == 1:
            cast("BaseScreen", self.screen).share()

    def action_help(self) -> None:
        """Show help for the current page."""
        from inspector.app.dialogs.detail import HelpScreen

        if self.can_go:
            self.push_screen(HelpScreen(getattr(self.screen, "help_lines", ())))

    def action_settings(self, path: str = "") -> None:
        """Show every setting of the session: model, toolset, profile, and all the others, from one on."""
        from inspector.app.dialogs.settings import SettingsDialog

        if self.can_go:
            self.push_screen(SettingsDialog(path))

    def action_ask(self, name: str) -> None:
        """Ask for a toolset, a model or a milestone."""
        from inspector.app.dialogs.choice import DIALOGS

        if self.page:
            self.push_screen(DIALOGS[name](self))
