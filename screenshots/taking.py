"""What takes a picture of the app, as it runs on the demo's real servers."""

import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from inspector.app.app import ToolsightApp
from inspector.app.dialogs.approver import ModalApprover
from inspector.app.opening import Opened
from inspector.cli.composition import make_workbench, open_memory
from inspector.cli.configuration import demo_configuration
from inspector.cli.location import fixtures_path
from inspector.cli.open_app import parts_of
from inspector.cli.options import Options
from inspector.config.configuration import Configuration
from inspector.core.ranking import IndexPhase
from inspector.session.workbench import Workbench

FOLDER = Path(__file__).parent
TURNS = 2000
_KEYS = {" ": "space", "?": "question_mark", ".": "full_stop", "@": "at", ",": "comma"}


@asynccontextmanager
async def running(
    size: tuple[int, int],
    scenario: str = "demo",
    configured: Callable[[Configuration], Configuration] = lambda configuration: configuration,
    prepared: Callable[[Options], None] = lambda _: None,
    values: Mapping[str, Any] | None = None,
) -> AsyncIterator[tuple[Pilot[None], Workbench]]:
    """Run the app on the demo servers, or on those of its configuration, with everything connected.

    `prepared` fills the database before, `values` are settings by path.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = fixtures_path() / "scenarios" / f"{scenario}.yaml"
        options = Options(
            model=f"demo/script:{script}",
            database=Path(folder) / "toolsight.db",
            yes=True,
            values=values or {},
        )
        prepared(options)
        memory = open_memory(options)
        approver = ModalApprover(yes=True)
        configuration = configured(demo_configuration(Path(folder)))
        bench = make_workbench(configuration, options, approver, memory)
        async with bench:

            async def start() -> Opened:
                return Opened(bench, memory, approver, parts_of(options, bench))

            app = ToolsightApp(start)
            async with app.run_test(size=size) as pilot:
                await until(pilot, lambda: bench.state.ready_servers == len(bench.configuration.servers))
                await until(pilot, lambda: is_indexed(bench))
                yield pilot, bench


def is_indexed(bench: Workbench) -> bool:
    """Whether all is embedded; under a policy there is nothing to embed before somebody looks."""
    return bench.state.is_restricted or bench.state.index.phase is IndexPhase.READY


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the app run until the condition holds."""
    for _ in range(TURNS):
        if condition():
            await pilot.pause(0.2)
            return
        await pilot.pause(0.02)
    raise TimeoutError("the app never met the condition")


async def types(pilot: Pilot[None], text: str) -> None:
    """Type a text."""
    for character in text:
        await pilot.press(_KEYS.get(character, character))


async def goes(pilot: Pilot[None], page: str) -> None:
    """Go to a page."""
    await pilot.app.run_action(f"page('{page}')")
    await pilot.pause(0.5)


def save(pilot: Pilot[None], name: str) -> None:
    """Write the picture without this machine's paths."""
    svg = pilot.app.export_screenshot(title="Toolsight")
    svg = svg.replace(sys.executable, "python").replace(str(FOLDER.parent), "/toolsight")
    svg = svg.replace(str(Path.home()), "~")
    (FOLDER / f"{name}.svg").write_text(svg, encoding="utf-8")
