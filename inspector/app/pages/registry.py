"""Maps destinations to screens. A page is imported when first opened, so that the app starts sooner."""

from collections.abc import Mapping
from importlib import import_module

from inspector.app.base_screen import BaseScreen
from inspector.app.navigation import (
    ComparePage,
    ConfusablePage,
    Destination,
    EditPage,
    Page,
    SearchPage,
    StepsPage,
    ToolPage,
    WhyNotPage,
)

PAGES: Mapping[str, str] = {
    "servers": "tools.servers.screen:ServersScreen",
    "manifest": "tools.manifest.screen:ManifestScreen",
    "search": "find.screen:FindScreen",
    "budget": "cost.budget.screen:BudgetScreen",
    "events": "trace.events.screen:EventsScreen",
    "bench": "lab.bench.screen:BenchScreen",
    "timeline": "trace.timeline.screen:TimelineScreen",
    "profile": "settings.profile.screen:ProfileScreen",
    "lab": "lab.scenario.screen:GuardLabScreen",
    "race": "chat.race.screen:RaceScreen",
    "reproduce": "lab.reproduction.screen:ReproduceScreen",
}
"""The pages directly above the session, by name: module (below this package) and class."""


def screen_for(destination: Destination) -> BaseScreen:
    """Return a new screen for a destination."""
    match destination:
        case Page(name):
            return page_class(name)()
        case ToolPage(tool_id):
            from inspector.app.pages.tools.tool.screen import ToolScreen

            return ToolScreen(tool_id)
        case ConfusablePage():
            from inspector.app.pages.tools.confusable.screen import ConfusableScreen

            return ConfusableScreen()
        case SearchPage() | WhyNotPage() | EditPage() | ComparePage() | StepsPage():
            from inspector.app.pages.find.screen import FindScreen

            return FindScreen(destination)


def page_class(name: str) -> type[BaseScreen]:
    """Return the class of a page; the first import takes a moment."""
    module, _, attribute = PAGES[name].partition(":")
    screen: type[BaseScreen] = getattr(import_module(f"inspector.app.pages.{module}"), attribute)
    return screen
