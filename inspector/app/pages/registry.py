"""The pages and dialogs that the app itself opens; all but the session are imported when they are opened."""

from collections.abc import Callable, Mapping
from importlib import import_module

from inspector.app.base_screen import BaseScreen
from inspector.app.dialogs.choice import ChoiceDialog, MilestoneDialog, ModelDialog, ToolsetDialog
from inspector.app.dialogs.help import HelpScreen
from inspector.app.pages.chat.session.screen import SessionScreen
from inspector.engine.workbench import Workbench

__all__ = ["DIALOGS", "PAGES", "HelpScreen", "SessionScreen"]


def _page(place: str, name: str) -> Callable[[], BaseScreen]:
    """What makes the page of that name in `pages/PLACE/screen.py`."""

    def make() -> BaseScreen:
        page = getattr(import_module(f"inspector.app.pages.{place}.screen"), name)()
        assert isinstance(page, BaseScreen)
        return page

    return make


PAGES: Mapping[str, Callable[[], BaseScreen]] = {
    "servers": _page("tools.servers", "ServersScreen"),
    "manifest": _page("tools.manifest", "ManifestScreen"),
    "search": _page("find.search", "SearchScreen"),
    "budget": _page("cost.budget", "BudgetScreen"),
    "events": _page("trace.events", "EventsScreen"),
    "bench": _page("lab.bench", "BenchScreen"),
    "timeline": _page("trace.timeline", "TimelineScreen"),
    "profile": _page("settings.profile", "ProfileScreen"),
    "lab": _page("lab.scenario", "GuardLabScreen"),
    "race": _page("chat.race", "RaceScreen"),
    "reproduce": _page("lab.reproduction", "ReproduceScreen"),
}
DIALOGS: Mapping[str, Callable[[Workbench], ChoiceDialog]] = {
    "toolset": ToolsetDialog,
    "model": ModelDialog,
    "milestone": MilestoneDialog,
}
