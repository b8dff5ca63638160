"""The app's lab, whatever server the app itself was opened on."""

from pathlib import Path

import pytest

from inspector.cli.composition import demo_path
from inspector.cli.options import Options
from inspector.cli.scenario.lab import ShippedLab
from inspector.domain.events import Record, SessionStarted


@pytest.mark.slow
async def test_a_scenario_of_the_app_runs_on_the_demos_servers_where_another_was_typed(
    tmp_path: Path,
) -> None:
    lab = ShippedLab(Options(database=tmp_path / "t.db", server=("no-such-command",)))
    (file,) = [file for file in lab.scenarios() if file.path.stem == "unknown"]
    records: list[Record] = []
    await lab.run(file, "", {}, records.append)
    (started,) = [record.event for record in records if isinstance(record.event, SessionStarted)]
    assert started.config == str(demo_path())
