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
    ServerPage,
    StepsPage,
    ToolPage,
    WhyNotPage,
)

PAGES: Mapping[str, str] = {
    "servers": "tools.catalog.screen:ToolsScreen",
    "manifest": "tools.manifest.screen:ManifestScreen",
    "search": "find.search.screen:SearchScreen",
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
        case ToolPage() | ServerPage():
            from inspector.app.pages.tools.catalog.screen import ToolsScreen

            screen = ToolsScreen()
            screen.arrive(destination)
            return screen
        case SearchPage(request, report):
            from inspector.app.pages.find.search.screen import SearchScreen

            return SearchScreen(request, report)
        case EditPage(tool_id, query):
            from inspector.app.pages.find.what_if.screen import WhatIfScreen

            return WhatIfScreen(tool_id, query)
        case ConfusablePage():
            from inspector.app.pages.tools.confusable.screen import ConfusableScreen

            return ConfusableScreen()
        case _:
            return _explanation(destination)


def page_class(name: str) -> type[BaseScreen]:
    """Return the class of a page; the first import takes a moment."""
    module, _, attribute = PAGES[name].partition(":")
    screen: type[BaseScreen] = getattr(import_module(f"inspector.app.pages.{module}"), attribute)
    return screen


def _explanation(destination: WhyNotPage | ComparePage | StepsPage) -> BaseScreen:
    match destination:
        case WhyNotPage(tool_id, request):
            from inspector.app.pages.find.why_not.screen import WhyNotScreen

            return WhyNotScreen(tool_id, request)
        case ComparePage(request, pinned):
            from inspector.app.pages.find.compare.screen import CompareScreen

            return CompareScreen(request, pinned)
        case StepsPage(request):
            from inspector.app.pages.find.steps.screen import StepsScreen

            return StepsScreen(request)
