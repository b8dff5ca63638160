"""The app's lab: scenarios on the demo's servers, races on those of the session."""

import os
import sys
from pathlib import Path

import pytest

from inspector.cli.configuration import demo_configuration
from inspector.cli.location import demo_path
from inspector.cli.options import Options
from inspector.config.reader import typed_configuration
from inspector.core.events import ApprovalDecided, CallFinished, Record, SessionStarted
from inspector.features.lab.ground import Ground, question
from inspector.features.lab.open_lab import ShippedLab
from tests.support.commands import Toolsight
from tests.support.retrieval import give


@pytest.mark.slow
async def test_a_scenario_of_the_app_runs_on_the_demos_servers_where_another_was_typed(
    tmp_path: Path, demo_vectors: Path
) -> None:
    give(demo_vectors, tmp_path / "t.db")
    lab = ShippedLab(Options(database=tmp_path / "t.db", server=("no-such-command",)))
    (file,) = [file for file in lab.scenarios() if file.path.stem == "unknown"]
    records: list[Record] = []
    await lab.run(file, "", {}, records.append)
    (started,) = [record.event for record in records if isinstance(record.event, SessionStarted)]
    assert started.config == str(demo_path())


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


SHOP = """
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

app = MCPServer("shop")


@app.tool(annotations=ToolAnnotations(read_only_hint=True))
def list_orders() -> str:
    \"\"\"List the orders that are late.\"\"\"
    return "1046, 1045"


@app.tool()
def cancel_order(number: int) -> str:
    \"\"\"Cancel an order by its number.\"\"\"
    open(__file__ + ".cancelled", "a").write(str(number))
    return "cancelled"


app.run()
"""


@pytest.mark.slow
async def test_a_race_on_servers_of_ones_own_reads_with_both_sides_and_changes_nothing(
    tmp_path: Path,
) -> None:
    script = tmp_path / "shop.py"
    script.write_text(SHOP, encoding="utf-8")
    configuration = typed_configuration((sys.executable, str(script)), environment=os.environ, inputs={})
    lab = ShippedLab(Options(database=tmp_path / "t.db", values={"discovery.embedding_model": "none"}))
    asked = question("Which orders are late? Cancel the order 1046.")
    ground = Ground(configuration, "demo/planner", trusted=frozenset({"shop"}))
    for profile in ("static", "toolsight"):
        records: list[Record] = []
        result = await lab.race(asked, ground, profile, {"discovery.embedding_model": "none"}, records.append)
        assert (result.totals.outcome, result.totals.steps) == ("answered", 1)
        assert any(isinstance(record.event, ApprovalDecided) for record in records)
    assert names(tmp_path) >= {"shop.py", "t.db"}
    assert "shop.py.cancelled" not in names(tmp_path)


@pytest.mark.slow
async def test_a_race_on_the_demo_changes_only_data_of_its_own(tmp_path: Path) -> None:
    lab = ShippedLab(Options(database=tmp_path / "t.db"))
    own = tmp_path / "session"
    own.mkdir()
    ground = Ground(demo_configuration(own), "demo/planner", servers=frozenset({"office"}))
    records: list[Record] = []
    asked = question("Send a message to sales@example.com about the late orders.")
    await lab.race(asked, ground, "static", {"discovery.embedding_model": "none"}, records.append)
    assert any(isinstance(record.event, CallFinished) and record.event.ok for record in records)
    assert names(own) == set()


SCENARIOS = sorted((Path(__file__).parents[3] / "fixtures" / "scenarios").glob("*.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in SCENARIOS])
def test_what_a_shipped_scenario_expects_is_met(toolsight: Toolsight, name: str) -> None:
    played = toolsight("scenario", "run", name, "--check")
    assert played.exit_code == 0, played.stdout
