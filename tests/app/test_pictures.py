"""How every page looks, once on a small terminal and once on a wide one; the pictures are compared.

A page is shown in the state that says most of it. What else there is to see of it (empty, failed, filtered,
replayed) is asserted as text by the tests of the page.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from inspector.app.base_screen import BaseScreen
from inspector.app.dialogs.approver import QuestionDialog
from inspector.app.dialogs.choice import ToolsetDialog
from inspector.app.dialogs.detail import DetailScreen, HelpScreen
from inspector.app.dialogs.elicitor import FormDialog
from inspector.app.dialogs.settings import KnobDialog, SettingsDialog
from inspector.app.place import (
    SCREENS,
    ToolPage,
)
from inspector.app.place_app import page_class
from inspector.config.consent import Handed, ServerConsent, consent_question
from inspector.core.error import ConnectError
from inspector.core.server import Program
from inspector.core.tool import Tool
from inspector.features.access.page import AccessScreen
from inspector.features.bench.page import BenchRequestScreen, BenchScreen
from inspector.features.chat.page import SessionScreen
from inspector.features.check.page import FindingsScreen
from inspector.features.clients.page import ClientsScreen
from inspector.features.clients.request_page import ManifestScreen
from inspector.features.cost.audit.page import MachineScreen
from inspector.features.cost.page import BudgetScreen
from inspector.features.demo.model import DemoPlanner
from inspector.features.lab.page import ScenarioScreen
from inspector.features.lab.race.page import RaceScreen
from inspector.features.lab.runs.page import RecordedRunScreen, RecordedRunsScreen
from inspector.features.marketplace.page import MarketplaceScreen
from inspector.features.registry.page import RegistryScreen
from inspector.features.search.page import SearchScreen
from inspector.features.skills.page import SkillsScreen
from inspector.features.tools.page import ToolsScreen
from inspector.features.trace.events_page import EventsScreen
from inspector.features.trace.metrics.page import TelemetryScreen
from inspector.features.trace.sessions_page import SessionsScreen
from inspector.features.trace.timeline_page import TimelineScreen
from inspector.mcp.elicitation import FormRequest
from inspector.tokens.counter import TiktokenCounter
from tests.features.access.test_page import POLICY as ACCESS
from tests.features.check.test_page import offices
from tests.features.lab.race.test_page import race_lab
from tests.features.lab.runs.test_page import few_runs
from tests.features.search.test_edit import keys
from tests.features.trace.test_timeline_page import QUESTION, STEPS, reading_office
from tests.support import firm
from tests.support.canned import (
    canned_library,
    library,
    machine,
    skills,
)
from tests.support.fakes import Step, ToldModel, calls, says, searches
from tests.support.lab import MemoryLab, four_servers, written
from tests.support.marketplace import shipped_market
from tests.support.memory_servers import MemoryServer
from tests.support.memory_vectors import MemoryEmbedder
from tests.support.office import office
from tests.support.picture import (
    NARROW,
    WIDE,
    Act,
    Asked,
    Goes,
    Lacks,
    Opens,
    Shown,
    Shows,
    SnapCompare,
    acted,
)
from tests.support.transcripts import StoreLibrary, records_of, story_store
from tests.support.workbench import shop_and_weather
from widgets import Confirm

QUERY = "send a late order message"
ORDERS = {"orders": [{"id": 7, "status": "late"}, {"id": 9, "status": "late"}]}
STARTED = (
    ServerConsent(
        *("notes", ("npx", "-y", "notes server", "--root", "/srv"), "/srv", ("PATH", "TOKEN", "URL")),
        program=Program("/srv/bin/npx"),
        decisive=(("PATH", "/srv/bin:/usr/bin"),),
    ),
    ServerConsent(
        *("shop", (), "", (), "https://shop.example/mcp", ("X-Trace",)),
        handed=(Handed("AWS_SECRET_ACCESS_KEY", "shop.example", "in the header X-Trace"),),
    ),
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A screen, and what leads to it; `acts` may need a folder for files."""

    screen: type[Screen[Any]]
    app: Callable[[], Shown]
    acts: Callable[[Path], tuple[Act, ...]]


def _talk() -> Shown:
    call = calls(("weather__get_forecast", {"city": "Oslo"}))
    steps: tuple[Step, ...] = (searches(query="forecast for a city"), call, says("Sunny in Oslo."))
    return Shown(*steps, at_home=True)


def _office() -> Shown:
    return Shown(servers=office(), embedder=MemoryEmbedder())


def _firm() -> Shown:
    tokens = TiktokenCounter("gpt-5")
    return Shown(*firm.STEPS, servers=firm.firm(), counter_for=lambda _: tokens, prices=(firm.PRICES,))


def _offices() -> Shown:
    return Shown(servers=offices(), embedder=MemoryEmbedder())


def _failing() -> Shown:
    fault = ConnectError(
        "no-such-command is not installed", hint="Check PATH.", stderr_tail="boom: missing TOKEN"
    )
    broken = MemoryServer([Tool("broken", "x")], fault=fault)
    return Shown(servers={**shop_and_weather(), "broken": broken})


