"""Every page and dialog that the app itself opens; importing this imports all of them."""

from collections.abc import Callable, Mapping

from inspector.app.base_screen import BaseScreen
from inspector.app.dialogs.choice import ChoiceDialog, MilestoneDialog, ModelDialog, ToolsetDialog
from inspector.app.dialogs.help import HelpScreen
from inspector.app.pages.chat.race.screen import RaceScreen
from inspector.app.pages.chat.session.screen import SessionScreen
from inspector.app.pages.cost.budget.screen import BudgetScreen
from inspector.app.pages.find.search.screen import SearchScreen
from inspector.app.pages.lab.bench.screen import BenchScreen
from inspector.app.pages.lab.reproduction.screen import ReproduceScreen
from inspector.app.pages.lab.scenario.screen import GuardLabScreen
from inspector.app.pages.settings.profile.screen import ProfileScreen
from inspector.app.pages.tools.manifest.screen import ManifestScreen
from inspector.app.pages.tools.servers.screen import ServersScreen
from inspector.app.pages.tools.tool.screen import ToolScreen
from inspector.app.pages.trace.events.screen import EventsScreen
from inspector.app.pages.trace.timeline.screen import TimelineScreen
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
