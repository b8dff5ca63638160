"""Every page and dialog that the app itself opens; importing this imports all of them."""

from collections.abc import Callable, Mapping

from inspector.app.base_screen import BaseScreen
from inspector.app.screens.bench import BenchScreen
from inspector.app.screens.budget import BudgetScreen
from inspector.app.screens.choice import ChoiceDialog, MilestoneDialog, ModelDialog, ToolsetDialog
from inspector.app.screens.events import EventsScreen
from inspector.app.screens.guard_lab import GuardLabScreen
from inspector.app.screens.help import HelpScreen
from inspector.app.screens.manifest import ManifestScreen
from inspector.app.screens.profile import ProfileScreen
from inspector.app.screens.race import RaceScreen
from inspector.app.screens.reproduce import ReproduceScreen
from inspector.app.screens.search import SearchScreen
from inspector.app.screens.servers import ServersScreen
from inspector.app.screens.session import SessionScreen
from inspector.app.screens.timeline import TimelineScreen
from inspector.app.screens.tool import ToolScreen
from inspector.engine.workbench import Workbench

__all__ = ["DIALOGS", "PAGES", "HelpScreen", "SessionScreen", "ToolScreen"]

PAGES: Mapping[str, Callable[[], BaseScreen]] = {
    "servers": ServersScreen,
    "manifest": ManifestScreen,
    "search": SearchScreen,
    "budget": BudgetScreen,
    "events": EventsScreen,
    "bench": BenchScreen,
    "timeline": TimelineScreen,
    "profile": ProfileScreen,
    "lab": GuardLabScreen,
    "race": RaceScreen,
    "reproduce": ReproduceScreen,
}
DIALOGS: Mapping[str, Callable[[Workbench], ChoiceDialog]] = {
    "toolset": ToolsetDialog,
    "model": ModelDialog,
    "milestone": MilestoneDialog,
}
