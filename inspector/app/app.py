"""The Textual application: the frame at once, then the session, and the view that all pages follow.

Nothing here is imported at the top that the first frame can do without: the engine and the pages come in a
thread while the frame is already on the screen.
"""

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.reactive import reactive
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.app import command, theme
from inspector.app.palette import CommandSource
from inspector.domain.error import ToolsightError

if TYPE_CHECKING:
    from inspector.app.bridge import Bridge, View
    from inspector.app.opening import Opened
    from inspector.app.pages.lab.job import Lab
    from inspector.app.pages.lab.reproduction.job import Reproduction
    from inspector.app.replay import Scrub
    from inspector.engine.workbench import Workbench

# The first frame and the session.
_SCREENS_BELOW_A_PAGE = 2


class ToolsightApp(App[None]):
    """Shows one workbench. `start` makes it ready; whoever gave `start` closes it when the app has ended.

    `failure` is what kept the session from opening, if anything did.
    """

    TITLE = "Toolsight"
    CSS_PATH = "app.tcss"
    COMMANDS: ClassVar[set[type[CommandSource]]] = {CommandSource}  # type: ignore[assignment]
    BINDINGS: ClassVar[list[BindingType]] = [*command.bindings()]

    view: "reactive[View | None]" = reactive(None, init=False)

    def __init__(self, start: "Callable[[], Awaitable[Opened]]") -> None:
        super().__init__()
        self.failure: ToolsightError | None = None
        self._start = start
        self._opened: Opened | None = None
        self._bridge: Bridge | None = None
        self._scrub: Scrub | None = None

    @property
    def scrub(self) -> "Scrub":
        """Which moment the pages show; there is one as soon as there is a page."""
        assert self._scrub is not None
        return self._scrub

    @property
    def bench(self) -> "Workbench":
        """The session's workbench, or while a replay is on its stand-in, which changes nothing."""
        return self.scrub.bench

    @property
    def lab(self) -> "Lab | None":
        """What runs scenarios, if the app was given it."""
        return self._opened.lab if self._opened is not None else None

    @property
    def reproduction(self) -> "Reproduction | None":
        """What published numbers are reproduced on, if the app was given it."""
        return self._opened.reproduction if self._opened is not None else None

    def compose(self) -> ComposeResult:
        yield Static("Toolsight   starting …", id="starting", markup=False)

    def on_mount(self) -> None:
        self.register_theme(theme.DARK)
        self.register_theme(theme.LIGHT)
        self.theme = theme.DARK.name
        self.call_after_refresh(self._begin)

    def on_unmount(self) -> None:
        if self._bridge is not None:
            self._bridge.close()
        if self._scrub is not None:
            self._scrub.close()

    def _begin(self) -> None:
        self.run_worker(self._open(), exit_on_error=False)

    async def _open(self) -> None:
        await asyncio.to_thread(import_module, "inspector.app.pages.registry")
        from inspector.app.bridge import Bridge
        from inspector.app.opening import connect
        from inspector.app.pages.registry import SessionScreen
        from inspector.app.replay import Scrub

        try:
            self._opened = await self._start()
            self._scrub = Scrub(self._opened.bench, self._show)
            self._bridge = Bridge(self._opened.bench, self, self._scrub.follow)
            page, drawn = SessionScreen(), asyncio.Event()
            await self.push_screen(page)
            page.call_after_refresh(drawn.set)
            # Servers take both processors for a while: the page is drawn before they start.
            await drawn.wait()
            if not await connect(self, self._opened):
                self.exit(message="Nothing was started.")
        except ToolsightError as error:
            self.failure = error
            self.exit()

    def _show(self, view: "View") -> None:
        self.view = view

    def action_page(self, name: str) -> None:
        """Go to a page; there is one page above the session at a time."""
        from inspector.app.pages.registry import PAGES

        if self._opened is None or isinstance(self.screen, ModalScreen | CommandPalette):
            return
        while len(self.screen_stack) > _SCREENS_BELOW_A_PAGE:
            self.pop_screen()
        if name in PAGES:
            self.push_screen(PAGES[name]())

    def open_tool(self, tool_id: str) -> None:
        """Show one tool above the page that is open."""
        from inspector.app.pages.tools.tool.screen import ToolScreen

        if self.bench.catalog.get(tool_id) is not None:
            self.push_screen(ToolScreen(tool_id))

    def action_stop_embedding(self) -> None:
        """Stop downloading or embedding; searches go on with what there is."""
        self.bench.retrieval.cancel_embedding()

    def action_toggle_theme(self) -> None:
        """Switch between dark and light."""
        dark = self.theme == theme.DARK.name
        self.theme = theme.LIGHT.name if dark else theme.DARK.name

    def action_help(self) -> None:
        """Explain the page that is open."""
        from inspector.app.pages.registry import HelpScreen

        self.push_screen(HelpScreen(getattr(self.screen, "help_lines", ())))

    def action_ask(self, name: str) -> None:
        """Ask for a toolset, a model or a milestone."""
        from inspector.app.pages.registry import DIALOGS

        if self._opened is not None:
            self.push_screen(DIALOGS[name](self.bench))
