"""Takes every picture in the README from the app, running on the demo's real servers.

Only the conversation is scripted: the servers are processes, the tools are really called, the tokens are
really counted. Times differ between runs, so the files do too.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from fixtures.transcripts.make import claude_code, codex
from inspector.app.app import ToolsightApp
from inspector.app.dialogs.approver import ModalApprover
from inspector.app.navigation import ToolPage
from inspector.app.opening import Opened
from inspector.app.pages.chat.race.screen import RaceScreen
from inspector.app.reproduction import Reproduction
from inspector.cli.agents.library import MachineLibrary
from inspector.cli.composition import demo_configuration, fixtures_path, make_workbench, open_memory
from inspector.cli.inertia.library import RecordedFlows
from inspector.cli.options import Options
from inspector.cli.research.sources import ShippedSource
from inspector.cli.scenario.lab import ShippedLab
from inspector.domain.configuration import Configuration
from inspector.domain.index_state import IndexPhase
from inspector.engine.workbench import Workbench
from widgets import PlainInput, RecordList

FOLDER = Path(__file__).parent
TURNS = 2000
LATE = "mail the customer about the late parcel"
TWO_STEPS = "Which orders shipped late? Put a meeting about them into the calendar."
EXPECTED = "office:send_message"
ORDERS = "Which orders shipped late? Mail the list to sales@example.com."


def wordy(configuration: Configuration) -> Configuration:
    """The demo with one more server, whose texts and names exceed what clients take."""
    shop = next(server for server in configuration.servers if server.name == "shop")
    library = replace(shop, name="library", args=(str(fixtures_path() / "servers" / "library.py"),))
    return replace(configuration, servers=(library, *configuration.servers))


@asynccontextmanager
async def running(
    size: tuple[int, int],
    scenario: str = "demo",
    configured: Callable[[Configuration], Configuration] = lambda configuration: configuration,
    prepared: Callable[[Options], None] = lambda _: None,
) -> AsyncIterator[tuple[Pilot[None], Workbench]]:
    """Run the app on the demo servers, or on those of its configuration, with everything connected."""
    with tempfile.TemporaryDirectory() as folder:
        script = fixtures_path() / "scenarios" / f"{scenario}.yaml"
        options = Options(model=f"demo/script:{script}", database=Path(folder) / "toolsight.db", yes=True)
        prepared(options)
        memory = open_memory(options)
        approver = ModalApprover(yes=True)
        configuration = configured(demo_configuration(Path(folder)))
        bench = make_workbench(configuration, options, approver, memory)
        source = ShippedSource(database=Path(folder) / "vectors.db")
        async with bench:

            async def start() -> Opened:
                lab, reproduction = ShippedLab(options), Reproduction(lambda: source)
                agents = MachineLibrary(options)
                flows = RecordedFlows(options)
                return Opened(bench, memory, approver, lab, reproduction, agents=agents, flows=flows)

            app = ToolsightApp(start)
            async with app.run_test(size=size) as pilot:
                await until(pilot, lambda: bench.state.ready_servers == len(bench.configuration.servers))
                await until(pilot, lambda: bench.state.index.phase is IndexPhase.READY)
                with source:
                    yield pilot, bench


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the app run until the condition holds."""
    for _ in range(TURNS):
        if condition():
            await pilot.pause(0.2)
            return
        await pilot.pause(0.02)
    raise TimeoutError("the app never met the condition")


async def ask(pilot: Pilot[None], bench: Workbench, text: str) -> None:
    """Send a user message and wait until its turn ends."""
    ended = len(bench.records(kinds=("end",)))
    pilot.app.screen.query_one("#prompt").focus()
    for character in text:
        await pilot.press(_KEYS.get(character, character))
    await pilot.press("enter")
    await until(pilot, lambda: len(bench.records(kinds=("end",))) > ended)


_KEYS = {" ": "space", "?": "question_mark", ".": "full_stop", "@": "at", ",": "comma"}


async def goes(pilot: Pilot[None], page: str) -> None:
    """Go to a page."""
    await pilot.app.run_action(f"page('{page}')")
    await pilot.pause(0.5)


