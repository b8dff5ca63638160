"""Takes the pictures of what an organisation has: a registry of its tools, its rules, its marketplace."""

import os
import subprocess
import sys

from textual.pilot import Pilot

from inspector.cli.location import fixtures_path
from inspector.cli.options import Options
from inspector.session.workbench import Workbench
from screenshots.taking import goes, running, save, types, until
from widgets import RecordList

POLICY = {"access.policy": str(fixtures_path() / "configs" / "access.yaml")}
UNSERVED = "convert 200 euros to Swiss francs"


def registered(options: Options) -> None:
    """Keep the demo's tools in the registry, with their vectors."""
    command = [sys.executable, "-m", "inspector", "registry", "import", "--demo"]
    environment = {**os.environ, "TOOLSIGHT_DB": str(options.database)}
    subprocess.run(command, env=environment, check=True, capture_output=True)


async def registry(pilot: Pilot[None]) -> None:
    """Take what a search by meaning finds in the registry."""
    await goes(pilot, "registry")
    await pilot.press("f")
    await types(pilot, "tell a customer that a parcel is late")
    await pilot.press("enter")
    await pilot.pause(3.0)
    save(pilot, "registry")


async def access(pilot: Pilot[None], bench: Workbench) -> None:
    """Take who may see which tools, and why, as the administrator sees it."""
    await bench.see_as("")
    await until(pilot, lambda: bench.state.ready_servers == len(bench.configuration.servers))
    await goes(pilot, "access")
    await pilot.pause(0.5)
    save(pilot, "access")


async def marketplace(pilot: Pilot[None], bench: Workbench) -> None:
    """Take what could be installed for a request that nobody serves."""
    await goes(pilot, "marketplace")
    plugins = pilot.app.screen.query_one(RecordList)
    await until(pilot, lambda: bool(plugins.shown))
    await pilot.press("f")
    await types(pilot, UNSERVED)
    await pilot.press("enter")
    await until(pilot, lambda: bench.state.busy is False)
    # The first search compares words and static vectors alone: taken is what is shown from then on.
    await bench.server_source.settled()
    await pilot.press("f", "enter")
    await pilot.pause(1.0)
    save(pilot, "marketplace")


async def organisation() -> None:
    """Take the three pictures."""
    async with running((120, 32), prepared=registered) as (pilot, bench):
        bench.switch_model("demo/planner")
        await registry(pilot)
    async with running((120, 32), values=POLICY) as (pilot, bench):
        bench.switch_model("demo/planner")
        await access(pilot, bench)
    async with running((120, 32)) as (pilot, bench):
        bench.switch_model("demo/planner")
        await marketplace(pilot, bench)