def _lab(folder: Path) -> MemoryLab:
    return MemoryLab(written(folder))


def _planner_lab(folder: Path) -> MemoryLab:
    lab = race_lab(folder)
    lab.model_for = lambda _: DemoPlanner()
    return lab


def _consent() -> QuestionDialog:
    return QuestionDialog(consent_question("/home/me/mcp.json", STARTED))


def _acts(*acts: Act) -> Callable[[Path], tuple[Act, ...]]:
    return lambda _folder: acts


def _with_a_story() -> Shown:
    store = story_store()
    return Shown(agents=StoreLibrary(store), recorded=records_of(store))


def _talk_beside_a_story() -> Shown:
    call = calls(("weather__get_forecast", {"city": "Oslo"}))
    steps: tuple[Step, ...] = (searches(query="forecast for a city"), call, says("Sunny in Oslo."))
    return Shown(*steps, recorded=records_of(story_store()))


# From the view that a tool opens with to its form.
CALL = ("right",) * 2 + ("down",)
MEASURED = (Goes("bench"), Shows("requests over"), "r", Shows("rankers measured"))
PLAYED = (Goes("bench"), "v", Shows("r plays 4 recorded runs"), "r", Shows("4 runs played"))
PAGES: Mapping[str, Picture] = {
    "session": Picture(
        SessionScreen,
        _talk,
        _acts(Asked("forecast"), Shows("Sunny in Oslo."), Shows("iscovery", within="#budget-verdict")),
    ),
    "race": Picture(
        RaceScreen,
        lambda: Shown(says("Nine of them."), servers=four_servers()),
        lambda folder: (
            Asked("Which orders are late?"),
            Opens(lambda: RaceScreen(_planner_lab(folder))),
            Shows("starts the race"),
            "r",
            Shows("This asks"),
            "left",
            "enter",
            Shows("instead of"),
        ),
    ),
    "find": Picture(
        SearchScreen,
        _office,
        _acts(Goes("search"), *keys(QUERY), "enter", Shows("confidence", "#facts")),
    ),
    "tool": Picture(
        ToolsScreen,
        Shown,
        _acts(Opens(ToolsScreen, ToolPage("weather:get_forecast")), *CALL, *"Oslo", "enter", Shows("✓ ok")),
    ),
    "servers": Picture(ToolsScreen, _failing, _acts(Goes("servers"), "end", Shows("broken"))),
    "manifest": Picture(ManifestScreen, Shown, _acts(Goes("manifest"), Shows("weather"))),
    "clients": Picture(
        ClientsScreen,
        lambda: Shown(servers=library()),
        _acts(
            Opens(ClientsScreen),
            Shows("~ changed"),
            Lacks("…  "),
            "right",
            "enter",
            "down",
            "down",
            Shows("2 of"),
        ),
    ),
    "skills": Picture(
        SkillsScreen, lambda: Shown(skills=skills), _acts(Goes("skills"), Shows("needs quotes"))
    ),
    "access": Picture(
        AccessScreen,
        lambda: Shown(policy=ACCESS, user="bob"),
        _acts(Goes("access"), Shows("as bob"), "a", Shows("3 users"), Shows("refund_order")),
    ),
    "findings": Picture(
        FindingsScreen,
        _offices,
        _acts(Opens(FindingsScreen), Shows("space shows"), Lacks("Checking")),
    ),
    "marketplace": Picture(
        MarketplaceScreen,
        lambda: Shown(marketplace=shipped_market(), embedder=MemoryEmbedder()),
        _acts(Goes("marketplace"), Shows("34 plugins"), "down"),
    ),
    "budget": Picture(
        BudgetScreen,
        _firm,
        _acts(
            Asked("late"),
            Goes("budget"),
            Shows("tool tokens so far"),
            Shows("iscovery", within="#budget-verdict"),
            Lacks("  …"),
        ),
    ),
    "machine": Picture(
        MachineScreen, lambda: Shown(audit=machine), _acts(Goes("machine"), Shows("Claude Code"))
    ),
    "events": Picture(EventsScreen, _failing, _acts(Goes("events"), "end")),
    "timeline": Picture(
        TimelineScreen,
        lambda: Shown(*STEPS, servers=reading_office(), yes=True),
        _acts(Asked(QUESTION), Goes("timeline"), Shows("now, after 6"), "home", "right", "down"),
    ),
    "registry": Picture(
        RegistryScreen,
        lambda: Shown(servers=office(), registry=canned_library()),
        _acts(Goes("registry"), Shows("version 3")),
    ),
    "sessions": Picture(
        SessionsScreen,
        _with_a_story,
        _acts(Goes("sessions"), Shows("2 sessions, 1"), "home", Shows("1 missed")),
    ),
    "telemetry": Picture(
        TelemetryScreen,
        _talk_beside_a_story,
        _acts(
            Asked("forecast"), Goes("telemetry"), "a", Shows("2 sessions"), Shows("hybrid", "#numbers-text")
        ),
    ),
    "profile": Picture(
        SettingsDialog,
        Shown,
        _acts(Opens(SettingsDialog), "a", "down"),
    ),
    "scenario": Picture(
        ScenarioScreen,
        Shown,
        lambda folder: (
            Opens(lambda: ScenarioScreen(_lab(folder))),
            Shows("enter runs it"),
            "enter",
            Shows("passed"),
        ),
    ),
    "bench": Picture(BenchScreen, _office, _acts(*MEASURED)),
    "bench-request": Picture(BenchRequestScreen, _office, _acts(*MEASURED, "down", "enter", Shows("needs"))),
    "recorded-runs": Picture(
        RecordedRunsScreen,
        lambda: Shown(runs=few_runs(4)),
        _acts(*PLAYED, "down"),
    ),
    "recorded-run": Picture(
        RecordedRunScreen,
        lambda: Shown(runs=few_runs(4)),
        _acts(*PLAYED, "enter", Shows("model calls", within="#run-detail")),
    ),
}
FORM = FormRequest(
    "shop",
    "Where do we send the bill?",
    {
        "properties": {
            "email": {
                "type": "string",
                "format": "email",
                "title": "Your e-mail",
                "description": "for the bill",
            },
            "nights": {"type": "integer", "default": 2},
            "extras": {"type": "array", "items": {"type": "string", "enum": ["tea", "towel"]}},
            "api_key": {"type": "string"},
        },
        "required": ["email"],
    },
)
# Pages on which colour says what words do not say again, and those that are laid out anew where it is narrow.
LIGHT = ("session", "find")
AT_80 = ("session", "find", "tool", "servers", "budget", "timeline")
DIALOGS: Mapping[str, Picture] = {
    "help": Picture(HelpScreen, Shown, _acts(Goes("servers"), "question_mark")),
    "toolset": Picture(ToolsetDialog, Shown, _acts("ctrl+o", "down", "enter")),
    "setting": Picture(
        KnobDialog,
        Shown,
        _acts(Opens(SettingsDialog), "slash", *"binding.capacity", "enter", "enter", "x"),
    ),
    "approval": Picture(
        Confirm, Shown, _acts(Opens(ToolsScreen, ToolPage("shop:refund_order")), *CALL, "ctrl+r")
    ),
    "form": Picture(FormDialog, Shown, _acts(Opens(lambda: FormDialog(FORM)), "tab", "ctrl+r")),
    "consent": Picture(QuestionDialog, Shown, _acts(Opens(_consent))),
    "detail": Picture(
        DetailScreen,
        Shown,
        _acts(Opens(lambda: DetailScreen("shop:list_orders", "2 orders are late", ORDERS))),
    ),
}


