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
    ProfilesPage,
    SearchPage,
    ServerPage,
    StepsPage,
    ThresholdPage,
    ToolPage,
    TracePage,
    WhyNotPage,
)

SCREENS: Mapping[str, str] = {
    "session": "chat.session.screen:SessionScreen",
    "race": "chat.race.screen:RaceScreen",
    "servers": "tools.catalog.screen:ToolsScreen",
    "manifest": "tools.manifest.screen:ManifestScreen",
    "confusable": "tools.confusable.screen:ConfusableScreen",
    "search": "find.search.screen:SearchScreen",
    "budget": "cost.budget.screen:BudgetScreen",
    "events": "trace.events.screen:EventsScreen",
    "timeline": "trace.timeline.screen:TimelineScreen",
    "bench": "lab.bench.screen:BenchScreen",
    "threshold": "lab.calibration.screen:CalibrationScreen",
    "scenarios": "lab.scenario.screen:GuardLabScreen",
    "profiles": "lab.profile_compare.screen:ProfileCompareScreen",
    "published": "lab.reproduction.screen:ReproduceScreen",
}
"""The screens of the places, by the name of their page: module (below this package) and class."""


def page_for(destination: Destination) -> str:
    """Return the name of the page that shows a destination."""
    match destination:
        case Page(name):
            return name
        case ServerPage() | ToolPage():
            return "servers"
        case ConfusablePage():
            return "confusable"
        case TracePage():
            return "timeline"
        case ThresholdPage():
            return "threshold"
        case ProfilesPage():
            return "profiles"
        case _:
            return "search"


def screen_for(destination: Destination) -> BaseScreen:
    """Return a new screen for a destination."""
    match destination:
        case SearchPage(request, report):
            from inspector.app.pages.find.search.screen import SearchScreen

            return SearchScreen(request, report)
        case EditPage(tool_id, query):
            from inspector.app.pages.find.what_if.screen import WhatIfScreen

            return WhatIfScreen(tool_id, query)
        case ConfusablePage():
            from inspector.app.pages.tools.confusable.screen import ConfusableScreen

            return ConfusableScreen()
        case WhyNotPage() | ComparePage() | StepsPage():
            return _explanation(destination)
        case _:
            return page_class(page_for(destination))()


def page_class(name: str) -> type[BaseScreen]:
    """Return the class of a page; the first import takes a moment."""
    module, _, attribute = SCREENS[name].partition(":")
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
