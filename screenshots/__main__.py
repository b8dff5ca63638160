"""Take every picture of the README from the app, running on the demo's real servers.

Nothing is staged but the conversation: the servers are processes, the tools are called, the numbers are
counted. Times differ from run to run, so the files do too.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from inspector.app.app import ToolsightApp
from inspector.app.approver import ModalApprover
from inspector.app.opening import Opened
from inspector.cli.composition import demo_configuration, fixtures_path, make_workbench, open_memory
from inspector.cli.options import Options
from inspector.engine.workbench import Workbench

FOLDER = Path(__file__).parent
TURNS = 2000
ORDERS = "Which orders shipped late? Mail the list to sales@example.com."


@asynccontextmanager
async def running(
    size: tuple[int, int], scenario: str = "demo"
) -> AsyncIterator[tuple[Pilot[None], Workbench]]:
    """The app on the demo servers, everything connected."""
    with tempfile.TemporaryDirectory() as folder:
        script = fixtures_path() / "scenarios" / f"{scenario}.yaml"
        options = Options(model=f"demo/script:{script}", database=Path(folder) / "toolsight.db", yes=True)
        memory = open_memory(options)
        approver = ModalApprover(yes=True)
        bench = make_workbench(demo_configuration(Path(folder)), options, approver, memory)
        async with bench:

            async def start() -> Opened:
                return Opened(bench, memory, approver)

            app = ToolsightApp(start)
            async with app.run_test(size=size) as pilot:
                await until(pilot, lambda: bench.state.ready_servers == len(bench.configuration.servers))
                yield pilot, bench


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the app go on until the condition holds."""
    for _ in range(TURNS):
        if condition():
            await pilot.pause(0.2)
            return
        await pilot.pause(0.02)
    raise TimeoutError("the app never got there")


async def ask(pilot: Pilot[None], bench: Workbench, text: str) -> None:
    """Send a request and wait for its end."""
    ended = len(bench.records(kinds=("end",)))
    pilot.app.screen.query_one("#prompt").focus()
    for character in text:
        await pilot.press(_KEYS.get(character, character))
    await pilot.press("enter")
    await until(pilot, lambda: len(bench.records(kinds=("end",))) > ended)


_KEYS = {" ": "space", "?": "question_mark", ".": "full_stop", "@": "at", ",": "comma"}


def save(pilot: Pilot[None], name: str) -> None:
    """Write the picture; the paths of this machine have no place in it."""
    svg = pilot.app.export_screenshot(title="Toolsight")
    svg = svg.replace(str(FOLDER.parent), "/toolsight").replace(str(Path.home()), "~")
    (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")


async def pages(pilot: Pilot[None], bench: Workbench) -> None:
    """Every page of one conversation."""
    save(pilot, "start")
    await ask(pilot, bench, ORDERS)
    save(pilot, "session")
    for key, name in (("f2", "servers"), ("f3", "manifest"), ("f5", "budget"), ("f6", "events")):
        await pilot.press(key)
        await pilot.pause(0.3)
        save(pilot, name)
    await search(pilot)
    await pilot.press("enter")
    await pilot.pause(0.3)
    save(pilot, "tool")
    await pilot.press("f7", "f1")
    await pilot.pause(0.2)
    save(pilot, "help")


async def search(pilot: Pilot[None]) -> None:
    """A search, read like a bill."""
    await pilot.press("f4")
    await pilot.pause(0.2)
    for character in "orders shipped late":
        await pilot.press(_KEYS.get(character, character))
    await pilot.press("enter")
    await pilot.pause(0.3)
    save(pilot, "search")


async def main() -> None:
    """Take all pictures."""
    async with running((120, 32)) as (pilot, bench):
        await pages(pilot, bench)
    async with running((80, 24)) as (pilot, bench):
        await ask(pilot, bench, ORDERS)
        save(pilot, "session-80x24")
    async with running((200, 60)) as (pilot, bench):
        await ask(pilot, bench, ORDERS)
        await pilot.press("ctrl+l")
        await pilot.pause(0.3)
        save(pilot, "session-200x60-light")
    async with running((120, 32), "loop") as (pilot, bench):
        await ask(pilot, bench, "What is the weather in Oslo?")
        save(pilot, "loop")


if __name__ == "__main__":
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    asyncio.run(main())
