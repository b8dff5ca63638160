"""The Textual application: pages, themes and the view that all of them follow."""

import asyncio
from collections.abc import Callable, Mapping
from typing import ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.command import CommandPalette
from textual.reactive import reactive
from textual.screen import ModalScreen

from inspector.app import command, theme
from inspector.app.approver import ModalApprover
from inspector.app.base_screen import BaseScreen
from inspector.app.bridge import Bridge, View
from inspector.app.palette import CommandSource
from inspector.app.screens.budget import BudgetScreen
from inspector.app.screens.choice import ModelDialog, ToolsetDialog
from inspector.app.screens.consent import ConsentDialog
from inspector.app.screens.events import EventsScreen
from inspector.app.screens.help import HelpScreen
from inspector.app.screens.manifest import ManifestScreen
from inspector.app.screens.search import SearchScreen
from inspector.app.screens.servers import ServersScreen
from inspector.app.screens.session import SessionScreen
from inspector.app.screens.tool import ToolScreen
from inspector.domain.consent import describe
from inspector.engine.ports import ServerMemory
from inspector.engine.workbench import Workbench

PAGES: Mapping[str, Callable[[], BaseScreen]] = {
    "servers": ServersScreen,
    "manifest": ManifestScreen,
    "search": SearchScreen,
    "budget": BudgetScreen,
    "events": EventsScreen,
}


class ToolsightApp(App[None]):
    """Shows one workbench. Its connections are opened here, and closed by whoever opened the workbench."""

    TITLE = "Toolsight"
    # Textual loads the styles of pushed screens only; the session is there from the start.
    CSS_PATH: ClassVar[list[str]] = ["app.tcss", "screens/session.tcss"]  # type: ignore[assignment]
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[CommandSource]]] = {CommandSource}  # type: ignore[assignment]
    BINDINGS: ClassVar[list[BindingType]] = [*command.bindings()]

    view: reactive[View] = reactive(View(), init=False)

    def __init__(self, bench: Workbench, *, memory: ServerMemory, approver: ModalApprover) -> None:
        super().__init__()
        self.bench = bench
        self._memory = memory
        self._bridge: Bridge | None = None
        approver.attach(self)

    def get_default_screen(self) -> BaseScreen:
        return SessionScreen()

    def on_mount(self) -> None:
        self.register_theme(theme.DARK)
        self.register_theme(theme.LIGHT)
        self.theme = theme.DARK.name
        self._bridge = Bridge(self.bench, self, self._show)
        self.call_after_refresh(self.run_worker, self._open(), exit_on_error=False)

    def on_unmount(self) -> None:
        if self._bridge is not None:
            self._bridge.close()

    def _show(self, view: View) -> None:
        self.view = view

    async def _open(self) -> None:
        """Connect, after consent if this configuration has none."""
        configuration = self.bench.configuration
        fingerprint = configuration.fingerprint()
        # In a thread, so that opening the database does not hold up the first frames.
        approved = await asyncio.to_thread(self._memory.is_approved, fingerprint)
        if not (configuration.trusted or approved):
            dialog = ConsentDialog(configuration.source, describe(configuration))
            if not ConsentDialog.accepted(await self.push_screen_wait(dialog)):
                self.exit(message="Nothing was started.")
                return
            self._memory.approve(fingerprint, configuration.source)
        self.bench.connect()

    def action_page(self, name: str) -> None:
        """Go to a page; there is one page above the session at a time."""
        if isinstance(self.screen, ModalScreen | CommandPalette):
            return
        while len(self.screen_stack) > 1:
            self.pop_screen()
        if name != "session":
            self.push_screen(PAGES[name]())

    def open_tool(self, tool_id: str) -> None:
        """Show one tool above the page that is open."""
        if self.bench.catalog.get(tool_id) is not None:
            self.push_screen(ToolScreen(tool_id))

    def action_toggle_theme(self) -> None:
        dark = self.theme == theme.DARK.name
        self.theme = theme.LIGHT.name if dark else theme.DARK.name

    def action_help(self) -> None:
        page = self.screen
        self.push_screen(HelpScreen(page.help_lines if isinstance(page, BaseScreen) else ()))

    def action_choose_toolset(self) -> None:
        self.push_screen(ToolsetDialog(self.bench))

    def action_choose_model(self) -> None:
        self.push_screen(ModelDialog(self.bench))