def save(pilot: Pilot[None], name: str) -> None:
    """Write the picture without this machine's paths."""
    svg = pilot.app.export_screenshot(title="Toolsight")
    svg = svg.replace(str(FOLDER.parent), "/toolsight").replace(str(Path.home()), "~")
    (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")


async def pages(pilot: Pilot[None], bench: Workbench) -> None:
    """Take the pages of one conversation."""
    save(pilot, "start")
    await ask(pilot, bench, ORDERS)
    save(pilot, "session")
    for name in ("servers", "manifest", "events"):
        await goes(pilot, name)
        save(pilot, name)
    assert isinstance(pilot.app, ToolsightApp)
    pilot.app.open(ToolPage("shop:list_orders"))
    await pilot.pause(0.3)
    save(pilot, "tool")
    await pilot.press("question_mark")
    await pilot.pause(0.2)
    save(pilot, "help")


async def xray(pilot: Pilot[None]) -> None:
    """Take the place Find: steps, score, why not, rankers, edit; then confusable tools and the bench."""
    await search(pilot, TWO_STEPS)
    await pilot.press("t")
    await pilot.pause(3.0)
    save(pilot, "steps")
    await pilot.press("escape", "s")
    await search(pilot, LATE)
    save(pilot, "search")
    found = pilot.app.screen.query_one("#found", RecordList)
    found.move_to(EXPECTED)
    for key, name, seconds in (("w", "why-not", 6.0), ("c", "rankers", 6.0)):
        await pilot.press(key)
        await pilot.pause(seconds)
        save(pilot, name)
        await pilot.press("escape")
        await pilot.pause(0.3)
    found.move_to(EXPECTED)
    await pilot.press("e")
    await pilot.pause(1.0)
    pilot.app.screen.query_one(TextArea).insert("Tell a customer that a parcel is late. ", (0, 0))
    await pilot.pause(8.0)
    save(pilot, "edit")
    await goes(pilot, "confusable")
    await pilot.pause(2.0)
    save(pilot, "confusable")
    await goes(pilot, "bench")
    await pilot.press("r")
    await pilot.pause(25.0)
    save(pilot, "bench")
    await pilot.press("t")
    await pilot.pause(12.0)
    save(pilot, "calibration")


async def loop(pilot: Pilot[None], bench: Workbench) -> None:
    """Take a loop in the conversation and the timeline, the guard lab, the profiles and the settings."""
    await ask(pilot, bench, "What is the weather in Oslo?")
    save(pilot, "loop")
    await goes(pilot, "timeline")
    await pilot.press("left", "left")
    await pilot.pause(0.5)
    save(pilot, "timeline")
    await goes(pilot, "scenarios")
    await pilot.press("enter")
    await until(pilot, lambda: "passed" in str(pilot.app.screen.query_one("#lab-status", Static).visual))
    await pilot.press(*["right"] * 15)
    await pilot.pause(0.5)
    save(pilot, "guard-lab")
    await pilot.press("c")
    await pilot.pause(0.5)
    await pilot.press("r")
    status = pilot.app.screen.query_one("#compare-status", Static)
    await until(pilot, lambda: "profiles ran" in str(status.visual))
    save(pilot, "profiles")
    await pilot.press("ctrl+o")
    await pilot.pause(0.5)
    save(pilot, "settings")


async def money(pilot: Pilot[None], bench: Workbench) -> None:
    """Take the budget page with its calls and deliveries, the race, and a published table."""
    await ask(pilot, bench, ORDERS)
    await goes(pilot, "budget")
    save(pilot, "budget")
    await goes(pilot, "calls")
    save(pilot, "budget-calls")
    await goes(pilot, "ways")
    await pilot.pause(4.0)
    save(pilot, "budget-ways")
    # A question is raced by what can answer it, which the script cannot.
    bench.switch_model("demo/planner")
    await goes(pilot, "race")
    await pilot.press("r")
    race = pilot.app.screen
    assert isinstance(race, RaceScreen)
    await until(pilot, lambda: race.playback.is_finished)
    await pilot.pause(1.0)
    save(pilot, "race")
    await goes(pilot, "published")
    await pilot.press("enter")
    assert isinstance(pilot.app, ToolsightApp)
    reproduction = pilot.app.reproduction
    await until(pilot, lambda: reproduction is not None and bool(reproduction.sections))
    await pilot.pause(1.0)
    save(pilot, "reproduction")


async def clients(pilot: Pilot[None]) -> None:
    """Take the tools as real clients get them, at the place where a description is cut."""
    await goes(pilot, "clients")
    rows = pilot.app.screen.query_one("#clients", RecordList)
    await until(pilot, lambda: all(str(row.cells[1]) != "…" for row in rows.shown))
    await pilot.press("tab", "enter", "pagedown")
    await pilot.pause(0.3)
    save(pilot, "clients")


def transcripts(options: Options) -> None:
    """Import a session of Claude Code and one of Codex: transcripts of our own, of 60 turns each."""
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (("claude-code", claude_code(60, seed=1)), ("codex", codex(60, seed=2))):
            Path(folder, f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        MachineLibrary(options).import_from([folder], lambda _done, _total: None, lambda: False)


async def sessions(pilot: Pilot[None], bench: Workbench) -> None:
    """Take what the sessions of agents show."""
    # The script's path is this machine's.
    bench.switch_model("demo/planner")
    await goes(pilot, "sessions")
    await pilot.press("down")
    await pilot.pause(1.0)
    save(pilot, "sessions")
    habits = {"persona": "shop reports", "seed": str(fixtures_path() / "inertia" / "shop_reports.yaml")}
    for name, value in (*habits.items(), ("enabled", True)):
        bench.change_setting(f"inertia.{name}", value)
    await goes(pilot, "flow")
    await pilot.pause(2.0)
    await pilot.press("down", "down")
    await pilot.pause(0.5)
    save(pilot, "flow")
    await goes(pilot, "telemetry")
    await pilot.press("a")
    await pilot.pause(3.0)
    save(pilot, "telemetry")


def failed(options: Options) -> None:
    """Record the scenario in which a server fails."""
    command = [sys.executable, "-m", "inspector", "scenario", "run", "breaker"]
    environment = {**os.environ, "TOOLSIGHT_DB": str(options.database)}
    subprocess.run(command, env=environment, check=True, capture_output=True)


async def breakers(pilot: Pilot[None], bench: Workbench) -> None:
    """Take what the recorded breakers came to."""
    bench.switch_model("demo/planner")
    await goes(pilot, "telemetry")
    await pilot.press("a", "t", "t", "t")
    await pilot.pause(3.0)
    save(pilot, "breakers")


async def search(pilot: Pilot[None], query: str) -> None:
    """Go to Find and search for a query."""
    await goes(pilot, "search")
    await pilot.press("i")
    pilot.app.screen.query_one("#query", PlainInput).value = ""
    for character in query:
        await pilot.press(_KEYS.get(character, character))
    await pilot.press("enter")
    await pilot.pause(0.5)


async def main() -> None:
    """Take all pictures."""
    async with running((120, 32)) as (pilot, bench):
        await pages(pilot, bench)
    async with running((120, 32)) as (pilot, _):
        await xray(pilot)
    async with running((120, 32)) as (pilot, bench):
        await money(pilot, bench)
    async with running((140, 36), configured=wordy) as (pilot, _):
        await clients(pilot)
    async with running((120, 32), prepared=transcripts) as (pilot, bench):
        await sessions(pilot, bench)
    async with running((120, 32), prepared=failed) as (pilot, bench):
        await breakers(pilot, bench)
    async with running((80, 24)) as (pilot, bench):
        await ask(pilot, bench, ORDERS)
        save(pilot, "session-80x24")
    async with running((200, 60)) as (pilot, bench):
        await ask(pilot, bench, ORDERS)
        await pilot.press("ctrl+l")
        await pilot.pause(0.3)
        save(pilot, "session-200x60-light")
    async with running((120, 32), "loop") as (pilot, bench):
        await loop(pilot, bench)


if __name__ == "__main__":
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    asyncio.run(main())