def _looks_the_same(
    snap_compare: SnapCompare, picture: Picture, size: tuple[int, int], folder: Path, *, light: bool = False
) -> bool:
    acts = acted(*picture.acts(folder), shows=picture.screen, light=light)
    return snap_compare(picture.app(), terminal_size=size, run_before=acts)


@pytest.fixture(autouse=True)
def _small_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that the firm's conversation fills a part of it that can be seen."""
    monkeypatch.setattr(ToldModel, "window", 16_000)


@pytest.mark.parametrize("name", AT_80)
def test_a_page_looks_the_same(snap_compare: SnapCompare, tmp_path: Path, name: str) -> None:
    assert _looks_the_same(snap_compare, PAGES[name], NARROW, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_on_a_wide_terminal_looks_the_same(
    snap_compare: SnapCompare, tmp_path: Path, name: str
) -> None:
    assert _looks_the_same(snap_compare, PAGES[name], WIDE, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIGHT)
def test_a_page_in_light_looks_the_same(snap_compare: SnapCompare, tmp_path: Path, name: str) -> None:
    assert _looks_the_same(snap_compare, PAGES[name], WIDE, tmp_path, light=True)


@pytest.mark.parametrize("name", DIALOGS)
def test_a_dialog_looks_the_same(snap_compare: SnapCompare, tmp_path: Path, name: str) -> None:
    assert _looks_the_same(snap_compare, DIALOGS[name], NARROW, tmp_path)


def _pages(parent: type[BaseScreen]) -> Iterator[type[BaseScreen]]:
    """Every page there is: what no other page is derived from."""
    derived = [page for page in parent.__subclasses__() if page.__module__.startswith("inspector.")]
    for page in derived:
        yield from _pages(page)
    if not derived:
        yield parent


def test_every_page_has_a_picture() -> None:
    registered = {*map(page_class, SCREENS), SessionScreen}
    assert registered <= set(_pages(BaseScreen)) == {picture.screen for picture in PAGES.values()}
    stored = Path(__file__).with_name("__snapshots__") / Path(__file__).stem
    for name in PAGES:
        assert (stored / f"test_a_page_on_a_wide_terminal_looks_the_same[{name}].svg").is_file()
