"""Maps destinations to screens. A page is imported when first opened, so that the app starts sooner."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from inspector.app.base_screen import BaseScreen

SCREENS: Mapping[str, str] = {
    "session": "chat.session:SessionScreen",
    "race": "chat.race:RaceScreen",
    "servers": "tools.catalog:ToolsScreen",
    "clients": "tools.clients:ClientsScreen",
    "manifest": "tools.manifest:ManifestScreen",
    "access": "tools.access:AccessScreen",
    "confusable": "tools.confusable:ConfusableScreen",
    "registry": "tools.registry:RegistryScreen",
    "marketplace": "tools.marketplace:MarketplaceScreen",
    "search": "find.screen:FindScreen",
    "budget": "cost.budget:BudgetScreen",
    "machine": "cost.machine:MachineScreen",
    "events": "trace.events:EventsScreen",
    "timeline": "trace.timeline:TimelineScreen",
    "flow": "trace.flow:FlowScreen",
    "sessions": "trace.sessions:SessionsScreen",
    "telemetry": "trace.telemetry:TelemetryScreen",
    "bench": "lab.bench:BenchScreen",
    "threshold": "lab.calibration:CalibrationScreen",
    "scenarios": "lab.scenario:GuardLabScreen",
    "profiles": "lab.profile_compare:ProfileCompareScreen",
    "published": "lab.published:ReproduceScreen",
}
"""The screens of the places, by the name of their page: module (below this package) and class."""


def style_sheets() -> Iterator[Path]:
    """The style sheets of all pages; a page's lies beside its module."""
    for screen in SCREENS.values():
        module, _, _ = screen.partition(":")
        yield Path(__file__).parent.joinpath(*module.split(".")).with_suffix(".tcss")


def page_class(name: str) -> type[BaseScreen]:
    """Return the class of a page; the first import takes a moment."""
    module, _, attribute = SCREENS[name].partition(":")
    screen: type[BaseScreen] = getattr(import_module(f"inspector.app.pages.{module}"), attribute)
    return screen
