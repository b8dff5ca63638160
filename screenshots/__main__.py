"""Takes every picture in the README from the app, running on the demo's real servers.

Only the conversation is scripted: the servers are processes, the tools are really called, the tokens are
really counted. Times differ between runs, so the files do too.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Static, TextArea

from fixtures.transcripts.make import claude_code, codex
from inspector.app.app import ToolsightApp
from inspector.app.place import ToolPage
from inspector.cli.location import fixtures_path
from inspector.cli.options import Options
from inspector.config.configuration import Configuration
from inspector.features.agents.command import MachineLibrary
from inspector.features.lab.race.page import RaceScreen
from inspector.session.workbench import Workbench
from screenshots.organisation import organisation
from screenshots.taking import goes, running, save, types, until
from widgets import PlainInput, RecordList

LATE = "mail the customer about the late parcel"
EXPECTED = "office:send_message"
ORDERS = "Which orders shipped late? Mail the list to sales@example.com."


def wordy(configuration: Configuration) -> Configuration:
    """The demo with one more server, whose texts and names exceed what clients take."""
    shop = next(server for server in configuration.servers if server.name == "shop")
    library = replace(shop, name="library", args=(str(fixtures_path() / "servers" / "library.py"),))
    return replace(configuration, servers=(library, *configuration.servers))


async def ask(pilot: Pilot[None], bench: Workbench, text: str) -> None:
    """Send a user message and wait until its turn ends."""
    ended = len(bench.records(kinds=("end",)))
    pilot.app.screen.query_one("#prompt").focus()
    await types(pilot, text)
    await pilot.press("enter")
    await until(pilot, lambda: len(bench.records(kinds=("end",))) > ended)


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
    """Take the place Search: score, why not, rankers, edit; then findings and the bench."""
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
    await goes(pilot, "findings")
    await pilot.pause(20.0)
    save(pilot, "findings")
    await goes(pilot, "bench")
    await pilot.press("r")
    await pilot.pause(25.0)
    save(pilot, "bench")


async def loop(pilot: Pilot[None], bench: Workbench) -> None:
    """Take a loop in the conversation and the timeline, a scenario and the settings."""
    await ask(pilot, bench, "What is the weather in Oslo?")
    save(pilot, "loop")
    await goes(pilot, "timeline")
    await pilot.press("left", "left")
    await pilot.pause(0.5)
    save(pilot, "timeline")
    await goes(pilot, "scenarios")
    await until(pilot, lambda: bool(pilot.app.screen.query_one("#scenarios", RecordList).records))
    await pilot.press("enter")
    await until(pilot, lambda: "passed" in str(pilot.app.screen.query_one("#lab-status", Static).visual))
    save(pilot, "scenario")
    await pilot.press("ctrl+o")
    await pilot.pause(0.5)
    save(pilot, "settings")


async def money(pilot: Pilot[None], bench: Workbench) -> None:
    """Take the budget page with its deliveries, and the race."""
    await ask(pilot, bench, ORDERS)
    await goes(pilot, "budget")
    save(pilot, "budget")
    await goes(pilot, "ways")
    await pilot.pause(4.0)
    save(pilot, "budget-ways")
    # A question is raced by what can answer it, which the script cannot.
    bench.switch_model("demo/planner")
    await goes(pilot, "race")
    await pilot.press("r")
    race = pilot.app.screen
    assert isinstance(race, RaceScreen)
    await until(pilot, lambda: race.is_finished)
    await pilot.pause(1.0)
    save(pilot, "race")


async def clients(pilot: Pilot[None]) -> None:
    """Take the tools as real clients get them, and one of them as declared beside it as sent."""
    await goes(pilot, "clients")
    rows = pilot.app.screen.query_one("#clients", RecordList)
    await until(pilot, lambda: bool(rows.shown) and "…" not in map(str, rows.shown[0].cells))
    await pilot.press(*["down"] * 3, *["right"] * 3)
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
    for name, value in habits.items():
        bench.change_setting(f"inertia.{name}", value)
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
    await types(pilot, query)
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
    await organisation()
    async with running((120, 32), "loop") as (pilot, bench):
        await loop(pilot, bench)


if __name__ == "__main__":
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    asyncio.run(main())
